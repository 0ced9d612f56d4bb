"""Recognise whether a newer sentence corrects an older one. The rules rather miss a correction than invent one.

A newer sentence overrides an older one if it speaks of the same subject and says, in one of the forms of
`correction_forms`, that what the older one says has ended or has become something else.
"""

import re
from collections.abc import Collection, Iterable, Sequence
from enum import StrEnum
from sys import intern
from typing import NamedTuple

from ..search.words import words
from ..text_cache import cache_short
from .correction_forms import (
    ADDING,
    BECAME_FORMS,
    CONDITIONAL,
    ENDED_FORMS,
    FROM_TO_FORMS,
    HOLDS_NOW,
    OPEN,
    PAST,
    SAYS_CHANGE,
    STEM,
    TAKES_BACK,
)

SENTENCE_MAX = 400  # characters
SENTENCES_CACHED = 4096  # sentences whose words are cached: about 5 MB, or 20 MB if hardly any word is repeated


def word_set(text: str) -> frozenset[str]:
    """Return the words of a list with spaces between them."""
    return frozenset(text.split())


class Verdict(StrEnum):
    """The effect of a newer sentence on an older one."""

    OVERRIDES = "overrides"
    ADDS = "adds"
    UNRELATED = "unrelated"


class Change(NamedTuple):
    """A change that a sentence describes, as words: from `old` to `new`, either of which may be empty."""

    old: tuple[str, ...]
    new: tuple[str, ...]
    before: tuple[str, ...]
    """The words before the form, which are the subject of the change."""
    others: frozenset[str]
    """All words of the sentence that are neither part of the values nor of the form."""


STOPPED = word_set(
    """
    a an and are as at be been being but by did do does for from had has have he her his i in into is it its me
    my no not of on or our out she so than that the their them then there they this those to too us was we were
    what when where which who will with you your now new old just already since still back over again finally
    actually really please currently correction update updated note decided decision longer more anymore any
    instead rather last week month today yesterday der die das den dem des ein eine einen einem einer und ist
    sind war im am auf von zu zum zur mit für wir ich er sie es ihr sein jetzt nun nicht mehr le la les un une
    de du d l et est sont à au aux en dans par pour nous je il elle son sa ses maintenant ne plus el los las una
    unos y del al con por para su sus ahora ya lo o os um uma e é são da dos em na nos nas com seu sua agora já
    não mais gli uno di della dei ad alla nel nella che ora non più è sono het een zijn van naar met voor op wij
    ik hij nu niet meer и в на с из по не мы я он она это теперь больше
    """
)
PRONOUNS = word_set(
    """
    i we he she they it our my us me wir ich er sie es unser unsere nous je il elle on notre nosotros yo él ella
    nuestro nós eu ele ela nosso noi io lui lei nostro wij ik hij zij ons мы я он она они наш
    """
)
GROUPS = (frozenset({"i", "my", "me"}), frozenset({"we", "our", "us"}), frozenset({"he", "his", "him"}),
          frozenset({"she", "her"}), frozenset({"they", "their", "them"}))  # fmt: skip
# Verbs of a slot, a property of which a thing has only one value, so that two different values cannot both hold.
SLOTS: dict[str, re.Pattern[str]] = {
    "residence": re.compile(
        r"\b(?:liv(?:es?|ing)|resid(?:es?|ing)|based|located|headquartered|home is|relocated|moved (?:to|into)|wohn\w*|"
        r"leb(?:t|en)|gezogen|habite\w*|vit à|déménagé|vive|mudó|mudou|mora|abita|trasferit\w|woont|verhuisd|"
        r"живет|живёт|переехал\w?)\b",
        re.IGNORECASE,
    ),
    "employer": re.compile(
        r"\b(?:works? (?:at|for)|working (?:at|for)|employed (?:at|by)|joined|arbeitet (?:bei|für)|"
        r"travaille (?:chez|pour)|trabaja (?:en|para)|trabalha (?:em|na|no|para)|lavora (?:per|in|da)|werkt bij)\b",
        re.IGNORECASE,
    ),
}
NUMBER = re.compile(r"\d[\d.,:/-]*")
TIMES = word_set(
    """
    monday tuesday wednesday thursday friday saturday sunday january february march april may june july august
    september october november december montag dienstag mittwoch donnerstag freitag samstag sonntag lundi mardi
    mercredi jeudi vendredi samedi dimanche lunes martes miércoles jueves viernes sábado domingo noon midnight
    morning afternoon evening daily weekly monthly yearly hourly nightly quarterly
    """
)


def may_correct(text: str) -> bool:
    """Return whether a text may contain a correction. This is a fast check: only False is certain."""
    return STEM.search(f" {text.casefold()} ") is not None


