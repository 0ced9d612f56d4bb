"""Formats SQL for people: a statement that is too long for one line gets a line for each clause and item.

Only white space is changed and comments are removed, so that the statement stays the same. It works on tokens, because
a parser would have to support the whole syntax of PostgreSQL to reproduce every statement.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

WIDTH = 120
NARROW = 48
"""Brackets with a content up to this width stay on one line, whatever their indentation."""
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
"""Words that begin a line where the clauses do not fit on one line."""
CONDITIONS = {"AND", "OR"}
"""Words that begin a line where a condition does not fit on one line."""
PHRASES = {("DISTINCT", "FROM"), ("WITHIN", "GROUP"), ("WITH", "ORDINALITY"), ("WITH", "TIME")}
"""Pairs of words in which the word of CLAUSES does not begin a clause."""
JOINS = {"LEFT", "RIGHT", "FULL", "INNER", "CROSS", "NATURAL"}


class Token(NamedTuple):
    """A word, a literal or an operator. `spaced` says whether white space precedes it."""

    text: str
    spaced: bool

    @property
    def flat(self) -> str:
        return self.text


class Brackets:
    """A pair of brackets, or CASE and END, with the items between them. `flat` is their text on one line."""

    def __init__(self, opening: str, spaced: bool) -> None:
        self.opening, self.closing, self.spaced = opening, CLOSING[opening], spaced
        self.items: list[Item] = []
        self.flat = ""

    def close(self) -> None:
        space = " " if self.opening.isalpha() else ""
        self.flat = f"{self.opening}{space}{flat(self.items)}{space}{self.closing}"


Item = Token | Brackets


def format_sql(sql: str) -> str:
    """Return the statement formatted, without a line break at the end."""
    return "\n".join(lines(parse(sql), ""))


def parse(sql: str) -> list[Item]:
    """Return the tokens of a statement, nested by brackets."""
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
    """Yield lines that fit into WIDTH: broken at clauses, else at commas, else at conditions, else inside brackets."""
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
    """Yield each part on its own lines, indented below the words that begin the clause."""
    if head := length_of_head(items):
        yield indent + flat(items[:head])
        parts[0], indent = parts[0][head:], indent + INDENT
    for place, part in enumerate(parts):
        *first, last = lines(part, indent)
        yield from first
        yield last if place == len(parts) - 1 else f"{last},"


def length_of_head(items: Sequence[Item]) -> int:
    """Return the number of items before a clause's list: those of SELECT, ORDER BY or SELECT DISTINCT ON (...)."""
    words = [item.flat for item in items[:3]]
    if words == ["SELECT", "DISTINCT", "ON"]:
        return 4
    if words[1:2] in (["BY"], ["DISTINCT"], ["RECURSIVE"]):
        return 2
    return int(begins_clause(items, 0))


def format_groups(items: Sequence[Item], indent: str) -> Iterator[str]:
    """Yield the items one after another. The longest brackets, and all that do not fit, are broken inside."""
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
    """Split the items before each place where `begins` is true."""
    start = 0
    for place in range(1, len(items)):
        if begins(items, place):
            yield items[start:place]
            start = place
    yield items[start:]


def begins_clause(items: Sequence[Item], place: int) -> bool:
    """Return whether the item at this place is the first word of a clause or a join."""
    word = items[place].flat
    before = items[place - 1].flat if place else ""
    following = [item.flat for item in items[place + 1 : place + 3]]
    if word == "JOIN":
        return before not in {*JOINS, "OUTER"}
    if word in JOINS:
        return following[:1] == ["JOIN"] or following == ["OUTER", "JOIN"]
    return word in CLAUSES and (before, word) not in PHRASES and (word, *following[:1]) not in PHRASES


def begins_condition(items: Sequence[Item], place: int) -> bool:
    """Return whether the item at this place is an AND or OR, but not the AND of a BETWEEN."""
    words = [item.flat for item in items[:place] if item.flat in ("AND", "OR", "BETWEEN")]
    return items[place].flat in CONDITIONS and words[-1:] != ["BETWEEN"]


def between_commas(items: Sequence[Item]) -> Iterator[Sequence[Item]]:
    """Split the items at commas."""
    start = 0
    for place, item in enumerate(items):
        if item.flat == ",":
            yield items[start:place]
            start = place + 1
    yield items[start:]
