"""What a name means that is written in a note: Obsidian goes by files and folders, a wiki by slugs and aliases."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePosixPath

from content.links import Target, find_links, rewrite_links
from content.slugs import NoSlug, slugify

from .note_places import Placed

WRITTEN = re.compile(r"!?\[\[([^\[\]|#\\]+)")


class Vault:
    """The notes of one folder, found by what others call them."""

    def __init__(self, notes: Sequence[Placed]) -> None:
        self.by_name: dict[str, list[tuple[tuple[str, ...], Placed]]] = {}
        for note in notes:
            if note.path:
                parts = words(note.path.as_posix())
                self.by_name.setdefault(parts[-1], []).append((parts, note))
        self.claims = Counter(slug for note in notes for slug in claimed(note))

    def find(self, name: str, origin: Placed) -> Placed | None:
        """The note of that file name, in the folders that are written before it; near the origin, else near the top."""
        wanted = words(name)
        named = self.by_name.get(wanted[-1], ()) if origin.path else ()
        here = words(origin.path.as_posix())[:-1] if origin.path else ()
        found = [(parts[:-1] != here, len(parts), parts, note) for parts, note in named if ends(parts, wanted)]
        return min(found, key=lambda one: one[:3])[3] if found else None

    def body(self, origin: Placed) -> str:
        """The note's text, its links spelled so that the wiki finds the page that Obsidian does.

        Only a name that several notes go by is spelled anew, with the slug of the one that it means.
        """
        text = origin.note.body
        if not self.ambiguous(text):
            return text
        for slug in sorted({note.slug for link in find_links(text) if (note := self.misled(text, link, origin))}):
            text = self.respelled(text, origin, slug)
        return text

    def ambiguous(self, text: str) -> bool:
        """Whether it could hold such a name: reading all of its links takes longer."""
        return any(self.claims[slug] > 1 for slug in slugs(words(link[1])[-1] for link in WRITTEN.finditer(text)))

    def respelled(self, text: str, origin: Placed, slug: str) -> str:
        def means_it(link: Target) -> bool:
            note = self.misled(text, link, origin)
            return note is not None and note.slug == slug

        return rewrite_links(text, means_it, slug)

    def misled(self, text: str, link: Target, origin: Placed) -> Placed | None:
        """The note that a link means, when the wiki would find another."""
        written = WRITTEN.match(text, link.start)
        if link.space or not written or self.claims[link.slug] < 2:
            return None
        note = self.find(written[1], origin)
        return note if note and note.slug != link.slug else None


def names(note: Placed) -> tuple[str, ...]:
    """Aliases of the page: those of the note, each also without the folder in it, and the name of the file."""
    aliases = note.note.aliases
    bare = (alias.rpartition("/")[2].strip() for alias in aliases if "/" in alias)
    return tuple(dict.fromkeys(filter(None, (*aliases, *bare, *file_name(note)))))


def file_name(note: Placed) -> list[str]:
    """None where the slug or the title says the same."""
    name = [note.path.stem] if note.path else []
    return [] if set(slugs(name)) <= {note.slug, *slugs([note.note.title])} else name


def claimed(note: Placed) -> set[str]:
    """The slugs by which a link may mean this note."""
    return {note.slug, *slugs((note.note.title, *names(note)))}


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
    return PurePosixPath(bare).parts or ("",)


def ends(parts: tuple[str, ...], wanted: tuple[str, ...]) -> bool:
    return parts[-len(wanted) :] == wanted
