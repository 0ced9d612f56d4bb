"""Which page each note becomes: its type and its slug, the same ones whenever it is imported."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import PurePosixPath

from content.notes import BadNote, Note
from content.slugs import NoSlug, numbered, slugify

from .errors import BadInput
from .note_files import Problem

DEFAULT_TYPE = "reference"

Known = Mapping[tuple[str, str], str]
"""(type, label) of a file → the slug of the page that it became before."""


@dataclass(frozen=True, slots=True)
class Found:
    """A note as it was read, without what it says: that waits at `place`. One from a line has a label, but no path."""

    label: str
    note: Note
    path: PurePosixPath | None = None
    place: int = 0

    @property
    def key(self) -> tuple[str, str]:
        return self.note.type or DEFAULT_TYPE, self.label

    @property
    def folder(self) -> str:
        return self.path.parent.name if self.path else ""

    @property
    def depth(self) -> int:
        return len(self.path.parts) if self.path else 0


@dataclass(frozen=True, slots=True)
class Placed:
    """A note, and the type and slug of its page."""

    label: str
    note: Note
    path: PurePosixPath | None
    type: str
    slug: str
    place: int = 0


def place(notes: Sequence[Found], known: Known) -> list[Placed | Problem]:
    """A page for each. A file that became a page before stays that page.

    A slug that a note gives comes first, then those that are known, then titles, the least deep file first. Of two
    notes with one title the second gets the name of its folder into its slug, or a number.
    """
    places = Places(known)
    ordered = sorted(notes, key=lambda found: (not found.note.slug, found.key not in known, found.depth))
    return [places.place(found) for found in ordered]


class Places:
    """The slugs that are taken by the notes of one import."""

    def __init__(self, known: Known) -> None:
        self.known = known
        self.taken: dict[tuple[str, str], str] = {}
        self.slugs: set[str] = set()

    def place(self, found: Found) -> Placed | Problem:
        try:
            slug = found.note.slug or self.free(found)
            return self.take(found, slug)
        except (NoSlug, BadNote) as error:
            return Problem(found.label, BadInput.code, str(error))

    def take(self, found: Found, slug: str) -> Placed:
        type, label = found.key
        if first := self.taken.get((type, slug)):
            raise BadNote(f'{first} has the slug "{slug}" already: give one of them another')
        self.taken[type, slug] = label
        self.slugs.add(slug)
        return Placed(label, found.note, found.path, type, slug, found.place)

    def free(self, found: Found) -> str:
        """Free in every type, so that a name in a link means one page."""
        return next(slug for slug in self.wished(found) if slug not in self.slugs)

    def wished(self, found: Found) -> Iterator[str]:
        if found.key in self.known:
            yield self.known[found.key]
        slug = slugify(found.note.title)
        yield slug
        if found.folder:
            yield slugify(f"{found.note.title} {found.folder}")
        yield from (numbered(slug, number) for number in count(2))
