"""Resolution of the names in links of notes: tools such as Obsidian use files and folders, a wiki slugs and aliases."""

import re
from collections.abc import Iterable, Iterator, Sequence
from posixpath import basename, dirname, join, normpath, splitext
from typing import Any, NamedTuple
from urllib.parse import unquote
from uuid import UUID

from content.markdown.links import Target, find_links, rewrite_links
from content.markdown.prose import mask_code
from content.names import NoSlug, slugify
from content.normalization import normalize
from content.notes.logseq import BLOCK_REFERENCE, blocks
from content.notes.notes import Note
from content.notes.notion import LINKED_ID, without_id

from .disk.temp_database import TempDatabase, temp_statements
from .formats import MARKDOWN, Format
from .places import NoteFound, PlacedNote

NAMES = temp_statements("names")
WRITTEN = re.compile(r"!?\[\[([^\[\]|#\\]+)")
FILE_LINK = re.compile(
    r"\]\((?P<all>(?P<url>(?:[^()\s<>#]|\([^()\s<>#]{0,200}\)){1,1000})(?P<anchor>(?:#[^()\s<>]{0,500})?))"
    r"(?:[ \t]+\"[^\"\r\n]{0,500}\")?\)"
)
MARK = "\x01"


class ResolvedNote(NamedTuple):
    """The note that a name refers to: the slug and type of its page, and the page's id once it is written."""

    slug: str
    page_id: UUID | None
    type: str


