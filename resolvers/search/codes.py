"""Codes of letters and digits in a query, like `CAI-123`, and the names near to one that no page contains."""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence, Set
from typing import NamedTuple
from uuid import UUID

from content.names import normalise
from content.search.words import words
from db.connection import Connection, Row
from db.sql import statements

FIND_RELATIVES = statements("search/words")["find_relatives"]
CODE = re.compile(r"([^\W\d_]+-?)([0-9]{2,9})")
NEIGHBOURS_MIN, NEIGHBOURS_SHARE = 3, 1 / 3  # number and share of the names next to a code that one page must have


class Code(NamedTuple):
    """A normalised code of letters and digits, with the `first` and `last` code of the same letters and length."""

    name: str
    first: str
    last: str


async def find_nearby_code(
    connection: Connection, where: dict[str, object], text: str, unknown: Set[str], statuses: Sequence[str]
) -> str | None:
    """Return a name near to the first code of the text that no page contains, or None.

    It is a name of the page that has most of the codes around the missing one.
    """
    if (code := next(codes(text, unknown), None)) is None:
        return None
    rows = await connection.all(
        FIND_RELATIVES, tenant_id=where["tenant_id"], owner_id=where["owner_id"], **code._asdict(),
        statuses=list(statuses),
    )  # fmt: skip
    return nearest_name(code, [row for row in rows if CODE.fullmatch(row["name"])])


def codes(text: str, unknown: Set[str]) -> Iterator[Code]:
    for name in normalise(text).split():
        if (match := CODE.fullmatch(name)) and not unknown.isdisjoint(words(name)[-1:]):
            letters, digits = match.groups()
            yield Code(name, letters + "0" * len(digits), letters + "9" * len(digits))


def nearest_name(code: Code, rows: Sequence[Row]) -> str | None:
    """Return the name nearest to the code, of the page with most of these names; None if no page has enough of them."""
    names: defaultdict[UUID, list[str]] = defaultdict(list)
    for row in rows:
        names[row["page_id"]].append(row["name"])
    most_names = max(names.values(), key=lambda page_names: (len(page_names), page_names), default=[])
    if len(most_names) < max(NEIGHBOURS_MIN, NEIGHBOURS_SHARE * len(rows)):
        return None
    return min(most_names, key=lambda name: (abs(number(name) - number(code.name)), name))


def number(name: str) -> int:
    return int(re.sub(r"\D", "", name))
