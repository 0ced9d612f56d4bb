"""Plain evidence for names: short notes that contain a name without any mark, once other sources use it as a name.

`Put the tools into the box room` does not show that a box room is something that the writer keeps notes about. It
counts if other sources show that, and alike whether it comes before or after them.
"""

import asyncio
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from content.search.words import SPACELESS

from ..planner import Knowledge
from .counting import Counts
from .evidence import says_capital
from .names.common_nouns import GENERIC
from .names.phrases import NameIndex, may_be_phrase, phrases
from .names.sightings import Sighting
from .names.variants import KnownNames
from .reading_cache import read
from .readings import Reading
from .standing import EARNED, earned_type
from .tallies import Tally, tally_of
from .texts.text import padded

WORDS_MAX = 3  # words of a name that may have plain evidence
CHARACTERS_MAX = 6  # characters of one in a script without spaces
SOURCES_MAX = 12  # compiled sources in which each name is looked for


def names_to_look_up(readings: Iterable[Reading]) -> Iterator[str]:
    """Yield the phrases of short notes, of which other sources may have shown that they are names."""
    for reading in readings:
        if reading.is_brief:
            yield from filter(_is_short, phrases(reading))


def _is_short(phrase: str) -> bool:
    return len(phrase) <= CHARACTERS_MAX if SPACELESS.search(phrase) else phrase.count(" ") < WORDS_MAX


class PlainEvidence:
    """Counts the short notes that plainly contain names without a page: those of a batch, and the compiled ones."""

    def __init__(self, counts: Counts, known: KnownNames, knowledge: Knowledge) -> None:
        self.counts, self.known, self.knowledge = counts, known, knowledge

    async def add(self, readings: Collection[Reading]) -> None:
        """Add the plain evidence to the tallies of the names that may earn a page with it."""
        brief = [reading for reading in readings if reading.is_brief]
        tallies = self._lacking(brief)
        compiled = await self._compiled_notes(tallies)
        for key, tally in tallies.items():
            needs_capital = " " not in key and earned_type(key, replace(tally, plain=EARNED)) == "entity"
            notes = [*brief, *compiled.get(key, ())]
            tally.plain = sum(contains(note, key, needs_capital=needs_capital) for note in notes)
            if tally.plain:
                self.counts.tallies[key] = tally
            await asyncio.sleep(0)

    def _lacking(self, brief: Iterable[Reading]) -> dict[str, Tally]:
        """Return the tallies of the names in a batch that have earned no page, but may with plain evidence."""
        tallies = {key: tally for key, tally in self.counts.tallies.items() if not self.counts.is_earned(key)}
        held = {key: card for key, card in self.known.held.items() if card.status == "open"}
        index = NameIndex(key for key in held.keys() - self.counts.tallies.keys() if self.known.page(key) is None)
        for note in brief:
            tallies.update((key, tally_of(held[key])) for key in index.names_in(note))
        return {
            key: tally
            for key, tally in tallies.items()
            if _is_short(key) and earned_type(key, replace(tally, plain=EARNED))
        }

    async def _compiled_notes(self, names: Collection[str]) -> Mapping[str, Sequence[Reading]]:
        """Return the compiled short notes that have the words of each name."""
        found = await self.knowledge.sources_with(sorted(names), SOURCES_MAX) if names else {}
        wanted = {id for ids in found.values() for id in ids}
        sources = await self.knowledge.sources(sorted(wanted, key=str)) if wanted else {}
        notes = {id: reading for id, source in sources.items() if (reading := await read(source)).is_brief}
        return {name: [notes[id] for id in ids if id in notes] for name, ids in found.items()}


def contains(note: Reading, key: str, *, needs_capital: bool) -> bool:
    """Return whether a note contains a name that is none of its sightings, outside of longer names."""
    if key in note.sightings or padded(key) not in note.words or key in GENERIC.get(note.language, ()):
        return False
    if not may_be_phrase(key, note.language):
        return False
    longer = [padded(name) for name, sighting in note.sightings.items() if _is_longer(name, sighting, key)]
    sentences = note.alone(key, sorted(longer, key=len, reverse=True))
    return any(not needs_capital or says_capital(sentence, key) for sentence in sentences)


def _is_longer(name: str, sighting: Sighting, key: str) -> bool:
    """Return whether a longer name contains this name. The first word of a sentence may be none of the longer name."""
    may_be_word = sighting.marks == {"first"} and name.partition(" ")[2] == key
    return f" {key} " in f" {name} " and not may_be_word