def takes_back(sentence: str) -> bool:
    """Return whether a sentence says by itself that an earlier statement does not hold."""
    return TAKES_BACK.search(sentence) is not None and not CONDITIONAL.search(sentence)


def holds_now(sentence: str) -> bool:
    """Return whether a sentence states plainly what is the case."""
    return HOLDS_NOW.search(sentence) is not None and not CONDITIONAL.search(sentence)


def says_instead(sentence: str) -> bool:
    """Return whether a sentence takes something back and then states what is the case: `my mistake, it is Kafka`."""
    announced = TAKES_BACK.search(sentence)
    return announced is not None and holds_now(sentence[announced.start() :])


def says_change(sentence: str) -> bool:
    """Return whether a sentence has words of change. With the sentence that it corrects, it can be a correction."""
    return takes_back(sentence) or (SAYS_CHANGE.search(sentence) is not None and not CONDITIONAL.search(sentence))


@cache_short(SENTENCES_CACHED, SENTENCE_MAX)
def changes(text: str) -> tuple[Change, ...]:
    """Return the changes that a sentence describes; () for a question, a wish, a plan or a denial."""
    if len(text) > SENTENCE_MAX or not may_correct(text) or OPEN.search(text):
        return ()
    return tuple(_changes(text))


def count_changes(texts: Sequence[str]) -> list[int]:
    """Return the number of changes that each sentence describes. The more, the likelier it is a correction."""
    return [len(changes(text)) for text in texts]


def _changes(text: str) -> Iterable[Change]:
    for forms, has_old in ((FROM_TO_FORMS, True), (ENDED_FORMS, True), (BECAME_FORMS, False)):
        for form in forms:
            for found in form.finditer(text):
                groups = found.groupdict()
                old = content(f"{groups.get('a') or ''} {groups.get('rest') or ''}")
                new = content(groups.get("b") or "")
                if (old if has_old else new) and len(old) <= 10 and len(new) <= 12:
                    before = content(text[: found.start()])
                    others = (*before, *content(groups.get("object") or ""), *content(text[found.end() :]))
                    yield Change(old, new, before, frozenset(others))


def judge(older: str, newer: str, subject: Collection[str] = ()) -> Verdict:
    """Return the effect of the newer sentence on the older one.

    `subject` are names of what both may speak of, such as the names of their page. A pronoun, or a sentence without a
    subject, may refer to it.
    """
    about = frozenset(word for name in subject for word in content(name))
    old, new = content(older), content(newer)
    if not old or not new or " ".join(older.split()) == " ".join(newer.split()):
        return Verdict.UNRELATED
    if not OPEN.search(older) and not PAST.search(older) and not ADDING.search(newer):
        for change in changes(newer):
            if overrides(older, newer, change, about):
                return Verdict.OVERRIDES
    shared = (set(old) & set(new)) - about
    names = is_same_subject(older, newer, frozenset(), about)
    return Verdict.ADDS if (shared and names) or len(shared) >= 2 else Verdict.UNRELATED


def overrides(older: str, newer: str, change: Change, about: frozenset[str]) -> bool:
    """Return whether a change in the newer sentence overrides the older one.

    `about` are words of the subject's names.
    """
    old = content(older)
    old_words = frozenset(old)
    if change.new and has_phrase(old, change.new):
        return False  # the older sentence has the new value already
    if change.before and change.before[0] not in old_words | about:
        return False
    values = frozenset(change.old + change.new)
    if change.old:
        if not has_phrase(old, change.old) and not (
            len(change.old) > 2 and len(old_words & set(change.old)) * 4 >= 3 * len(change.old)
        ):
            return False
        return is_same_subject(older, newer, values, about) and is_about_it(old, change, about)
    slot = next((name for name, verbs in SLOTS.items() if verbs.search(older) and verbs.search(newer)), None)
    if slot and is_named_alike(older, newer, about):
        return True
    return is_other_value(older, newer, change, about)


def is_about_it(old: tuple[str, ...], change: Change, about: frozenset[str]) -> bool:
    """Return whether the rest of the older sentence may refer to the same thing.

    It may if it is short, or if enough of its words are in the newer sentence.
    """
    rest = [word for word in old if word not in change.old and word not in about]
    known = change.others | frozenset(change.new)
    return len(rest) <= 3 or sum(word in known for word in rest) * 3 >= len(rest) or len(change.old) * 2 >= len(rest)


