"""A database as a caller reads it who may not read everything: pages, sections and sources have a sensitivity.

Each statement that only reads gets the rows of its tables from common table expressions of the same names, without
those that are too sensitive (queries/sensitivity.sql). So no statement can forget them, and whoever may read
everything pays nothing. Writes see all rows: resolvers.permissions asks for the pages that they are about.
"""

import re
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import cache, lru_cache
from typing import Any, NamedTuple
from uuid import UUID

from .connection import Connection
from .database import Database
from .one_transaction import OneTransaction
from .scope import Role, Scope
from .sql import NAMED, PARAMETER, Statement, parse_statement, statements, strip_comments, tables_of, texts

SENSITIVITY = "access/sensitivity"
COMMON = ("ceilings", "hidden_pages", "hidden_sources", "hidden_sections", "withheld")
"""What the tables are held against, each made once for a statement."""
ALONE = frozenset({"find_withheld"})
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
def rewritten(sql: str) -> Statement:
    """Return a statement that reads with only what may be read, and the values that it takes besides its own."""
    named = [name for name, mentioned in tables().items() if mentioned.search(sql)]
    if not named or tables_of(sql).written or LOCKS.search(sql):
        return Statement(sql, ())
    tenant = TENANT.search(sql)
    places = {"tenant_id": tenant[1]} if tenant else {}
    last = max((int(number) for number in PARAMETER.findall(sql)), default=0)
    added: list[str] = []

    def place(found: re.Match[str]) -> str:
        if found[1] not in places:
            added.append(found[1])
            places[found[1]] = str(last + len(added))
        return f"${places[found[1]]}"

    bodies = texts(SENSITIVITY)
    arms = [f"{name} AS MATERIALIZED (\n{bodies[name]}\n)" for name in COMMON]
    arms += [f"{name} AS NOT MATERIALIZED (\n{bodies[name]}\n)" for name in named]
    before = NAMED.sub(place, ", ".join(arms))
    main = strip_comments(sql)
    if main.startswith("WITH"):  # Postgres takes one WITH, and those of a recursive one would read themselves
        main = f"SELECT * FROM (\n{main}\n) AS asked"  # noqa: S608  it is one of ours
    return Statement(f"WITH {before}\n{main}", tuple(added))


@cache
def find_withheld() -> Statement:
    """Return the statement that says which pages are hidden, or not to be read as a whole."""
    own = statements(SENSITIVITY)["find_withheld"]
    bodies = texts(SENSITIVITY)
    arms = ", ".join(f"{name} AS MATERIALIZED (\n{bodies[name]}\n)" for name in COMMON)
    assert own.parameters == ("page_ids",)
    return parse_statement(f"WITH {arms}\n{strip_comments(bodies['find_withheld'])}")


def restrict_connection(connection: Connection, restriction: Restriction) -> Connection:
    """Return a connection whose reads show what may be read; so do those of writers that are made of it."""

    def restrict(statement: Statement, values: Mapping[str, Any]) -> tuple[Statement, Mapping[str, Any]]:
        read = rewritten(statement.sql)
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

    async def json(self, sql: str, arguments: Sequence[Any]) -> bytes | None:
        read = rewritten(sql)
        return await self.database.json(read.sql, self.with_own(read, arguments))

    async def json_anew(self, sql: str, arguments: Sequence[Any]) -> bytes | None:
        read = rewritten(sql)
        return await self.database.json_anew(read.sql, self.with_own(read, arguments))

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
