"""The standing of a name: how far its tally is from a page, and which type and title the page would have.

A tally is a sum over sources, and a larger tally never loses a page that a smaller one has earned. So the same sources
earn pages for the same names, in any order and in batches of any size.
"""

from collections import Counter
from typing import Any, NamedTuple

from content.names import normalise
from content.search.words import SPACELESS

from ..planner import MentionCard
from .names.sightings import ARTICLE
from .tallies import ONLY, Tally, tally_of
from .texts.language import HAN

EARNED = 3  # the evidence with which a name has earned a page
# Sources that a page needs, and those that it needs if one links the name by hand or contains it plainly.
SOURCES_MIN, LINKING_MIN = 2, 3
# Short notes that use a word as a noun, and those with the word, that together earn it a page; the same of two words.
NOUNS_MIN, NOTES_MIN = 2, 4
PAIRS_MIN, PAIR_NOTES_MIN = 1, 3
HAN_PAIR = 4  # Chinese characters of two words
PLAIN_MIN = 2  # the evidence with which short notes count that contain a name without any mark
ASIDE = 1 / 3  # the weight of a source whose only mark is `aside`
KANA_MIN = 4  # sources that use a short word in a script without capitals as a person's name
QUOTED_MIN = 2  # short notes that contain what another source quotes as a name
OPENINGS_MIN = 3  # sources in which a rare word only begins sentences
PERSON_OPENINGS_MIN = 2  # sources in which a word that only begins sentences acts as people do
CODES_MIN = 4  # sources with a code such as `H3`
ALONE_MIN = 2  # sources that write a rare word alone, from which on those with a longer name count for it
ACTORS_MIN = 2  # short German notes in which a word without an article begins a sentence and does something
PARTS_MIN = 2  # sources with a short form, from which on the sources with only the whole name count for it
DOMINANT = 3  # how many times as often as any other form the whole name of a short form is written
PLACES_SHARE = 3  # one in so many sources may say that something is in a thing, without making it a place
FORMS_MAX, TAGS_MAX, COMPANIONS_MAX = 6, 8, 12
# Marks that ordinary words have as well.
WORDS = frozenset({"tag", "link", "title", "work", "bold", "quote"})
# Marks that describe a sighting further, and do not count by themselves.
DESCRIBING = frozenset(ONLY.values()) | {
    "about", "titled", "decided", "short", "where", "acts", "actor", "common", "rare", "unlisted", "item", "file",
    "linked", "opening",
}  # fmt: skip


class Standing(NamedTuple):
    """The distance of a name from a page."""

    type: str | None
    """The type of the page that it has earned, or None."""
    evidence: float
    """The evidence, at most EARNED."""
    lacks: str | None
    """What is missing: `naming` if it is not surely a name or a subject, `sources` if the evidence is too little."""


def earned_type(key: str, tally: Tally) -> str | None:
    """Return the type of the page that the name has earned, or None."""
    return standing_of(key, tally).type


def has_earned(card: MentionCard) -> bool:
    """Return whether a mention has earned a page by its stored tally."""
    return earned_type(card.alias, tally_of(card)) is not None


def standing_of(key: str, tally: Tally) -> Standing:
    """Weigh the evidence for a page.

    One mark `place` is enough, and so are two marks `city` or `journal`, or two marks `person` or `project`. Anything
    else must be a sure name or subject, and needs EARNED evidence from SOURCES_MIN sources, or from LINKING_MIN if one
    links the name or contains it plainly. Nouns of short notes need no other mark if enough notes contain them, and
    what one source shows counts at once if short notes confirm it.
    """
    marks = tally.marks
    if marks["city"] + marks["journal"] >= 2:
        return Standing("topic", EARNED, None)
    if marks["place"] or marks["person"] + marks["project"] >= 2:
        return Standing("entity", EARNED, None)
    is_part = _is_part_name(key, tally)
    is_name = is_part or _is_name(key, tally)
    type = _type_of(tally, is_name=is_name, is_part=is_part)
    if _is_confirmed(key, tally) or (type is None and _is_known_noun(key, tally)):
        return Standing("topic", EARNED, None)
    if type is None:
        return Standing(None, 0.0, "naming")
    weight, sources = _counted(key, tally, is_name=is_name, is_part=is_part)
    if marks["name"] and marks["opening"] and sources >= SOURCES_MIN:
        weight = max(weight, EARNED)
    is_enough = sources >= (LINKING_MIN if marks["link"] or tally.plain else SOURCES_MIN)
    evidence = max(0.0, min(weight, EARNED if is_enough else sources))
    if evidence >= EARNED:
        return Standing(type, EARNED, None)
    if _is_known_noun(key, tally):
        return Standing("topic", EARNED, None)
    return Standing(None, round(evidence, 2), "sources")


