"""Find the blocks of a markdown text, and mask what is not prose: code, comments and escapes."""

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
HEADING_LINE = re.compile(r" {0,3}#{1,6}[ \t]+(?P<text>[^\n]*?)[ \t]*#*[ \t]*$")
# Backticks behind the opening ones, as in a line of code between fences, open no block.
FENCE_LINE = re.compile(r" {0,3}(?P<marks>`{3,}(?=[^`]*$)|~{3,})")


@cache
def parser() -> "MarkdownIt":
    """Return a parser of blocks only, which treats reference definitions and setext headings as plain text.

    Leaving these two out keeps hostile input cheap. The library is imported at the first use, because commands that
    only read do not need it.
    """
    from markdown_it import MarkdownIt

    markdown = MarkdownIt("commonmark").disable(["reference", "lheading"])
    markdown.core.ruler.enableOnly(["normalize", "block"])
    return markdown


@lru_cache(maxsize=4)
def blocks(text: str) -> "tuple[Token, ...]":
    """Return the block tokens in order, whose `map` counts the lines of `lines`.

    The result is cached, because one write reads the same text several times.
    """
    return tuple(parser().parse(text))


def lines(text: str) -> list[str]:
    """Split a text into lines that keep their ends (LF, CRLF or CR), so that joining them gives the text."""
    return LINE.findall(text)


Span = tuple[int, int]

# A private-use character, which is neither markup nor a letter and hardly ever occurs in a text.
HIDDEN = "\ue000"

# A text without any of these has no code, comment or escape, so the slow search for blocks is skipped.
HIDING = re.compile(r"[`<\\\t]|~~~| {4}")
SPECIAL = re.compile(r"\\[\\`*<!\[\]]|`+|<!--")
BACKTICKS = re.compile("`+")
VISIBLE = re.compile(r"[^\r\n]")
RAW_HTML = re.compile(r"\s*<(?:pre|script|style|textarea)\b", re.IGNORECASE)


def mask_code(text: str) -> str:
    """Return a text of the same length with each character of code, comments and escapes replaced by HIDDEN."""
    return hide(text, hidden(text)) if HIDING.search(text) else text


def hidden(text: str) -> Iterator[Span]:
    """Return the spans of code, comments and escapes. Only the span of a comment begins with `<!--`."""
    starts = [0, *accumulate(map(len, lines(text)))]
    return (span for token in blocks(text) for span in _hidden_in(text, token, starts))


def hide(text: str, spans: Iterable[Span]) -> str:
    """Return the text with these spans, which may overlap, replaced by HIDDEN. Line ends stay."""
    parts, position = [], 0
    for start, end in sorted(spans):
        parts.append(text[position:start])
        parts.append(VISIBLE.sub(HIDDEN, text[max(start, position) : end]))
        position = max(position, end)
    return "".join(parts) + text[position:]


def _hidden_in(text: str, token: "Token", starts: list[int]) -> Iterable[Span]:
    if token.map is None:
        return ()
    start, end = (starts[min(row, len(starts) - 1)] for row in token.map)
    if token.type in ("fence", "code_block"):
        return ((start, end),)
    if token.type == "html_block":
        return ((start, end),) if RAW_HTML.match(token.content) else _comments(text, start, end)
    return _inline(text, start, end) if token.type == "inline" else ()


def _comments(text: str, start: int, end: int) -> Iterator[Span]:
    """Yield the spans of the comments in a block of HTML. An unclosed comment extends to the end of the block."""
    while (opening := text.find("<!--", start, end)) >= 0:
        start = _comment_end(text, opening, end) or end
        yield opening, start


def _inline(text: str, start: int, end: int) -> Iterator[Span]:
    """Yield the spans of escapes, code and comments in a paragraph, from left to right as CommonMark reads them."""
    runs: dict[int, list[int]] = defaultdict(list)
    for run in BACKTICKS.finditer(text, start, end):
        runs[len(run[0])].append(run.start())
    last_comment = text.rfind("-->", start, end)
    while special := SPECIAL.search(text, start, end):
        start = special.end()
        if special[0].startswith("`"):
            close = _code_end(runs[len(special[0])], special)
        elif special[0] == "<!--":
            close = _comment_end(text, special.start(), end) if special.start() < last_comment else None
        else:
            close = start
        if close is not None:
            start = close
            yield special.start(), close


def _code_end(runs: list[int], opening: re.Match[str]) -> int | None:
    """Return the end of the next run of as many backticks as `opening` has, which closes it; None if there is none."""
    index = bisect_left(runs, opening.end())
    return runs[index] + len(opening[0]) if index < len(runs) else None


def _comment_end(text: str, opening: int, end: int) -> int | None:
    """Return the end of the comment, None if it is not closed. `<!-->` is a whole comment too."""
    close = text.find("-->", opening + 2, end)
    return None if close < 0 else close + 3
