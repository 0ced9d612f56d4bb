"""Formats of folders: the tool that made one, what of it an import leaves out, and how a note of it is read."""

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
"""The type of the pages in a folder of this name, where their files do not say one."""


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
    """A survey of what a folder or a zip holds besides notes, as it is met on the way to them."""

    left: Counter[str] = field(default_factory=Counter)
    databases: dict[str, frozenset[str]] = field(default_factory=dict)
    attachments: dict[str, str] = field(default_factory=dict)
    """The files that are kept beside the notes, by their paths in the folder, with where they lie."""
    is_obsidian: bool = False
    graph: str | None = None
    """The folder of a Logseq graph, with a slash at its end, or nothing."""
    notes: int = 0
    notion_notes: int = 0
    has_journals: bool = False

    def note(self, path: str) -> None:
        """A file of markdown."""
        self.notes += 1
        self.notion_notes += without_id(splitext(basename(path))[0])[1] is not None
        self.has_journals = self.has_journals or JOURNAL.match(path) is not None

    def other(self, path: str, file: str | None = None) -> None:
        """A file that is no note. `file` is where it lies, if it can be read."""
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
        """A file that is left out: it is counted by what it ends in."""
        ending = ENDING.search(path)
        kind = f".{ending[1].lower()}" if ending else "other"
        self.left[kind if kind in self.left or len(self.left) < ENDINGS_MAX else "other"] += 1

    def hidden(self, path: str) -> None:
        """A folder that no import looks into."""
        self.is_obsidian = self.is_obsidian or basename(path) == OBSIDIAN_FOLDER

    def recognise(self, files: Iterable[str]) -> Format:
        """The tool that made it; `files` are some of the notes, to be looked into where nothing else tells."""
        if self.graph is not None or (self.has_journals and not self.is_obsidian):
            return Format.LOGSEQ
        if self.is_obsidian:
            return Format.OBSIDIAN
        if self.notion_notes * 2 > self.notes:
            return Format.NOTION
        is_linked = any(has_wiki_links(file) for file in islice(files, SNIFFED_NOTES))
        return Format.OBSIDIAN if is_linked else Format.MARKDOWN


def without_notion_ids(path: str) -> str:
    """A path without the ids of Notion in the names of its folders."""
    return "/".join(without_id(part)[0] for part in path.removesuffix("_all").split("/"))


def columns(file: str) -> frozenset[str]:
    """The names of a database's properties; none where it cannot be read."""
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
    """Reads the files of one folder as the tool meant them that made it."""

    format: Format
    survey: Survey

    def note(self, path: str, text: str) -> Note:
        """The note of a file, by its path in the folder, dated as a source of that file would be. Raises BadNote."""
        note = self.undated(path, text)
        return note if note.created else replace(note, created=date_of(note.metadata, path, note.body))

    def undated(self, path: str, text: str) -> Note:
        """The note of a file with the dates of its own fields alone."""
        stem = splitext(basename(path))[0]
        if self.format is Format.NOTION:
            return from_notion(
                stem, text.removeprefix("\ufeff"), self.survey.databases.get(without_notion_ids(dirname(path)), ())
            )
        if self.format is Format.LOGSEQ:
            return from_logseq(path, text.removeprefix("\ufeff"))
        return from_markdown(stem, text)

    def type_of_folder(self, path: str) -> str | None:
        """The type that the nearest folder named after a category gives."""
        if self.format not in (Format.MARKDOWN, Format.OBSIDIAN):
            return None
        named = (CATEGORIES.get(part.casefold()) for part in reversed(path.split("/")[:-1]))
        return next(filter(None, named), None)
