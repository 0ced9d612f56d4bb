"""Counts of the names of a batch, with what was stored of them before, and the pages that these earn them."""

from collections.abc import Collection, Iterator, Sequence
from uuid import UUID

from ..planner import HeldName
from ..quoting import SENTENCE_MAX
from .decisions import decisions
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
from .tallies import Tally, earned_type, full_name, suggestion, tally_of, title, whole_of
from .texts.text import fold_text, normalised, padded

COMPANIONS_MAX = 6  # of one source, for one name


class Counts:
    """The names without a page: where this batch saw them, and the sum of that and of what was kept."""

    def __init__(self, known: KnownNames) -> None:
        self.known = known
        self.tallies: dict[str, Tally] = {}
        self.sighted: dict[str, list[tuple[Reading, Sighting]]] = {}
        self.shorter: dict[str, tuple[str, str]] = {}
        """By short form the name that it stands for, and how the short form is written."""
        self.introduced: dict[str, UUID] = {}
        """By short form a source of this batch that introduces it."""

    def add(self, readings: Sequence[Reading]) -> None:
        """Add each sighting of a name without a page to what was stored of it."""
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
        """Return what is known of a name without a page, in this batch or from before it."""
        return self.tallies.get(key) or (tally_of(self.known.held[key]) if key in self.known.held else None)

    def written(self, key: str) -> str:
        """Return a name as sources write it."""
        return title(key, self.tallies[key]) if key in self.tallies else key

    def is_earned(self, key: str) -> bool:
        """Return whether a name without a page has earned one."""
        return key in self.tallies and self.verdict(key) is not None

    def verdict(self, key: str) -> str | None:
        """Return the type of the page that a name has earned; None as long as it is held."""
        if key in self.shorter and self.is_seen(self.shorter[key][0]):
            return None
        whole = (self.tallies[key], self.both_numbers(key), self.all_forms(key))
        return next(filter(None, (earned_type(key, tally) for tally in whole if tally)), None)

    def is_seen(self, key: str) -> bool:
        """Return whether there is a page or evidence of this name."""
        return key in self.tallies or self.known.page(key) is not None

    def forms_of(self, key: str) -> dict[str, str]:
        """Return the other forms of a name that were seen, as they are written: its short forms and other spelling."""
        found = {short: name for short, (long, name) in self.shorter.items() if long == key}
        spelt = other_spelling(key)
        if spelt and spelt != key and (spelt in self.tallies or spelt in self.known.held):
            tally = self.tallies.get(spelt)
            found[spelt] = next(iter(tally.forms), spelt) if tally else self.known.held[spelt].name
        return {form: name for form, name in found.items() if not self.known.is_ignored(form)}

    def all_forms(self, key: str) -> Tally | None:
        """Return the sum of what was seen of all forms of a name; None where it has one."""
        whole = None
        for form in self.forms_of(key):
            if form in self.tallies or form in self.known.held:
                whole = whole or self.tallies[key].copy()
                whole.merge(self.tallies[form] if form in self.tallies else tally_of(self.known.held[form]))
        return whole

    def short_of(self, key: str, name: str) -> str | None:
        """Return the first or last word of a name where sources use it alone: as somebody's name, or for one thing."""
        words = key.split()
        found = (self._short_of(key, name, word) for word in dict.fromkeys((words[0], words[-1])))
        return next(filter(None, found), None)

    def _short_of(self, key: str, name: str, first: str) -> str | None:
        tally = self.tallies.get(first) or (tally_of(self.known.held[first]) if first in self.known.held else None)
        if tally is None or first == key:
            return None
        full = full_name(first, tally)
        is_short = normalised(full) == key if full else tally.is_person and first_name(name, key) == first
        return first if is_short else None

    def may_be_person(self, key: str) -> bool:
        """Return whether the sources of a name say that it is a person's, or nothing is known of them."""
        tally = self._tally(key)
        return tally is None or tally.is_person

    def both_numbers(self, key: str) -> Tally | None:
        """Return singular and plural together, of an acronym or where one was marked as a word of the language is."""
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
        """Yield a mention for each source that saw a name without a page for the first time."""
        for key, seen in self.sighted.items():
            card, tally = self.known.held.get(key), self.tallies[key]
            if key in drafted:
                continue
            type, cluster = suggestion(tally), tally.cluster(key)
            for reading, sighting in seen:
                if card is None or reading.source.id not in card.source_ids:
                    quote = sighting.context[:SENTENCE_MAX]
                    name = next(
                        (one for one in (sighting.name, sighting.name.split()[0]) if normalised(one) == key), key
                    )
                    yield HeldName(name, reading.source.id, quote, type, cluster)


def is_decided(reading: Reading, key: str) -> bool:
    """Return whether the source decides something about this name."""
    return any(padded(key) in fold_text(one.title) for one in decisions(reading))


def _companions(reading: Reading, key: str) -> list[str]:
    """Return the names that the same source says."""
    others = (
        other
        for other, one in reading.sightings.items()
        if other != key and one.marks & {"name", "place", "city", "person", "link"}
    )
    return sorted(others)[:COMPANIONS_MAX]
