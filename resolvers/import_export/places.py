"""The assignment of a type and a slug to each note, which is the same whenever the note is imported."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from posixpath import basename, dirname
from typing import Any
from uuid import UUID

from content.names import NoSlug, numbered_slug, slugify
from content.notes.notes import BadNote, Note
from content.notes.notion import without_id

from ..errors import BadInput
from .disk.temp_database import TempDatabase, temp_statements
from .notes import ImportProblem

DEFAULT_TYPE = "reference"
NOTES_PER_BATCH = 500
PLACES = temp_statements("places")


@dataclass(frozen=True, slots=True)
class NoteFound:
    """A note that was read. The label of a note from a file is its path in the folder."""

    id: int
    label: str
    note: Note
    is_file: bool = False
    folder_type: str | None = None
    """The type that the folder of the file implies; it applies to a note without a type."""


@dataclass(frozen=True, slots=True)
class PlacedNote:
    """A note with the type and slug of its page. `place` is the position of the note in the spool."""

    id: int
    label: str
    is_file: bool
    type: str
    slug: str
    place: int


@dataclass(frozen=True, slots=True)
class NoteSaved:
    """A note that was saved as a page, and whether the page was created or changed."""

    placed: PlacedNote
    page_id: UUID
    created: bool
    changed: bool


class Places:
    """The types and slugs of the notes. A file that was imported before keeps its page.

    Slugs are taken in this order: those that notes specify, those of earlier imports, then those made from titles,
    files near the top first. If the slug of a title is taken, the folder or a number is added to it.
    """

    def __init__(self, temp: TempDatabase) -> None:
        self.temp = temp
        temp.make(PLACES["make_tables"])

    def add_known_pages(self, pages: Iterable[Mapping[str, Any]]) -> None:
        """Store which files are pages already; of several pages of one file, the oldest counts."""
        rows = (
            {"type": page["type"], "label": page["path"], "slug": page["slug"], "page_id": page["id"].bytes}
            for page in pages
        )
        self.temp.put_all(PLACES["know_page"], rows)

    def add(self, found: NoteFound, place: int) -> None:
        """Add a note that was read; `place` is its position in the spool."""
        note, here = found.note, {"id": found.id, "label": found.label, "place": place}
        if note.redirect_to:
            self.temp.put(PLACES["add_stub"], **here)
            return
        facts = {"type": note.type or self.known_type(found) or DEFAULT_TYPE, "slug": note.slug, "title": note.title}
        self.temp.put(PLACES["add_note"], **here, is_file=found.is_file, **facts)

    def known_type(self, found: NoteFound) -> str | None:
        """Return the type of the page that the file is already, which never changes, else the type of its folder."""
        row = self.temp.first(PLACES["find_known_type"], label=found.label) if found.is_file else None
        return row[0] if row else found.folder_type

    def place(self) -> Iterator[list[tuple[int, str] | ImportProblem]]:
        """Give each note its slug, in batches: yield the note's id and slug, or the problem why it has none."""
        for rows in self.temp.batches(NOTES_PER_BATCH, PLACES["list_notes"]):
            yield [self.place_note(row) for row in rows]

    def place_note(self, row: Sequence[Any]) -> tuple[int, str] | ImportProblem:
        id, label, is_file, type, given, title, place, known = row
        try:
            folder = without_id(basename(dirname(label)))[0] if is_file else ""
            slug = given or self.free(known, title, folder)
            self.check(type, slug)
        except (NoSlug, BadNote) as error:
            return ImportProblem(label, BadInput.code, str(error))
        self.temp.put(PLACES["take_slug"], id=id, label=label, is_file=is_file, type=type, slug=slug, place=place)
        return id, slug

    def check(self, type: str, slug: str) -> None:
        if first := self.temp.first(PLACES["find_holder"], slug=slug, type=type):
            raise BadNote(f'{first[0]} has the slug "{slug}" already: give one of them another')

    def free(self, known: str | None, title: str, folder: str) -> str:
        """Return a slug that no note of any type has, so that a name in a link is unambiguous."""
        if known and not self.is_taken(known):
            return known
        slug = slugify(title)
        if not self.is_taken(slug):
            return slug
        if folder and not self.is_taken(told := slugify(f"{title} {folder}")):
            return told
        return self.first_free(slug)

    def first_free(self, slug: str) -> str:
        """Return the slug with the first free number, counting from the number that was given last."""
        (start,) = self.temp.first(PLACES["find_number"], slug=slug) or (2,)
        number = next(n for n in count(start) if not self.is_taken(numbered_slug(slug, n)))
        self.temp.put(PLACES["keep_number"], slug=slug, next=number + 1)
        return numbered_slug(slug, number)

    def is_taken(self, slug: str) -> bool:
        return self.temp.first(PLACES["find_taken"], slug=slug) is not None

    def total(self) -> int:
        return self.temp.count(PLACES["count_placed"])

    def placed_notes(self, size: int) -> Iterator[list[PlacedNote]]:
        """Yield all placed notes in their order, in batches of `size`."""
        for rows in self.temp.batches(size, PLACES["list_placed"]):
            yield [placed_note(row) for row in rows]

    def store_saved(self, saved: Iterable[NoteSaved]) -> None:
        """Store the pages that some notes were saved as."""
        rows = (
            {"id": note.placed.id, "page_id": note.page_id.bytes, "created": note.created, "changed": note.changed}
            for note in saved
        )
        self.temp.put_all(PLACES["keep_page"], rows)

    def saved_notes(self, size: int) -> Iterator[list[NoteSaved]]:
        """Yield the notes that were saved as pages, in the same order, in batches of `size`."""
        for rows in self.temp.batches(size, PLACES["list_pages"]):
            yield [NoteSaved(placed_note(row[:6]), UUID(bytes=row[6]), bool(row[7]), bool(row[8])) for row in rows]

    def stubs(self, size: int) -> Iterator[list[tuple[str, int]]]:
        """Yield the labels and places of the stubs, which redirect a slug to a page, in batches of `size`."""
        for rows in self.temp.batches(size, PLACES["list_stubs"]):
            yield [(label, place) for label, place in rows]

    def page_ids(self, size: int) -> Iterator[list[UUID]]:
        """Yield the id of each page once, in batches of `size`."""
        for rows in self.temp.batches(size, PLACES["list_page_ids"]):
            yield [UUID(bytes=page_id) for (page_id,) in rows]


def placed_note(row: Sequence[Any]) -> PlacedNote:
    id, label, is_file, type, slug, place = row
    return PlacedNote(id, label, bool(is_file), type, slug, place)
