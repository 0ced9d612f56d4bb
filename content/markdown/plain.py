"""Plain text of markdown, without its marks: for showing the beginning of it, not for reading it by machine."""

import re

from .comments import uncommented

LONGEST = 2000
# Each looks ahead a bounded way and never twice at the same place, so that hostile text costs no more than any other.
LINK = re.compile(r"!?\[([^\[\]\n]{0,300})\]\([^()\s]{0,500}\)")
WIKI_LINK = re.compile(r"!?\[\[(?:[^\[\]|\n]{0,300}\|)?([^\[\]|\n]{0,300})\]\]")
LINE_MARK = re.compile(
    r"^[ \t]{0,8}(?:#{1,6}[ \t]+|>[ \t]?|[-*+][ \t]+|\d{1,9}[.)][ \t]+|(?:```|~~~)[^\n]{0,100})", re.MULTILINE
)
# Each alternative begins with its character, so that a text without marks is passed over quickly.
EMPHASIS = re.compile(r"\*\*?\*?|``?`?|~~|_(?<!\w_)_?_?|__?_?(?!\w)")
TAG = re.compile(r"</?[A-Za-z][^<>\n]{0,200}>")


def excerpt(text: str, length: int = 200) -> str:
    """Return the beginning of its words, cut at a word where that loses little, with … when something is left out."""
    length = max(0, min(length, LONGEST))
    words = plain(uncommented(text[: 4 * length + 1000]))
    if len(words) <= length:
        return words
    cut = words[: max(length - 1, 0)]
    space = cut.rfind(" ")
    return (cut[:space] if space > length // 2 else cut).rstrip() + "…" if length else ""


def plain(text: str) -> str:
    """Return its words in one line."""
    text = LINE_MARK.sub("", text)
    if "[" in text:
        text = LINK.sub(r"\1", WIKI_LINK.sub(r"\1", text))
    if "<" in text:
        text = TAG.sub(" ", text)
    return " ".join(EMPHASIS.sub("", text).split())
