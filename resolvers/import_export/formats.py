"""The formats of folders: recognise the tool that made a folder, find its attachments, and read its notes."""

import csv
import re
from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import islice
from posixpath import basename, dirname, splitext

from content.markdown.attachments import media_type
from content.notes.dates import date_of
from content.notes.logseq import from_logseq
from content.notes.notes import Note, from_markdown
from content.notes.notion import from_notion, without_id

MARKDOWN = (".md", ".markdown")
OBSIDIAN_FOLDER = ".obsidian"
LOGSEQ_CONFIG = "logseq/config.edn"
JOURNAL = re.compile(r"(?:\A|.*/)journals/\d{4}_\d\d_\d\d\.md\Z")
ENDING = re.compile(r"\.([A-Za-z0-9]{1,10})\Z")
ENDINGS_MAX = 100
HEADER_MAX = 64 * 1024  # bytes of the first line of a database
DATABASES_MAX = 10_000
ATTACHMENTS_MAX = 50_000
SNIFFED_NOTES, SNIFFED_BYTES = 50, 64 * 1024
CATEGORIES = {
    "context": "context", "standard": "standard", "standards": "standard", "product": "product", "products": "product",
    "entity": "entity", "entities": "entity", "concept": "concept", "concepts": "concept", "decision": "decision",
    "decisions": "decision", "source": "source", "sources": "source", "topic": "topic", "topics": "topic",
    "project": "project", "projects": "project", "reference": "reference", "references": "reference",
    "theme": "theme", "themes": "theme",
}  # fmt: skip
"""The type of the pages in a folder of this name, if their files specify no type."""


class Format(StrEnum):
    """The tool that a folder of notes comes from."""

    AUTO = "auto"
    MARKDOWN = "markdown"
    OBSIDIAN = "obsidian"
    NOTION = "notion"
    LOGSEQ = "logseq"
    CAIRN = "cairn"
    LINES = "lines"


@dataclass(slots=True)
class Survey:
    """The files of a folder or a zip that are not notes, and signs of the tool that made it."""

    left: Counter[str] = field(default_factory=Counter)
    databases: dict[str, frozenset[str]] = field(default_factory=dict)
    attachments: dict[str, str] = field(default_factory=dict)
    """The paths on the disk of the attachments, by their paths in the folder."""
    is_obsidian: bool = False
    graph: str | None = None
    """The folder of a Logseq graph, with a slash at its end or empty; None if there is no graph."""
    notes: int = 0
    notion_notes: int = 0
    has_journals: bool = False

    def note(self, path: str) -> None:
        """Count a markdown file."""
        self.notes += 1
        self.notion_notes += without_id(splitext(basename(path))[0])[1] is not None
        self.has_journals = self.has_journals or JOURNAL.match(path) is not None

    def other(self, path: str, file: str | None = None) -> None:
        """Register a file that is not a note. `file` is its path on the disk, if it can be read."""
        if path.endswith(LOGSEQ_CONFIG):
            self.graph = path.removesuffix(LOGSEQ_CONFIG)
            return
        if file and media_type(path) and len(self.attachments) < ATTACHMENTS_MAX:
            self.attachments[path] = file
            return
        self.leave(path)
        if path.lower().endswith(".csv") and file and len(self.databases) < DATABASES_MAX:
            self.databases[without_notion_ids(splitext(path)[0])] = columns(file)

    def leave(self, path: str) -> None:
        """Count a file that is skipped, by its ending."""
        ending = ENDING.search(path)
        kind = f".{ending[1].lower()}" if ending else "other"
        self.left[kind if kind in self.left or len(self.left) < ENDINGS_MAX else "other"] += 1

    def hidden(self, path: str) -> None:
        """Register a hidden folder, which is not imported."""
        self.is_obsidian = self.is_obsidian or basename(path) == OBSIDIAN_FOLDER

    def recognise(self, files: Iterable[str]) -> Format:
        """Return the tool that made the folder. `files` are some notes, which are read if there are no other signs."""
        if self.graph is not None or (self.has_journals and not self.is_obsidian):
            return Format.LOGSEQ
        if self.is_obsidian:
            return Format.OBSIDIAN
        if self.notion_notes * 2 > self.notes:
            return Format.NOTION
        is_linked = any(has_wiki_links(file) for file in islice(files, SNIFFED_NOTES))
        return Format.OBSIDIAN if is_linked else Format.MARKDOWN


def without_notion_ids(path: str) -> str:
    """Return a path without the ids of Notion in its parts."""
    return "/".join(without_id(part)[0] for part in path.removesuffix("_all").split("/"))


def columns(file: str) -> frozenset[str]:
    """Return the names of the properties of a Notion database; none if its file cannot be read."""
    try:
        with open(file, "rb") as data:
            first = data.read(HEADER_MAX).removeprefix(BOM_UTF8).decode(errors="replace")
        return frozenset(next(csv.reader(first.splitlines()), []))
    except (OSError, csv.Error):
        return frozenset()


def has_wiki_links(file: str) -> bool:
    try:
        with open(file, "rb") as data:
            return b"[[" in data.read(SNIFFED_BYTES)
    except OSError:
        return False


@dataclass(frozen=True, slots=True)
class FormatReader:
    """Reads the notes of one folder by the rules of the tool that made the folder."""

    format: Format
    survey: Survey

    def note(self, path: str, text: str) -> Note:
        """Parse the note of a file; a note without a date gets that of its metadata, path or text. Raises BadNote."""
        note = self.undated(path, text)
        return note if note.created else replace(note, created=date_of(note.metadata, path, note.body))

    def undated(self, path: str, text: str) -> Note:
        """Parse the note of a file, with only the dates in its own fields."""
        stem = splitext(basename(path))[0]
        if self.format is Format.NOTION:
            return from_notion(
                stem, text.removeprefix("\ufeff"), self.survey.databases.get(without_notion_ids(dirname(path)), ())
            )
        if self.format is Format.LOGSEQ:
            return from_logseq(path, text.removeprefix("\ufeff"))
        return from_markdown(stem, text)

    def type_of_folder(self, path: str) -> str | None:
        """Return the type that the nearest parent folder is named after, or None."""
        if self.format not in (Format.MARKDOWN, Format.OBSIDIAN):
            return None
        named = (CATEGORIES.get(part.casefold()) for part in reversed(path.split("/")[:-1]))
        return next(filter(None, named), None)
