"""The tally that is stored with a mention, and when that has earned a page.

A tally is a sum over sources, and the verdict only ever turns from no to yes as it grows: so the same sources earn the
same names their pages, in any order, in batches of any size and over any number of years.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from content.names import normalise
from content.search.words import SPACELESS

from ..planner import MentionCard, SourceText
from .names.sightings import ABOUT_IT, ARTICLE, Sighting
from .texts import metadata
from .texts.language import HAN

EARNED = 3  # what the sources of a name weigh together
SOURCES_MIN, LINKING_MIN = 2, 3  # sources, and where one links the name by hand
DAYS_MAX = 3  # of one source, that count like sources
ASIDE = 1 / 3  # of a source that links by hand what matters, and only writes the name with a capital
KANA_MIN = 4  # sources that say two letters of katakana as they say somebody's name
OPENINGS_MIN = 3  # sources in which a rare word only begins sentences
TOLD_MIN = 2  # sources in which a word that only begins sentences says or wants something, as people do
PARTS_MIN = 2  # sources that use a short form beside the whole name, from which on others of the whole name count
DOMINANT = 3  # times as often as any other
PLACES_SHARE = 3  # more than one source in so many says of a place that something is in it
FORMS_MAX, TAGS_MAX, COMPANIONS_MAX = 6, 8, 12
# Marks that leave it open whether there is a name at all, unless it has several words.
LOOSE = frozenset({"bold", "quote"})


# Marks of a word that a source is about, rather than of a name that it says.
ABOUT = frozenset({"tag", "link", "subject"})
# Marks that a source has as a whole.
OF_SOURCE = frozenset({"tag", "city", "journal", "place", "project", "title", "titled", "link"})
# Marks that words of the language have, too.
WORDS = frozenset({"tag", "link", "title", "work", "bold", "quote"})
# Marks that are evidence of some names only, and what they are where a source has no other.
ONLY = {"part": "only part", "open": "only open", "bare": "only bare"}
# Marks that say more of a sighting, and are none themselves.
NOT_SAID = frozenset(
    {"about", "titled", "decided", "short", "where", "acts", "rare", "unlisted", "item", *ONLY.values()}
)


@dataclass(slots=True)
class Tally:
    """The sum of the sources that say a name: `weight` is how much they say of it, `marks` how it is marked.

    `read` are all of them, `sources` those that surely mean a name or a thing.
    """

    marks: Counter[str] = field(default_factory=Counter)
    sources: int = 0
    weight: float = 0.0
    read: int = 0
    forms: Counter[str] = field(default_factory=Counter)
    people: int = 0
    tags: Counter[str] = field(default_factory=Counter)
    companions: Counter[str] = field(default_factory=Counter)
    is_known_person: bool = False
    """Whether the name that this is the first word of is a person's."""
    whole_read: int = 0
    """The number of sources that say the name which this is a part of, where that is known."""
    same_as: Counter[str] = field(default_factory=Counter)
    """Other names of the same thing, as sources introduce them: `JavaScript (JS)`."""

    def add(
        self, sighting: Sighting, source: SourceText, companions: Iterable[str] = (), *, is_decided: bool = False
    ) -> None:
        """Add one more source, with entries of several days as one for each day.

        `is_decided` says that a decision in it is about the name.
        """
        times = min(sighting.days, DAYS_MAX)
        self.marks.update({mark: 1 if mark in OF_SOURCE else times for mark in sighting.marks})
        alone = sighting.marks - {"short"}
        if len(alone) == 1 and not alone.isdisjoint(ONLY):
            self.marks[ONLY[next(iter(alone))]] += times
        is_common = sighting.marks <= {"noun", "term"} and " " not in sighting.key and sighting.name.islower()
        if is_common or sighting.marks <= {"part", "short", "inside"}:
            is_decided = False  # a word or a part of the name of what was decided
        if is_decided:
            self.marks["decided"] += 1
        if sighting.where:
            self.marks["where"] += 1
        if sighting.acted and sighting.is_brief:
            self.marks["acts"] += 1
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
        """Add sources of which somebody recorded that they say the name."""
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
        self.marks += other.marks
        self.sources += other.sources
        self.weight += other.weight
        self.read += other.read
        self.forms += other.forms
        self.people += other.people
        self.tags += other.tags
        self.companions += other.companions
        self.same_as += other.same_as

    @property
    def is_person(self) -> bool:
        """Return whether one source in three says that it is a person.

        `with Obsidian Sync` says it once of a thing; of people one source in three says it at least.
        """
        return self.is_known_person or 3 * self.people >= sum(self.forms.values()) > 0

    def cluster(self, key: str) -> dict[str, Any]:
        """Return the tally as it is stored with the mention, and how far it is from a page."""
        standing = standing_of(key, self)
        introduced = {"same_as": _most(self.same_as, FORMS_MAX)} if self.same_as else {}
        return {
            "marks": dict(sorted(self.marks.items())),
            "sources": self.sources,
            "weight": self.weight,
            "read": self.read,
            "evidence": standing.evidence,
            "lacks": standing.lacks,
            "forms": _most(self.forms, FORMS_MAX),
            "people": self.people,
            "observed_tags": _most(self.tags, TAGS_MAX),
            "co_mentions": _most(self.companions, COMPANIONS_MAX),
            **introduced,
        }


