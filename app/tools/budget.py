"""How much a tool says: no more than is wanted, with word of how to read on; what pages say is fenced as data."""

from collections.abc import Callable, Iterable, Sequence
from secrets import token_hex
from typing import Annotated, Any, NamedTuple, TypeVar

from pydantic import Field

CHARS = 12_000
MaxChars = Annotated[
    int,
    Field(ge=200, le=100_000, description="How many characters of text to give at most; the rest can be read on."),
]
Limit = Annotated[int, Field(ge=1, le=100, description="How many at most.")]
Cursor = Annotated[
    str | None,
    Field(
        max_length=2_000, description="Where to go on: the next_cursor of the answer before, with the same arguments."
    ),
]

T = TypeVar("T")


class Part(NamedTuple):
    """A piece of a text. `next` is where the rest begins, in characters; None at the end."""

    text: str
    next: int | None


def cut(text: str, start: int, most: int) -> Part:
    """At the end of a line where one is near."""
    end = start + most
    if end >= len(text):
        return Part(text[start:], None)
    line = text.rfind("\n", start + most * 3 // 4, end) + 1
    end = line or end
    return Part(text[start:end], end)


def fitting(rows: Sequence[T], most: int, said: Callable[[T], str]) -> list[T]:
    """The first rows whose words fit, and one at least."""
    kept: list[T] = []
    for row in rows:
        most -= len(said(row)) + 1
        if kept and most < 0:
            break
        kept.append(row)
    return kept


def next_cursor(edges: Sequence[Any], kept: Sequence[Any], has_more: bool) -> str | None:
    """Behind the last row that is shown."""
    if not kept or (len(kept) == len(edges) and not has_more):
        return None
    cursor: str = kept[-1]["cursor"]
    return cursor


def fenced(text: str) -> str:
    """Between two lines that nobody who wrote the text can know: what stands there is data, whatever it says."""
    mark = token_hex(4)
    return f"<data {mark}>\n{text.rstrip()}\n</data {mark}>"


def paragraphs(*parts: str | None) -> str:
    return "\n\n".join(part for part in parts if part)


def read_on(cursor: str | None) -> str | None:
    return f'There is more: call this again with cursor "{cursor}".' if cursor else None


def lines(rows: Iterable[str]) -> str:
    return "\n".join(rows)
