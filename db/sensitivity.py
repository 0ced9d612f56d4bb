"""Hides rows that are too sensitive for a caller: pages, sections and sources have a sensitivity.

A statement that only reads is rewritten: common table expressions with the names of its tables provide their rows
without the hidden ones (queries/access/sensitivity.sql). So no statement can forget to hide them, and statements of a
caller who may read everything are not rewritten at all. Writes see all rows; resolvers.permissions checks the pages
that they change.

From most callers nothing is hidden. For these a read runs unrestricted at first, guarded by the condition that nothing
is hidden. The condition is evaluated in the same snapshot as the read. If something has become hidden since, the
guarded read returns no row, and the restricted one runs.
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
BASE_EXPRESSIONS = ("ceilings", "hidden_pages", "hidden_sources", "marked_sections")
"""The expressions that find ceilings, and hidden or marked rows, in tables. All other expressions build on them."""
SHARED_EXPRESSIONS = (*BASE_EXPRESSIONS, "hidden_sections", "withheld")
"""The expressions that the expressions of tables read. Each is materialized once in a statement."""
SEPARATE_QUERIES = frozenset({"find_withheld", "has_ceiling", "has_hidden"})
TENANT = re.compile(r"tenant_id = (?:CAST\()?\$(\d+)")
LOCKS = re.compile(r"\bFOR (?:NO KEY )?(?:UPDATE|SHARE)\b|\bFOR KEY SHARE\b", re.IGNORECASE)


class Restriction(NamedTuple):
    """The facts about a caller that decide what is hidden: its owners, and whether it has the role reader."""

    tenant_id: UUID
    owners: tuple[UUID, ...]
    is_reader: bool

    @property
    def values(self) -> dict[str, Any]:
        return {"tenant_id": self.tenant_id, "owners": list(self.owners), "is_reader": self.is_reader}


NOTHING_HIDDEN: LRU[bool] = LRU(10_000)
"""A cache of callers from whom nothing was hidden at their last read, with the query that says so (`hiding_query`).

