"""Limits the text that a tool returns, adds hints how to get the rest, and fences the text of pages as data."""

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
FENCE_LENGTH = len("<data 00000000>\n\n</data 00000000>")
CUT_HINT = "The result was cut. Call again with a greater max_chars."


class TextPart(NamedTuple):
    """A part of a text. `next` is the offset of the next part in characters, or None at the end."""

    text: str
    next: int | None


def cut(text: str, start: int, max_chars: int) -> TextPart:
    """Return the part of a text from `start` on. It ends at the end of a line, unless the last line is long."""
    end = start + max_chars
    if end >= len(text):
        return TextPart(text[start:], None)
    line_end = text.rfind("\n", start + max_chars * 3 // 4, end) + 1
    end = line_end or end
    return TextPart(text[start:end], end)


class Words(NamedTuple):
    """The text of a tool's output."""

    head: str
    """The words of the tool itself."""
    data: str = ""
    """Text of the wiki, which is fenced as data."""
    rest: str | None = None
    """A hint how to get the rest."""

    def to_text(self, max_chars: int) -> str:
        """Return the text, cut to `max_chars`. The data is cut first; then a short hint replaces a long hint."""
        head, rest = clip(self.head, max_chars // 2), self.rest
        if self.room(max_chars, head, rest) < 0:
            rest = CUT_HINT
        data = clip(self.data, self.room(max_chars, head, rest))
        return paragraphs(head, fence(data) if data else None, rest)

    def fits(self, max_chars: int) -> bool:
        return len(self.data) <= self.room(max_chars, self.head, self.rest)

    @staticmethod
    def room(max_chars: int, head: str, rest: str | None) -> int:
        """Return the number of characters that the head and the hint leave for data."""
        return max_chars - len(paragraphs(head, rest)) - FENCE_LENGTH - len("\n\n")


def clip(text: str, max_chars: int) -> str:
    """Return the text, cut with an ellipsis if it is longer than `max_chars`."""
    if len(text) <= max_chars:
        return text
    return f"{text[: max_chars - 1].rstrip()}…" if max_chars > 0 else ""


def rows_within(rows: Sequence[T], max_chars: int, format_row: Callable[[T], str]) -> list[T]:
    """Return the first rows whose lines fit into `max_chars`, but at least one row."""
    fitting: list[T] = []
    for row in rows:
        max_chars -= len(format_row(row)) + 1
        if fitting and max_chars < 0:
            break
        fitting.append(row)
    return fitting


def fence(text: str) -> str:
    """Put a text between two marks with a random number, which its author cannot imitate, to mark it as data."""
    mark = token_hex(4)
    return f"<data {mark}>\n{text.rstrip()}\n</data {mark}>"


def paragraphs(*parts: str | None) -> str:
    return "\n\n".join(part for part in parts if part)


def next_hint(cursor: str | None) -> str | None:
    return f'There is more: call this again with cursor "{cursor}".' if cursor else None


def lines(rows: Iterable[str]) -> str:
    return "\n".join(rows)
