"""Split a text into the words by which search finds it. Pages, names and questions are all split in this way.

A text is folded, and split at every character that is neither a letter, a digit nor a mark. Runs of scripts without
spaces become overlapping pairs of characters, and traditional Chinese becomes simplified. A number and its unit are two
words. An identifier in camel case becomes the whole and its parts. Operators of programming languages are words if they
are in code, or alone. `ANALYSER` is the version of these rules by which an index is stored: a change of the words must
raise it, and `cairn reindex` then builds the new index beside the old one
(docs/decisions/0005-full-text-search-in-postgres.md).
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, lru_cache
from itertools import chain, groupby, pairwise
from typing import NamedTuple

from opencc import OpenCC

from ..normalization import INVISIBLE, fold

ANALYSER = 4
UNCOMMENTED = 2  # the first version that does not index the comments of a body
TAGGED = 3  # the first version that indexes the words of a page's tags
WORD_MAX = 64  # characters of a word; the rest of a longer one, which is data and not a word, is cut off
RUN_MAX = 1_000  # characters of a run; a longer one is split. In scripts without spaces a run can be a whole line


def ranges(codes: Iterable[int]) -> str:
    """Return ascending code points as ranges for a character class, which compiles faster than one of single
    characters."""
    runs = groupby(enumerate(codes), lambda pair: pair[1] - pair[0])
    ends = ([code for _, code in run] for _, run in runs)
    return "".join(f"{chr(run[0])}-{chr(run[-1])}" for run in ends)


# Ideographs, Hangul syllables, surrogates and private use, which are most code points, have no marks among them.
MARKED = (range(0x300, 0x3400), range(0xA000, 0xAC00), range(0xF900, 0x10000))
MARKS = ranges(code for code in chain(*MARKED) if unicodedata.category(chr(code))[0] == "M")
# All characters of these scripts count as letters: few people know their marks, and nobody types their punctuation.
SCRIPTS = "\U00010000-\U0001cfff\U0001e000-\U0001efff"
LETTER = f"[\\w{MARKS}{SCRIPTS}]"
# Invisible characters, such as the soft hyphen and joiners, do not split a word; folding removes them.
LETTERS = rf"(?:{LETTER[:-1]}{INVISIBLE.pattern[1:]}){{1,{RUN_MAX}}}(?:\+\+|＋＋|[#＃](?!{LETTER}))?"
PIECE = re.compile(rf"{LETTER}+|\+\+|#")
# Operators that have another meaning in markdown or prose are left out: `--`, `**`, `##`, `...`.
OPERATORS = (
    "&& || ?? ?. ?: -> => <- ~> |> <| :: := == != === !== =~ !~ <= >= <=> <> << >> >>> >>= <<= += -= *= /= %= &= |= ^= "
    "??= ||= &&= // /* */ ++ !! @@ $$ $? $! $@ $* $# $_ >& &> |& %>%"
)
UNDERSCORE = "\x1f"  # stands for the underscore of `$_`; every other underscore becomes a space
SIGN_NAMES = dict(zip("&|?.:<>-=~!+*/%^@$#_", (
    "amp", "pipe", "quest", "dot", "colon", "less", "more", "minus", "equal", "tilde", "bang", "plus", "star", "slash",
    "percent", "caret", "at", "dollar", "hash", "low",
), strict=True))  # fmt: skip
# The word for an operator is the names of its signs and a digit: Postgres' parser keeps such a word as it is, no
# stemmer changes it, and nobody types it.
OPERATOR_WORDS = {
    sign.replace("_", UNDERSCORE): "".join(map(SIGN_NAMES.__getitem__, sign)) + "0" for sign in OPERATORS.split()
}
OPERATOR = "|".join(map(re.escape, sorted(OPERATOR_WORDS, key=len, reverse=True)))
SIGNS_AROUND = r"[&|?.:<>\-=~!+*/%^@$#\x1f\\]"
RUN = re.compile(rf"{LETTERS}|(?<![^\s`])(?:{OPERATOR})(?![^\s`])")
RUN_IN_CODE = re.compile(rf"{LETTERS}|\${UNDERSCORE}(?!{LETTER})|(?<!{SIGNS_AROUND})(?:{OPERATOR})(?!{SIGNS_AROUND})")
BACKTICKS = re.compile("`+")
HUMP = re.compile("[a-z](?=[A-Z])|[0-9](?=[A-Z][a-z])|[A-Z](?=[A-Z][a-z]{2})")  # where camel case is split
PART_MIN = 2  # letters of a part of an identifier
MEASURE = re.compile(
    "([0-9]+)("
    "[mkµμcd]?g|mcg|[mcdk]?l|[mckn]?m|in|ft|lbs?|oz|[kmgt]i?b|[kmg]?bps|[kmg]?hz|[mk]?wh?|[mk]?v|m?ah?|[mµμn]?s|min|h|hrs?"
    "|px|pt|r?em|dpi|fps|bits?|kcal|ppm"
    ")"
)
# Han, kana, hangul, Thai, Lao, Burmese and Khmer: no spaces between words, or (hangul) words that take endings.
SPACELESS = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]+"
)
# The cache of runs takes 12 MB. It consists of many small caches, because the table of a large one leaves a large hole
# in the memory whenever it is reallocated. Python gives the table of a cache whose entries come and go three times as
# many places as it has entries, rounded up to a power of 2, so that one entry more than PART would double it.
PARTS = 1 << 6
PART = (1 << 11) // 3
CACHED_RUNS_MAX = PARTS * PART
CACHED_RUN_MAX = 32  # characters of a run that is cached; longer runs are hardly ever repeated
HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
SIGNS = {"++": "plusplus", "#": "sharp"}


class Word(NamedTuple):
    """A word, and its place in the text: the characters [start, end)."""

    text: str
    start: int
    end: int


def words(text: str) -> list[str]:
    """Return the words of a text: `C++: Café-Bars` → `c cplusplus cafe bars`; `東京都` → `东京 京都`."""
    text = space_underscores(text)
    runs = (run for pattern, *part in parts_of(text) for run in pattern.findall(text, *part))
    return [word for run in runs for word in (analyse(run) if len(run) <= CACHED_RUN_MAX else analyse_run(run))]


def spans(text: str) -> Iterator[Word]:
    """Yield the words of a text with their places.

    In a run with letters of scripts without spaces, a word has the place of its letters. Any other word, such as a part
    of an identifier, has the place of its whole run.
    """
    text = space_underscores(text)
    runs = (run for pattern, *part in parts_of(text) for run in pattern.finditer(text, *part))
    for run in runs:
        found = analyse(run[0]) if len(run[0]) <= CACHED_RUN_MAX else analyse_run(run[0])
        if len(found) == 1 or not SPACELESS.search(run[0]):
            yield from (Word(word, run.start(), run.end()) for word in found)
        else:
            yield from place_words(found, run[0], run.start())


def space_underscores(text: str) -> str:
    """Replace each `_`, which regular expressions count as a letter, by a space, except in `$_`."""
    return text.replace("$_", "$" + UNDERSCORE).replace("_", " ")


def parts_of(text: str) -> Iterator[tuple[re.Pattern[str], int, int]]:
    """Yield the parts of a text inside and outside of backticks, as (pattern of a run, start, end).

    In code, operators may touch letters.
    """
    if "`" not in text:
        yield RUN, 0, len(text)
        return
    ticks = [(mark.start(), mark.end()) for mark in BACKTICKS.finditer(text)]
    last = {end - start: start for start, end in ticks}
    at, size = 0, 0
    for start, end in ticks:
        if size and end - start != size:
            continue
        if not size and last[end - start] == start:
            continue  # there are no closing backticks
        yield RUN_IN_CODE if size else RUN, at, start
        at, size = end, 0 if size else end - start
    yield RUN, at, len(text)


def place_words(found: tuple[str, ...], run: str, start: int) -> Iterator[Word]:
    """Yield the words of a run with letters of scripts without spaces, each with the place of its letters.

    A word whose letters are not in the folded run has the place of the whole run.
    """
    letters = [folded(character) for character in run]
    places = [place for place, letter in enumerate(letters) for _ in letter]
    text, at = "".join(letters), 0
    for word in found:
        here = text.find(word, at)
        if here < 0:
            yield Word(word, start, start + len(run))
        else:
            yield Word(word, start + places[here], start + places[here + len(word) - 1] + 1)
            at = here + 1


@lru_cache(maxsize=10_000)
def folded(character: str) -> str:
    return simplify(fold(character))


def simplify(text: str) -> str:
    """Return the text with traditional Chinese characters replaced by simplified ones."""
    return text.translate(simplified_characters()) if HAN.search(text) else text


@cache
def simplified_characters() -> dict[int, str]:
    """Return the simplified form of each traditional Chinese character, by code point."""
    every = [chr(code) for start, end in ((0x3400, 0xA000), (0xF900, 0xFB00)) for code in range(start, end)]
    found = dict(zip(every, OpenCC("t2s").convert("\n".join(every)).split("\n"), strict=True))
    return {ord(character): found.get(simple, simple) for character, simple in found.items() if character != simple}


def analyse(run: str) -> tuple[str, ...]:
    """Return the words of a run from the cache, because texts repeat the same runs and folding is slow."""
    return RUN_CACHES[hash(run) % PARTS](run)


def analyse_run(run: str) -> tuple[str, ...]:
    """Return the words of a run, in order. An identifier in camel case gives the whole, and then its parts."""
    if sign := OPERATOR_WORDS.get(run):
        return (sign,)
    found = read_letters(simplify(fold(run)))
    if len(run) > CACHED_RUN_MAX or not run.isalnum():
        return found
    if len(found) == 1 and not run.islower() and run.isascii() and HUMP.search(run):
        parts = HUMP.sub(r"\g<0> ", run).lower().split()
        found = (*found, *(part for part in parts if len(part) >= PART_MIN))
    return tuple(part for word in found for part in split_unit(word))


def split_unit(word: str) -> Sequence[str]:
    """Return a number and its unit apart, or the word alone."""
    measure = MEASURE.fullmatch(word)
    return measure.groups() if measure else (word,)


def read_letters(run: str) -> tuple[str, ...]:
    """Return the words of a folded run of letters."""
    found: list[str] = []
    for piece in PIECE.findall(run):
        if piece in SIGNS:
            found += [f"{found[-1]}{SIGNS[piece]}"] if found else []
        else:
            found += [word[:WORD_MAX] for word in split_scripts(piece)]
    return tuple(found)


RUN_CACHES = [lru_cache(PART)(analyse_run) for _ in range(PARTS)]


def split_scripts(piece: str) -> Iterator[str]:
    """Split a piece at scripts without spaces: yield these as pairs of characters, and the rest as it is."""
    at = 0
    for match in SPACELESS.finditer(piece):
        yield from filter(None, [piece[at : match.start()]])
        yield from pairs(match[0])
        at = match.end()
    yield from filter(None, [piece[at:]])


def pairs(run: str) -> Iterator[str]:
    if len(run) == 1:
        yield run
    yield from map("".join, pairwise(run))


RUN_OF_LETTERS = re.compile(LETTERS)


def words_of_letters(text: str) -> list[str]:
    """Return the words of analysers 1 to 3, which have no parts, no operators, and Chinese as it is written."""
    return [word for run in RUN_OF_LETTERS.findall(text.replace("_", " ")) for word in read_letters(fold(run))]


# The analysers of stored rows, by version. An old one stays until no installation has rows of it any more.
ANALYSERS: dict[int, Callable[[str], list[str]]] = {
    1: words_of_letters, 2: words_of_letters, 3: words_of_letters, ANALYSER: words
}  # fmt: skip


def whole_words(text: str, analyser: int = ANALYSER) -> list[tuple[str, ...]]:
    """Return the words of a text, each followed by its parts: `see getName` → `(see,) (getname, get, name)`."""
    if ANALYSERS[analyser] is not words:
        return [(word,) for word in ANALYSERS[analyser](text)]
    found: list[tuple[str, ...]] = []
    for _, group in groupby(spans(text), key=lambda word: word[1:]):
        run = tuple(word.text for word in group)
        has_parts = all(len(word) < len(run[0]) and word in run[0] for word in run[1:])
        found += [run] if has_parts else [(word,) for word in run]
    return found
