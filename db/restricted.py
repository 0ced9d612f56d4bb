"""A database as a caller reads it who may not read everything: pages, sections and sources have a sensitivity.

Each statement that only reads gets the rows of its tables from common table expressions of the same names, without
those that are too sensitive (queries/access/sensitivity.sql). So no statement can forget them, and whoever may read
everything pays nothing. Writes see all rows: resolvers.permissions asks for the pages that they are about.

Nothing is hidden from most callers. A compiled read of theirs runs as it is, behind the condition that this still
holds: Postgres sees a ceiling or a secret of a moment ago in the same snapshot as the pages, and returns no row, after
which the read runs with the expressions.
"""

import re
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import cache, lru_cache
from typing import Any, NamedTuple
from uuid import UUID

from lib.lru import LRU

from .connection import Attempt, Connection, Row
from .database import Database
from .one_transaction import OneTransaction
from .scope import Role, Scope
from .sql import NAMED, PARAMETER, Statement, parse_statement, statements, strip_comments, tables_of, texts

SENSITIVITY = "access/sensitivity"
OWN = ("ceilings", "hidden_pages", "hidden_sources", "marked_sections")
"""What says by itself what is hidden; all else follows from it."""
COMMON = (*OWN, "hidden_sections", "withheld")
"""What the tables are held against, each made once for a statement."""
ALONE = frozenset({"find_withheld", "has_ceiling", "has_hidden"})
TENANT = re.compile(r"tenant_id = (?:CAST\()?\$(\d+)")
LOCKS = re.compile(r"\bFOR (?:NO KEY )?(?:UPDATE|SHARE)\b|\bFOR KEY SHARE\b", re.IGNORECASE)


class Restriction(NamedTuple):
    """A caller as a reader: for whom its credential speaks, and whether it is of the role reader."""

    tenant_id: UUID
    owners: tuple[UUID, ...]
    is_reader: bool

    @property
    def values(self) -> dict[str, Any]:
        return {"tenant_id": self.tenant_id, "owners": list(self.owners), "is_reader": self.is_reader}


SEES_ALL: LRU[bool] = LRU(10_000)
"""Callers from whom nothing was hidden when they last read, and the query that said so. Each read asks it again."""


def restriction_of(scope: Scope) -> Restriction | None:
    """Return what holds for a scope; None for services and admins, and for an operator, who read everything."""
    if scope.spans_tenant or scope.reads_all:
        return None
    return Restriction(scope.tenant_id, scope.owners, scope.role is Role.READER)


def restricted(database: Database, scope: Scope) -> Database:
    """Return the database as the caller may read it."""
    restriction = restriction_of(scope)
    if restriction is None or isinstance(database, RestrictedDatabase):
        return database
    return RestrictedDatabase(database, restriction)


def unrestricted(database: Database) -> Database:
    """Return the database that a restricted one is made of; any other one itself."""
    return database.database if isinstance(database, RestrictedDatabase) else database


def pooled(database: Database) -> Database:
    """Return the database with the pools, of which others are views."""
    database = unrestricted(database)
    return unrestricted(database.database) if isinstance(database, OneTransaction) else database


@cache
def tables() -> Mapping[str, re.Pattern[str]]:
    """Return the names of the tables of which some rows may be hidden, and how each is found in a statement."""
    names = [name for name in texts(SENSITIVITY) if name not in COMMON and name not in ALONE]
    return {name: re.compile(rf"\b{name}\b") for name in names}


@lru_cache(maxsize=2048)
def is_restrictable(sql: str) -> bool:
    """Return whether a statement only reads, and reads tables of which some rows may be hidden."""
    return any(mentioned.search(sql) for mentioned in tables().values()) and not (
        tables_of(sql).written or LOCKS.search(sql)
    )


@lru_cache(maxsize=2048)
def restrict_statement(sql: str) -> Statement:
    """Return a statement that reads with only what may be read, and the values that it takes besides its own."""
    if not is_restrictable(sql):
        return Statement(sql, ())
    main = strip_comments(sql)
    if main.startswith("WITH"):  # Postgres takes one WITH, and those of a recursive one would read themselves
        main = f"SELECT * FROM (\n{main}\n) AS asked"  # noqa: S608  it is one of ours
    return Statement(*with_expressions(sql, every_expression(sql), main))


@lru_cache(maxsize=2048)
def condition_of(sql: str) -> str:
    """Return the name of the query that says whether a statement may have to hide something."""
    bodies = texts(SENSITIVITY)
    by_ceilings = (name for name, mentioned in tables().items() if mentioned.search(sql) and "ceilings" in bodies[name])
    return "has_ceiling" if any(by_ceilings) else "has_hidden"


@lru_cache(maxsize=2048)
def restrict_answer(sql: str) -> Statement:
    """Return a compiled read with only what may be read, whose row says whether it may have to hide something."""
    condition = condition_of(sql)
    main = f"SELECT asked.*, {condition}.is_so AS hides\nFROM {condition}, (\n{strip_comments(sql)}\n) AS asked"
    return Statement(*with_expressions(sql, every_expression(sql, condition), main))


