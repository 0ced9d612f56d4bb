"""The blocks of a markdown text, as CommonMark sees them."""

import re
from functools import cache, lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")


@cache
def parser() -> "MarkdownIt":
    """Return a parser of blocks alone, without references and setext headings, which are text here.

    Leaving them out keeps hostile input cheap. It is imported with the first text: commands that only read need none.
    """
    from markdown_it import MarkdownIt

    markdown = MarkdownIt("commonmark").disable(["reference", "lheading"])
    markdown.core.ruler.enableOnly(["normalize", "block"])
    return markdown


@lru_cache(maxsize=4)
def blocks(text: str) -> "tuple[Token, ...]":
    """Return tokens in order; `map` counts in the lines of `lines`. One write looks at the same text several times."""
    return tuple(parser().parse(text))


def lines(text: str) -> list[str]:
    """Return the lines with their ends, LF, CRLF or CR: joined, they are the text."""
    return LINE.findall(text)
