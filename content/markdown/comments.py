"""Comments of a markdown text, which no reader sees: `<!-- -->`, and `%% %%` as Obsidian has them."""

import re
from collections.abc import Iterator
from itertools import pairwise

from .prose import Span, hidden, hide

# The first sign stands before what is said, the second behind it: `100%% of 50%%` are none.
OPENING = re.compile(r"(?<![\w%])%%(?!%)")
CLOSING = re.compile(r"(?<!%)%%(?![\w%])")
HEADING = re.compile(r"^ {0,3}#{1,6}[ \t]", re.MULTILINE)


def uncommented(text: str) -> str:
    """Return the text without its comments. What looks like one in code is code."""
    if "<!--" not in text and "%%" not in text:
        return text
    parts, at = [], 0
    for start, end in sorted(comments(text)):
        parts.append(text[at:start])
        at = max(at, end)
    return "".join([*parts, text[at:]])


def comments(text: str) -> Iterator[Span]:
    spans = list(hidden(text))
    yield from (span for span in spans if text.startswith("<!--", span[0]))
    if "%%" in text:
        yield from remarks(hide(text, spans))


def remarks(text: str) -> Iterator[Span]:
    """Yield the comments of Obsidian. A sign that nothing closes in its section hides nothing."""
    headings = (heading.start() for heading in HEADING.finditer(text))
    for at, end in pairwise([0, *headings, len(text)]):
        while (opening := OPENING.search(text, at, end)) and (closing := CLOSING.search(text, opening.end(), end)):
            at = closing.end()
            yield opening.start(), at
