"""The stored state of a sync, in `.cairn/sync.json` of its folder: both sides as they were at the last sync."""

import os
from dataclasses import asdict, dataclass, field

import orjson

STATE = ".cairn/sync.json"
FORMAT = {"format": "cairn-sync", "version": 1}
UNKNOWN = ""
"""A hash that no text has, so that the side counts as changed: for a file in conflict, or a page that was merged."""


@dataclass(slots=True)
class Entry:
    """A page or an attachment with its file, as they were at the last sync.

    A file with the same `size` and `mtime` is not read again; an `mtime` of 0 forces a reading. `aliases` are the
    normalised aliases in the header of the file.
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
    """The conflict file with the text of the wiki, until somebody has removed it."""

    @property
    def address(self) -> str | None:
        return f"{self.type}/{self.slug}" if self.type else None


@dataclass(slots=True)
class Proposed:
    """An edit of a file that was stored as a proposal. `file` is the hash of the file, None for a proposed deletion.

    `declined` is the reason why the proposal was declined or withdrawn. The edit is not proposed again until the file
    changes.
    """

    path: str
    file: str | None
    id: str
    declined: str | None = None
    is_told: bool = False
    """Whether the text of the wiki was written to a conflict file after the proposal was declined."""


@dataclass(slots=True)
class State:
    """The state of a sync: its wiki, the position up to which changes were read, and the entries by page id or path."""

    tenant: str
    owner: str
    history: str | None = None
    position: int = 0
    attachments: str | None = None
    """A digest of all attachments of the wiki."""
    pages: dict[str, Entry] = field(default_factory=dict)
    files: dict[str, Entry] = field(default_factory=dict)
    proposed: dict[str, Proposed] = field(default_factory=dict)
    """The proposals, by page id, or by path if there is no page yet."""


def load(root: str) -> State | None:
    """Load the state of a folder; None if it is missing or unreadable, so that everything is compared again."""
    try:
        with open(os.path.join(root, STATE), "rb") as file:
            data = orjson.loads(file.read())
        if data.pop("format") != FORMAT["format"] or data.pop("version") != FORMAT["version"]:
            return None
        pages, files = ({key: Entry(**entry) for key, entry in data.pop(name).items()} for name in ("pages", "files"))
        found = data.pop("proposed", {}).items()
        proposed = {key: Proposed(**entry) for key, entry in found if isinstance(entry, dict)}
        return State(**data, pages=pages, files=files, proposed=proposed)
    except (FileNotFoundError, ValueError, TypeError, KeyError, AttributeError):
        return None


def save(root: str, state: State) -> None:
    """Write the state to a draft and move the draft to its path, so that the file is complete at any time."""
    target = os.path.join(root, STATE)
    os.makedirs(os.path.dirname(target), exist_ok=True)
    with open(f"{target}.draft", "wb") as file:
        file.write(orjson.dumps(FORMAT | asdict(state), option=orjson.OPT_APPEND_NEWLINE))
        file.flush()
        os.fsync(file.fileno())
    os.replace(f"{target}.draft", target)
