"""Formats SQL for people: a statement that is too long for one line gets a line for each clause and item.

Only white space changes, and comments go, so that the text is the same statement. A parser would have to know all of
PostgreSQL to give back what it has read.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

WIDTH = 120
NARROW = 48
"""A group this short stays on its line however deep it is."""
INDENT = "  "
TOKEN = re.compile(
    r"""(?P<space>\s+ | --[^\n]* | /\*.*?\*/)
    | \bE'(?:\\.|''|[^'\\])*' | '(?:''|[^'])*' | "(?:""|[^"])*" | \$(?P<tag>(?:[a-z_]\w*)?)\$.*?\$(?P=tag)\$
    | \$\d+ | [\w.]+ | [()\[\],;] | :: | (?:(?!--|/\*)[-+*/<>=~!@\#%^&|`?:])+ | .""",
    re.IGNORECASE | re.DOTALL | re.VERBOSE,
)
CLOSING = {"(": ")", "[": "]", "CASE": "END"}
CLAUSES = {
    "SELECT", "FROM", "WHERE", "GROUP", "HAVING", "ORDER", "LIMIT", "OFFSET", "UNION", "EXCEPT", "INTERSECT", "WITH",
    "VALUES", "WINDOW", "WHEN", "ELSE",
}  # fmt: skip
"""These words begin a line where the clauses do not fit on one."""
CONDITIONS = {"AND", "OR"}
"""These words begin a line where a condition does not fit on one."""
PHRASES = {("DISTINCT", "FROM"), ("WITHIN", "GROUP"), ("WITH", "ORDINALITY"), ("WITH", "TIME")}
"""No clause begins in these pairs of words."""
JOINS = {"LEFT", "RIGHT", "FULL", "INNER", "CROSS", "NATURAL"}


class Token(NamedTuple):
    """A word, a literal or a sign. `spaced` says whether white space is before it."""

    text: str
    spaced: bool

    @property
    def flat(self) -> str:
        return self.text


class Brackets:
    """A pair of brackets, or CASE and END, with the items between them."""

    def __init__(self, opening: str, spaced: bool) -> None:
        self.opening, self.closing, self.spaced = opening, CLOSING[opening], spaced
        self.items: list[Item] = []
        self.flat = ""

    def close(self) -> None:
        space = " " if self.opening.isalpha() else ""
        self.flat = f"{self.opening}{space}{flat(self.items)}{space}{self.closing}"


Item = Token | Brackets


def format_sql(sql: str) -> str:
    """Return the same statement on as many lines as it takes, without a line break at its end."""
    return "\n".join(lines(parse(sql), ""))


def parse(sql: str) -> list[Item]:
    outer = Brackets("(", False)
    groups, spaced = [outer], False
    for found in TOKEN.finditer(sql):
        text = found[0]
        if found["space"]:
            spaced = True
            continue
        if text in CLOSING:
            groups.append(Brackets(text, spaced))
            groups[-2].items.append(groups[-1])
        elif text == groups[-1].closing and len(groups) > 1:
            groups.pop().close()
        else:
            groups[-1].items.append(Token(text, spaced))
        spaced = False
    for group in reversed(groups[1:]):
        group.close()
    return outer.items


def flat(items: Sequence[Item]) -> str:
    """Return the items on one line."""
    joined, before = "", ""
    for item in items:
        is_apart = (item.spaced and item.flat != ",") or before == ","
        joined += f" {item.flat}" if is_apart and joined else item.flat
        before = item.flat
    return joined


def lines(items: Sequence[Item], indent: str) -> Iterator[str]:
    """Break at clauses; where there is only one at commas, then at conditions, and last inside of brackets."""
    line = flat(items)
    if len(indent) + len(line) <= WIDTH:
        yield indent + line
    elif len(parts := list(split(items, begins_clause))) > 1:
        for part in parts:
            yield from lines(part, indent)
    elif len(parts := list(between_commas(items))) > 1:
        yield from format_list(items, parts, indent)
    elif len(parts := list(split(items, begins_condition))) > 1:
        for place, part in enumerate(parts):
            yield from lines(part, indent + INDENT if place else indent)
    else:
        yield from format_groups(items, indent)


def format_list(items: Sequence[Item], parts: list[Sequence[Item]], indent: str) -> Iterator[str]:
    """Put each part on lines of its own, under the words that begin the clause."""
    if head := length_of_head(items):
        yield indent + flat(items[:head])
        parts[0], indent = parts[0][head:], indent + INDENT
    for place, part in enumerate(parts):
        *most, last = lines(part, indent)
        yield from most
        yield last if place == len(parts) - 1 else f"{last},"


def length_of_head(items: Sequence[Item]) -> int:
    """Count the items that come before the first of a list: SELECT, ORDER BY, SELECT DISTINCT ON (...)."""
    words = [item.flat for item in items[:3]]
    if words == ["SELECT", "DISTINCT", "ON"]:
        return 4
    if words[1:2] in (["BY"], ["DISTINCT"], ["RECURSIVE"]):
        return 2
    return int(begins_clause(items, 0))


def format_groups(items: Sequence[Item], indent: str) -> Iterator[str]:
    """Put one item after another; the longest group, and any other that does not fit, is broken at its brackets."""
    line = indent
    longest = max((len(item.flat) for item in items if isinstance(item, Brackets)), default=0)
    for item in items:
        line += " " if item.spaced and line != indent else ""
        if isinstance(item, Brackets) and len(item.flat) >= min(longest, max(WIDTH - len(line), NARROW)):
            opening, closing = item.opening, item.closing
            while item.opening == "(" and len(item.items) == 1 and isinstance(inner := item.items[0], Brackets):
                item, opening, closing = inner, opening + inner.opening, inner.closing + closing
            yield line + opening
            yield from lines(item.items, indent + INDENT)
            line = indent + closing
        else:
            line += item.flat
    yield line


def split(items: Sequence[Item], begins: Callable[[Sequence[Item], int], bool]) -> Iterator[Sequence[Item]]:
    """Split the items where something begins."""
    start = 0
    for place in range(1, len(items)):
        if begins(items, place):
            yield items[start:place]
            start = place
    yield items[start:]


def begins_clause(items: Sequence[Item], place: int) -> bool:
    word = items[place].flat
    before = items[place - 1].flat if place else ""
    following = [item.flat for item in items[place + 1 : place + 3]]
    if word == "JOIN":
        return before not in {*JOINS, "OUTER"}
    if word in JOINS:
        return following[:1] == ["JOIN"] or following == ["OUTER", "JOIN"]
    return word in CLAUSES and (before, word) not in PHRASES and (word, *following[:1]) not in PHRASES


def begins_condition(items: Sequence[Item], place: int) -> bool:
    """Return whether an AND or OR is here that is not the AND of a BETWEEN."""
    words = [item.flat for item in items[:place] if item.flat in ("AND", "OR", "BETWEEN")]
    return items[place].flat in CONDITIONS and words[-1:] != ["BETWEEN"]


def between_commas(items: Sequence[Item]) -> Iterator[Sequence[Item]]:
    start = 0
    for place, item in enumerate(items):
        if item.flat == ",":
            yield items[start:place]
            start = place + 1
    yield items[start:]
