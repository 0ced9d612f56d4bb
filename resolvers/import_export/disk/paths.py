"""The paths of pages in a folder: the path that the page was imported from, or `<type>/<slug>.md`."""

import hashlib
import re
from itertools import chain, count

from content.markdown.attachments import media_type
from content.normalization import normalize

from ..formats import MARKDOWN
from .temp_database import TempDatabase, temp_statements

PATHS = temp_statements("paths")
PART_MAX = 200  # bytes; file systems allow 255
DEPTH_MAX = 20
FORBIDDEN = re.compile(r'[\x00-\x1f\x7f<>:"|?*\\]')
NUMBERED = re.compile(r"(\.\d+)?\.md")
DEVICES = re.compile(r"(?i)(con|prn|aux|nul|com\d|lpt\d)(\.|$)")


class Paths:
    """The paths that an export has given to pages. Case and decomposed letters are ignored, as some disks do."""

    def __init__(self, temp: TempDatabase) -> None:
        self.temp = temp
        temp.make(PATHS["make_tables"])

    def take(self, type: str, slug: str, origin: object = None) -> str:
        """Take a free path for a page. `origin` is the path that it was imported from, from its metadata: untrusted."""
        own = own_path(type, slug)
        wanted = [origin] if isinstance(origin, str) and is_safe(origin) else []
        numbered = (f"{own.removesuffix('.md')}.{n}.md" for n in count(2))
        return next(path for path in chain(wanted, [own], numbered) if self.is_free(path))

    def is_free(self, path: str) -> bool:
        """Take the path if it is free; return whether it was free."""
        return self.temp.put(PATHS["take_path"], path=normalize("NFC", path).casefold()) == 1


def own_path(type: str, slug: str) -> str:
    return f"{type}/{file_name(slug)}.md"


def is_own(path: str, type: str, slug: str) -> bool:
    """Return whether the path is one that an export makes from the type and slug of a page."""
    stem = own_path(type, slug).removesuffix(".md")
    return path.startswith(stem) and NUMBERED.fullmatch(path, len(stem)) is not None


def is_safe(path: str) -> bool:
    """Return whether an import reads the path as a markdown file inside the folder, on every operating system."""
    return path.lower().endswith(MARKDOWN) and lies_inside(path)


def is_safe_attachment(path: str) -> bool:
    """Return whether an import stores the path as an attachment inside the folder, on every operating system."""
    return media_type(path) is not None and lies_inside(path)


def lies_inside(path: str) -> bool:
    """Return whether a path is valid, visible, no device and inside the folder, on every operating system."""
    parts = path.split("/")
    return (
        len(parts) <= DEPTH_MAX
        and not FORBIDDEN.search(path)
        and all(part and len(part.encode()) <= PART_MAX + len(".markdown") for part in parts)
        and not any(part.startswith(".") or part.endswith((".", " ")) or DEVICES.match(part) for part in parts)
        and not any(part.lower().endswith(MARKDOWN) for part in parts[:-1])
    )


def file_name(slug: str) -> str:
    """Return the file name of a slug. A slug that is too long is cut, and a hash makes it unique."""
    name = slug if len(slug.encode()) <= PART_MAX else cut(slug)
    return f"{name}-" if DEVICES.match(name) else name


def cut(slug: str) -> str:
    digest = hashlib.sha256(slug.encode()).hexdigest()[:12]
    return f"{slug.encode()[: PART_MAX - 13].decode(errors='ignore')}-{digest}"


ABOUT = ".cairn/wiki.json"
SOURCES = ".cairn/sources.jsonl"
MENTIONS = ".cairn/mentions.jsonl"
ERRORS = ".cairn/errors.jsonl"
"""The file with a line for each page, source or mention that an export could not write."""
ORIGINALS = ".cairn/originals.jsonl"
HISTORY = ".cairn/history"
LIST = ".cairn/files"
FORMAT = {"format": "cairn", "version": 1}
OWN = frozenset({ABOUT, ERRORS, SOURCES, MENTIONS, ORIGINALS})
"""The files of `.cairn` that an import reads, besides the histories."""


def is_in_history(file: str) -> bool:
    """Return whether a path on the disk is a file with the former states of a page."""
    return f"/{HISTORY}/" in file


def is_history(path: str) -> bool:
    return path.startswith(f"{HISTORY}/") and path.endswith(".jsonl")