def is_other_value(older: str, newer: str, change: Change, about: frozenset[str]) -> bool:
    """Return whether both sentences give different values of one kind, a number or a time, of the same thing."""
    old, new = content(older), content(newer)
    kind = kind_of(change.new)
    values = [word for word in old if kind_of((word,)) == kind]
    if kind is None or not values or set(values) & set(change.new):
        return False
    things = [word for word in old if word not in values and kind_of((word,)) is None and word not in about]
    shared = [word for word in things if word in new]
    if not shared or len(shared) * 2 < len(things) or not set(change.before) <= set(old) | about:
        return False
    return is_same_subject(older, newer, frozenset(values) | frozenset(change.new), about)


def kind_of(value: tuple[str, ...]) -> str | None:
    if any(NUMBER.fullmatch(word) for word in value):
        return "number"
    return "time" if any(word in TIMES or stem(word) in TIMES for word in value) else None


def is_same_subject(older: str, newer: str, values: frozenset[str], about: frozenset[str]) -> bool:
    """Return whether both sentences may have the same subject: apart from the values, they name the same, or
    nothing."""
    if (first := beginning(older)) and first == beginning(newer):
        return True
    mine, theirs = names_in(older) - values - about, names_in(newer) - values - about
    if mine and theirs:
        return not mine.isdisjoint(theirs)
    if mine and not theirs:
        return bool(mine & frozenset(content(newer))) or (bool(about) and has_pronoun(newer))
    return persons(older) == persons(newer) or not persons(older) or not persons(newer) or bool(about)


def is_named_alike(older: str, newer: str, about: frozenset[str]) -> bool:
    """Return whether both sentences begin with the same name or pronoun, or each with a pronoun or a name of
    `about`."""
    first, second = beginning(older), beginning(newer)
    if first and first == second:
        return True
    ours = about | PRONOUNS
    return bool(about) and bool(first) and bool(second) and set(first) <= ours and set(second) <= ours


def beginning(text: str) -> tuple[str, ...]:
    """Return the name or the pronoun that a sentence begins with, in small letters; () if it begins with another
    word."""
    found: list[str] = []
    for word in re.findall(r"[\w'’-]+", text):
        folded = word.casefold().removesuffix("'s").removesuffix("’s")
        if (word[0].isupper() and not found) or (found and word[0].isupper()) or (not found and folded in PRONOUNS):
            found.append(folded)
            continue
        break
    return tuple(found)


def has_pronoun(text: str) -> bool:
    return not PRONOUNS.isdisjoint(re.findall(r"\w+", text.casefold()))


def persons(text: str) -> frozenset[int]:
    """Return the grammatical persons of the pronouns in a text, as indexes of GROUPS."""
    text_words = set(re.findall(r"\w+", text.casefold()))
    return frozenset(place for place, group in enumerate(GROUPS) if group & text_words)


def names_in(text: str) -> frozenset[str]:
    """Return the stems of the words that are written as names.

    These are capitalised words that are not stop words, nor usual first words at the beginning of the text.
    """
    found = set()
    for place, word in enumerate(re.findall(r"[\w'’-]+", text)):
        folded = word.casefold().removesuffix("'s").removesuffix("’s")
        is_word = folded in STOPPED or folded in PRONOUNS or folded in TIMES
        if word[0].isupper() and not is_word and (place or not is_usual(folded)):
            found.add(stem(folded))
    return frozenset(found)


# First words of sentences that are no names.
USUAL = word_set(
    """
    after all another backups before both correction decision everybody everyone every from instead meeting
    meetings most once one our some standup starting team there today tomorrow update we yesterday budget rent
    price deadline release launch office database server payroll lunch backup
    """
)


def is_usual(word: str) -> bool:
    return word in USUAL or word.endswith(("ing", "ed", "ly", "amos", "emos", "imos", "ámos", "iamo"))


def has_phrase(text: tuple[str, ...], phrase: tuple[str, ...]) -> bool:
    """Return whether the text has the words of the phrase, one after the other."""
    size = len(phrase)
    return bool(size) and any(text[at : at + size] == phrase for at in range(len(text) - size + 1))


@cache_short(SENTENCES_CACHED, SENTENCE_MAX)
def content(text: str) -> tuple[str, ...]:
    """Return the stems of the words of a text, in order and without stop words."""
    tokens = re.findall(r"\d[\d.,:/-]*\d|[\w'’]+", text.casefold())
    found: list[str] = []
    for word in tokens:
        bare = word.removesuffix("'s").removesuffix("’s")
        if bare in STOPPED:
            continue
        found += [bare] if bare[0].isdigit() else map(stem, words(bare))
    return tuple(map(intern, found))  # the caches have each word only once


def stem(word: str) -> str:
    """Return a word without the ending by which its forms differ: `lives`, `lived` and `living` → `liv`."""
    for ending in ("ing", "ies", "ed", "es", "s", "e"):
        if word.endswith(ending) and len(word) - len(ending) >= 3 and word.isascii():
            return word[: -len(ending)]
    return word
