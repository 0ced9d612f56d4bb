"""The cursor of a search of pages: the position after which the search continues, and the statistics that it uses."""

import binascii
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID
from zlib import crc32

import orjson

from ..errors import BadInput
from .interpretation import InterpretedQuery

LONGEST = 20_000  # characters
SCORE_END = 253_402_300_800.0  # the year 10,000: the score of a page in a list is the time of its last change
MARK = 8  # hexadecimal digits of an id, all of them random: enough to distinguish a few hundred pages


@dataclass(frozen=True, slots=True)
class SearchCursor:
    """The position after the page with this id and score.

    `found`, `pages` and `mean_length` are the statistics of the first page of results. `shown` are the marks of all
    pages that were shown so far; it is empty for a query without words, whose list has a fixed order.
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
    search: str,
    interpreted: InterpretedQuery,
    score: float,
    page_id: UUID,
    shown: Sequence[str] = (),
    *,
    is_wide: bool = False,
) -> str:
    """Return a cursor. `search` is a text that identifies the search, including its filters.

    `is_wide` says that the pages were found by one of the common words of the query.
    """
    search_hash = crc32(search.encode(errors="surrogatepass"))
    statistics = interpreted.pages, float(interpreted.mean_length), interpreted.found
    state = [search_hash, float(score), page_id.hex, *statistics, is_wide, "".join(shown)]
    return urlsafe_b64encode(orjson.dumps(state)).decode()


def read_cursor(search: str, text: str) -> SearchCursor:
    """Parse a cursor. Raises BadInput for a text that is not a cursor of this search."""
    try:
        if len(text) > LONGEST:
            raise ValueError
        state = orjson.loads(urlsafe_b64decode(text.encode("ascii")))
        search_hash, score, page_id, pages, length, found, is_wide, shown = state
        if type(shown) is not str or not (type(score) is type(length) is float and abs(score) < SCORE_END):
            raise ValueError
        if not 1 <= length < 2**31:
            raise ValueError
        if not (is_count(pages) and pages > 0 and all(map(is_count, found.values()))):
            raise ValueError
        marks = tuple(shown[at : at + MARK] for at in range(0, len(shown), MARK))
        cursor = SearchCursor(score, UUID(page_id), pages, length, found, is_wide is True, marks)
    except (ValueError, TypeError, AttributeError, binascii.Error) as error:
        raise BadInput("This is not a cursor of a search.", "after") from error
    if search_hash != crc32(search.encode(errors="surrogatepass")):
        raise BadInput("This cursor belongs to another search: ask the same question with the same filters.", "after")
    return cursor


def is_count(value: object) -> bool:
    """Return whether the value is a non-negative integer of 31 bits, and not a boolean."""
    return type(value) is int and 0 <= value < 2**31


def cursor_after(cursor: str, shown: Sequence[UUID]) -> str:
    """Return a cursor of the same search after these pages."""
    *state, _ = orjson.loads(urlsafe_b64decode(cursor))
    return urlsafe_b64encode(orjson.dumps([*state, "".join(map(page_mark, shown))])).decode()
