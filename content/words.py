"""The words of a text as search knows them: of pages, of names and of questions alike.

Folded, parted at everything that is neither letter, digit nor mark; runs of scripts without spaces become overlapping
pairs of characters. A stored index holds what `ANALYSER` made: whoever changes the words raises it, and
`cairn reindex` then builds the new index beside the old one (docs/decisions/0005-full-text-search-in-postgres.md).
"""

import re
import unicodedata
from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from .normalization import INVISIBLE, fold

ANALYSER = 3
UNCOMMENTED = 2  # from this one on, comments of a body are not searched
TAGGED = 3  # and from this one on, pages are found by the words of their tags
WORD_MAX = 64  # characters; longer ones are data, not words
RUN_MAX = 1_000  # characters without a space, before they are cut: a script without spaces writes whole lines

MARKS = "".join(chr(code) for code in range(0x300, 0x10000) if unicodedata.category(chr(code))[0] == "M")
SCRIPTS = "\U00010000-\U0001cfff\U0001e000-\U0001efff"  # few know their marks, and their punctuation nobody types
LETTER = f"[\\w{MARKS}{SCRIPTS}]"
# Nobody sees a soft hyphen or a joiner, so it parts no word; folding takes it out.
RUN = re.compile(rf"(?:{LETTER[:-1]}{INVISIBLE.pattern[1:]}){{1,{RUN_MAX}}}(?:\+\+|＋＋|[#＃](?!{LETTER}))?")
PIECE = re.compile(rf"{LETTER}+|\+\+|#")
# Han, kana, hangul, Thai, Lao, Burmese and Khmer: no spaces between words, or (hangul) words that take endings.
SPACELESS = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]+"
)
# Runs, in 12 MB. Python's table of what comes and goes has room for thrice as many, up to a power of 2: then it is
# made anew, and one run more would double it. So there are many small ones: a large one leaves a hole where it was.
PARTS = 1 << 6
PART = (1 << 11) // 3
REMEMBERED = PARTS * PART
KEPT_MAX = 32  # characters of a run that is remembered: longer ones hardly come again, and have no bound
SIGNS = {"++": "plusplus", "#": "sharp"}


class Word(NamedTuple):
    """A word, and where the text says it: characters `start` to `end`."""

    text: str
    start: int
    end: int


def words(text: str) -> list[str]:
    """Return the words of a text: `C++: Café-Bars` → `c cplusplus cafe bars`; `東京都` → `東京 京都`."""
    return [word for run in RUN.findall(apart(text)) for word in (analysed(run) if len(run) <= KEPT_MAX else read(run))]


def spans(text: str) -> Iterator[Word]:
    """Yield `words`, each with its place. Where folding changed the length, that is the place of the whole run."""
    for run in RUN.finditer(apart(text)):
        found = analysed(run[0]) if len(run[0]) <= KEPT_MAX else read(run[0])
        if len(found) == 1 or not SPACELESS.search(run[0]):
            yield from (Word(word, run.start(), run.end()) for word in found)
        else:
            yield from placed(found, run[0], run.start())


def apart(text: str) -> str:
    """Replace what regular expressions count as a letter but is none, `_`, by a space."""
    return text.replace("_", " ")


def placed(found: tuple[str, ...], run: str, start: int) -> Iterator[Word]:
    """Yield the words inside a run without spaces, by letter; one that folding made anew stands for the whole run."""
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
    return fold(character)


def analysed(run: str) -> tuple[str, ...]:
    """Return the words of a run, cached: a text says the same ones again and again, and folding is slow."""
    return KEPT[hash(run) % PARTS](run)


def read(run: str) -> tuple[str, ...]:
    """Return the words of a run of letters, as they stand there."""
    found: list[str] = []
    for piece in PIECE.findall(fold(run)):
        if piece in SIGNS:
            found += [f"{found[-1]}{SIGNS[piece]}"] if found else []
        else:
            found += [word[:WORD_MAX] for word in parted(piece)]
    return tuple(found)


KEPT = [lru_cache(PART)(read) for _ in range(PARTS)]


def parted(piece: str) -> Iterator[str]:
    """Yield scripts without spaces apart from the others, in pairs of characters."""
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


# Every analyser that stored rows may be of: an old one stays until no installation has its rows any more.
ANALYSERS: dict[int, Callable[[str], list[str]]] = {1: words, 2: words, ANALYSER: words}
