"""The blocks of a markdown text, as CommonMark sees them."""

import re
from functools import lru_cache

from markdown_it import MarkdownIt
from markdown_it.token import Token

LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")

# Only blocks are wanted. References and setext headings are text here, and leaving them out keeps hostile input cheap.
MARKDOWN = MarkdownIt("commonmark").disable(["reference", "lheading"])
MARKDOWN.core.ruler.enableOnly(["normalize", "block"])


@lru_cache(maxsize=4)
def blocks(text: str) -> tuple[Token, ...]:
    """Tokens in order; `map` counts in the lines of `lines`. One write looks at the same text several times."""
    return tuple(MARKDOWN.parse(text))


def lines(text: str) -> list[str]:
    """The lines with their ends, LF, CRLF or CR: joined, they are the text."""
    return LINE.findall(text)
