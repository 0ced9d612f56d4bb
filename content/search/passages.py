"""Split the text of a source into passages: the turns, list items and paragraphs by which it is searched and cited.

A passage is a range of the stored text, with the heading above it and, in a conversation, the speaker. It extends
across a heading only in a source with more than PASSAGES_MAX passages, whose neighbours are joined.
docs/reference/search.md describes the rules.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ..claims.corrections import says_change
from ..markdown.prose import FENCE_LINE, HEADING_LINE

PASSAGE_MAX = 2_000  # characters; a longer block is cut after a sentence, or between words
PASSAGES_MAX = 5_000  # passages of one source; neighbours are joined until there are no more
LABEL_MAX = 200  # characters of a heading that are stored

ITEM = re.compile(r"[ \t]{0,20}(?:[-*+•]|\d{1,9}[.)])[ \t]+\S")
# A time may stand before the name, and emphasis around it: `[10:32] Mara: hello`, `3/9/23, 10:32 - Mara: hello`,
# `**Mara:** hello`.
TURN = re.compile(
    r"[ \t]{0,20}(?:\[[^\[\]\n]{1,40}\][ \t]*|\d{1,4}[./-]\d{1,2}[./-]\d{2,4},?[ \t]\d{1,2}:\d\d(?::\d\d)?"
    r"(?:[ \t\u202f]?[AaPp]\.?[Mm]\.?)?[ \t]+(?:[-–][ \t]+)?"
    r"|\d{1,2}[:.]\d\d(?:[:.]\d\d)?[ \t]+(?:[-–][ \t]*)?)?(?:\*\*|__)?"
    r"(?P<name>[^\W\d_][^\n:*|<>\[\](){}/\\\"“”]{0,39})(?:\*\*|__)?:(?:\*\*|__)?[ \t]+\S"
)
NAME_WORDS_MAX = 4  # words of a speaker's name, at most
SENTENCE_END = re.compile(r"[.!?…][\"'”’)\]]{0,3}(?=\s)|[。！？]")
QUESTION = re.compile(r"[?？؟][\"'”’)\]]{0,3}\s*(?:\[[^\[\]]{0,300}\]\s*)?$")  # a note about a photo may follow
VISIBLE = re.compile(r"\S")
NEAR_END = 0.5  # share of the room: an earlier end of a sentence is not used as a cut


class Passage(NamedTuple):
    """A passage of a source: characters [start, end), which count from 0, and its first and last line, from 1.

    The text of a turn begins with the speaker's name; `said_from` is the character where the speech begins.
    """

    start: int
    end: int
    line_start: int
    line_end: int
    heading: str = ""
    speaker: str = ""
    said_from: int = 0


class Line(NamedTuple):
    """A line of a text without its line end, the character where it begins, and its number, from 1."""

    text: str
    start: int
    number: int


def is_question(text: str) -> bool:
    """Return whether a passage ends in a question."""
    return QUESTION.search(text[-400:]) is not None


class Turn(NamedTuple):
    """The beginning of a turn: the speaker, and the length of the line before the speech."""

    speaker: str
    length: int


def passages(text: str) -> list[Passage]:
    """Return the passages of a text, in order. They do not overlap, and only white space and headings are outside.

    The passages below a heading have it as their `heading`; a heading with nothing below it is a passage itself.
    """
    found = [piece for block in blocks(text) for piece in pieces(text, block)]
    while len(found) > PASSAGES_MAX:
        found = [join_passages(found[at : at + 2]) for at in range(0, len(found), 2)]
    return found


def corrects(text: str) -> bool:
    """Return whether a sentence of a passage has words that announce a correction or a change."""
    return any(says_change(sentence.strip()) for sentence in sentences(text))


def sentences(text: str) -> Iterator[str]:
    """Yield the sentences of a text, which together are the text."""
    start = 0
    for match in SENTENCE_END.finditer(text):
        yield text[start : match.end()]
        start = match.end()
    yield text[start:]


def join_passages(neighbours: Sequence[Passage]) -> Passage:
    first, last = neighbours[0], neighbours[-1]
    return first._replace(end=last.end, line_end=last.line_end)


def blocks(text: str) -> Iterator[Passage]:
    """Yield the turns, list items, paragraphs and lone headings of a text, of any length."""
    block: Passage | None = None
    fence = heading = speaker = ""
    alone: Passage | None = None  # a heading with nothing below it so far
    for line in lines(text):
        if fence:
            block = block and extend(block, line)
            if line.text.strip().startswith(fence) and not line.text.strip().strip(fence[0]):
                fence = ""
            continue
        if found := HEADING_LINE.match(line.text):
            yield from filter(None, (block, alone))
            block, heading, speaker = None, found["text"][:LABEL_MAX], ""
            alone = one_line(line, heading)
            continue
        if not line.text.strip():
            yield from filter(None, (block,))
            block = None
            continue
        turn = turn_of(line.text)
        if block is None or turn or ITEM.match(line.text):
            yield from filter(None, (block,))
            speaker = turn.speaker if turn else "" if block is None else speaker
            block, alone = one_line(line, heading, speaker), None
            block = block._replace(said_from=line.start + turn.length) if turn else block
        else:
            block = extend(block, line)
        if mark := FENCE_LINE.match(line.text):
            fence = mark["marks"]
    yield from filter(None, (block, alone))


def one_line(line: Line, heading: str, speaker: str = "") -> Passage:
    start = line.start + len(line.text) - len(line.text.lstrip())
    return Passage(start, line.start + len(line.text.rstrip()), line.number, line.number, heading, speaker, start)


def extend(block: Passage, line: Line) -> Passage:
    """Return the block extended by a line. White space at the end stays outside of it."""
    if not line.text.strip():
        return block
    return block._replace(end=line.start + len(line.text.rstrip()), line_end=line.number)


def lines(text: str) -> Iterator[Line]:
    start = 0
    for number, line in enumerate(text.split("\n"), 1):
        yield Line(line.removesuffix("\r"), start, number)
        start += len(line) + 1


def turn_of(line: str) -> Turn | None:
    """Return the beginning of a turn, such as `Mara: hello`; None for any other line."""
    found = TURN.match(line)
    if found is None or len(found["name"].split()) > NAME_WORDS_MAX:
        return None
    return Turn(found["name"].strip(), found.end() - 1)


def pieces(text: str, block: Passage) -> Iterator[Passage]:
    """Yield the block in parts of at most PASSAGE_MAX characters."""
    start, number = block.start, block.line_start
    while block.end - start > PASSAGE_MAX:
        cut = cut_of(text, start, start + PASSAGE_MAX)
        end = start + len(text[start:cut].rstrip())
        last = number + text.count("\n", start, end)
        yield block._replace(start=start, end=end, line_start=number, line_end=last)
        following = VISIBLE.search(text, cut)
        assert following is not None, "a block ends with something to see"
        number = last + text.count("\n", end, following.start())
        start = following.start()
        block = block._replace(said_from=start)
    yield block._replace(start=start, line_start=number)


def cut_of(text: str, start: int, end: int) -> int:
    """Return where to cut between `start` and `end`: after the last sentence or else the last word of the second half,
    or at `end`."""
    earliest = start + int((end - start) * NEAR_END)
    sentences = [match.end() for match in SENTENCE_END.finditer(text, earliest, end)]
    if sentences:
        return sentences[-1]
    space = max(text.rfind(mark, earliest, end) for mark in (" ", "\n", "\t"))
    return space if space > start else end