It only decides which statement to try first: the guarded statement checks the condition again.
"""


def restriction_of(scope: Scope) -> Restriction | None:
    """Return the restriction of a scope, or None for services, admins and operators, who may read everything."""
    if scope.spans_tenant or scope.reads_all:
        return None
    return Restriction(scope.tenant_id, scope.owners, scope.role is Role.READER)


def restricted(database: Database, scope: Scope) -> Database:
    """Return a database whose reads hide what the caller may not read."""
    restriction = restriction_of(scope)
    if restriction is None or isinstance(database, RestrictedDatabase):
        return database
    return RestrictedDatabase(database, restriction)


def unrestricted(database: Database) -> Database:
    """Return the database behind a restricted one. Any other database is returned itself."""
    return database.database if isinstance(database, RestrictedDatabase) else database


def pooled(database: Database) -> Database:
    """Return the database that has the pools, behind a restricted database and any OneTransaction, also in another."""
    database = unrestricted(database)
    while isinstance(database, OneTransaction):
        database = unrestricted(database.database)
    return database


@cache
def tables() -> Mapping[str, re.Pattern[str]]:
    """Return the tables whose rows may be hidden, each with a pattern that finds its name in a statement."""
    names = [name for name in texts(SENSITIVITY) if name not in SHARED_EXPRESSIONS and name not in SEPARATE_QUERIES]
    return {name: re.compile(rf"\b{name}\b") for name in names}


@lru_cache(maxsize=2048)
def restricted_tables(sql: str) -> tuple[str, ...]:
    """Return the tables in a statement whose rows may be hidden. Its comments do not count."""
    text = strip_comments(sql)
    return tuple(name for name, mentioned in tables().items() if mentioned.search(text))


@lru_cache(maxsize=2048)
def is_restrictable(sql: str) -> bool:
    """Return whether a statement reads a table whose rows may be hidden, and neither writes nor locks rows."""
    return bool(restricted_tables(sql)) and not (tables_of(sql).written or LOCKS.search(sql))


@lru_cache(maxsize=2048)
def restrict_statement(sql: str) -> Statement:
    """Return the statement with hidden rows left out. `parameters` are only those of the restriction."""
    if not is_restrictable(sql):
        return Statement(sql, ())
    main = strip_comments(sql)
    if main.startswith("WITH"):  # a statement has only one WITH, and in WITH RECURSIVE an expression would read itself
        main = f"SELECT * FROM (\n{main}\n) AS asked"  # noqa: S608  the SQL is Cairn's own
    return Statement(*with_expressions(sql, every_expression(sql), main))


@lru_cache(maxsize=2048)
def hiding_query(sql: str) -> str:
    """Return the name of the query that decides whether a statement may have to hide rows.

    It is `has_ceiling` if the statement reads a table whose expression depends on ceilings, else `has_hidden`.
    """
    bodies = texts(SENSITIVITY)
    return "has_ceiling" if any("ceilings" in bodies[name] for name in restricted_tables(sql)) else "has_hidden"


@lru_cache(maxsize=2048)
def restrict_compiled_read(sql: str) -> Statement:
    """Return a compiled read with hidden rows left out. The column `hides` says whether rows may have to be hidden."""
    condition = hiding_query(sql)
    main = f"SELECT asked.*, {condition}.is_so AS hides\nFROM {condition}, (\n{strip_comments(sql)}\n) AS asked"
    return Statement(*with_expressions(sql, every_expression(sql, condition), main))


@lru_cache(maxsize=2048)
def guarded_statement(sql: str) -> Statement:
    """Return a read without restriction, which returns no row if rows may have to be hidden from the caller."""
    condition = hiding_query(sql)
    asked = f"(\n{strip_comments(sql)}\n) AS asked"
    main = f"SELECT asked.*\nFROM {asked}\nWHERE NOT (SELECT is_so FROM {condition})"  # noqa: S608  the SQL is Cairn's
    return Statement(
        *with_expressions(
            sql, [*(expression(name, "NOT MATERIALIZED") for name in BASE_EXPRESSIONS), expression(condition)], main
        )
    )


def every_expression(sql: str, *more: str) -> list[str]:
    """Return the common table expressions of a statement: the shared ones, `more`, and those of the tables it reads.

    An expression sees the expressions before it. Any other name in it is the table itself.
    """
    restricted = (expression(name, "NOT MATERIALIZED") for name in restricted_tables(sql))
    return [*map(expression, (*SHARED_EXPRESSIONS, *more)), *restricted]


def expression(name: str, kind: str = "MATERIALIZED") -> str:
    """Return a query of sensitivity.sql as a common table expression."""
    return f"{name} AS {kind} (\n{texts(SENSITIVITY)[name]}\n)"


def with_expressions(sql: str, expressions: Sequence[str], main: str) -> tuple[str, tuple[str, ...]]:
    """Return the SQL of the expressions and `main`, and the names of the parameters that the expressions add.

    `sql` is the original statement: added parameters are numbered after its own, and its tenant is used again.
    """
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
    """Return the statement that finds which of some pages are hidden from the caller, entirely or in part."""
    statement = statements(SENSITIVITY)["find_withheld"]
    assert statement.parameters == ("page_ids",)
    arms = ", ".join(map(expression, SHARED_EXPRESSIONS))
    return parse_statement(f"WITH {arms}\n{strip_comments(texts(SENSITIVITY)['find_withheld'])}")


def restrict_connection(connection: Connection, restriction: Restriction) -> Connection:
    """Return a connection whose reads hide rows, as do those of writers that are created from it."""

    def restrict(statement: Statement, values: Mapping[str, Any]) -> Iterator[Attempt]:
        if is_restrictable(statement.sql) and NOTHING_HIDDEN.get((restriction, hiding_query(statement.sql))):
            yield attempt(guarded_statement(statement.sql), statement, values)
        yield attempt(restrict_statement(statement.sql), statement, values)

    def attempt(read: Statement, statement: Statement, values: Mapping[str, Any]) -> Attempt:
        more = {f"restriction.{name}": restriction.values[name] for name in read.parameters}
        return Statement(read.sql, (*statement.parameters, *more)), {**values, **more}

    restricted_connection = Connection(connection.raw, connection.last, connection.begun)
    restricted_connection.restrict = restrict
    return restricted_connection


class RestrictedDatabase(Database):
    """A database whose reads hide rows from one caller. Writes are not restricted."""

    def __init__(self, database: Database, restriction: Restriction) -> None:
        self.database = database
        self.restriction = restriction
        with_pools = pooled(database)
        self.dsn, self.pool, self.read_pool = with_pools.dsn, with_pools.pool, with_pools.read_pool
        self.stores_answers = database.stores_answers

    async def row(self, sql: str, arguments: Sequence[Any], *, anew: bool = False) -> Row | None:
        """Return the row of a compiled read. The guarded read is tried first if nothing was hidden at the last read."""
        if not is_restrictable(sql):
            return await self.database.row(sql, arguments, anew=anew)
        caller = (self.restriction, hiding_query(sql))
        if NOTHING_HIDDEN.get(caller):
            read = guarded_statement(sql)
            row = await self.database.row(read.sql, self.with_parameters(read, arguments), anew=anew)
            if row is not None:
                return row
            NOTHING_HIDDEN.discard(caller)
        read = restrict_compiled_read(sql)
        row = await self.database.row(read.sql, self.with_parameters(read, arguments), anew=anew)
        if row is not None and not row["hides"]:
            NOTHING_HIDDEN.put(caller, value=True)
        return row

    def with_parameters(self, read: Statement, arguments: Sequence[Any]) -> list[Any]:
        """Return the arguments of the original statement, followed by those of the restriction."""
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
        """Begin a transaction, whose statements are not restricted. One that only reads uses `restricted_as`."""
        return self.database.transaction(first)


def restricted_as(database: Database, connection: Connection) -> Connection:
    """Return the connection of a transaction that only reads, so that its reads hide the same rows as the database."""
    if not isinstance(database, RestrictedDatabase):
        return connection
    return restrict_connection(connection, database.restriction)
