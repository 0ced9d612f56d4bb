"""The tally of a name: the sum of its sightings, stored as the `cluster` of a mention (`standing`).

Each sighting has marks, which say how the source writes the name. They are stored, so their spelling must not change:

- `place`, `city`, `person`, `project`, `journal`: the metadata or a field of a record has the name.
- `tag`, `link`, `at`: the text has it as `#tag`, `[[link]]` or `@name`; for tags also the metadata.
- `category`: the metadata has it as a category, and the text does not contain it.
- `title`: it is the title of the source. `titled`: the title or top heading contains it.
- `work`, `bold`, `quote`: it is written as `《work》`, in bold, in quotation marks or in italics.
- `name`: capitals inside a sentence, or the grammar around it, show that it is a name.
- `first`: a name of several words at the beginning of a sentence, where the first capital means nothing.
- `open`: a word that only begins sentences, or that may be a name in a script without capitals.
- `bare`: a German noun without an article, which may be a name.
- `part`: a part of a longer name, such as a first name. `short`: a part that the source uses for the longer name.
- `joined`: two names joined by "and". `inside`: one of these two names, if the source has it nowhere else.
- `aside`: a name by its capitals alone, in a source that links by hand what matters to its writer.
- `subject`: a subject of the source (`subjects`). `noun`: a noun of a short note. `item`: the label of an item.
- `term`: a word in small letters that no dictionary has, or one with capitals or digits inside, in a short note.
- `code`: a capital with one or two digits (`H3`). `file`: the name of the file of a short note.

A tally has further marks: `said` (people recorded that a source says the name), `decided` (a decision is about it),
`about` (the source is about it), `where` (something is in it or goes there), `acts` (it does something, in a short
note), `common` (a noun of two words, both common), `actor` (it begins a German sentence without an article and does
something), `opening` (it only begins sentences of a short note, in another language), `linked` (a short note links
it), `rare` (hardly any text has the word), `unlisted` (no dictionary has it), and `only part`, `only open`,
`only bare`, `only file` and `only category` (the source has no other mark for it).
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from content.names import normalise

from ..planner import MentionCard, SourceText
from .names.sightings import ABOUT_IT, Sighting
from .texts import metadata

DAYS_MAX = 3  # days of one source that count like sources
# Marks that do not prove a name, unless it has several words.
LOOSE = frozenset({"bold", "quote"})
# Marks of a word that a source is about, rather than of a name in its text.
ABOUT = frozenset({"tag", "category", "link", "subject"})
# Marks that count once per source, whatever the number of its days.
OF_SOURCE = frozenset({"tag", "category", "city", "journal", "place", "project", "title", "titled", "link"})
# Marks that count only for some names, with the mark of a tally for sources that have no other.
ONLY = {"part": "only part", "open": "only open", "bare": "only bare", "file": "only file", "category": "only category"}


@dataclass(slots=True)
class Tally:
    """The sum of the sightings of a name. Sources with several days count like several sources."""

    marks: Counter[str] = field(default_factory=Counter)
    sources: int = 0
    """The number of sources that surely mean a name or a thing."""
    weight: float = 0.0
    """The sum of the weights of these sources: how much they say about it."""
    read: int = 0
    """The number of all sources that contain the name."""
    forms: Counter[str] = field(default_factory=Counter)
    """The name as sources write it."""
    people: int = 0
    """The number of sources that use it as a person's name."""
    tags: Counter[str] = field(default_factory=Counter)
    companions: Counter[str] = field(default_factory=Counter)
    """Other names in the same sources."""
    is_known_person: bool = False
    """Whether the longer name that begins with this word is a person's."""
    whole_read: int = 0
    """The number of sources that contain the longer name of which this is a part, if that is known."""
    same_as: Counter[str] = field(default_factory=Counter)
    """Other names of the same thing, as sources introduce them: `JavaScript (JS)`."""
    plain: int = 0
    """The number of further short notes that contain the name without any mark (`plain_evidence`). It is not stored."""

    def add(
        self, sighting: Sighting, source: SourceText, companions: Iterable[str] = (), *, is_decided: bool = False
    ) -> None:
        """Add the sighting of a source. Entries of several days count as one source per day, up to DAYS_MAX.

        `is_decided` says that a decision in the source is about the name.
        """
        times = min(sighting.days, DAYS_MAX)
        self.marks.update({mark: 1 if mark in OF_SOURCE else times for mark in sighting.marks})
        alone = sighting.marks - {"short"}
        if len(alone) == 1 and not alone.isdisjoint(ONLY):
            self.marks[ONLY[next(iter(alone))]] += times
        is_common = sighting.marks <= {"noun", "term"} and sighting.name.isalpha() and sighting.name.islower()
        if is_common or sighting.marks <= {"part", "short", "inside"}:
            is_decided = False  # an ordinary word, or a part of a longer name
        if is_decided:
            self.marks["decided"] += 1
        if sighting.where:
            self.marks["where"] += 1
        if sighting.acted and sighting.is_brief:
            self.marks["acts"] += 1
        if sighting.is_common and "noun" in sighting.marks:
            self.marks["common"] += 1
        if sighting.is_opening:
            self.marks["opening"] += 1
        if sighting.is_linked:
            self.marks["linked"] += 1
        if sighting.is_actor:
            self.marks["actor"] += 1
        if sighting.is_rare:
            self.marks["rare"] += 1
        if sighting.is_sure_opening:
            self.marks["unlisted"] += 1
        if is_decided or not ABOUT.isdisjoint(sighting.marks):
            self.marks["about"] += times
        self.read += 1
        if sighting.marks - LOOSE or " " in sighting.key:
            self.sources += times
            self.weight += (ABOUT_IT if is_decided else sighting.weight) * times
        self.forms[sighting.name] += times
        self.people += times * sighting.is_person
        if sighting.marks & {"place", "person", "project", "title"}:
            self.tags.update(metadata.tags(source))
        self.companions.update(companions)

    def add_said(self, count: int) -> None:
        """Add sources for which people recorded that they contain the name."""
        if count > 0:
            self.marks["said"] += count
            self.sources += count
            self.weight += count
            self.read += count

    def copy(self) -> "Tally":
        copied = Tally()
        copied.merge(self)
        return copied

    def merge(self, other: "Tally") -> None:
        """Add the sums of another tally to this one."""
        self.marks += other.marks
        self.sources += other.sources
        self.weight += other.weight
        self.read += other.read
        self.forms += other.forms
        self.people += other.people
        self.tags += other.tags
        self.companions += other.companions
        self.same_as += other.same_as

    def form_of(self, key: str) -> str:
        """Return a name as sources write it, rather than a longer name of which it is a part."""
        return next((form for form in self.forms if normalise(form) == key), key)

    @property
    def is_person(self) -> bool:
        """Return whether at least one source in three uses it as a person's name.

        One of many sources does not suffice, because `with Obsidian Sync` looks like a person as well.
        """
        return self.is_known_person or 3 * self.people >= sum(self.forms.values()) > 0


