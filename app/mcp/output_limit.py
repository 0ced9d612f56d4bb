"""Limits how much a tool returns, says how to read on, and fences what pages say as data."""

from collections.abc import Callable, Iterable, Sequence
from secrets import token_hex
from typing import Annotated, NamedTuple, TypeVar

from pydantic import Field

CHARS = 12_000
MaxChars = Annotated[
    int,
    Field(ge=200, le=100_000, description="Maximum characters of text."),
]
Limit = Annotated[int, Field(ge=1, le=100, description="Maximum number.")]
Cursor = Annotated[
    str | None,
    Field(max_length=4_000, description="next_cursor of the previous result."),
]

T = TypeVar("T")
MARKS = len("<data 00000000>\n\n</data 00000000>")
NOT_SHOWN = "The result was cut. Call again with a greater max_chars."


class TextPart(NamedTuple):
    """A piece of a text. `next` is where the rest begins, in characters; None at the end."""

    text: str
    next: int | None


def cut(text: str, start: int, most: int) -> TextPart:
    """Cut a part of a text, at the end of a line if one is near."""
    end = start + most
    if end >= len(text):
        return TextPart(text[start:], None)
    line = text.rfind("\n", start + most * 3 // 4, end) + 1
    end = line or end
    return TextPart(text[start:end], end)


class Words(NamedTuple):
    """The text of an answer: what we say, what pages say, and how to read on."""

    head: str
    data: str = ""
    rest: str | None = None

    def within(self, most: int) -> str:
        """Return all of the text, or as much as fits: the data is cut first, then a long hint at how to read on."""
        head, rest = clipped(self.head, most // 2), self.rest
        if self.room(most, head, rest) < 0:
            rest = NOT_SHOWN
        data = clipped(self.data, self.room(most, head, rest))
        return paragraphs(head, fenced(data) if data else None, rest)

    def fits(self, most: int) -> bool:
        return len(self.data) <= self.room(most, self.head, self.rest)

    @staticmethod
    def room(most: int, head: str, rest: str | None) -> int:
        """Return how many characters the head and the hint leave for data."""
        return most - len(paragraphs(head, rest)) - MARKS - len("\n\n")


def clipped(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    return f"{text[: most - 1].rstrip()}…" if most > 0 else ""


def fitting_lines(rows: Sequence[T], most: int, said: Callable[[T], str]) -> list[T]:
    """The first rows whose lines fit, and one at least."""
    kept: list[T] = []
    for row in rows:
        most -= len(said(row)) + 1
        if kept and most < 0:
            break
        kept.append(row)
    return kept


def fenced(text: str) -> str:
    """Put a text between two lines that nobody who wrote it can know: what stands there is data, whatever it says."""
    mark = token_hex(4)
    return f"<data {mark}>\n{text.rstrip()}\n</data {mark}>"


def paragraphs(*parts: str | None) -> str:
    return "\n\n".join(part for part in parts if part)


def next_hint(cursor: str | None) -> str | None:
    return f'There is more: call this again with cursor "{cursor}".' if cursor else None


def lines(rows: Iterable[str]) -> str:
    return "\n".join(rows)
