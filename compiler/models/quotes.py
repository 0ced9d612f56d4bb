"""Whether a source really says what it is quoted with: letter by letter, whatever its line breaks and marks."""

import re
from functools import lru_cache

from content.folding import INVISIBLE
from content.plain import plain

from ..planner import SourceText

QUOTE_MIN, QUOTE_MAX = 2, 600
LENGTH = f"{{{QUOTE_MIN},{QUOTE_MAX}}}"
# What stands between quotation marks, whatever the language; an apostrophe is none.
QUOTATION = re.compile("|".join(rf"{a}([^{a}{b}\n]{LENGTH}){b}" for a, b in ("“”", "„“", "„”", "«»", "「」", '""')))


def is_verbatim(quote: str, source: SourceText) -> bool:
    wanted = " ".join(INVISIBLE.sub("", quote).split())
    return len(wanted) >= QUOTE_MIN and any(wanted in text for text in readable(source.content))


@lru_cache(maxsize=200)
def readable(content: str) -> tuple[str, str]:
    """The text in one line, with its marks and without."""
    content = INVISIBLE.sub("", content)
    return " ".join(content.split()), plain(content)


def quotations(text: str) -> list[str]:
    """What stands between quotation marks in it."""
    return [next(filter(None, found.groups())) for found in QUOTATION.finditer(text)]
