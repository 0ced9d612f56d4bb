"""The names without a page in a batch: their sightings, their tallies, and the pages that they have earned."""

from collections.abc import Collection, Iterator, Sequence
from uuid import UUID

from ..planner import HeldName
from ..quoting import SENTENCE_MAX
from .decisions.decisions import decisions
from .names.sightings import Sighting, first_name
from .names.variants import (
    NUMBERED,
    KnownNames,
    city_names,
    find_introductions,
    is_plural_acronym,
    other_number,
    other_spelling,
    short_forms,
)
from .readings import Reading
from .standing import cluster, earned_type, full_name, suggestion, title, whole_of
from .tallies import Tally, tally_of
from .texts.text import fold_text, normalised, padded

COMPANIONS_MAX = 6  # companions of one name in one source


class Counts:
    """The names without a page that a batch contains."""

    def __init__(self, known: KnownNames) -> None:
        self.known = known
        self.tallies: dict[str, Tally] = {}
        """The stored tally of each name, with the sightings of this batch added."""
        self.sighted: dict[str, list[tuple[Reading, Sighting]]] = {}
        """The sightings of each name in this batch."""
        self.shorter: dict[str, tuple[str, str]] = {}
        """For each short form, the name for which it stands and the short form as it is written."""
        self.introduced: dict[str, UUID] = {}
        """For each short form, a source of this batch that introduces it."""

    def add(self, readings: Sequence[Reading]) -> None:
        """Add each sighting of a name without a page to the stored tally of the name.

        A source, in all its versions, counts once.
        """
        said: dict[str, dict[str, str]] = {}
        for reading in readings:
            for name, short in find_introductions(reading):
                self.shorter[short.key] = name, short.name
                self.introduced[short.key] = reading.source.id
                said.setdefault(short.key, {})[name] = name
                said.setdefault(name, {})[short.key] = short.name
        for reading in readings:
            parts = {sighting.key: place for place, sighting in short_forms(reading)}
            for key, sighting in reading.sightings.items():
                if key not in parts and self.known.page(key) is None and not self.known.is_ignored(key):
                    self.sighted.setdefault(key, []).append((reading, sighting))
        for key, seen in self.sighted.items():
            card = self.known.held.get(key)
            tally = self.tallies[key] = tally_of(card)
            counted = set(card.source_ids) if card else set()
            for reading, sighting in seen:
                versions = {reading.source.id, *reading.source.earlier_ids}
                if counted.isdisjoint(versions):
                    tally.add(sighting, reading.source, _companions(reading, key), is_decided=is_decided(reading, key))
                    tally.forms.update(name for city, name in city_names(reading) if city == key and "," in name)
                counted |= versions
        for key, tally in self.tallies.items():
            whole = self._tally(normalised(whole_of(key, tally) or ""))
            tally.is_known_person = whole is not None and whole.is_person
            tally.whole_read = whole.read if whole else 0
            tally.same_as.update(said.get(key, {}).values())
            for name in tally.same_as:
                if len(normalised(name)) > len(key):
                    self.shorter.setdefault(key, (normalised(name), next(iter(tally.forms), key)))

    def _tally(self, key: str) -> Tally | None:
        """Return the tally of a name without a page, whether this batch contains it or not."""
        return self.tallies.get(key) or (tally_of(self.known.held[key]) if key in self.known.held else None)

    def written(self, key: str) -> str:
        """Return a name as most sources write it."""
        return title(key, self.tallies[key]) if key in self.tallies else key

    def is_earned(self, key: str) -> bool:
        """Return whether a name of this batch has earned a page."""
        return key in self.tallies and self.earned_type(key) is not None

    def earned_type(self, key: str) -> str | None:
        """Return the type of the page that a name has earned, or None.

        The evidence for its plural or singular and for its other forms counts as well. A short form earns no page of
        its own if its longer name is known.
        """
        if key in self.shorter and self.is_known(self.shorter[key][0]):
            return None
        tallies = (self.tallies[key], self.both_numbers(key), self.all_forms(key))
        return next(filter(None, (earned_type(key, tally) for tally in tallies if tally)), None)

    def is_known(self, key: str) -> bool:
        """Return whether the name has a page, or is in this batch."""
        return key in self.tallies or self.known.page(key) is not None

    def forms_of(self, key: str) -> dict[str, str]:
        """Return the other known forms of a name as they are written: its short forms and its other spelling."""
        found = {short: name for short, (long, name) in self.shorter.items() if long == key}
        spelt = other_spelling(key)
        if spelt and spelt != key and (spelt in self.tallies or spelt in self.known.held):
            tally = self.tallies.get(spelt)
            found[spelt] = next(iter(tally.forms), spelt) if tally else self.known.held[spelt].name
        return {form: name for form, name in found.items() if not self.known.is_ignored(form)}

    def all_forms(self, key: str) -> Tally | None:
        """Return the sum of the tallies of all forms of a name, or None if it has only one form."""
        whole = None
        for form in self.forms_of(key):
            if form in self.tallies or form in self.known.held:
                whole = whole or self.tallies[key].copy()
                whole.merge(self.tallies[form] if form in self.tallies else tally_of(self.known.held[form]))
        return whole

    def short_of(self, key: str, name: str) -> str | None:
        """Return the first or last word of a name if sources use it alone for the same person or thing, or None."""
        words = key.split()
        found = (self._short_of(key, name, word) for word in dict.fromkeys((words[0], words[-1])))
        return next(filter(None, found), None)

    def _short_of(self, key: str, name: str, word: str) -> str | None:
        """Return the word if sources use it alone for the person or thing with this name, or None."""
        tally = self._tally(word)
        if tally is None or word == key:
            return None
        full = full_name(word, tally)
        is_short = normalised(full) == key if full else tally.is_person and first_name(name, key) == word
        return word if is_short else None

    def may_be_person(self, key: str) -> bool:
        """Return whether the name is a person's by its tally, or has no tally."""
        tally = self._tally(key)
        return tally is None or tally.is_person

    def both_numbers(self, key: str) -> Tally | None:
        """Return the sum of the tallies of singular and plural, or None if they are not the same name.

        They are if one is the plural of an acronym, or has a mark that ordinary words have.
        """
        other = other_number(key)
        if other is None or self.known.is_ignored(other):
            return None
        if other not in self.tallies and other not in self.known.held:
            return None
        both = Tally()
        both.merge(self.tallies[key])
        both.merge(self.tallies[other] if other in self.tallies else tally_of(self.known.held[other]))
        return both if set(both.marks) & NUMBERED or any(map(is_plural_acronym, both.forms)) else None

    def held_names(self, drafted: Collection[str]) -> Iterator[HeldName]:
        """Yield each new sighting of a name that has no page and no draft, to be stored with its mention."""
        for key, seen in self.sighted.items():
            card, tally = self.known.held.get(key), self.tallies[key]
            if key in drafted:
                continue
            type, stored = suggestion(tally), cluster(key, tally)
            for reading, sighting in seen:
                if card is None or reading.source.id not in card.source_ids:
                    quote = sighting.context[:SENTENCE_MAX]
                    forms = (sighting.name, sighting.name.split()[0])
                    name = next((form for form in forms if normalised(form) == key), key)
                    yield HeldName(name, reading.source.id, quote, type, stored)


def is_decided(reading: Reading, key: str) -> bool:
    """Return whether a decision in the source is about this name."""
    return any(padded(key) in fold_text(decision.title) for decision in decisions(reading))


def _companions(reading: Reading, key: str) -> list[str]:
    """Return other names in the same source."""
    others = (
        other
        for other, sighting in reading.sightings.items()
        if other != key and sighting.marks & {"name", "place", "city", "person", "link"}
    )
    return sorted(others)[:COMPANIONS_MAX]