def tally_of(card: MentionCard | None) -> Tally:
    """Return the tally that is stored with a mention, with the sightings that people recorded by hand."""
    if card is None:
        return Tally()
    stored = card.cluster
    if not isinstance(stored.get("marks"), Mapping):
        tally = Tally(forms=Counter({card.name: 1}))
        tally.add_said(len(card.source_ids))
        return tally
    days = stored.get("days")
    sources = _number(stored, "sources", len(days) if isinstance(days, list) else 0)  # old versions stored the days
    tally = Tally(
        _counter(stored, "marks"),
        int(sources),
        _number(stored, "weight", sources),
        int(_number(stored, "read", len(card.source_ids))),
        _counter(stored, "forms"),
        int(_number(stored, "people", 0)),
        _counter(stored, "observed_tags"),
        _counter(stored, "co_mentions"),
        same_as=_counter(stored, "same_as"),
    )
    tally.add_said(len(card.source_ids) - tally.read)
    return tally


def _counter(stored: Mapping[str, Any], name: str) -> Counter[str]:
    """Return a stored counter. Data that another planner stored in another form counts as empty."""
    counts = stored.get(name)
    pairs = counts.items() if isinstance(counts, Mapping) else ()
    return Counter({str(key): count for key, count in pairs if isinstance(count, int)})


def _number(stored: Mapping[str, Any], name: str, default: float) -> float:
    """Return a stored number, or the default if it is missing or negative."""
    number = stored.get(name)
    return number if isinstance(number, int | float) and number >= 0 else default
