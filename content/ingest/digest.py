"""Write the text of a page about a file: its first paragraphs, and a sentence for each heading.

All sentences are those of the file. Sentences that are addressed to agents are left out, and none is followed.
"""

import re
from typing import NamedTuple

from ..claims.claims import escaped
from ..markdown.plain import plain
from ..markdown.prose import FENCE_LINE, HEADING_LINE
from ..sentences import first_sentence
from .flags import is_addressed

SUMMARY_MAX = 1_200  # characters
POINTS_MAX = 12  # headings with a sentence
POINT_MAX = 240  # characters
TITLE_MAX = 200  # characters
FRONTMATTER = ("---", "+++")
FRONTMATTER_MAX = 500  # lines
SENTENCE = re.compile(r"[^.!?。！？]+(?:[.!?。！？]+[\"'”’»)\]]*|$)")


class Lines(NamedTuple):
    """A part of a page, and the first and the last line of the source from which it was taken, counted from 1."""

    text: str
    start: int
    end: int


class Digest(NamedTuple):
    """The first paragraphs of a text, a sentence for each of its headings, and its first heading as its title."""

    title: str | None
    summary: Lines
    points: Lines | None


class Block(NamedTuple):
    """A paragraph of a source, the heading above it, and its first and last line, counted from 1."""

    heading: str
    text: str
    start: int
    end: int


def digest(text: str) -> Digest:
    """Return the digest of a text, which must not be empty."""
    found = blocks(text)
    title = next((block.heading for block in found if block.heading), None)
    summary = summarise(found)
    points: list[tuple[str, Block]] = []
    seen = {title or "", *(block.heading for block in found if block.end <= summary.end)}
    for block in found:
        if block.heading not in seen and (sentence := first_sentence(without_instructions(block.text), POINT_MAX)):
            seen.add(block.heading)
            points.append((f"- {block.heading}: {sentence}", block))
    if not points:
        return Digest(title, summary, None)
    chosen = points[:POINTS_MAX]
    points_text = "\n".join(point for point, _ in chosen)
    return Digest(title, summary, Lines(points_text, chosen[0][1].start, chosen[-1][1].end))


def summarise(found: list[Block]) -> Lines:
    """Return the first paragraphs, as many as fit into SUMMARY_MAX characters."""
    taken: list[tuple[str, Block]] = []
    room = SUMMARY_MAX
    for block in found:
        if paragraph := without_instructions(block.text):
            if taken and len(paragraph) > room:
                break
            taken.append((first_words(paragraph, room), block))
            room -= len(paragraph)
            if room <= 0:
                break
    if not taken:
        return Lines("", 1, 1)
    return Lines("\n\n".join(paragraph for paragraph, _ in taken), taken[0][1].start, taken[-1][1].end)


def first_words(text: str, length_max: int) -> str:
    return text if len(text) <= length_max else text[:length_max].rpartition(" ")[0].rstrip(" ,;:—–-") + "…"


def without_instructions(text: str) -> str:
    """Return a paragraph as plain text on one line, without the sentences that are addressed to agents."""
    shown = " ".join(plain(text).split())
    return escaped("".join(sentence for sentence in SENTENCE.findall(shown) if not is_addressed(sentence)).strip())


def blocks(text: str) -> list[Block]:
    """Return the paragraphs of a text, without code."""
    found: list[Block] = []
    heading, lines, start, is_code = "", list[str](), 0, False

    def close(end: int) -> None:
        if lines:
            found.append(Block(heading, "\n".join(lines), start, end))
            lines.clear()

    lines_of_text = text.rstrip("\n").split("\n")
    behind = behind_frontmatter(lines_of_text)
    for number, line in enumerate(lines_of_text[behind:], start=behind + 1):
        if FENCE_LINE.match(line):
            close(number - 1)
            is_code = not is_code
        elif is_code:
            continue
        elif match := HEADING_LINE.match(line):
            close(number - 1)
            words = " ".join(plain(match["text"]).split())[:TITLE_MAX]
            heading = "" if is_addressed(words) else escaped(words)
        elif not line.strip():
            close(number - 1)
        else:
            start = start if lines else number
            lines.append(line)
    close(len(lines_of_text))
    return found


def behind_frontmatter(lines: list[str]) -> int:
    """Return the index of the first line after the frontmatter; 0 for a text without frontmatter."""
    if lines[0].rstrip() not in FRONTMATTER:
        return 0
    ends = (place for place, line in enumerate(lines[1:FRONTMATTER_MAX], start=1) if line.rstrip() == lines[0].rstrip())
    return next(ends, -1) + 1
