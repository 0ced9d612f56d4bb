"""Which page each note becomes: its type and its slug, the same ones whenever it is imported."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import PurePosixPath
from typing import Any
from uuid import UUID

from content.notes import BadNote, Note
from content.slugs import NoSlug, numbered, slugify

from ..errors import BadInput
from .pieces import Problem
from .shelf import Shelf

DEFAULT_TYPE = "reference"
PLACED_AT_ONCE = 500
TABLES = (
    "CREATE TABLE known (type TEXT, label TEXT, slug TEXT, page_id BLOB, PRIMARY KEY (type, label)) WITHOUT ROWID",
    """CREATE TABLE found (id INTEGER PRIMARY KEY, label TEXT, is_file INTEGER, type TEXT, slug TEXT, title TEXT,
    place INTEGER)""",
    """CREATE TABLE placed (id INTEGER PRIMARY KEY, found INTEGER, label TEXT, is_file INTEGER, type TEXT, slug TEXT,
    place INTEGER, page_id BLOB, created INTEGER, changed INTEGER)""",
    "CREATE UNIQUE INDEX placed_slug ON placed (slug, type)",
    "CREATE INDEX placed_found ON placed (found)",
    "CREATE INDEX placed_page ON placed (page_id) WHERE page_id IS NOT NULL",
    "CREATE TABLE stubs (found INTEGER PRIMARY KEY, label TEXT, place INTEGER)",
    "CREATE TABLE numbers (slug TEXT PRIMARY KEY, next INTEGER) WITHOUT ROWID",
)
KNOW = """INSERT INTO known VALUES (?, ?, ?, ?) ON CONFLICT (type, label)
    DO UPDATE SET slug = excluded.slug, page_id = excluded.page_id WHERE excluded.page_id < known.page_id"""
ADD = "INSERT INTO found VALUES (?, ?, ?, ?, ?, ?, ?)"
ADD_STUB = "INSERT INTO stubs VALUES (?, ?, ?)"
STUBS = "SELECT label, place FROM stubs ORDER BY found"
IN_TURN = """SELECT f.id, f.label, f.is_file, f.type, f.slug, f.title, f.place, k.slug FROM found AS f
    LEFT JOIN known AS k ON k.type = f.type AND k.label = f.label
    ORDER BY f.slug IS NULL, k.slug IS NULL, f.is_file * (length(f.label) - length(replace(f.label, '/', ''))), f.id"""
TAKE = "INSERT INTO placed (found, label, is_file, type, slug, place) VALUES (?, ?, ?, ?, ?, ?)"
OF_SLUG = "SELECT label FROM placed WHERE slug = ? AND type = ?"
IS_TAKEN = "SELECT 1 FROM placed WHERE slug = ?"
NEXT = "SELECT next FROM numbers WHERE slug = ?"
COUNTED = "INSERT OR REPLACE INTO numbers VALUES (?, ?)"
TO_WRITE = "SELECT id, label, is_file, type, slug, place FROM placed ORDER BY id"
WRITTEN = "UPDATE placed SET page_id = ?, created = ?, changed = ? WHERE id = ?"
TO_TIE = """SELECT id, label, is_file, type, slug, place, page_id, created, changed FROM placed
    WHERE page_id IS NOT NULL ORDER BY id"""
PAGES = "SELECT DISTINCT page_id FROM placed WHERE page_id IS NOT NULL ORDER BY page_id"


@dataclass(frozen=True, slots=True)
class Found:
    """A note as it was read. One from a line has a label, but no path."""

    id: int
    label: str
    note: Note
    path: PurePosixPath | None = None


@dataclass(frozen=True, slots=True)
class Placed:
    """A note, and the type and slug of its page. What it says waits at `place`."""

    id: int
    label: str
    path: PurePosixPath | None
    type: str
    slug: str
    place: int


@dataclass(frozen=True, slots=True)
class Kept:
    """A note that is a page now, and what became of that page when it was written."""

    placed: Placed
    page_id: UUID
    created: bool
    changed: bool


class Places:
    """A page for each note. A file that became a page before stays that page.

    A slug that a note gives comes first, then those that are known, then titles, the least deep file first. Of two
    notes with one title the second gets the name of its folder into its slug, or a number.
    """

    def __init__(self, shelf: Shelf) -> None:
        self.shelf = shelf
        shelf.make(*TABLES)

    def know(self, pages: Iterable[Mapping[str, Any]]) -> None:
        """Which file became which page before: of several pages the oldest."""
        self.shelf.put_all(KNOW, ((page["type"], page["path"], page["slug"], page["id"].bytes) for page in pages))

    def add(self, found: Found, place: int) -> None:
        """What it says waits at `place`."""
        if found.note.redirect_to:
            self.shelf.put(ADD_STUB, found.id, found.label, place)
            return
        type = found.note.type or DEFAULT_TYPE
        is_file = found.path is not None
        self.shelf.put(ADD, found.id, found.label, is_file, type, found.note.slug, found.note.title, place)

    def place(self) -> Iterator[list[tuple[int, str] | Problem]]:
        """Some notes after the other: their numbers and slugs, or why there is none."""
        for rows in self.shelf.some(PLACED_AT_ONCE, IN_TURN):
            yield [self.placed(row) for row in rows]

    def placed(self, row: Sequence[Any]) -> tuple[int, str] | Problem:
        id, label, is_file, type, given, title, place, known = row
        try:
            folder = PurePosixPath(label).parent.name if is_file else ""
            slug = given or self.free(known, title, folder)
            self.check(type, slug)
        except (NoSlug, BadNote) as error:
            return Problem(label, BadInput.code, str(error))
        self.shelf.put(TAKE, id, label, is_file, type, slug, place)
        return id, slug

    def check(self, type: str, slug: str) -> None:
        if first := self.shelf.first(OF_SLUG, slug, type):
            raise BadNote(f'{first[0]} has the slug "{slug}" already: give one of them another')

    def free(self, known: str | None, title: str, folder: str) -> str:
        """Free in every type, so that a name in a link means one page."""
        if known and not self.is_taken(known):
            return known
        slug = slugify(title)
        if not self.is_taken(slug):
            return slug
        if folder and not self.is_taken(told := slugify(f"{title} {folder}")):
            return told
        return self.numbered(slug)

    def numbered(self, slug: str) -> str:
        """The first number that is free; those before the last one that was given are not."""
        (start,) = self.shelf.first(NEXT, slug) or (2,)
        number = next(n for n in count(start) if not self.is_taken(numbered(slug, n)))
        self.shelf.put(COUNTED, slug, number + 1)
        return numbered(slug, number)

    def is_taken(self, slug: str) -> bool:
        return self.shelf.first(IS_TAKEN, slug) is not None

    def total(self) -> int:
        return self.shelf.count("placed")

    def to_write(self, size: int) -> Iterator[list[Placed]]:
        """All of them in their order, so many at once."""
        for rows in self.shelf.some(size, TO_WRITE):
            yield [placed(row) for row in rows]

    def keep(self, kept: Iterable[Kept]) -> None:
        """What became of some."""
        self.shelf.put_all(WRITTEN, [(one.page_id.bytes, one.created, one.changed, one.placed.id) for one in kept])

    def to_tie(self, size: int) -> Iterator[list[Kept]]:
        """Those that are pages now, in the same order."""
        for rows in self.shelf.some(size, TO_TIE):
            yield [Kept(placed(row[:6]), UUID(bytes=row[6]), bool(row[7]), bool(row[8])) for row in rows]

    def stubs(self, size: int) -> Iterator[list[tuple[str, int]]]:
        """Labels and places of those that are no pages, but say where a name leads."""
        for rows in self.shelf.some(size, STUBS):
            yield [(label, place) for label, place in rows]

    def page_ids(self, size: int) -> Iterator[list[UUID]]:
        """Each page once."""
        for rows in self.shelf.some(size, PAGES):
            yield [UUID(bytes=page_id) for (page_id,) in rows]


def placed(row: Sequence[Any]) -> Placed:
    id, label, is_file, type, slug, place = row
    return Placed(id, label, PurePosixPath(label) if is_file else None, type, slug, place)
