"""The cursor of a search of pages: from which place on the same question is answered, by the same statistics."""

import binascii
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from uuid import UUID
from zlib import crc32

import orjson

from ..errors import BadInput
from .interpretation import ReadQuery

LONGEST = 20_000  # characters
MARK = 8  # hexadecimal digits of an id, all of them random: few hundred pages are told apart


@dataclass(frozen=True, slots=True)
class SearchCursor:
    """A position behind the page with this score. `found` and `pages` are the statistics of the first question.

    `shown` are the marks of all pages so far, where words were asked for: a list is in an order of its own.
    """

    score: float
    page_id: UUID
    pages: int
    mean_length: float
    found: dict[str, int]
    is_wide: bool
    shown: tuple[str, ...]


def page_mark(page_id: UUID) -> str:
    return page_id.hex[-MARK:]


def make_cursor(
    question: str, reading: ReadQuery, score: float, page_id: UUID, shown: Sequence[str] = (), *, is_wide: bool = False
) -> str:
    """`question` is all that was asked, filters included; `is_wide` when its words were not looked for together."""
    asked = crc32(question.encode(errors="surrogatepass"))
    statistics = reading.pages, float(reading.mean_length), reading.found
    state = [asked, float(score), page_id.hex, *statistics, is_wide, "".join(shown)]
    return urlsafe_b64encode(orjson.dumps(state)).decode()


def read_cursor(question: str, text: str) -> SearchCursor:
    """Return the place of a cursor. Raises BadInput for what is no cursor of this question."""
    try:
        if len(text) > LONGEST:
            raise ValueError
        state = orjson.loads(urlsafe_b64decode(text.encode("ascii")))
        asked, score, page_id, pages, length, found, is_wide, shown = state
        if type(shown) is not str or not (type(score) is type(length) is float and isfinite(score)):
            raise ValueError
        if not 1 <= length < 2**31:
            raise ValueError
        if not (is_count(pages) and pages > 0 and all(map(is_count, found.values()))):
            raise ValueError
        marks = tuple(shown[at : at + MARK] for at in range(0, len(shown), MARK))
        behind = SearchCursor(score, UUID(page_id), pages, length, found, is_wide is True, marks)
    except (ValueError, TypeError, AttributeError, binascii.Error) as error:
        raise BadInput("This is not a cursor of a search.", "after") from error
    if asked != crc32(question.encode(errors="surrogatepass")):
        raise BadInput("This cursor belongs to another search: ask the same question with the same filters.", "after")
    return behind


def is_count(value: object) -> bool:
    """Return whether it is a number of things: JSON's true is no number here."""
    return type(value) is int and 0 <= value < 2**31


def cursor_after(cursor: str, shown: Sequence[UUID]) -> str:
    """Return the cursor of the same search behind these pages."""
    *state, _ = orjson.loads(urlsafe_b64decode(cursor))
    return urlsafe_b64encode(orjson.dumps([*state, "".join(map(page_mark, shown))])).decode()
