"""The page names that a query may stand for: the whole query, other forms of its last word, and names inside it."""

import re
from collections.abc import Iterator, Mapping
from math import inf
from typing import NamedTuple

from content.names import normalise
from content.search.words import words

from .interpretation import LAST, InterpretedQuery
from .weights import ALMOST, AMONG, APART, LARGE, USUAL

COMPOUND = re.compile(r"\w(?:::|->|[./\\])(\w+)\W*$")  # std::vector: its last part is a name, too
SIGNED = re.compile(r"\W*\w+(?:\+\+|#)\W*")  # C++ is not C, though both have the same normalised name
SIGN = re.compile(r"\w(?:\+\+|#)")  # somewhere in a word
WHOLE = "\x01"  # end of a range with exactly one name: no name has a character so small
NEXT_WORD = "!"  # end of a range of names that may have further words: the character after the space
PART, PART_TRUST, CORRECTED_TRUST = 8.0, 0.9, 0.95
FORM = 16.0  # bonus of another form of the name: less than that of any name as it was typed
AMONG_MAX, LONGEST = 12, 4  # words of the longest query that is searched for names inside it, and of such a name
LETTERS = 500  # characters of the longest such query: a dozen words have fewer


class NameRange(NamedTuple):
    """The names from `start` up to, but without, `end`. `bonus` is the bonus; None leaves it to the kind of name."""

    start: str
    end: str
    trust: float = 1.0
    bonus: float | None = None


def unique_names(interpreted: InterpretedQuery, text: str, weights: Mapping[str, float]) -> list[NameRange]:
    """Return the possible names, each once with the bonus of its first occurrence."""
    found: dict[str, NameRange] = {}
    for name_range in possible_names(interpreted, text, weights):
        if name_range.start:
            found.setdefault(name_range.start, name_range)
    return list(found.values())


def possible_names(interpreted: InterpretedQuery, text: str, weights: Mapping[str, float]) -> Iterator[NameRange]:
    """Yield the names that the query may stand for. Of equal names, the first counts."""
    whole = normalise(text)
    end = NEXT_WORD if text[-1:].isspace() else LAST
    if not SIGNED.fullmatch(text):
        yield NameRange(whole, whole + end)
    if interpreted.corrected:
        yield NameRange(interpreted.corrected_text, interpreted.corrected_text + end, CORRECTED_TRUST)
    if part := COMPOUND.search(text):
        name = normalise(part[1])
        yield NameRange(name, name + end, PART_TRUST, PART)
    for form in interpreted.forms:
        if whole.endswith(interpreted.words[-1]):
            yield exactly(whole.removesuffix(interpreted.words[-1]) + form, FORM)
    if interpreted.nearby_name:
        yield exactly(interpreted.nearby_name, PART)
    yield from names_inside(interpreted, text, weights)


def exactly(name: str, bonus: float) -> NameRange:
    return NameRange(name, name + WHOLE, bonus=bonus)


def names_inside(interpreted: InterpretedQuery, text: str, weights: Mapping[str, float]) -> Iterator[NameRange]:
    """Yield names of a few words inside the query. Their bonus is a share of the weight of their words."""
    runs = name_words(text) if len(text) <= LETTERS else []
    if not 1 < sum(map(len, runs)) <= AMONG_MAX:
        return
    weight = {word: weight_of(interpreted, place, weights) for place, word in enumerate(interpreted.words)}
    distinctive = distinctive_words(interpreted)
    for run in runs:
        for start in range(len(run)):
            for end in range(start + 1, min(start + LONGEST, len(run)) + 1):
                name = run[start:end]
                covered = {word for part in name for word in words(part)}
                if total := sum(weight.get(word, 0.0) for word in covered):
                    share = len(covered) / len(weight)
                    has_distinctive = distinctive <= covered and share >= ALMOST
                    yield exactly(" ".join(name), AMONG * total + APART * share * has_distinctive)


def distinctive_words(interpreted: InterpretedQuery) -> set[str]:
    """Return the distinctive words of the query: those that not most pages have, and always the rarest."""
    known = {word: interpreted.stems[word] for word in interpreted.words if word in interpreted.stems}
    found = {word: max(interpreted.found[lexeme] for lexeme in lexemes) for word, lexemes in known.items()}
    usual = USUAL * interpreted.pages if interpreted.pages >= LARGE else inf
    rarest = min(found.values(), default=0)
    return {word for word, pages in found.items() if pages < usual or pages == rarest}


def name_words(text: str) -> list[list[str]]:
    """Return the normalised words of a text, in runs that end at words such as `C++`, whose sign normalising drops."""
    runs: list[list[str]] = [[]]
    for token in text.split():
        if SIGN.search(token):
            runs.append([])
        else:
            runs[-1] += normalise(token).split()
    return runs


def weight_of(interpreted: InterpretedQuery, place: int, weights: Mapping[str, float]) -> float:
    return max((weights[lexeme] for option in interpreted.options[place][:1] for lexeme in option.lexemes), default=0.0)