def tally_of(card: MentionCard | None) -> Tally:
    """Return the stored tally, with the sources of which somebody recorded by hand that they say the name."""
    if card is None:
        return Tally()
    kept = card.cluster
    if not isinstance(kept.get("marks"), Mapping):
        tally = Tally(forms=Counter({card.name: 1}))
        tally.add_said(len(card.source_ids))
        return tally
    days = kept.get("days")
    sources = _number(kept, "sources", len(days) if isinstance(days, list) else 0)  # former versions kept the days
    tally = Tally(
        _counter(kept, "marks"),
        int(sources),
        _number(kept, "weight", sources),
        int(_number(kept, "read", len(card.source_ids))),
        _counter(kept, "forms"),
        int(_number(kept, "people", 0)),
        _counter(kept, "observed_tags"),
        _counter(kept, "co_mentions"),
        same_as=_counter(kept, "same_as"),
    )
    tally.add_said(len(card.source_ids) - tally.read)
    return tally


class Standing(NamedTuple):
    """The standing of a name: it has its page with evidence of 3, and `lacks` says what is missing."""

    type: str | None
    evidence: float
    lacks: str | None


def earned_type(key: str, tally: Tally) -> str | None:
    """Return the type of the page that the name has earned; None as long as it is held."""
    return standing_of(key, tally).type


def has_earned(card: MentionCard) -> bool:
    """Return whether a mention has earned a page by what was kept with it."""
    return earned_type(card.alias, tally_of(card)) is not None


def standing_of(key: str, tally: Tally) -> Standing:
    """Weigh the evidence: two sources at least that say enough of what is surely a name or a subject."""
    marks = tally.marks
    if marks["city"] + marks["journal"] >= 2:
        return Standing("topic", EARNED, None)
    if marks["place"] or marks["person"] + marks["project"] >= 2:
        return Standing("entity", EARNED, None)
    is_part = _is_part_name(key, tally)
    is_name = is_part or _is_name(key, tally)
    type = _type_of(tally, is_name=is_name, is_part=is_part)
    if type is None:
        return Standing(None, 0.0, "naming")
    weight, sources = tally.weight, tally.sources
    are_counted = is_name or marks["term"] + marks["link"] + marks["item"] + marks["titled"] > 0
    for mark, only in ONLY.items():
        if not (is_part if mark == "part" else are_counted):
            weight, sources = weight - marks[only], sources - marks[only]
    if not marks["link"]:
        weight -= marks["aside"] - marks["aside"] * ASIDE
    is_enough = sources >= (LINKING_MIN if marks["link"] else SOURCES_MIN)
    evidence = max(0.0, min(weight, EARNED if is_enough else sources))
    return Standing(type, EARNED, None) if evidence >= EARNED else Standing(None, round(evidence, 2), "sources")


def _is_part_name(key: str, tally: Tally) -> bool:
    """Return whether this part of a name is somebody's or something's name by itself."""
    is_part = tally.marks["part"] and (tally.is_person or tally.marks["short"])
    return bool(is_part) and full_name(key, tally) is not None


def _is_name(key: str, tally: Tally) -> bool:
    """Return whether the sources leave no doubt that it is a name."""
    marks = tally.marks
    return bool(
        marks["name"] + marks["said"] + marks["aside"] + marks["person"] + marks["project"]
        or marks["at"] >= 2
        or (marks["bare"] and marks["open"])
        or marks["unlisted"]
        or (marks["open"] and tally.people >= (KANA_MIN if SPACELESS.search(key) else TOLD_MIN) and not HAN.search(key))
        or (" " in key and tally.people)
        or (min(marks["open"], marks["rare"]) >= OPENINGS_MIN and marks["acts"] + marks["part"])
    )


