"""A part of a connection: as many of its rows as an answer has room for, and where to go on."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from pydantic import BaseModel

from .budget import Words
from .tool import Told

Edges = Sequence[dict[str, Any]]
T = TypeVar("T")
M = TypeVar("M", bound=BaseModel)


def part(
    connection: dict[str, Any], most: int, shown: Callable[[Edges, str | None], M], words_of: Callable[[M], Words]
) -> Told:
    """`shown` makes the answer of the rows that are kept and the cursor behind them; its text has `most` characters."""

    def answer(kept: Edges) -> M:
        return shown(kept, next_cursor(connection, kept))

    data = answer(fitting(connection["edges"], most, lambda kept: words_of(answer(kept))))
    return Told(data, words_of(data).within(most))


def fitting(rows: Sequence[T], most: int, words: Callable[[Sequence[T]], Words]) -> Sequence[T]:
    """As many of the first rows as there is room to tell of, and one at least."""
    if not rows or words(rows).fits(most):
        return rows
    few, many = 1, len(rows)
    while many - few > 1:
        some = (few + many) // 2
        few, many = (some, many) if words(rows[:some]).fits(most) else (few, some)
    return rows[:few]


def next_cursor(connection: dict[str, Any], kept: Edges) -> str | None:
    """Behind the last row that is shown."""
    if not kept or (len(kept) == len(connection["edges"]) and not connection["pageInfo"]["hasNextPage"]):
        return None
    cursor: str = kept[-1]["cursor"]
    return cursor
