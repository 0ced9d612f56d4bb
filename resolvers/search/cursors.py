"""Where a list of hits goes on: opaque to clients, and of one question only.

A cursor carries what the question was weighed with, so that pages keep their scores, and so their order, when the
statistics of the wiki move on meanwhile.
"""

import binascii
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass
from math import isfinite
from uuid import UUID
from zlib import crc32

import orjson

from ..errors import BadInput
from .reading import Reading

LONGEST = 20_000  # characters


@dataclass(frozen=True, slots=True)
class Place:
    """Behind the page with this score. `found` and `pages` are the statistics at the time of the first question."""

    score: float
    page_id: UUID
    pages: int
    mean_length: float
    found: dict[str, int]
    is_wide: bool


def cursor(question: str, reading: Reading, score: float, page_id: UUID, *, is_wide: bool = False) -> str:
    """`question` is all that was asked, filters included; `is_wide` when its words were not looked for together."""
    statistics = reading.pages, reading.mean_length, reading.found
    state = [crc32(question.encode()), score, page_id.hex, *statistics, is_wide]
    return urlsafe_b64encode(orjson.dumps(state)).decode()


def place(question: str, text: str) -> Place:
    """Raises BadInput for what is no cursor of this question."""
    try:
        if len(text) > LONGEST:
            raise ValueError
        asked, score, page_id, pages, length, found, is_wide = orjson.loads(urlsafe_b64decode(text.encode("ascii")))
        if not (isfinite(score) and isfinite(length) and 0 < pages < 2**31 and 0 < length < 2**31):
            raise ValueError
        if not all(isinstance(lexeme, str) and 0 <= int(count) < 2**31 for lexeme, count in found.items()):
            raise ValueError
        behind = Place(float(score), UUID(page_id), int(pages), float(length), found, bool(is_wide))
    except (ValueError, TypeError, AttributeError, binascii.Error) as error:
        raise BadInput("This is not a cursor of a search.", "after") from error
    if asked != crc32(question.encode()):
        raise BadInput("This cursor belongs to another search: ask the same question with the same filters.", "after")
    return behind