def _counted(key: str, tally: Tally, *, is_name: bool, is_part: bool) -> tuple[float, int]:
    """Return the weight and the number of the sources that count.

    Sources with only one of the marks in ONLY count if the name is a name by other evidence; files only as
    `_is_confirmed` says, and categories if another source shows the name in any other way.
    """
    marks = tally.marks
    weight, sources = tally.weight, tally.sources
    is_counted = is_name or marks["term"] + marks["link"] + marks["item"] + marks["titled"] > 0
    counted = {
        "part": is_part or (marks["rare"] and _times_alone(key, tally) >= ALONE_MIN),
        "file": False,
        "category": tally.read > marks["only category"],
    }
    for mark, only in ONLY.items():
        if not counted.get(mark, is_counted):
            weight -= marks[only]
            sources -= marks[only]
    if not marks["link"]:
        weight -= marks["aside"] - marks["aside"] * ASIDE
    if tally.plain and weight >= PLAIN_MIN:
        weight += tally.plain
        sources += tally.plain
    return weight, sources


def _is_confirmed(key: str, tally: Tally) -> bool:
    """Return whether short notes link or contain the name of a note's file, or contain what one quotes as a name."""
    marks = tally.marks
    is_phrase = " " in key or SPACELESS.search(key)
    is_quoted = marks["quote"] and is_phrase and tally.plain >= QUOTED_MIN
    return bool(is_quoted or (marks["file"] and (tally.plain or marks["noun"] or marks["linked"])))


def _is_known_noun(key: str, tally: Tally) -> bool:
    """Return whether short notes use it as a noun, unless it is common, and enough notes contain it."""
    is_pair = " " in key or (len(key) >= HAN_PAIR and HAN.search(key))
    nouns, notes = (PAIRS_MIN, PAIR_NOTES_MIN) if is_pair else (NOUNS_MIN, NOTES_MIN)
    return tally.marks["noun"] - tally.marks["common"] >= nouns and tally.read + tally.plain >= notes


def _is_part_name(key: str, tally: Tally) -> bool:
    """Return whether this part of a longer name is used as a name by itself."""
    is_part = tally.marks["part"] and (tally.is_person or tally.marks["short"])
    return bool(is_part) and full_name(key, tally) is not None


def _is_name(key: str, tally: Tally) -> bool:
    """Return whether it is surely a name.

    Marks that are weak by themselves prove a name together, such as a word that only begins sentences and is rare.
    """
    marks = tally.marks
    return bool(
        marks["name"] + marks["said"] + marks["aside"] + marks["person"] + marks["project"]
        or marks["at"] >= 2
        or (marks["bare"] and marks["open"])
        or marks["unlisted"]
        or (
            marks["open"]
            and tally.people >= (KANA_MIN if SPACELESS.search(key) else PERSON_OPENINGS_MIN)
            and not HAN.search(key)
        )
        or (" " in key and tally.people)
        or (min(marks["open"], marks["rare"]) >= OPENINGS_MIN and marks["acts"] + marks["part"])
        or marks["actor"] >= ACTORS_MIN
        or (marks["actor"] and marks["open"] >= OPENINGS_MIN)
        or marks["code"] >= CODES_MIN
    )


