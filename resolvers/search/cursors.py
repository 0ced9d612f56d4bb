"""Where a list of hits goes on: opaque to clients, and of one question only.

A cursor carries what the question was weighed with, so that pages keep their scores, and so their order, when the
statistics of the wiki move on meanwhile. What the first pages link to and talk about lifts others, and those may
change: so it also carries which pages were shown, and what follows is the best of the others.
"""

import binascii
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from uuid import UUID
from zlib import crc32

import orjson

from ..errors import BadInput
from .reading import Reading

LONGEST = 20_000  # characters
MARK = 8  # hexadecimal digits of an id, all of them random: few hundred pages are told apart


@dataclass(frozen=True, slots=True)
class Place:
    """Behind the page with this score. `found` and `pages` are the statistics at the time of the first question.

    `shown` are the marks of all pages so far, where words were asked for: a list is in an order of its own.
    """

    score: float
    page_id: UUID
    pages: int
    mean_length: float
    found: dict[str, int]
    is_wide: bool
    shown: tuple[str, ...]


def mark(page_id: UUID) -> str:
    return page_id.hex[-MARK:]


def cursor(
    question: str, reading: Reading, score: float, page_id: UUID, shown: Sequence[str] = (), *, is_wide: bool = False
) -> str:
    """`question` is all that was asked, filters included; `is_wide` when its words were not looked for together."""
    asked = crc32(question.encode(errors="surrogatepass"))
    statistics = reading.pages, float(reading.mean_length), reading.found
    state = [asked, float(score), page_id.hex, *statistics, is_wide, "".join(shown)]
    return urlsafe_b64encode(orjson.dumps(state)).decode()


def place(question: str, text: str) -> Place:
    """Raises BadInput for what is no cursor of this question."""
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
        behind = Place(score, UUID(page_id), pages, length, found, is_wide is True, marks)
    except (ValueError, TypeError, AttributeError, binascii.Error) as error:
        raise BadInput("This is not a cursor of a search.", "after") from error
    if asked != crc32(question.encode(errors="surrogatepass")):
        raise BadInput("This cursor belongs to another search: ask the same question with the same filters.", "after")
    return behind


def is_count(value: object) -> bool:
    """JSON's true is no number here."""
    return type(value) is int and 0 <= value < 2**31
