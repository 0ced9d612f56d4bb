"""Choose the snippet of a page to show for a search, and the highlights in it.

A page is passed as (heading, markdown body) for each section. To limit the cost, only its first sections are read,
those with the best matching headings first, and only up to a number of characters.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from itertools import islice
from math import fsum
from typing import NamedTuple

from ..markdown.plain import plain, strip_comments
from ..normalization import is_joined, whole_letters
from .words import RUN, analyse, space_underscores, spans, words

LENGTH = 240  # characters of a snippet
SECTIONS_MAX = 200  # sections of a page that are read
CHARACTERS_MAX = 20_000  # characters of a page that are read
HITS_MAX = 300  # matching words of a page
HEADING_MAX = 200  # characters of a heading that are read
REACH = 24  # characters by which a snippet may be shorter in order to be cut between words
BEGINNING = 3  # letters of a word by which candidates are found

# Each pattern scans a bounded distance, so that hostile text takes no longer than ordinary text.
FENCE = re.compile(r"^[ \t]{0,8}(?:```+[^`\n]*|~~~+[^\n]*)$", re.MULTILINE)
DEFINITION = re.compile(r"^ {0,3}\[(?!\^)[^\[\]\n]{1,200}\]:[ \t]*\S+(?:[ \t]+[\"'(][^\n]*)?$", re.MULTILINE)
RULE = re.compile(r"^[ \t]*[-|:=][-|:= \t]*$", re.MULTILINE)
ROW = re.compile(r"^[ \t]*\|[^\n]*$", re.MULTILINE)
CELL_END = re.compile(r"(?<!\\)\|")
LINK = re.compile(r"!?\[([^\[\]\n]{0,300})\]\((?:[^()\n]|\([^()\n]{0,200}\)){0,500}\)")
CODE = re.compile(r"(?<!`)`([^`\n]{1,300})`(?!`)")
# In code these are not markup, so characters of private use stand for them until the markup is removed.
MARKS, INSTEAD = "<*_[]~", "\ue000\ue001\ue002\ue003\ue004\ue005"
HIDE, SHOW = str.maketrans(MARKS, INSTEAD), str.maketrans(INSTEAD, MARKS)
LINE_END = re.compile("\r\n?")
CONTROL = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
DIRECTION = re.compile("[\u202a-\u202e\u2066-\u2069]")  # an unclosed one would reverse the text after the snippet

Texts = Sequence[tuple[str, str]]
Range = tuple[int, int]
Matcher = Callable[[str], str | None]


@dataclass(frozen=True, slots=True)
class Snippet:
    """A snippet: a line of text without markup from the section with that index.

    Highlights are (start, length) in it.
    """

    section: int
    text: str
    highlights: tuple[Range, ...] = ()


class MatchedWord(NamedTuple):
    """A word of a text, at [start, end), and the term of the query that it matches."""

    start: int
    end: int
    term: str


@dataclass(frozen=True, slots=True)
class SectionMatches:
    """A section with its plain text, its words that match the query, and the terms of the query in its heading.

    `whole` tells whether each word of the heading matches the query.
    """

    section: int
    text: str
    hits: tuple[MatchedWord, ...]
    heading: frozenset[str]
    whole: bool


def choose(sections: Texts, weights: Mapping[str, float], is_match: Matcher, length: int = LENGTH) -> Snippet | None:
    """Return the snippet of at most `length` characters that matches a query best; None if there is no text.

    `is_match` returns the term of the query that a word matches, or None. `weights` is the weight of each term; a term
    in the heading counts once more. Among equal snippets, one under a heading that only has words of the query wins,
    then the one with more hits, then the first on the page. Without any match, the snippet is the beginning of the
    page, without highlights.
    """
    readings = list(_readings(sections, weights, cache(is_match)))
    windows = [(reading, *window) for reading in readings for window in _windows(reading, _room(length))]
    if not windows:
        return next((_snippet(section, 0, 0, length) for section in readings if section.text), None)
    windows.sort(key=lambda window: window[0].section)  # as on the page: of equals, max takes the first
    reading, first, last = max(windows, key=lambda window: _score(weights, *window))
    return _snippet(reading, first, last, length)


def html(snippet: Snippet) -> str:
    """Return the snippet as HTML, escaped and with `<mark>` around its highlights."""
    parts, at = [], 0
    for start, length in snippet.highlights:
        parts += [escape(snippet.text[at:start]), "<mark>", escape(snippet.text[start : start + length]), "</mark>"]
        at = start + length
    return "".join(parts) + escape(snippet.text[at:])


def candidates(sections: Texts, beginnings: Collection[str]) -> set[str]:
    """Return the distinct words of a page that begin with the first three letters, or all, of one of `beginnings`.

    Only these words can have the same stem as a word of the query, so only they must be known before `choose` is
    called.
    """
    stems = {beginning[:BEGINNING] for beginning in beginnings}

    def begins(word: str) -> bool:
        return any(word[:size] in stems for size in range(1, BEGINNING + 1))

    found: set[str] = set()
    for _, heading, body in _in_reach(sections, lambda heading: sum(map(begins, words(heading)))):
        found.update(filter(begins, {*words(heading), *words(body)}))
    return found


def plain_text(text: str) -> str:
    """Return markdown as plain text on one line, without comments, addresses of links and lines of tables.

    Code stays.
    """
    text = LINE_END.sub("\n", strip_comments(text))
    parts = FENCE.split(DIRECTION.sub("", CONTROL.sub(" ", text)))
    parts[::2] = [_prose(part) for part in parts[::2]]
    return " ".join(" ".join(parts).split())


def _prose(text: str) -> str:
    for mark in (DEFINITION, RULE):
        text = mark.sub("", text)
    text = ROW.sub(lambda row: CELL_END.sub(" ", row[0]), text)
    text = CODE.sub(lambda code: code[1].translate(HIDE), text)
    return plain(LINK.sub(r"\1", LINK.sub(r"\1", text))).translate(SHOW)  # twice: a link around an image


def _in_reach(texts: Texts, worth: Callable[[str], float]) -> Iterator[tuple[int, str, str]]:
    """Yield (index, heading, body) of the sections that are read, those with the best headings first.

    Bodies are cut at CHARACTERS_MAX characters in total.
    """
    headings = [heading[:HEADING_MAX] for heading, _ in texts[:SECTIONS_MAX]]
    left = CHARACTERS_MAX
    for index in sorted(range(len(headings)), key=lambda index: -worth(headings[index])):
        body = texts[index][1][:left]
        left -= len(body)
        yield index, headings[index], body


def _readings(texts: Texts, weights: Mapping[str, float], is_match: Matcher) -> Iterator[SectionMatches]:
    def terms(heading: str) -> set[str]:
        return set(filter(None, map(is_match, words(heading))))

    left = HITS_MAX
    for index, heading, body in _in_reach(texts, lambda heading: _weight(weights, terms(heading))):
        text, within = plain_text(body), terms(heading)
        text = text or (plain_text(heading) if within else "")
        hits = tuple(islice(_hits(text, is_match), left))
        left -= len(hits)
        whole = bool(within) and all(map(is_match, words(heading)))
        yield SectionMatches(index, text, tuple(sorted(hits)), frozenset(within), whole)


def _hits(text: str, is_match: Matcher) -> Iterator[MatchedWord]:
    """Yield the words that match.

    Each distinct run of letters is tested once, as most have no match and most are repeated.
    """
    hitting = cache(lambda run: any(map(is_match, analyse(run))))
    for run in RUN.finditer(space_underscores(text)):
        if hitting(run[0]):
            for word in spans(run[0]):
                if term := is_match(word.text):
                    yield MatchedWord(run.start() + word.start, run.start() + word.end, term)


def _weight(weights: Mapping[str, float], terms: Collection[str]) -> float:
    return fsum(weights.get(term, 0.0) for term in terms)


def _windows(reading: SectionMatches, room: int) -> Iterator[Range]:
    """Yield, from each hit on, the range [first, last) of the hits that fit; (0, 0) if only the heading matches."""
    if reading.text and reading.heading and not reading.hits:
        yield 0, 0
    last = 0
    for first, hit in enumerate(reading.hits):
        last = max(last, first + 1)
        while last < len(reading.hits) and reading.hits[last].end <= hit.start + room:
            last += 1
        yield first, last


def _score(weights: Mapping[str, float], reading: SectionMatches, first: int, last: int) -> tuple[float, bool, int]:
    terms = reading.heading.union(hit.term for hit in reading.hits[first:last])
    return _weight(weights, terms) + _weight(weights, reading.heading), reading.whole, last - first


def _snippet(reading: SectionMatches, first: int, last: int, length: int) -> Snippet:
    text, hits = reading.text, reading.hits[first:last]
    start, end = 0, len(text)
    if end > length:
        start, end = _cut(text, (hits[0].start, hits[-1].end) if hits else (0, 0), _room(length))
    before, after = "…" if start else "", "…" if end < len(text) else ""
    inside = [hit for hit in reading.hits if start <= hit.start and hit.end <= end]
    highlights = tuple((at - start + len(before), to - at) for at, to in _merged(inside))
    return Snippet(reading.section, f"{before}{text[start:end]}{after}", highlights)


def _room(length: int) -> int:
    """Return the number of characters for the text between two `…`."""
    return max(length - 2, 1)


def _cut(text: str, hits: Range, room: int) -> Range:
    """Return the start and the end of the snippet. A third of the room that the hits leave free is before them."""
    first, last = hits
    free = max(room - (last - first), 0)
    start = max(0, min(first - free // 3, len(text) - room))
    end = min(start + room, len(text))
    if start:
        start = text.find(" ", start - 1, min(first, start + REACH)) + 1 or start
        start = next((at for at in range(start, first) if not is_joined(text, at)), start)
    if end < len(text):
        space = text.rfind(" ", max(last, end - REACH), end + 1)
        whole = whole_letters(text, end)
        end = space if space > start else whole if whole > start and whole >= min(last, end) else end
    return start, end


def _merged(hits: list[MatchedWord]) -> list[Range]:
    """Return the [start, end) ranges of the hits, merged if they overlap or touch.

    Words that are pairs of characters overlap.
    """
    ranges: list[Range] = []
    for start, end, _ in hits:
        if ranges and start <= ranges[-1][1]:
            start, end = ranges[-1][0], max(end, ranges.pop()[1])
        ranges.append((start, end))
    return ranges
