"""What a name means that is written in a note: Obsidian goes by files and folders, a wiki by slugs and aliases."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from posixpath import basename, splitext
from typing import NamedTuple
from uuid import UUID

from content.links import Target, find_links, rewrite_links
from content.notes import Note
from content.slugs import NoSlug, slugify
from db.shelf import Shelf, shelf_statements

from .places import Found, Placed

NAMES = shelf_statements("names")
WRITTEN = re.compile(r"!?\[\[([^\[\]|#\\]+)")
MARK = "\x01"


class Meant(NamedTuple):
    """The note that a name means: the slug of its page, and that page once it is written."""

    slug: str
    page_id: UUID | None


class Vault:
    """The notes of one folder, found by what others call them."""

    def __init__(self, shelf: Shelf, *, is_export: bool) -> None:
        """In an export links mean what they mean in the wiki, and nothing is found here."""
        self.shelf, self.is_export = shelf, is_export
        shelf.make(NAMES["make_tables"])

    def add(self, found: Found) -> None:
        """A note that was read, with the slugs by which a link may mean it, but for the one that it will get."""
        if self.is_export:
            return
        if found.is_file:
            *folders, name = words(found.label)
            self.shelf.put(NAMES["add_file"], id=found.id, name=name, folder=joined(folders), depth=len(folders))
        aliases = with_bare(found.note.aliases, is_file=found.is_file)
        claims = set(slugs((found.note.title, *aliases, *file_name(found))))
        self.shelf.put_all(NAMES["add_claim"], [{"slug": slug, "id": found.id} for slug in claims])

    def place(self, placed: Iterable[tuple[int, str]]) -> None:
        """The slugs that notes got."""
        if not self.is_export:
            self.shelf.put_all(NAMES["add_claim"], ({"slug": slug, "id": id} for id, slug in placed))

    def find(self, name: str, origin: Placed) -> Meant | None:
        """The note of that file name, in the folders that are written before it; near the origin, else near the top."""
        if self.is_export or not origin.is_file:
            return None
        *wanted, last = words(name)
        folder, here = joined(wanted), joined(words(origin.label)[:-1])
        near = self.shelf.first(NAMES["find_near"], name=last, folder=here) if ends(here, folder) else None
        row = near or self.shelf.first(NAMES["find_anywhere"], name=last, folder=folder)
        return Meant(row[0], UUID(bytes=row[1]) if row[1] else None) if row else None

    def is_shared(self, slug: str) -> bool:
        """Whether several notes go by it."""
        return self.shelf.first(NAMES["find_shared"], slug=slug) is not None

    def body(self, origin: Placed, text: str) -> str:
        """The note's text, its links spelled so that the wiki finds the page that Obsidian does.

        Only a name that several notes go by is spelled anew, with the slug of the one that it means.
        """
        if not self.ambiguous(text):
            return text
        for slug in sorted({note.slug for link in find_links(text) if (note := self.misled(text, link, origin))}):
            text = self.respelled(text, origin, slug)
        return text

    def ambiguous(self, text: str) -> bool:
        """Whether it could hold such a name: reading all of its links takes longer."""
        if self.is_export:
            return False
        written = dict.fromkeys(slugs(words(link[1])[-1] for link in WRITTEN.finditer(text)))
        return any(self.is_shared(slug) for slug in written)

    def respelled(self, text: str, origin: Placed, slug: str) -> str:
        def means_it(link: Target) -> bool:
            note = self.misled(text, link, origin)
            return note is not None and note.slug == slug

        return rewrite_links(text, means_it, slug)

    def misled(self, text: str, link: Target, origin: Placed) -> Meant | None:
        """The note that a link means, when the wiki would find another."""
        written = WRITTEN.match(text, link.start)
        if link.space or not written or not self.is_shared(link.slug):
            return None
        note = self.find(written[1], origin)
        return note if note and note.slug != link.slug else None


def names(placed: Placed, note: Note) -> tuple[str, ...]:
    """Aliases of the page: those of the note, each also without the folder in it, and the name of the file."""
    aliases = with_bare(note.aliases, is_file=placed.is_file)
    return tuple(dict.fromkeys(filter(None, (*aliases, *telling_name(placed, note)))))


def with_bare(aliases: Sequence[str], *, is_file: bool) -> Iterator[str]:
    """Of a file `Folder/Name` also answers to `Name`; a line has told every name."""
    yield from aliases
    if is_file:
        yield from (alias.rpartition("/")[2].strip() for alias in aliases if "/" in alias)


def telling_name(placed: Placed, note: Note) -> list[str]:
    """The name of the file, where neither the slug nor the title says the same."""
    name = file_name(placed)
    return [] if set(slugs(name)) <= {placed.slug, *slugs([note.title])} else name


def file_name(note: Found | Placed) -> list[str]:
    """The name of its file without what it ends in, if it has one."""
    return [splitext(basename(note.label))[0]] if note.is_file else []


def slugs(names: Iterable[str]) -> Iterator[str]:
    for name in names:
        try:
            yield slugify(name)
        except NoSlug:
            continue


def words(path: str) -> tuple[str, ...]:
    """The parts of a path as they are compared: some file systems take letters and accents apart."""
    path = unicodedata.normalize("NFC", path).casefold().strip().strip("/")
    bare = path.removesuffix(".md").removesuffix(".markdown")
    return tuple(part for part in bare.split("/") if part not in ("", ".")) or ("",)


def joined(folders: Iterable[str]) -> str:
    """Folders as they are kept: each with a mark before it, so that they compare and end as the parts of a path do."""
    return "".join(f"{MARK}{folder}" for folder in folders)


def ends(folder: str, wanted: str) -> bool:
    return folder.endswith(wanted)