def _type_of(tally: Tally, *, is_name: bool, is_part: bool) -> str | None:
    """Return the type of a page of it, if its sources leave no doubt that it is a name or a subject."""
    marks = tally.marks
    if marks["city"] + marks["journal"]:
        return "topic"
    said = sum(count for mark, count in marks.items() if mark not in NOT_SAID)
    is_kind = 0 < said == marks["subject"] <= marks["titled"]  # what titles alone say is the kind of the notes
    is_subject = marks["about"] or marks["term"] or marks["work"] or (marks["title"] and said > marks["title"])
    is_name_too = tally.is_person or is_part or marks["name"] >= (2 if any(marks[mark] for mark in WORDS) else 1)
    if is_name and (is_name_too or not is_subject):
        return "entity"
    return "topic" if is_subject and not is_kind else None


def full_name(key: str, tally: Tally) -> str | None:
    """Return the one name of several words that this first name is part of; None if there is none, or several.

    The first word of what is no person stands for the whole where it comes alone no more often than with the rest, or
    is one that texts hardly ever say, and is no place: `Larkspur` for `Larkspur Robotics`, but not `Berlin` for
    `Berlin Marathon`. So does what stands behind a product: `Sync` for `Acme Sync`.
    """
    whole = whole_of(key, tally)
    if whole is None or tally.is_person or (tally.marks["short"] and not tally.marks["where"]):
        return whole
    alone = sum(count for form, count in tally.forms.items() if normalise(form) == key)
    joined = sum(count for form, count in tally.forms.items() if normalise(form) == normalise(whole))
    is_last = normalise(whole).endswith(f" {key}")
    if is_last and tally.marks["part"] >= PARTS_MIN:
        joined = max(joined, tally.whole_read)
    elif tally.marks["rare"] and not is_last:
        joined = max(joined, alone)
    most = tally.read // PLACES_SHARE if is_last else 0
    return whole if 0 < alone <= joined and tally.marks["where"] <= most else None


def whole_of(key: str, tally: Tally) -> str | None:
    """Return the only name that begins with this word.

    One that is written three times as often as every other is the one: the others are what only stood beside it.
    """
    wholes: dict[str, list[str]] = {}
    for form in tally.forms if tally.marks["part"] else ():
        if (normal := normalise(form)) != key:
            wholes.setdefault(normal, []).append(form)
    counts = sorted((sum(tally.forms[form] for form in forms), whole) for whole, forms in wholes.items())
    if not counts or (len(counts) > 1 and counts[-1][0] < DOMINANT * counts[-2][0]):
        return None
    return max(wholes[counts[-1][1]], key=lambda form: (tally.forms[form], form))


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

    A city's name with its region comes before the bare one, a title with its article, and what was written for readers
    before what was written for machines.
    """

    def rank(form: str) -> tuple[object, ...]:
        with_region = bool(tally.marks["city"]) and "," in form
        is_work = tally.marks["title"] or tally.marks["work"] or tally.marks["quote"]
        with_article = bool(is_work) and ARTICLE.match(form.lower()) is not None
        return (
            with_region,
            "_" not in form,
            with_article,
            tally.forms[form],
            sum(map(str.isupper, form)),
            len(form),
            form,
        )

    forms = [form for form in tally.forms if normalise(form) == key or not tally.marks["part"]]
    best = full_name(key, tally) or max(forms or tally.forms, key=rank)
    return best if best[1:2].isupper() else best[:1].upper() + best[1:]


def _most(counts: Counter[str], limit: int) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda one: (-one[1], one[0]))[:limit])


def _counter(kept: Mapping[str, Any], name: str) -> Counter[str]:
    """Return a stored counter. One that another planner left there in another form counts as empty."""
    counts = kept.get(name)
    pairs = counts.items() if isinstance(counts, Mapping) else ()
    return Counter({str(key): count for key, count in pairs if isinstance(count, int)})


def _number(kept: Mapping[str, Any], name: str, default: float) -> float:
    """Return a stored number that is none below zero."""
    number = kept.get(name)
    return number if isinstance(number, int | float) and number >= 0 else default
