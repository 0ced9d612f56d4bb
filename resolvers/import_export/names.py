"""Resolution of the names written in a note: Obsidian goes by files and folders, a wiki by slugs and aliases."""

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
from .pages import NoteFound, Placed

NAMES = temp_statements("names")
WRITTEN = re.compile(r"!?\[\[([^\[\]|#\\]+)")
FILE_LINK = re.compile(
    r"\]\((?P<all>(?P<url>(?:[^()\s<>#]|\([^()\s<>#]{0,200}\)){1,1000})(?P<anchor>(?:#[^()\s<>]{0,500})?))"
    r"(?:[ \t]+\"[^\"\r\n]{0,500}\")?\)"
)
MARK = "\x01"


class Meant(NamedTuple):
    """The note that a name means: the slug and the type of its page, and that page once it is written."""

    slug: str
    page_id: UUID | None
    type: str


class Vault:
    """The notes of one folder, found by what others call them, in the way of the tool that made it."""

    def __init__(self, temp: TempDatabase, format: Format = Format.MARKDOWN) -> None:
        """Make the tables. Links of an export mean what they mean in the wiki, except in files changed outside."""
        self.temp, self.format = temp, format
        temp.make(NAMES["make_tables"])

    @property
    def is_export(self) -> bool:
        return self.format is Format.CAIRN

    def add(self, found: NoteFound) -> None:
        """A note that was read, with the slugs by which a link may mean it, but for the one that it will get."""
        if found.is_file:
            *folders, name = self.place_of(found.label, found.note)
            self.temp.put(NAMES["add_file"], id=found.id, name=name, folder=join_folders(folders), depth=len(folders))
            marks = list(self.marks(found))
            self.temp.put_all(NAMES["add_mark"], [{"mark": m, "id": found.id, "text": text} for m, text in marks])
        aliases = with_bare(found.note.aliases, is_file=found.is_file)
        claims = set(slugs((found.note.title, *aliases, *self.file_name(found))))
        self.temp.put_all(NAMES["add_claim"], [{"slug": slug, "id": found.id} for slug in claims])

    def place_of(self, label: str, note: Note) -> tuple[str, ...]:
        """The folders and the name by which links mean a file: in Logseq its namespaces."""
        if self.format is not Format.LOGSEQ:
            return words(label)
        return words(next((name for name in note.aliases if "/" in name and note.parent), note.title))

    def marks(self, found: NoteFound) -> Iterator[tuple[str, str]]:
        """The ids of a page of Notion and where it lies without any, or of the blocks of a page of Logseq."""
        if self.format is Format.NOTION:
            path = splitext(found.label)[0]
            if id := without_id(basename(path))[1]:
                yield id, ""
            yield f"/{path}", ""
            yield f"/{dirname(path)}/{without_id(basename(path))[0]}", ""
        elif self.format is Format.LOGSEQ:
            yield from blocks(found.note.body)

    def file_name(self, note: NoteFound | Placed) -> list[str]:
        """The name of its file as people know it, without what it ends in, if it has one."""
        if not note.is_file or self.format is Format.LOGSEQ:
            return []
        stem = splitext(basename(note.label))[0]
        return [without_id(stem)[0]] if self.format is Format.NOTION else [stem]

    def place(self, placed: Iterable[tuple[int, str]]) -> None:
        """The slugs that notes got."""
        self.temp.put_all(NAMES["add_claim"], ({"slug": slug, "id": id} for id, slug in placed))

    def find(self, name: str, origin: Placed) -> Meant | None:
        """The note of that file name, in the folders that are written before it; near the origin, else near the top."""
        if not origin.is_file:
            return None
        *wanted, last = words(name)
        folder = join_folders(wanted)
        if self.format is Format.LOGSEQ:
            return meaning_from(self.temp.first(NAMES["find_near"], name=last, folder=folder))
        here = join_folders(words(origin.label)[:-1])
        near = self.temp.first(NAMES["find_near"], name=last, folder=here) if ends(here, folder) else None
        return meaning_from(near or self.temp.first(NAMES["find_anywhere"], name=last, folder=folder))

    def find_file(self, url: str, origin: Placed) -> Meant | None:
        """The note that the address in a markdown link leads to, seen from the file that it stands in."""
        written = unquote(url)
        if "://" in written:
            id = LINKED_ID.search(written) if self.format is Format.NOTION and "notion." in written else None
            return self.find_mark(id["id"]) if id else None
        if ":" in written.partition("/")[0] or not written.lower().endswith(MARKDOWN):
            return None
        *folders, name = words(normpath(join(dirname(origin.label), written)))
        exact = meaning_from(self.temp.first(NAMES["find_near"], name=name, folder=join_folders(folders)))
        if exact or self.format is Format.NOTION:
            id = LINKED_ID.search(written)
            return exact or (self.find_mark(id["id"]) if id else None)
        return self.find(written, origin) if not written.startswith(".") else None

    def find_mark(self, mark: str) -> Meant | None:
        return meaning_from(self.temp.first(NAMES["find_mark"], mark=mark))

    def parent(self, placed: Placed) -> str | None:
        """The address of the page whose folder a file of Notion lies in."""
        folder = dirname(placed.label) if self.format is Format.NOTION and placed.is_file else ""
        while folder:
            if above := self.find_mark(f"/{folder}"):
                return f"/wiki/{above.type}/{above.slug}" if above.slug != placed.slug else None
            folder = dirname(folder)
        return None

    def is_shared(self, slug: str) -> bool:
        """Return whether several notes go by the slug."""
        return self.temp.first(NAMES["find_shared"], slug=slug) is not None

    def body(self, origin: Placed, text: str) -> str:
        """The note's text, its links spelled so that the wiki finds the page that the tool does.

        A name is spelled anew only where several notes go by it, with the slug of the one that it means.
        """
        if not origin.is_file:
            return self.unambiguous(origin, text)
        if "](" in text and FILE_LINK.search(text):
            text = self.with_pages(origin, text)
        if self.format is Format.LOGSEQ and "((" in text:
            text = BLOCK_REFERENCE.sub(self.block_link, text)
        return self.unambiguous(origin, text)

    def with_pages(self, origin: Placed, text: str) -> str:
        """Markdown links to files of the folder made links to their pages: `[Text](Other%20note.md)`."""
        parts, position = [], 0
        for link in FILE_LINK.finditer(mask_code(text)):
            url, anchor = text[slice(*link.span("url"))], text[slice(*link.span("anchor"))]
            page = self.find_file(url, origin)
            if page:
                parts += [text[position : link.start("all")], f"wiki:{page.slug}{anchor}"]
                position = link.end("all")
        return "".join(parts) + text[position:]

    def block_link(self, reference: re.Match[str]) -> str:
        """A reference to a block as a link to its page, which says what the block says."""
        row = self.temp.first(NAMES["find_mark"], mark=reference["id"])
        return f"[[{row[0]}#^{reference['id']}|{row[3] or row[0]}]]" if row else reference[0]

    def unambiguous(self, origin: Placed, text: str) -> str:
        if not self.ambiguous(text):
            return text
        for slug in sorted({note.slug for link in find_links(text) if (note := self.find_misled(text, link, origin))}):
            text = self.respell(text, origin, slug)
        return text

    def ambiguous(self, text: str) -> bool:
        """Return whether a link in the text may use a shared name: then reading all of its links takes longer."""
        written = dict.fromkeys(slugs(words(link[1])[-1] for link in WRITTEN.finditer(text)))
        return any(self.is_shared(slug) for slug in written)

    def respell(self, text: str, origin: Placed, slug: str) -> str:
        def means_it(link: Target) -> bool:
            note = self.find_misled(text, link, origin)
            return note is not None and note.slug == slug

        return rewrite_links(text, means_it, slug)

    def find_misled(self, text: str, link: Target, origin: Placed) -> Meant | None:
        """The note that a link means, when the wiki would find another."""
        written = WRITTEN.match(text, link.start)
        if link.space or not written or not self.is_shared(link.slug):
            return None
        note = self.find(written[1], origin)
        return note if note and note.slug != link.slug else None

    def names(self, placed: Placed, note: Note) -> tuple[str, ...]:
        """Aliases of the page: those of the note, each also without the folder in it, and the name of the file."""
        aliases = with_bare(note.aliases, is_file=placed.is_file)
        return tuple(dict.fromkeys(filter(None, (*aliases, *self.telling_name(placed, note)))))

    def telling_name(self, placed: Placed, note: Note) -> list[str]:
        """The name of the file, where neither the slug nor the title says the same, nor begins with it."""
        named = self.file_name(placed)
        known = set(slugs([note.title])) | {placed.slug}
        cut = self.format is Format.NOTION and any(note.title.startswith(name[:40]) for name in named)
        return [] if cut or known.intersection(slugs(named)) else named

    def keep_record(self, path: str, record: bytes) -> None:
        """Store what an export says of a file besides."""
        self.temp.put(NAMES["add_told"], path=path, record=record)

    def record(self, path: str) -> bytes | None:
        found = self.temp.first(NAMES["find_told"], path=path)
        return found[0] if found else None


