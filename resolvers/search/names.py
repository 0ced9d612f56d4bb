"""Names that a question may mean: as a whole, in another form of its last word, and said among other words."""

import re
from collections.abc import Iterator, Mapping
from math import inf
from typing import NamedTuple

from content.names import normalise
from content.search.words import words

from .interpretation import LAST, ReadQuery
from .weights import ALMOST, AMONG, APART, LARGE, USUAL

COMPOUND = re.compile(r"\w(?:::|->|[./\\])(\w+)\W*$")  # std::vector: its last part is a name, too
SIGNED = re.compile(r"\W*\w+(?:\+\+|#)\W*")  # C++ is not C, though its name is kept as that
SIGN = re.compile(r"\w(?:\+\+|#)")  # somewhere in a word
WHOLE = "\x01"  # no name has a character so small: what goes on is another name
NEXT_WORD = "!"  # the first character behind the space: the name goes on with another word, not with more letters
PART, PART_TRUST, MENDED_TRUST = 8.0, 0.9, 0.95
FORM = 16.0  # behind every name that is asked for as it is written
MOST_AMONG, LONGEST = 12, 4  # words of a question that is read for names among them, and of such a name
LETTERS = 500  # of a question that is read so: nobody writes a dozen words with more


class NameRange(NamedTuple):
    """Names from `start` to before `end`. `worth` is the bonus of the name itself; none: the kind of name decides."""

    start: str
    end: str
    trust: float = 1.0
    worth: float | None = None


def keys(reading: ReadQuery, text: str, weights: Mapping[str, float]) -> list[NameRange]:
    """Each name once, with what it is worth as the first of these."""
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
    """Names of a few words inside the question: worth a share of what their words weigh."""
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
    """Words of the question that tell pages apart: not those that most pages say, unless all are so."""
    known = {word: reading.stems[word] for word in reading.words if word in reading.stems}
    found = {word: max(reading.found[lexeme] for lexeme in lexemes) for word, lexemes in known.items()}
    usual = USUAL * reading.pages if reading.pages >= LARGE else inf
    rarest = min(found.values(), default=0)
    return {word for word, pages in found.items() if pages < usual or pages == rarest}


def name_words(text: str) -> list[list[str]]:
    """The words of names, in runs: a signed word is no name as it is kept, so none goes past it."""
    runs: list[list[str]] = [[]]
    for token in text.split():
        if SIGN.search(token):
            runs.append([])
        else:
            runs[-1] += normalise(token).split()
    return runs


def weight_of(reading: ReadQuery, place: int, weights: Mapping[str, float]) -> float:
    return max((weights[lexeme] for option in reading.options[place][:1] for lexeme in option.lexemes), default=0.0)