@lru_cache(maxsize=2048)
def guard_answer(sql: str) -> Statement:
    """Return a read as it is, which has no row if it may have to hide something."""
    condition = condition_of(sql)
    asked = f"(\n{strip_comments(sql)}\n) AS asked"
    main = f"SELECT asked.*\nFROM {asked}\nWHERE NOT (SELECT is_so FROM {condition})"  # noqa: S608  it is one of ours
    return Statement(
        *with_expressions(sql, [*(expression(name, "NOT MATERIALIZED") for name in OWN), expression(condition)], main)
    )


def every_expression(sql: str, *more: str) -> list[str]:
    """Return the common table expressions that stand for the tables which a statement reads, and `more` before them:
    an expression reads those above it, and the tables themselves if none of them has their name."""
    named = [name for name, mentioned in tables().items() if mentioned.search(sql)]
    return [*map(expression, (*COMMON, *more)), *(expression(name, "NOT MATERIALIZED") for name in named)]


def expression(name: str, kind: str = "MATERIALIZED") -> str:
    return f"{name} AS {kind} (\n{texts(SENSITIVITY)[name]}\n)"


def with_expressions(sql: str, expressions: Sequence[str], main: str) -> tuple[str, tuple[str, ...]]:
    """Return a statement made of another, with numbers for the parameters of the expressions, and their names."""
    tenant = TENANT.search(sql)
    places = {"tenant_id": tenant[1]} if tenant else {}
    last = max((int(number) for number in PARAMETER.findall(sql)), default=0)
    added: list[str] = []

    def place(found: re.Match[str]) -> str:
        if found[1] not in places:
            added.append(found[1])
            places[found[1]] = str(last + len(added))
        return f"${places[found[1]]}"

    before = NAMED.sub(place, ", ".join(expressions))
    return f"WITH {before}\n{main}", tuple(added)


@cache
def find_withheld() -> Statement:
    """Return the statement that says which pages are hidden, or not to be read as a whole."""
    own = statements(SENSITIVITY)["find_withheld"]
    assert own.parameters == ("page_ids",)
    arms = ", ".join(map(expression, COMMON))
    return parse_statement(f"WITH {arms}\n{strip_comments(texts(SENSITIVITY)['find_withheld'])}")


def restrict_connection(connection: Connection, restriction: Restriction) -> Connection:
    """Return a connection whose reads show what may be read; so do those of writers that are made of it."""

    def restrict(statement: Statement, values: Mapping[str, Any]) -> Iterator[Attempt]:
        if is_restrictable(statement.sql) and SEES_ALL.get((restriction, condition_of(statement.sql))):
            yield attempt(guard_answer(statement.sql), statement, values)
        yield attempt(restrict_statement(statement.sql), statement, values)

    def attempt(read: Statement, statement: Statement, values: Mapping[str, Any]) -> Attempt:
        more = {f"restriction.{name}": restriction.values[name] for name in read.parameters}
        return Statement(read.sql, (*statement.parameters, *more)), {**values, **more}

    found = Connection(connection.raw, connection.last, connection.begun)
    found.restrict = restrict
    return found


class RestrictedDatabase(Database):
    """A database for one caller. What is written through it is written as through any other."""

    def __init__(self, database: Database, restriction: Restriction) -> None:
        self.database, self.restriction = database, restriction
        own = pooled(database)
        self.dsn, self.pool, self.read_pool = own.dsn, own.pool, own.read_pool
        self.stores_answers = database.stores_answers

    async def row(self, sql: str, arguments: Sequence[Any], *, anew: bool = False) -> Row | None:
        if not is_restrictable(sql):
            return await self.database.row(sql, arguments, anew=anew)
        kept = (self.restriction, condition_of(sql))
        if SEES_ALL.get(kept):
            read = guard_answer(sql)
            row = await self.database.row(read.sql, self.with_own(read, arguments), anew=anew)
            if row is not None:
                return row
            SEES_ALL.discard(kept)
        read = restrict_answer(sql)
        row = await self.database.row(read.sql, self.with_own(read, arguments), anew=anew)
        if row is not None and not row["hides"]:
            SEES_ALL.put(kept, value=True)
        return row

    def with_own(self, read: Statement, arguments: Sequence[Any]) -> list[Any]:
        values = self.restriction.values
        return [*arguments, *(values[name] for name in read.parameters)]

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[Connection]:
        async with self.database.connection() as connection:
            yield restrict_connection(connection, self.restriction)

    @asynccontextmanager
    async def searching(self) -> AsyncIterator[Connection]:
        async with self.database.searching() as connection:
            yield restrict_connection(connection, self.restriction)

    def transaction(self, first: str = "") -> AbstractAsyncContextManager[Connection]:
        return self.database.transaction(first)