def meaning_from(row: Sequence[Any] | None) -> Meant | None:
    return Meant(row[0], UUID(bytes=row[1]) if row[1] else None, row[2]) if row else None


def with_bare(aliases: Sequence[str], *, is_file: bool) -> Iterator[str]:
    """Yield the aliases. A file's `Folder/Name` also answers to `Name`; a line lists every name already."""
    yield from aliases
    if is_file:
        yield from (alias.rpartition("/")[2].strip() for alias in aliases if "/" in alias)


def slugs(names: Iterable[str]) -> Iterator[str]:
    for name in names:
        try:
            yield slugify(name)
        except NoSlug:
            continue


def words(path: str) -> tuple[str, ...]:
    """The parts of a path as they are compared: some file systems take letters and accents apart."""
    path = normalize("NFC", path).casefold().strip().strip("/")
    bare = path.removesuffix(".md").removesuffix(".markdown")
    return tuple(part for part in bare.split("/") if part not in ("", ".")) or ("",)


def join_folders(folders: Iterable[str]) -> str:
    """Folders as they are kept: each with a mark before it, so that they compare and end as the parts of a path do."""
    return "".join(f"{MARK}{folder}" for folder in folders)


def ends(folder: str, wanted: str) -> bool:
    return folder.endswith(wanted)
