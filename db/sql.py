"""Statements for asyncpg: named statements of queries/<noun>.sql, and INSERTs that are composed with SQLAlchemy Core.

A file of queries consists of blocks: `-- name: verb_noun`, a comment of one sentence, and a statement with `:named`
parameters. Write CAST(:x AS type): `:x::type` would not be recognized as a parameter, and Postgres cannot infer the
type of an untyped one. A line `-- after: verb_noun` prepends the text of that block, which is then no statement by
itself.
"""

import re
from collections.abc import Mapping
from functools import cache, lru_cache
from importlib.resources import files
from itertools import cycle
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from sqlalchemy import Table

HEADER = re.compile(r"^-- name: (\w+)$", re.MULTILINE)
PARAMETER = re.compile(r"\$(\d+)")
NAMED = re.compile(r"(?<![:\w\\]):(\w+)(?!:)")
AFTER = re.compile(r"^-- after: (\w+)\n", re.MULTILINE)


class Statement(NamedTuple):
    """A statement: SQL with numbered parameters, and their names in order."""

    sql: str
    parameters: tuple[str, ...]

    def arguments(self, values: Mapping[str, Any]) -> list[Any]:
        """Return the values of the parameters in order."""
        return [values[name] for name in self.parameters]

    def render(self, values: Mapping[str, str]) -> str:
        """Return the SQL with the values as literals, to be sent together with other statements without parameters."""
        return "".join(
            literal(values[self.parameters[int(piece) - 1]]) if is_parameter else piece
            for is_parameter, piece in pieces(strip_comments(self.sql))
        )


@cache
def pieces(sql: str) -> list[tuple[bool, str]]:
    """Return the pieces of a statement, alternately text and the number of a parameter, each with whether it is one."""
    return list(zip(cycle((False, True)), PARAMETER.split(sql), strict=False))


def literal(value: str) -> str:
    """Return a text as a SQL literal, which is correct for any setting of standard_conforming_strings."""
    quoted = value.replace("'", "''")
    return f"'{quoted}'" if "\\" not in quoted else " E'{}'".format(quoted.replace("\\", "\\\\"))


def parse_statement(body: str) -> Statement:
    """Return a statement with `:named` parameters in the form of asyncpg: `$1` for each use of the first name."""
    names: dict[str, int] = {}
    sql = NAMED.sub(lambda found: f"${names.setdefault(found[1], len(names) + 1)}", body)
    return Statement(sql, tuple(names))


@cache
def statements(noun: str) -> Mapping[str, Statement]:
    """Return the named statements of queries/<noun>.sql. The noun is the path of the file, such as pages/aliases."""
    return {name: parse_statement(body) for name, body in texts(noun).items()}


@cache
def texts(noun: str) -> Mapping[str, str]:
    """Return the texts of `statements` with their `:named` parameters, for use as a part of another statement."""
    source = (files("db") / "queries" / f"{noun}.sql").read_text(encoding="utf-8")
    _, *parts = HEADER.split(source)
    bodies = {name: body.strip().rstrip(";") for name, body in zip(parts[::2], parts[1::2], strict=True)}
    beginnings = {name for body in bodies.values() for name in AFTER.findall(body)}
    return {name: expand(body, bodies) for name, body in bodies.items() if name not in beginnings}


def expand(body: str, bodies: Mapping[str, str]) -> str:
    """Return a statement preceded by the block that its line `-- after:` names, recursively."""
    beginning = AFTER.search(body)
    return f"{expand(bodies[beginning[1]], bodies)}\n{AFTER.sub('', body)}" if beginning else body


WRITTEN = re.compile(r"\b(INSERT\s+INTO|DELETE\s+FROM|(?<!DO )(?<!FOR )UPDATE)\s+([a-z_]+)", re.IGNORECASE)
READ = re.compile(r"\b(?:(?<!DELETE )FROM|JOIN|USING)\s+(?:LATERAL\s+)?([a-z_]+)\b(?!\s*\()", re.IGNORECASE)
INSERTED, DELETED, UPDATED = "insert", "delete", "update"
COMMENT = re.compile(r"\A(?:\s*--[^\n]*\n)+\s*")


class Touched(NamedTuple):
    """The tables that a statement reads, and those that it writes, with `insert`, `update` or `delete`."""

    read: frozenset[str]
    written: frozenset[tuple[str, str]]


@cache
def quote_literal(value: str) -> str:
    """Return a text as a SQL literal, for statements that take no parameters, such as ALTER SYSTEM."""
    return "'{}'".format(value.replace("'", "''"))


def strip_comments(sql: str) -> str:
    """Return a statement without the comments before it."""
    return COMMENT.sub("", sql)


@cache
def tables_of(sql: str) -> Touched:
    """Return the tables that a statement reads and writes. The names of its CTEs are among those that it reads."""
    text = strip_comments(sql)
    written = {(table.lower(), verb.split()[0].lower()) for verb, table in WRITTEN.findall(text)}
    return Touched(frozenset(table.lower() for table in READ.findall(text)), frozenset(written))


@cache
def is_independent(sql: str, before: tuple[str, ...]) -> bool:
    """Return whether a statement may be combined with the statements before it, all of which see the same snapshot.

    It may not read or write a table that they write. The exception is an insert into a table from which they delete, as
    long as these are other rows.
    """
    read, written = tables_of(sql)
    for table, verb in frozenset[tuple[str, str]]().union(*(tables_of(other).written for other in before)):
        mine = {how for name, how in written if name == table}
        if table in read or (mine and (mine != {INSERTED} or verb != DELETED)):
            return False
    return True


@lru_cache(maxsize=512)
def combine(before: tuple[Statement, ...], last: Statement, shared: frozenset[str]) -> Statement:
    """Return one statement that runs all of them and returns the rows of the last. The others are its first CTEs.

    They see the same snapshot, so none may read what another writes. A parameter's name is prefixed with the number of
    its statement, like `0.id`, unless it is shared.
    """
    places: dict[str, int] = {}

    def text(number: int, statement: Statement) -> str:
        return "".join(
            f"${place(number, statement.parameters[int(piece) - 1])}" if is_parameter else piece
            for is_parameter, piece in pieces(strip_comments(statement.sql))
        )

    def place(number: int, name: str) -> int:
        return places.setdefault(name if name in shared else f"{number}.{name}", len(places) + 1)

    arms = ", ".join(f"sent_{number} AS ({text(number, statement)})" for number, statement in enumerate(before))
    main = text(len(before), last)
    for beginning in ("WITH RECURSIVE ", "WITH "):
        if main.startswith(beginning):
            return Statement(f"{beginning}{arms}, {main.removeprefix(beginning)}", tuple(places))
    return Statement(f"WITH {arms} {main}", tuple(places))


@cache
def inserting(table: "Table", *columns: str) -> Statement:
    """Return an INSERT of one row with these columns."""
    from sqlalchemy import bindparam, insert
    from sqlalchemy.dialects.postgresql import asyncpg

    values = {name: bindparam(name, type_=table.c[name].type) for name in columns}
    dialect = asyncpg.dialect(paramstyle="numeric_dollar")  # type: ignore[no-untyped-call]
    result: Any = insert(table).values(values).compile(dialect=dialect)
    return Statement(str(result), tuple(result.positiontup or ()))
