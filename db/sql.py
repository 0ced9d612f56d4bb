"""Statements ready for asyncpg: named ones from queries/<noun>.sql, and single-row ones composed with Core.

A file holds blocks of `-- name: verb_noun`, one sentence of comment, and a statement with `:named` parameters;
write CAST(:x AS type), because `:x::type` hides the parameter and an untyped one has no type for Postgres. A line
`-- after: verb_noun` says that the statement goes on where that block ends, which is then none by itself.
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
    """A statement: SQL text, and which value goes where in it."""

    sql: str
    parameters: tuple[str, ...]

    def arguments(self, values: Mapping[str, Any]) -> list[Any]:
        return [values[name] for name in self.parameters]

    def render(self, values: Mapping[str, str]) -> str:
        """Return the SQL with its values in it, to be sent with other statements, which takes no parameters."""
        return "".join(
            literal(values[self.parameters[int(piece) - 1]]) if is_parameter else piece
            for is_parameter, piece in pieces(strip_comments(self.sql))
        )


@cache
def pieces(sql: str) -> list[tuple[bool, str]]:
    """Yield the text, and between its parts the numbers of parameters."""
    return list(zip(cycle((False, True)), PARAMETER.split(sql), strict=False))


def literal(value: str) -> str:
    """Return a text as SQL, whatever is in it and however the server reads backslashes."""
    quoted = value.replace("'", "''")
    return f"'{quoted}'" if "\\" not in quoted else " E'{}'".format(quoted.replace("\\", "\\\\"))


def parse_statement(body: str) -> Statement:
    """Return a text with `:named` parameters as asyncpg takes it: `$1` for the first name, each time that it comes."""
    names: dict[str, int] = {}
    sql = NAMED.sub(lambda found: f"${names.setdefault(found[1], len(names) + 1)}", body)
    return Statement(sql, tuple(names))


@cache
def statements(noun: str) -> Mapping[str, Statement]:
    """Return the named statements of queries/<noun>.sql; the noun is the path of the file, such as pages/aliases."""
    return {name: parse_statement(body) for name, body in texts(noun).items()}


@cache
def texts(noun: str) -> Mapping[str, str]:
    """Return the texts of `statements` as they are written, for those that are part of another one."""
    source = (files("db") / "queries" / f"{noun}.sql").read_text(encoding="utf-8")
    _, *parts = HEADER.split(source)
    bodies = {name: body.strip().rstrip(";") for name, body in zip(parts[::2], parts[1::2], strict=True)}
    beginnings = {name for body in bodies.values() for name in AFTER.findall(body)}
    return {name: expand(body, bodies) for name, body in bodies.items() if name not in beginnings}


def expand(body: str, bodies: Mapping[str, str]) -> str:
    """Return a statement with all that it goes on from."""
    beginning = AFTER.search(body)
    return f"{expand(bodies[beginning[1]], bodies)}\n{AFTER.sub('', body)}" if beginning else body


WRITTEN = re.compile(r"\b(INSERT\s+INTO|DELETE\s+FROM|(?<!DO )(?<!FOR )UPDATE)\s+([a-z_]+)", re.IGNORECASE)
READ = re.compile(r"\b(?:(?<!DELETE )FROM|JOIN|USING)\s+(?:LATERAL\s+)?([a-z_]+)\b(?!\s*\()", re.IGNORECASE)
INSERTED, DELETED, UPDATED = "insert", "delete", "update"
COMMENT = re.compile(r"\A(?:\s*--[^\n]*\n)+\s*")


class Touched(NamedTuple):
    """The tables that a statement reads, and those that it writes with the first word of how."""

    read: frozenset[str]
    written: frozenset[tuple[str, str]]


@cache
def strip_comments(sql: str) -> str:
    """Return a statement without what is said of it before it begins."""
    return COMMENT.sub("", sql)


@cache
def tables_of(sql: str) -> Touched:
    """Return which tables a statement reads and writes; names of its own CTEs are among those that it reads."""
    text = strip_comments(sql)
    written = {(table.lower(), verb.split()[0].lower()) for verb, table in WRITTEN.findall(text)}
    return Touched(frozenset(table.lower() for table in READ.findall(text)), frozenset(written))


@cache
def is_independent(sql: str, before: tuple[str, ...]) -> bool:
    """Return whether a statement may go together with those before it, all of which see the tables as they were.

    It may not touch what they write, but that it inserts into a table from which they delete other rows.
    """
    read, written = tables_of(sql)
    for table, verb in frozenset[tuple[str, str]]().union(*(tables_of(one).written for one in before)):
        mine = {how for name, how in written if name == table}
        if table in read or (mine and (mine != {INSERTED} or verb != DELETED)):
            return False
    return True


@lru_cache(maxsize=512)
def combine(before: tuple[Statement, ...], last: Statement, shared: frozenset[str]) -> Statement:
    """Return one statement that does what all do, and answers as the last does: those before it are its first CTEs.

    They see one snapshot, so none may read what another writes. Parameters have the number of their statement before
    their names, but for the shared ones.
    """
    places: dict[str, int] = {}

    def text(number: int, statement: Statement) -> str:
        return "".join(
            f"${place(number, statement.parameters[int(piece) - 1])}" if is_parameter else piece
            for is_parameter, piece in pieces(strip_comments(statement.sql))
        )

    def place(number: int, name: str) -> int:
        return places.setdefault(name if name in shared else f"{number}.{name}", len(places) + 1)

    arms = ", ".join(f"sent_{number} AS ({text(number, one)})" for number, one in enumerate(before))
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
