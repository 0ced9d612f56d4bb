"""Phrases of a text that could be names: runs of words, or of characters in scripts without spaces."""

from collections.abc import Iterable, Iterator, Set
from itertools import accumulate, chain, pairwise
from operator import add

from content.search.words import SPACELESS

from ..readings import Reading
from ..texts.language import SPACELESS as SPACELESS_LANGUAGES
from ..texts.language import stops_of
from ..texts.text import TOKENS_MAX, Sentence, padded
from .sightings import GAP

WORDS_MAX = 5
SHORTEST, LONGEST = 2, 8  # characters of a phrase in a script without spaces
LONGEST_THAI = 16
POSSESSIVE = "'s"


def phrases(reading: Reading) -> Set[str]:
    """Return all phrases of the first TOKENS_MAX words of the text. Together they are many times as long as the
    text."""
    language = reading.language
    return frozenset(chain.from_iterable(_phrases(sentence, language) for sentence in _read(reading)))


def may_be_phrase(name: str, language: str) -> bool:
    """Return whether a normalised name may be a phrase of a text in the language: stop words begin and end none."""
    words, stops = padded(name).split(), stops_of(language)
    return bool(SPACELESS.search(name)) or (words[0] not in stops and _is_phrase(words, stops))


class NameIndex:
    """An index of names by their first word or characters, to find those in a text without trying each name."""

    def __init__(self, names: Iterable[str]) -> None:
        self.by_word: dict[str, list[tuple[str, str]]] = {}
        self.by_letters: dict[str, list[str]] = {}
        for name in names:
            if SPACELESS.search(name):
                self.by_letters.setdefault(padded(name)[:SHORTEST], []).append(name)
            elif words := padded(name).split(maxsplit=1):
                self.by_word.setdefault(words[0], []).append((name, padded(name)))

    def names_in(self, reading: Reading) -> set[str]:
        """Return the names that are phrases of the text."""
        text = "\n".join(sentence.words for sentence in _read(reading))
        stops = stops_of(reading.language)
        found = {
            name
            for start in self.by_word.keys() & set(text.split())
            if start not in stops
            for name, wanted in self.by_word[start]
            if wanted in text and _is_phrase(wanted.split(), stops)
        }
        if self.by_letters and SPACELESS.search(text):
            starts = self.by_letters.keys() & set(map(add, text, text[1:]))
            found.update(name for start in starts for name in self.by_letters[start] if padded(name) in text)
        return found


def _is_phrase(words: list[str], stops: Set[str]) -> bool:
    first, last = words[0], words[-1]
    return len(words) <= WORDS_MAX and "'" not in (first[0], first[-1], last[-1]) and last not in stops


def sentences_by_name(reading: Reading, names: Iterable[str]) -> dict[str, list[int]]:
    """Return the indexes of the sentences with each of these names. Of overlapping names in a sentence, only the
    longest counts."""
    found: dict[str, list[int]] = {}
    wanted = [(name, padded(name)) for name in names]
    for index, sentence in enumerate(_read(reading) if wanted else ()):
        words = sentence.words
        hits = [name for name, word in wanted if word in words]
        for name in _longest(hits, sentence) if len(hits) > 1 else hits:
            found.setdefault(name, []).append(index)
    return found


def _read(reading: Reading) -> Iterator[Sentence]:
    """Yield the sentences of the first TOKENS_MAX words."""
    left = TOKENS_MAX
    for sentence in reading.sentences:
        left -= sentence.words.count(" ")
        if left < 0:
            break
        yield sentence


def _longest(hits: Iterable[str], sentence: Sentence) -> Iterator[str]:
    """Yield the names that the sentence has outside of longer ones, the longest first."""
    rest = sentence.words
    for name in sorted(hits, key=lambda name: (-len(name), name)):
        wanted = padded(name)
        if wanted in rest:
            rest = rest.replace(wanted, GAP if wanted.startswith(" ") else GAP.strip())
            yield name


def _phrases(sentence: Sentence, language: str) -> Iterable[str]:
    """Return the phrases of a sentence, by words or, in scripts without spaces, also by characters."""
    stops = stops_of(language)
    words = sentence.words.split()
    if language in SPACELESS_LANGUAGES:
        longest = LONGEST_THAI if language == "th" else LONGEST
        beside = (f"{word}{following}" for word, following in pairwise(words) if word.isascii() != following.isascii())
        pieces = (_pieces(word[:1_000], longest) for word in (*words, *beside) if SPACELESS.search(word))
        return chain(_joined(words, stops), *pieces)
    return _joined(words, stops) if "'" in sentence.words else _spaced(words, stops)


def _spaced(words: list[str], stops: Set[str]) -> list[str]:
    """Return the runs of words that neither begin nor end with a stop word."""
    text, said = " ".join(words), [index for index, word in enumerate(words) if word not in stops]
    starts = [0, *accumulate(len(word) + 1 for word in words)]
    return [
        text[starts[first] : starts[last + 1] - 1]
        for place, first in enumerate(said)
        for last in said[place : place + WORDS_MAX]
        if last < first + WORDS_MAX
    ]


def _joined(words: list[str], stops: Set[str]) -> Iterator[str]:
    """Yield the runs of words as `_spaced` does, but without a space before possessives and after elided articles."""
    for start, word in enumerate(words):
        if word in stops or "'" in (word[0], word[-1]):
            continue
        yield word
        phrase = word
        for end in range(start + 1, min(start + WORDS_MAX, len(words))):
            is_joined = words[end] == POSSESSIVE or phrase.endswith("'")
            phrase = f"{phrase}{words[end]}" if is_joined else f"{phrase} {words[end]}"
            if words[end] not in stops and words[end][-1] != "'":
                yield phrase


def _pieces(word: str, longest: int) -> list[str]:
    """Return all runs of SHORTEST to `longest` characters of a word."""
    return [
        word[start:end]
        for start in range(len(word) - SHORTEST + 1)
        for end in range(start + SHORTEST, min(start + longest, len(word)) + 1)
    ]
