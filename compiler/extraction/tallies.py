"""The tally that is stored with a mention, and when that has earned a page.

A tally is a sum over sources, and the verdict only ever turns from no to yes as it grows: so the same sources earn the
same names their pages, in any order and in batches of any size.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from content.names import normalise

from ..planner import MentionCard, SourceText
from . import metadata
from .sightings import Sighting

SEEN_MIN = 3
WINDOW_DAYS = 30
DAYS_MAX = 100  # no three of them in one window: so years
FORMS_MAX, TAGS_MAX, COMPANIONS_MAX = 6, 8, 12
# Marks that leave it open whether there is a name at all, unless it has several words.
LOOSE = frozenset({"bold", "quote"})


@dataclass(slots=True)
class Tally:
    """The number of sources that saw a name, marked how and on which days; `days` are ordinals."""

    marks: Counter[str] = field(default_factory=Counter)
    days: list[int] = field(default_factory=list)
    forms: Counter[str] = field(default_factory=Counter)
    people: int = 0
    tags: Counter[str] = field(default_factory=Counter)
    companions: Counter[str] = field(default_factory=Counter)

    def add(self, sighting: Sighting, source: SourceText, companions: Iterable[str] = ()) -> None:
        """Add one more source."""
        self.marks.update(sighting.marks)
        if sighting.marks - LOOSE or " " in sighting.key:
            self.days = sorted([*self.days, source.captured_at.toordinal()])[-DAYS_MAX:]
        self.forms[sighting.name] += 1
        self.people += sighting.is_person
        if sighting.marks & {"place", "person", "project", "title"}:
            self.tags.update(metadata.tags(source))
        self.companions.update(companions)

    def merge(self, other: "Tally") -> None:
        self.marks += other.marks
        self.days = sorted(self.days + other.days)[-DAYS_MAX:]
        self.forms += other.forms
        self.people += other.people
        self.tags += other.tags
        self.companions += other.companions

    @property
    def is_person(self) -> bool:
        """Return whether one source in three says that it is a person.

        `with Obsidian Sync` says it once of a thing; of people one source in three says it at least.
        """
        return 3 * self.people >= sum(self.forms.values()) > 0

    def cluster(self) -> dict[str, Any]:
        """Return the tally as it is stored with the mention."""
        return {
            "marks": dict(sorted(self.marks.items())),
            "days": [date.fromordinal(day).isoformat() for day in self.days],
            "forms": _most(self.forms, FORMS_MAX),
            "people": self.people,
            "observed_tags": _most(self.tags, TAGS_MAX),
            "co_mentions": _most(self.companions, COMPANIONS_MAX),
        }


def tally_of(card: MentionCard | None) -> Tally:
    """Return the stored tally.

    A name that somebody recorded by hand, without a cluster, was said in each of its sources.
    """
    if card is None:
        return Tally()
    kept = card.cluster
    if not isinstance(kept.get("marks"), Mapping):
        days = sorted(day.toordinal() for day in card.seen_at)[-DAYS_MAX:]
        return Tally(Counter({"said": len(card.source_ids)}), days, Counter({card.name: 1}))
    return Tally(
        _counter(kept, "marks"),
        sorted(filter(None, map(_ordinal, kept.get("days") or ())))[-DAYS_MAX:],
        _counter(kept, "forms"),
        people if isinstance(people := kept.get("people"), int) else 0,
        _counter(kept, "observed_tags"),
        _counter(kept, "co_mentions"),
    )


def verdict(key: str, tally: Tally) -> str | None:
    """Return the type of the page that the name has earned; None as long as it is held."""
    marks, has_words = tally.marks, " " in key
    if marks["city"] + marks["journal"] >= 2:
        return "topic"
    if marks["place"] or marks["person"] + marks["project"] >= 2:
        return "entity"
    if not _often(tally.days):
        return None
    part = marks["part"] if full_name(key, tally) else 0
    names = marks["name"] + marks["bare"] + marks["first"] + marks["open"] + marks["said"] + part + marks["aside"] // 3
    is_name = (
        marks["name"]
        or marks["said"]
        or marks["aside"]
        or part
        or (marks["bare"] and marks["open"])
        or (has_words and tally.people)
    )
    if (is_name and names >= SEEN_MIN) or marks["at"] >= 2 or marks["person"] or marks["project"]:
        return "entity"
    if (
        marks["tag"] >= SEEN_MIN
        or marks["work"] >= SEEN_MIN
        or (marks["title"] and sum(marks.values()) > marks["title"])
    ):
        return "entity" if marks["name"] >= 2 else "topic"
    if marks["link"]:
        return "entity" if marks["name"] >= 2 else "topic"
    return None


def full_name(key: str, tally: Tally) -> str | None:
    """Return the one name of several words that this first name is part of; None if there is none, or several."""
    fulls: dict[str, list[str]] = {}
    for form in tally.forms if tally.marks["part"] and tally.is_person else ():
        if (normal := normalise(form)) != key:
            fulls.setdefault(normal, []).append(form)
    return max(next(iter(fulls.values())), key=lambda form: (tally.forms[form], form)) if len(fulls) == 1 else None


def suggestion(tally: Tally) -> str:
    """Return the type it will have if nothing else is seen."""
    marks = tally.marks
    return (
        "topic"
        if not any(marks[mark] for mark in ("name", "aside", "bare", "first", "person", "at", "project"))
        else "entity"
    )


def title(key: str, tally: Tally) -> str:
    """Return the form that most sources write; of equals the one with more capitals, then the longer, then by alphabet.

    A city's name with its region comes before the bare one.
    """

    def rank(form: str) -> tuple[object, ...]:
        with_region = bool(tally.marks["city"]) and "," in form
        return with_region, tally.forms[form], sum(map(str.isupper, form)), len(form), form

    forms = [form for form in tally.forms if normalise(form) == key or not tally.marks["part"]]
    best = full_name(key, tally) or max(forms or tally.forms, key=rank)
    return best[:1].upper() + best[1:]


def _often(days: list[int]) -> bool:
    """Return whether there were three sources within thirty days, in any window."""
    later = days[SEEN_MIN - 1 :]
    return any(last - first < WINDOW_DAYS for first, last in zip(days, later, strict=False))


def _most(counts: Counter[str], limit: int) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda one: (-one[1], one[0]))[:limit])


def _counter(kept: Mapping[str, Any], name: str) -> Counter[str]:
    """Return a stored counter. One that another planner left there in another form counts as empty."""
    counts = kept.get(name)
    pairs = counts.items() if isinstance(counts, Mapping) else ()
    return Counter({str(key): count for key, count in pairs if isinstance(count, int)})


def _ordinal(day: object) -> int | None:
    try:
        return date.fromisoformat(str(day)).toordinal()
    except ValueError:
        return None