def _type_of(tally: Tally, *, is_name: bool, is_part: bool) -> str | None:
    """Return the type of its page, or None if it is not surely a name or a subject."""
    marks = tally.marks
    if marks["city"] + marks["journal"]:
        return "topic"
    said = sum(count for mark, count in marks.items() if mark not in DESCRIBING)
    is_kind = 0 < said == marks["subject"] <= marks["titled"]  # a word of titles alone is the kind of the notes
    is_subject = marks["about"] or marks["term"] or marks["work"] or (marks["title"] and said > marks["title"])
    is_name_too = tally.is_person or is_part or marks["name"] >= (2 if any(marks[mark] for mark in WORDS) else 1)
    if is_name and (is_name_too or not is_subject):
        return "entity"
    return "topic" if is_subject and not is_kind else None


def full_name(key: str, tally: Tally) -> str | None:
    """Return the only longer name for which this part of it stands, or None if there is none or several.

    A person's first name does, and a `short` form that is no place. So does the first word of another name if it is no
    place, and if it is either rare or written alone no more often than in the longer name: `Larkspur` for `Larkspur
    Robotics`, but not `Berlin` for `Berlin Marathon`. So does the word after a product: `Sync` for `Acme Sync`.
    """
    whole = whole_of(key, tally)
    if whole is None or tally.is_person or (tally.marks["short"] and not tally.marks["where"]):
        return whole
    alone = _times_alone(key, tally)
    joined = sum(count for form, count in tally.forms.items() if normalise(form) == normalise(whole))
    is_last = normalise(whole).endswith(f" {key}")
    if is_last and tally.marks["part"] >= PARTS_MIN:
        joined = max(joined, tally.whole_read)
    elif tally.marks["rare"] and not is_last:
        joined = max(joined, alone)
    max_where = tally.read // PLACES_SHARE if is_last else 0
    return whole if 0 < alone <= joined and tally.marks["where"] <= max_where else None


def _times_alone(key: str, tally: Tally) -> int:
    """Return how often the name is written without the longer names of which it is a part."""
    return sum(count for form, count in tally.forms.items() if normalise(form) == key)


def whole_of(key: str, tally: Tally) -> str | None:
    """Return the only longer name of which this is a part, or None.

    Of several, the one that is written DOMINANT times as often as every other counts as the only one, because the
    others are words that happened to stand beside it.
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
    """Return the type that a page of this name would have by the present sources."""
    marks = tally.marks
    return (
        "topic"
        if not any(marks[mark] for mark in ("name", "aside", "bare", "first", "person", "at", "project"))
        else "entity"
    )


def title(key: str, tally: Tally) -> str:
    """Return the title of its page: the form that most sources write.

    Of equals this is the one with fewer hyphens, then with more capitals, then the longer one, then the last by
    alphabet. Preferred to all others are a city's name with its region, a form without underscores, and a title with
    its article, in this order.
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
            -form.count("-"),
            sum(map(str.isupper, form)),
            len(form),
            form,
        )

    forms = [form for form in tally.forms if normalise(form) == key or not tally.marks["part"]]
    best = full_name(key, tally) or max(forms or tally.forms, key=rank)
    return best if best[1:2].isupper() else best[:1].upper() + best[1:]


def cluster(key: str, tally: Tally) -> dict[str, Any]:
    """Return the tally of a name as it is stored with the mention.

    `evidence` and `lacks` say how far the name is from a page.
    """
    standing = standing_of(key, tally)
    introduced = {"same_as": _most_common(tally.same_as, FORMS_MAX)} if tally.same_as else {}
    return {
        "marks": dict(sorted(tally.marks.items())),
        "sources": tally.sources,
        "weight": tally.weight,
        "read": tally.read,
        "evidence": standing.evidence,
        "lacks": standing.lacks,
        "forms": _most_common(tally.forms, FORMS_MAX),
        "people": tally.people,
        "observed_tags": _most_common(tally.tags, TAGS_MAX),
        "co_mentions": _most_common(tally.companions, COMPANIONS_MAX),
        **introduced,
    }


def _most_common(counts: Counter[str], limit: int) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))[:limit])
