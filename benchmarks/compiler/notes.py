"""Generates sources as people and their agents write them over two years: daily notes, memories, ideas and reading
notes.

The same seed gives the same sources, byte by byte. People who come first in the vocabulary are named most often, and
some names occur only once.
"""

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import accumulate
from typing import Any, TypeVar

from resolvers.sources.sources import SourceDraft

from .lives import LANGUAGES, Life, life
from .writings import Writing, first_quotes

BEGAN = datetime(2024, 11, 1, tzinfo=UTC)
DAYS = 730
DOCUMENT_SHARE = 0.22  # the share of documents among all sources, if there are enough texts
KINDS = {"daily_note": 0.50, "memory_unit": 0.32, "journal_idea": 0.10, "reading": 0.08}
LANGUAGE_WEIGHTS = {"en": 8.0, "de": 3.0, "fr": 2.0, "pt": 2.0, "zh": 1.0, "ja": 1.0}
MEMORIES_PER_THREAD = 6  # memories per thread
SLOT = re.compile(r"\{(\w+)\}")
T = TypeVar("T")


def notes(
    count: int, seed: int = 1, texts: Sequence[Writing] = (), languages: Sequence[str] = LANGUAGES
) -> list[SourceDraft]:
    """Return `count` sources, the oldest first."""
    author = Author(seed, texts, languages)
    read = author.rng.sample(texts, min(len(texts), int(count * DOCUMENT_SHARE)))
    drafts = [*map(author.document, read), *(author.note(number) for number in range(count - len(read)))]
    return sorted(drafts, key=lambda draft: (draft.captured_at or BEGAN, draft.ref))


def sources_by_scope(sources: int, scopes: int, seed: int = 1) -> Iterator[tuple[int, list[SourceDraft]]]:
    """Yield the number and the sources of each scope. Each scope has one language, and the first scopes have more
    sources."""
    weights = [1 + 4 / (scope + 1) for scope in range(scopes)]
    total, start = sum(weights), 0
    for scope, reached in enumerate(accumulate(weights)):
        end = round(sources * reached / total)
        yield scope, notes(end - start, seed * 100_000 + scope, (), (LANGUAGES[scope % len(LANGUAGES)],))
        start = end


class Author:
    """Writes the sources of one wiki."""

    def __init__(self, seed: int, texts: Sequence[Writing], languages: Sequence[str]) -> None:
        self.rng = random.Random(seed)
        self.languages = list(languages)
        self.quotes = first_quotes(texts)

    def note(self, number: int) -> SourceDraft:
        kinds = list(KINDS)[: len(KINDS) if self.quotes else -1]
        kind = self.rng.choices(kinds, [KINDS[kind] for kind in kinds])[0]
        language = self.rng.choices(self.languages, [LANGUAGE_WEIGHTS[language] for language in self.languages])[0]
        at = self.moment()
        note = NoteContent(self.rng, life(language), self.rng.choice(self.quotes) if self.quotes else ("", ""))
        return getattr(self, kind)(note, at, number)  # type: ignore[no-any-return]

    def moment(self) -> datetime:
        """Draw a random moment of the two years: later days are more likely."""
        day = int(DAYS * self.rng.random() ** 0.8)
        return BEGAN + timedelta(days=day, seconds=self.rng.randrange(6 * 3600, 23 * 3600))

    def daily_note(self, note: "NoteContent", at: datetime, number: int) -> SourceDraft:
        content = note.some_of(note.life.days, self.rng.choice((1, 1, 2, 3)))
        return draft("daily_note", f"{at:%Y-%m-%d}-{number}", content, at, note.metadata(city=0.9, place=0.5))

    def memory_unit(self, note: "NoteContent", at: datetime, number: int) -> SourceDraft:
        thread = {"thread_id": f"thread-{number // MEMORIES_PER_THREAD}"}
        content = note.some_of(note.life.memories)
        return draft("memory_unit", f"memory-{number}", content, at, thread | note.metadata(city=0.3, person=0.4))

    def journal_idea(self, note: "NoteContent", at: datetime, number: int) -> SourceDraft:
        journal = {"journal_id": self.rng.choice(note.life.journals)}
        content = note.some_of(note.life.ideas)
        return draft("journal_idea", f"idea-{number}", content, at, journal | note.metadata(city=1.0, place=0.9))

    def reading(self, note: "NoteContent", at: datetime, number: int) -> SourceDraft:
        return draft("daily_note", f"read-{number}", note.some_of(note.life.reading), at, note.metadata())

    def document(self, text: Writing) -> SourceDraft:
        tags = [text.name.partition("/")[0]]
        return SourceDraft("document", text.name[:400], text.text, text.title, self.moment(), {"tags": tags})


def draft(kind: str, ref: str, content: str, at: datetime, metadata: dict[str, Any]) -> SourceDraft:
    return SourceDraft(kind, ref, content, None, at, metadata)


class NoteContent:
    """One note: all its sentences name the same people and things."""

    def __init__(self, rng: random.Random, of: Life, read: tuple[str, str]) -> None:
        self.rng, self.life = rng, of
        place, city = draw_early_ones(rng, of.places)
        person, other = draw_early_ones(rng, of.people), rng.choice(of.people)
        self.names: Mapping[str, str] = {
            "person": person,
            "other": other if other != person else rng.choice([name for name in of.people if name != person]),
            "place": place,
            "city": city,
            "project": draw_early_ones(rng, of.projects),
            "tool": rng.choice(of.tools),
            "thing": rng.choice(of.things),
            "rare": f"{rng.choice(of.first)}{'' if not of.first[0].isascii() else ' '}{rng.choice(of.last)}",
            "number": str(rng.randrange(3, 29)),
            "title": read[0],
            "quote": read[1],
        }
        self.placeholders: set[str] = set()

    def some_of(self, sentences: Sequence[str], count: int = 1) -> str:
        chosen = "\n\n".join(self.rng.sample(sentences, count))
        self.placeholders.update(SLOT.findall(chosen))
        return SLOT.sub(lambda slot: self.names[slot[1]], chosen)

    def metadata(self, **chances: float) -> dict[str, Any]:
        """Return tags always, and each other key with its probability if a sentence names it; a city needs no
        sentence."""
        found: dict[str, Any] = {"tags": self.rng.sample(self.life.tags, self.rng.choice((1, 1, 2)))}
        for kind, chance in chances.items():
            if self.rng.random() < chance and (kind in self.placeholders or kind == "city"):
                found[kind] = self.names[kind]
        return found


def draw_early_ones(rng: random.Random, among: Sequence[T]) -> T:
    """Draw an item; the first items are drawn more often than the last."""
    return among[int(len(among) * rng.random() ** 1.6)]
