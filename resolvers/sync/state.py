"""The state of a sync, in `.cairn/sync.json` of its folder: what both sides were when they were last the same."""

import os
from dataclasses import asdict, dataclass, field

import orjson

STATE = ".cairn/sync.json"
FORMAT = {"format": "cairn-sync", "version": 1}
UNKNOWN = ""
"""The hash of a side whose text is a change whatever it is: of a file in conflict, or of a page that was merged."""


@dataclass(slots=True)
class Entry:
    """A page, or an attachment, and its file as they were at the last sync.

    `size` and `mtime` tell whether a file has to be read again; `mtime` is 0 where it has. `aliases` are the names in
    the header of the file, normalised.
    """

    path: str
    file: str
    page: str | None = None
    version: int = 0
    type: str = ""
    slug: str = ""
    size: int = 0
    mtime: int = 0
    aliases: list[str] = field(default_factory=list)
    conflict: str | None = None
    """The file with the text of the wiki, until the person has removed it."""

    @property
    def address(self) -> str | None:
        return f"{self.type}/{self.slug}" if self.type else None


@dataclass(slots=True)
class Proposed:
    """An edit of a file that became a proposal: the hash of the file, None where its deletion was proposed.

    `declined` is why it was declined, or withdrawn: it is not proposed again while the file stays as it is.
    """

    path: str
    file: str | None
    id: str
    declined: str | None = None
    is_told: bool = False
    """Whether the text of the wiki was written beside the file after that."""


@dataclass(slots=True)
class State:
    """A state: the wiki that it is of, how far its changes have been read, and the entries by page id or path."""

    tenant: str
    owner: str
    history: str | None = None
    position: int = 0
    attachments: str | None = None
    """A digest of all attachments of the wiki."""
    pages: dict[str, Entry] = field(default_factory=dict)
    files: dict[str, Entry] = field(default_factory=dict)
    proposed: dict[str, Proposed] = field(default_factory=dict)
    """What was proposed, by page id, or by path where there is no page yet."""


def load(root: str) -> State | None:
    """Return the state of a folder; None where there is none, or none that can be read: then all is compared anew."""
    try:
        with open(os.path.join(root, STATE), "rb") as file:
            told = orjson.loads(file.read())
        if told.pop("format") != FORMAT["format"] or told.pop("version") != FORMAT["version"]:
            return None
        pages, files = ({key: Entry(**one) for key, one in told.pop(name).items()} for name in ("pages", "files"))
        found = told.pop("proposed", {}).items()
        proposed = {key: Proposed(**one) for key, one in found if isinstance(one, dict)}
        return State(**told, pages=pages, files=files, proposed=proposed)
    except (FileNotFoundError, ValueError, TypeError, KeyError, AttributeError):
        return None


def save(root: str, state: State) -> None:
    """Write the state beside, and put it in its place: it is whole at any time."""
    target = os.path.join(root, STATE)
    os.makedirs(os.path.dirname(target), exist_ok=True)
    with open(f"{target}.draft", "wb") as file:
        file.write(orjson.dumps(FORMAT | asdict(state), option=orjson.OPT_APPEND_NEWLINE))
        file.flush()
        os.fsync(file.fileno())
    os.replace(f"{target}.draft", target)
