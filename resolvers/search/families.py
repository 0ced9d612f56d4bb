"""Codes that nobody wrote: the names next to one tell which page it belongs to.

A page that has many names of one form (LNK1100, LNK1101, …) is about all of them, and lists are hardly ever whole.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence, Set
from typing import NamedTuple
from uuid import UUID

from content.names import normalise
from content.words import words
from db.database import Connection, Row
from db.sql import statements

WORDS = statements("search_words")
CODE = re.compile(r"([^\W\d_]+-?)([0-9]{2,9})")
LEAST, SHARE = 3, 1 / 3  # of the names next to a code, those that one page must have


class Code(NamedTuple):
    """Letters and a number, as names are kept; `first` and `last` are those of the same form."""

    name: str
    first: str
    last: str


async def find_relative(
    connection: Connection, where: dict[str, object], text: str, unknown: Set[str], statuses: Sequence[str]
) -> str | None:
    """For the first code that no page says: the nearest name of the page that has most of those around it."""
    code = next(codes(text, unknown), None)
    if code is None:
        return None
    rows = await connection.all(
        WORDS["find_relatives"], tenant_id=where["tenant_id"], owner_id=where["owner_id"], **code._asdict(),
        statuses=list(statuses),
    )  # fmt: skip
    return nearest(code, [row for row in rows if CODE.fullmatch(row["name"])])


def codes(text: str, unknown: Set[str]) -> Iterator[Code]:
    for name in normalise(text).split():
        if (match := CODE.fullmatch(name)) and not unknown.isdisjoint(words(name)[-1:]):
            letters, digits = match.groups()
            yield Code(name, letters + "0" * len(digits), letters + "9" * len(digits))


def nearest(code: Code, rows: Sequence[Row]) -> str | None:
    """Nothing where no page has several of the names."""
    names: defaultdict[UUID, list[str]] = defaultdict(list)
    for row in rows:
        names[row["page_id"]].append(row["name"])
    most = max(names.values(), key=lambda own: (len(own), own), default=[])
    if len(most) < max(LEAST, SHARE * len(rows)):
        return None
    return min(most, key=lambda name: (abs(number(name) - number(code.name)), name))


def number(name: str) -> int:
    match = CODE.fullmatch(name)
    return int(match[2]) if match else 0
