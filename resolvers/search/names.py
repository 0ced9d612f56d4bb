"""The page names that a query may stand for: the whole query, other forms of its last word, and names inside it."""

import re
from collections.abc import Iterator, Mapping
from math import inf
from typing import NamedTuple

from content.names import normalise
from content.search.words import words

from .interpretation import LAST, ReadQuery
from .weights import ALMOST, AMONG, APART, LARGE, USUAL

COMPOUND = re.compile(r"\w(?:::|->|[./\\])(\w+)\W*$")  # std::vector: its last part is a name, too
SIGNED = re.compile(r"\W*\w+(?:\+\+|#)\W*")  # C++ is not C, though both have the same normalised name
SIGN = re.compile(r"\w(?:\+\+|#)")  # somewhere in a word
WHOLE = "\x01"  # end of a range with exactly one name: no name has a character so small
NEXT_WORD = "!"  # end of a range of names that may have further words: the character after the space
PART, PART_TRUST, MENDED_TRUST = 8.0, 0.9, 0.95
FORM = 16.0  # bonus of another form of the name: less than that of any name as it was typed
MOST_AMONG, LONGEST = 12, 4  # words of the longest query that is searched for names inside it, and of such a name
LETTERS = 500  # characters of the longest such query: a dozen words have fewer


class NameRange(NamedTuple):
    """The names from `start` up to, but without, `end`. `worth` is the bonus; None leaves it to the kind of name."""

    start: str
    end: str
    trust: float = 1.0
    worth: float | None = None


def keys(reading: ReadQuery, text: str, weights: Mapping[str, float]) -> list[NameRange]:
    """Return the possible names, each once with the worth of its first occurrence."""
    found: dict[str, NameRange] = {}
    for key in possible_names(reading, text, weights):
        if key.start:
            found.setdefault(key.start, key)
    return list(found.values())


def possible_names(reading: ReadQuery, text: str, weights: Mapping[str, float]) -> Iterator[NameRange]:
    whole, end = normalise(text), NEXT_WORD if text[-1:].isspace() else LAST
    if not SIGNED.fullmatch(text):
        yield NameRange(whole, whole + end)
    if reading.corrected:
        yield NameRange(reading.mended_text, reading.mended_text + end, MENDED_TRUST)
    if part := COMPOUND.search(text):
        name = normalise(part[1])
        yield NameRange(name, name + end, PART_TRUST, PART)
    for form in reading.forms:
        if whole.endswith(reading.words[-1]):
            yield exactly(whole.removesuffix(reading.words[-1]) + form, FORM)
    if reading.relative:
        yield exactly(reading.relative, PART)
    yield from names_inside(reading, text, weights)


def exactly(name: str, worth: float) -> NameRange:
    return NameRange(name, name + WHOLE, worth=worth)


def names_inside(reading: ReadQuery, text: str, weights: Mapping[str, float]) -> Iterator[NameRange]:
    """Yield names of a few words inside the query. Their worth is a share of the weight of their words."""
    runs = name_words(text) if len(text) <= LETTERS else []
    if not 1 < sum(map(len, runs)) <= MOST_AMONG:
        return
    weight = {word: weight_of(reading, place, weights) for place, word in enumerate(reading.words)}
    telling = those_that_tell(reading)
    for run in runs:
        for start in range(len(run)):
            for end in range(start + 1, min(start + LONGEST, len(run)) + 1):
                name = run[start:end]
                spoken = {one for part in name for one in words(part)}
                if worth := sum(weight.get(one, 0.0) for one in spoken):
                    share = len(spoken) / len(weight)
                    is_apart = telling <= spoken and share >= ALMOST
                    yield exactly(" ".join(name), AMONG * worth + APART * share * is_apart)


def those_that_tell(reading: ReadQuery) -> set[str]:
    """Return the distinctive words of the query: those that not most pages have, and always the rarest."""
    known = {word: reading.stems[word] for word in reading.words if word in reading.stems}
    found = {word: max(reading.found[lexeme] for lexeme in lexemes) for word, lexemes in known.items()}
    usual = USUAL * reading.pages if reading.pages >= LARGE else inf
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


def weight_of(reading: ReadQuery, place: int, weights: Mapping[str, float]) -> float:
    return max((weights[lexeme] for option in reading.options[place][:1] for lexeme in option.lexemes), default=0.0)