class Vault:
    """The notes of one folder, found by the names in links by the rules of the tool that made the folder."""

    def __init__(self, temp: TempDatabase, format: Format = Format.MARKDOWN) -> None:
        """Make the tables. Links of an export are resolved as in the wiki, except in files changed since the export."""
        self.temp, self.format = temp, format
        temp.make(NAMES["make_tables"])

    @property
    def is_export(self) -> bool:
        return self.format is Format.CAIRN

    def add(self, found: NoteFound) -> None:
        """Add a note that was read, with the slugs by which a link may refer to it, except the slug of its page."""
        if found.is_file:
            *folders, name = self.place_of(found.label, found.note)
            self.temp.put(NAMES["add_file"], id=found.id, name=name, folder=join_folders(folders), depth=len(folders))
            marks = list(self.marks(found))
            self.temp.put_all(NAMES["add_mark"], [{"mark": m, "id": found.id, "text": text} for m, text in marks])
        aliases = with_bare(found.note.aliases, is_file=found.is_file)
        claims = set(slugs((found.note.title, *aliases, *self.file_name(found))))
        self.temp.put_all(NAMES["add_claim"], [{"slug": slug, "id": found.id} for slug in claims])

    def place_of(self, label: str, note: Note) -> tuple[str, ...]:
        """Return the folders and the name by which links refer to a file; in Logseq these are its namespaces."""
        if self.format is not Format.LOGSEQ:
            return path_parts(label)
        return path_parts(next((name for name in note.aliases if "/" in name and note.parent), note.title))

    def marks(self, found: NoteFound) -> Iterator[tuple[str, str]]:
        """Yield the ids and paths of a Notion page, or the ids of the blocks of a Logseq page, each with its text."""
        if self.format is Format.NOTION:
            path = splitext(found.label)[0]
            if id := without_id(basename(path))[1]:
                yield id, ""
            yield f"/{path}", ""
            yield f"/{dirname(path)}/{without_id(basename(path))[0]}", ""
        elif self.format is Format.LOGSEQ:
            yield from blocks(found.note.body)

    def file_name(self, note: NoteFound | PlacedNote) -> list[str]:
        """Return the displayed name of the file, without its ending; an empty list for a note without a file."""
        if not note.is_file or self.format is Format.LOGSEQ:
            return []
        stem = splitext(basename(note.label))[0]
        return [without_id(stem)[0]] if self.format is Format.NOTION else [stem]

    def place(self, placed: Iterable[tuple[int, str]]) -> None:
        """Add the slugs of the pages of notes."""
        self.temp.put_all(NAMES["add_claim"], ({"slug": slug, "id": id} for id, slug in placed))

    def find(self, name: str, origin: PlacedNote) -> ResolvedNote | None:
        """Return the note with this file name and folders: the one in the origin's folder, else nearest to the top."""
        if not origin.is_file:
            return None
        *wanted, last = path_parts(name)
        folder = join_folders(wanted)
        if self.format is Format.LOGSEQ:
            return resolved_note(self.temp.first(NAMES["find_near"], name=last, folder=folder))
        here = join_folders(path_parts(origin.label)[:-1])
        near = self.temp.first(NAMES["find_near"], name=last, folder=here) if ends_with(here, folder) else None
        return resolved_note(near or self.temp.first(NAMES["find_anywhere"], name=last, folder=folder))

    def find_file(self, url: str, origin: PlacedNote) -> ResolvedNote | None:
        """Return the note that the URL of a markdown link in the file `origin` leads to."""
        written = unquote(url)
        if "://" in written:
            id = LINKED_ID.search(written) if self.format is Format.NOTION and "notion." in written else None
            return self.find_mark(id["id"]) if id else None
        if ":" in written.partition("/")[0] or not written.lower().endswith(MARKDOWN):
            return None
        *folders, name = path_parts(normpath(join(dirname(origin.label), written)))
        exact = resolved_note(self.temp.first(NAMES["find_near"], name=name, folder=join_folders(folders)))
        if exact or self.format is Format.NOTION:
            id = LINKED_ID.search(written)
            return exact or (self.find_mark(id["id"]) if id else None)
        return self.find(written, origin) if not written.startswith(".") else None

    def find_mark(self, mark: str) -> ResolvedNote | None:
        return resolved_note(self.temp.first(NAMES["find_mark"], mark=mark))

    def parent(self, placed: PlacedNote) -> str | None:
        """Return the address of the page whose folder has a file of Notion, or None."""
        folder = dirname(placed.label) if self.format is Format.NOTION and placed.is_file else ""
        while folder:
            if above := self.find_mark(f"/{folder}"):
                return f"/wiki/{above.type}/{above.slug}" if above.slug != placed.slug else None
            folder = dirname(folder)
        return None

    def is_shared(self, slug: str) -> bool:
        """Return whether the slug may refer to several notes."""
        return self.temp.first(NAMES["find_shared"], slug=slug) is not None

    def body(self, origin: PlacedNote, text: str) -> str:
        """Return the text with links spelled so that the wiki finds the same page as the tool.

        A name is replaced by the slug of its note only if it may refer to several notes.
        """
        if not origin.is_file:
            return self.disambiguate(origin, text)
        if "](" in text and FILE_LINK.search(text):
            text = self.link_files_to_pages(origin, text)
        if self.format is Format.LOGSEQ and "((" in text:
            text = BLOCK_REFERENCE.sub(self.block_link, text)
        return self.disambiguate(origin, text)

    def link_files_to_pages(self, origin: PlacedNote, text: str) -> str:
        """Return the text with markdown links to files, such as `[Text](Other%20note.md)`, as links to their pages."""
        parts, position = [], 0
        for link in FILE_LINK.finditer(mask_code(text)):
            url, anchor = text[slice(*link.span("url"))], text[slice(*link.span("anchor"))]
            page = self.find_file(url, origin)
            if page:
                parts += [text[position : link.start("all")], f"wiki:{page.slug}{anchor}"]
                position = link.end("all")
        return "".join(parts) + text[position:]

    def block_link(self, reference: re.Match[str]) -> str:
        """Return a reference to a block as a link to its page, with the text of the block."""
        row = self.temp.first(NAMES["find_mark"], mark=reference["id"])
        return f"[[{row[0]}#^{reference['id']}|{row[3] or row[0]}]]" if row else reference[0]

    def disambiguate(self, origin: PlacedNote, text: str) -> str:
        if not self.has_ambiguous_link(text):
            return text
        for slug in sorted({note.slug for link in find_links(text) if (note := self.find_misread(text, link, origin))}):
            text = self.respell(text, origin, slug)
        return text

    def has_ambiguous_link(self, text: str) -> bool:
        """Return whether a link may have an ambiguous name. This is a quick check before all links are parsed."""
        written = dict.fromkeys(slugs(path_parts(link[1])[-1] for link in WRITTEN.finditer(text)))
        return any(self.is_shared(slug) for slug in written)

    def respell(self, text: str, origin: PlacedNote, slug: str) -> str:
        def leads_to_it(link: Target) -> bool:
            note = self.find_misread(text, link, origin)
            return note is not None and note.slug == slug

        return rewrite_links(text, leads_to_it, slug)

    def find_misread(self, text: str, link: Target, origin: PlacedNote) -> ResolvedNote | None:
        """Return the note that a link refers to if the wiki would find another page, else None."""
        written = WRITTEN.match(text, link.start)
        if link.space or not written or not self.is_shared(link.slug):
            return None
        note = self.find(written[1], origin)
        return note if note and note.slug != link.slug else None

    def names(self, placed: PlacedNote, note: Note) -> tuple[str, ...]:
        """Return the aliases of the page: those of the note, also without their folders, and the name of the file."""
        aliases = with_bare(note.aliases, is_file=placed.is_file)
        return tuple(dict.fromkeys(filter(None, (*aliases, *self.additional_name(placed, note)))))

    def additional_name(self, placed: PlacedNote, note: Note) -> list[str]:
        """Return the name of the file, unless it is the slug, the title or the beginning of the title."""
        named = self.file_name(placed)
        known = set(slugs([note.title])) | {placed.slug}
        cut = self.format is Format.NOTION and any(note.title.startswith(name[:40]) for name in named)
        return [] if cut or known.intersection(slugs(named)) else named

    def store_record(self, path: str, record: bytes) -> None:
        """Store the line that an export has recorded beside a file. Some disks have decomposed letters in its path."""
        self.temp.put(NAMES["add_told"], path=normalize("NFC", path), record=record)

    def record(self, path: str) -> bytes | None:
        found = self.temp.first(NAMES["find_told"], path=normalize("NFC", path))
        return found[0] if found else None


def resolved_note(row: Sequence[Any] | None) -> ResolvedNote | None:
    return ResolvedNote(row[0], UUID(bytes=row[1]) if row[1] else None, row[2]) if row else None


def with_bare(aliases: Sequence[str], *, is_file: bool) -> Iterator[str]:
    """Yield the aliases. The alias `Folder/Name` of a file also gives `Name`; a line has all names already."""
    yield from aliases
    if is_file:
        yield from (alias.rpartition("/")[2].strip() for alias in aliases if "/" in alias)


def slugs(names: Iterable[str]) -> Iterator[str]:
    for name in names:
        try:
            yield slugify(name)
        except NoSlug:
            continue


def path_parts(path: str) -> tuple[str, ...]:
    """Return the normalised parts of a path for comparison; some file systems decompose accented letters."""
    path = normalize("NFC", path).casefold().strip().strip("/")
    bare = path.removesuffix(".md").removesuffix(".markdown")
    return tuple(part for part in bare.split("/") if part not in ("", ".")) or ("",)


def join_folders(folders: Iterable[str]) -> str:
    """Return folders as one string with a mark before each, so that suffixes of the string are suffixes of the path."""
    return "".join(f"{MARK}{folder}" for folder in folders)


def ends_with(folder: str, wanted: str) -> bool:
    return folder.endswith(wanted)
