"""The snippet of a page to show for a search, and what to highlight in it.

Texts come as (heading, body in markdown), one for each section. Of a page so much is read that a search costs little:
its first sections, and of their text what stands under the headings that match best before the rest.
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
from .words import RUN, analyse, space_underscores, spans, words

LENGTH = 240
SECTIONS_MAX = 200
CHARACTERS_MAX = 20_000
HITS_MAX = 300
HEADING_MAX = 200
REACH = 24  # characters that are given up, at most, to cut between words
BEGINNING = 3  # letters

# Each looks ahead a bounded way, so that hostile text costs no more than any other.
FENCE = re.compile(r"^[ \t]{0,8}(?:```+[^`\n]*|~~~+[^\n]*)$", re.MULTILINE)
DEFINITION = re.compile(r"^ {0,3}\[(?!\^)[^\[\]\n]{1,200}\]:[ \t]*\S+(?:[ \t]+[\"'(][^\n]*)?$", re.MULTILINE)
RULE = re.compile(r"^[ \t]*[-|:=][-|:= \t]*$", re.MULTILINE)
ROW = re.compile(r"^[ \t]*\|[^\n]*$", re.MULTILINE)
CELL_END = re.compile(r"(?<!\\)\|")
LINK = re.compile(r"!?\[([^\[\]\n]{0,300})\]\((?:[^()\n]|\([^()\n]{0,200}\)){0,500}\)")
CODE = re.compile(r"(?<!`)`([^`\n]{1,300})`(?!`)")
# In code these are no marks: until the marks are gone, characters without a meaning stand for them.
MARKS, INSTEAD = "<*_[]~", "\ue000\ue001\ue002\ue003\ue004\ue005"
HIDE, SHOW = str.maketrans(MARKS, INSTEAD), str.maketrans(INSTEAD, MARKS)
CONTROL = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
DIRECTION = re.compile("[\u202a-\u202e\u2066-\u2069]")  # left open, it would turn around what stands after the snippet

Texts = Sequence[tuple[str, str]]
Range = tuple[int, int]
Matcher = Callable[[str], str | None]


@dataclass(frozen=True, slots=True)
class Snippet:
    """One line of text without markup, out of the section with that index; highlights are (start, length) in it."""

    section: int
    text: str
    highlights: tuple[Range, ...] = ()


class MatchedWord(NamedTuple):
    """A word of the text, from `start` to `end`, and the term of the query that it stands for."""

    start: int
    end: int
    term: str


@dataclass(frozen=True, slots=True)
class SectionMatches:
    """A section as it is read: its text without marks, and what of the query is in it and in its heading.

    The heading is `whole` when each of its words is of the query.
    """

    section: int
    text: str
    hits: tuple[MatchedWord, ...]
    heading: frozenset[str]
    whole: bool


def choose(sections: Texts, weights: Mapping[str, float], is_match: Matcher, length: int = LENGTH) -> Snippet | None:
    """Return the snippet of at most `length` characters with the most of the query; None if there is nothing to show.

    `is_match` gives the term that a word stands for, `weights` what each term counts: twice when it is in the heading
    too. Equals are decided by a heading of nothing else, then by the number of hits, then by the order on the page.
    Without any match it is the beginning of the page, without highlights.
    """
    readings = list(_readings(sections, weights, cache(is_match)))
    windows = [(reading, *window) for reading in readings for window in _windows(reading, _room(length))]
    if not windows:
        return next((_snippet(one, 0, 0, length) for one in readings if one.text), None)
    windows.sort(key=lambda window: window[0].section)  # as on the page: of equals, max takes the first
    reading, first, last = max(windows, key=lambda window: _score(weights, *window))
    return _snippet(reading, first, last, length)


def html(snippet: Snippet) -> str:
    """Return the text with `<mark>` around its highlights. Nothing else in it is markup."""
    parts, at = [], 0
    for start, length in snippet.highlights:
        parts += [escape(snippet.text[at:start]), "<mark>", escape(snippet.text[start : start + length]), "</mark>"]
        at = start + length
    return "".join(parts) + escape(snippet.text[at:])


def candidates(sections: Texts, beginnings: Collection[str]) -> set[str]:
    """Return the distinct words that begin with the same 3 letters as one of these, or with the whole of a shorter one.

    They are what `choose` may have to ask about when endings do not matter: only these can have the same stem.
    """
    stems = {beginning[:BEGINNING] for beginning in beginnings}

    def begins(word: str) -> bool:
        return any(word[:size] in stems for size in range(1, BEGINNING + 1))

    found: set[str] = set()
    for _, heading, body in _in_reach(sections, lambda heading: sum(map(begins, words(heading)))):
        found.update(filter(begins, {*words(heading), *words(body)}))
    return found


def plain_text(text: str) -> str:
    """Return the text of markdown in one line, without marks, comments, link targets and table lines. Code stays."""
    parts = FENCE.split(DIRECTION.sub("", CONTROL.sub(" ", strip_comments(text))))
    parts[::2] = [_prose(part) for part in parts[::2]]
    return " ".join(" ".join(parts).split())


def _prose(text: str) -> str:
    for mark in (DEFINITION, RULE):
        text = mark.sub("", text)
    text = ROW.sub(lambda row: CELL_END.sub(" ", row[0]), text)
    text = CODE.sub(lambda code: code[1].translate(HIDE), text)
    return plain(LINK.sub(r"\1", LINK.sub(r"\1", text))).translate(SHOW)  # twice: a link around an image


def _in_reach(texts: Texts, worth: Callable[[str], float]) -> Iterator[tuple[int, str, str]]:
    """Yield (index, heading, body) of the sections that are read, the best heading first.

    Bodies are cut where reading ends.
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
    """Yield the hits, asking once for each run: most runs of letters hold none, and most come again."""
    hitting = cache(lambda run: any(map(is_match, analyse(run))))
    for run in RUN.finditer(space_underscores(text)):
        if hitting(run[0]):
            for word in spans(run[0]):
                if term := is_match(word.text):
                    yield MatchedWord(run.start() + word.start, run.start() + word.end, term)


def _weight(weights: Mapping[str, float], terms: Collection[str]) -> float:
    return fsum(weights.get(term, 0.0) for term in terms)


def _windows(reading: SectionMatches, room: int) -> Iterator[Range]:
    """Yield from each hit on as many as fit, as (first, after the last); (0, 0) where only the heading matches."""
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
    """Return the room for the text between two `…`."""
    return max(length - 2, 1)


def _cut(text: str, hits: Range, room: int) -> Range:
    """Return where the snippet begins and ends: a third of what the hits leave free goes before them."""
    first, last = hits
    free = max(room - (last - first), 0)
    start = max(0, min(first - free // 3, len(text) - room))
    end = min(start + room, len(text))
    if start:
        start = text.find(" ", start - 1, min(first, start + REACH)) + 1 or start
    if end < len(text):
        space = text.rfind(" ", max(last, end - REACH), end + 1)
        end = space if space > start else end
    return start, end


def _merged(hits: list[MatchedWord]) -> list[Range]:
    """Return ranges from start to end, those that overlap or touch as one: pairs of characters overlap as words."""
    ranges: list[Range] = []
    for start, end, _ in hits:
        if ranges and start <= ranges[-1][1]:
            start, end = ranges[-1][0], max(end, ranges.pop()[1])
        ranges.append((start, end))
    return ranges
