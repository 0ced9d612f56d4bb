"""Convert markdown to plain text, without markup and comments, to show excerpts to people."""

import re
from collections.abc import Iterator
from itertools import pairwise

from ..normalization import whole_letters
from .prose import Span, hidden, hide

# Obsidian writes comments as `%% text %%`. An opening sign does not follow a word, and a closing sign does not precede
# one: `100%% of 50%%` has no comment.
OPENING = re.compile(r"(?<![\w%])%%(?!%)")
CLOSING = re.compile(r"(?<!%)%%(?![\w%])")
HEADING = re.compile(r"^ {0,3}#{1,6}[ \t]", re.MULTILINE)


def strip_comments(text: str) -> str:
    """Return the text without its comments. Comment marks inside code are left as they are."""
    if "<!--" not in text and "%%" not in text:
        return text
    parts, at = [], 0
    for start, end in sorted(comments(text)):
        parts.append(text[at:start])
        at = max(at, end)
    return "".join([*parts, text[at:]])


def comments(text: str) -> Iterator[Span]:
    """Yield the spans of the HTML comments and the Obsidian comments."""
    spans = list(hidden(text))
    yield from (span for span in spans if text.startswith("<!--", span[0]))
    if "%%" in text:
        yield from obsidian_comments(hide(text, spans))


def obsidian_comments(text: str) -> Iterator[Span]:
    """Yield the spans of Obsidian comments. A `%%` that is not closed before the next heading starts no comment."""
    headings = (heading.start() for heading in HEADING.finditer(text))
    for at, end in pairwise([0, *headings, len(text)]):
        while (opening := OPENING.search(text, at, end)) and (closing := CLOSING.search(text, opening.end(), end)):
            at = closing.end()
            yield opening.start(), at


LONGEST = 2000  # characters of an excerpt
# Each pattern scans a bounded distance and no place twice, so that hostile text takes no longer than ordinary text.
LINK = re.compile(r"!?\[([^\[\]\n]{0,300})\]\([^()\s]{0,500}\)")
WIKI_LINK = re.compile(r"!?\[\[(?:[^\[\]|\n]{0,300}\|)?([^\[\]|\n]{0,300})\]\]")
LINE_MARK = re.compile(
    r"^[ \t]{0,8}(?:#{1,6}[ \t]+|>[ \t]?|[-*+][ \t]+|\d{1,9}[.)][ \t]+"
    r"|(?:```(?=`*[^`\n]{0,100}$)|~~~)[^\n]{0,100})",
    re.MULTILINE,
)
# Each alternative begins with a literal character, so that text without emphasis is skipped quickly.
EMPHASIS = re.compile(r"\*\*?\*?|``?`?|~~|_(?<!\w_)_?_?|__?_?(?!\w)")
TAG = re.compile(r"</?[A-Za-z][^<>\n]{0,200}>")


def excerpt(text: str, length: int = 200) -> str:
    """Return the beginning of a text as plain text of at most `length` characters.

    A cut text ends in `…`, between two words unless that would lose more than half of it.
    """
    length = max(0, min(length, LONGEST))
    words = plain(strip_comments(text[: 4 * length + 1000]))
    if len(words) <= length:
        return words
    cut = words[: whole_letters(words, max(length - 1, 0))]
    space = cut.rfind(" ")
    return (cut[:space] if space > length // 2 else cut).rstrip() + "…" if length else ""


def plain(text: str) -> str:
    """Return markdown as plain text on one line."""
    text = LINE_MARK.sub("", text)
    if "[" in text:
        text = LINK.sub(r"\1", WIKI_LINK.sub(r"\1", text))
    if "<" in text:
        text = TAG.sub(" ", text)
    return " ".join(EMPHASIS.sub("", text).split())
