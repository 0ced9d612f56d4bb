"""Statements ready for asyncpg: named ones from queries/<noun>.sql, and single-row ones composed with Core.

A file holds blocks of `-- name: verb_noun`, one sentence of comment, and a statement with `:named` parameters;
write CAST(:x AS type), because `:x::type` hides the parameter and an untyped one has no type for Postgres. A line
`-- after: verb_noun` says that the statement goes on where that block ends, which is then none by itself.
"""

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from itertools import cycle
from typing import Any, NamedTuple

from sqlalchemy import Dialect, Table, bindparam, insert, text
from sqlalchemy.dialects.postgresql import asyncpg
from sqlalchemy.sql.elements import ClauseElement

DIALECT: Dialect = asyncpg.dialect(paramstyle="numeric_dollar")  # type: ignore[no-untyped-call]
HEADER = re.compile(r"^-- name: (\w+)$", re.MULTILINE)
PARAMETER = re.compile(r"\$(\d+)")
AFTER = re.compile(r"^-- after: (\w+)\n", re.MULTILINE)


class Statement(NamedTuple):
    """SQL text, and which value goes where in it."""

    sql: str
    parameters: tuple[str, ...]

    def arguments(self, values: Mapping[str, Any]) -> list[Any]:
        return [values[name] for name in self.parameters]

    def written(self, values: Mapping[str, str]) -> str:
        """With its values in it, for what is sent together with other statements: that takes no parameters."""
        return "".join(
            literal(values[self.parameters[int(piece) - 1]]) if is_parameter else piece
            for is_parameter, piece in pieces(self.sql)
        )


@cache
def pieces(sql: str) -> list[tuple[bool, str]]:
    """The text, and between its parts the numbers of parameters."""
    return list(zip(cycle((False, True)), PARAMETER.split(sql), strict=False))


def literal(value: str) -> str:
    """A text as SQL, whatever is in it and however the server reads backslashes."""
    quoted = value.replace("'", "''")
    return f"'{quoted}'" if "\\" not in quoted else " E'{}'".format(quoted.replace("\\", "\\\\"))


def compiled(clause: ClauseElement) -> Statement:
    """A Core statement or `text()` as asyncpg takes it."""
    result: Any = clause.compile(dialect=DIALECT)
    return Statement(str(result), tuple(result.positiontup or ()))


@cache
def statements(noun: str) -> Mapping[str, Statement]:
    """The named statements of queries/<noun>.sql."""
    return {name: compiled(text(body)) for name, body in texts(noun).items()}


@cache
def texts(noun: str) -> Mapping[str, str]:
    """The same as they are written, for those that are part of another one."""
    source = (files("db") / "queries" / f"{noun}.sql").read_text(encoding="utf-8")
    _, *parts = HEADER.split(source)
    bodies = {name: body.strip().rstrip(";") for name, body in zip(parts[::2], parts[1::2], strict=True)}
    beginnings = {name for body in bodies.values() for name in AFTER.findall(body)}
    return {name: whole(body, bodies) for name, body in bodies.items() if name not in beginnings}


def whole(body: str, bodies: Mapping[str, str]) -> str:
    """A statement with all that it goes on from."""
    beginning = AFTER.search(body)
    return f"{whole(bodies[beginning[1]], bodies)}\n{AFTER.sub('', body)}" if beginning else body


@cache
def inserting(table: Table, *columns: str) -> Statement:
    """INSERT of one row with these columns."""
    return compiled(insert(table).values({name: bindparam(name, type_=table.c[name].type) for name in columns}))
