"""Records the statements that Cairn sends to Postgres for a request, for the baseline to replay."""

import asyncio
import pickle
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self
from uuid import UUID

import asyncpg
from rich.progress import track

from db.connection import Row
from db.database import Check, Database
from db.ids import new_id
from db.pool import acquire
from db.scope import Actor, ActorKind, Role, Scope
from resolvers.context import Context
from schema.root import make_engine

from ..wikis import Wiki
from .database import notes
from .operations import Drawn

OF_THE_DRIVER = ("typeinfo_tree", "current_setting('jit')")
MADE_ID = 7  # the version of the UUIDs that a write makes
NEW_ID = "new id"
ACTOR = Actor(ActorKind.USER, "benchmark")


@dataclass(frozen=True, slots=True)
class Sent:
    """One statement with its values; `is_answer` says that its value is the data of the answer."""

    of_read: bool
    is_answer: bool
    sql: str
    values: tuple[Any, ...]
    made: tuple[int, ...]
    """The positions of values that hold ids made by the write."""

    @classmethod
    def noted(cls, of_read: bool, is_answer: bool, sql: str, given: Sequence[Any]) -> Self:
        values = tuple(map(kept, given))
        made = tuple(place for place, value in enumerate(given) if values[place] != value)
        return cls(of_read, is_answer, sql, values, made)

    def arguments(self) -> Sequence[Any]:
        """Return the values, with new ids in the place of those that the write made."""
        if not self.made:
            return self.values
        values = list(self.values)
        for place in self.made:
            values[place] = fresh(values[place])
        return values


Recorded = list[list[Sent]]


class ListeningDatabase(Database):
    """A database with pools of one connection that records every statement in the order of sending."""

    def __init__(self, dsn: str) -> None:
        super().__init__(dsn, size=1)
        self.sent: list[Sent] = []
        self.answer = ""

    async def open(self, *, check: Check | None = None, opens_reads: bool = True) -> None:
        await super().open(check=check, opens_reads=opens_reads)
        for pool in (self.pool, self.read_pool):
            async with acquire(pool) as connection:
                connection.add_query_logger(self.listener(of_read=pool is self.read_pool))

    async def row(self, sql: str, arguments: Sequence[Any], *, anew: bool = False) -> Row | None:
        self.answer = sql
        return await super().row(sql, arguments, anew=anew)

    def listener(self, of_read: bool) -> Any:
        def note(record: asyncpg.connection.LoggedQuery) -> None:
            if not any(mark in record.query for mark in OF_THE_DRIVER):
                is_answer = record.query == self.answer
                self.sent.append(Sent.noted(of_read, is_answer, record.query, record.args or ()))

        return note


def kept(value: Any) -> Any:
    """Return the value with a mark in the place of every id that the write made."""
    if isinstance(value, list | set):
        return [kept(one) for one in value]
    if isinstance(value, dict):
        return {name: kept(one) for name, one in value.items()}
    return NEW_ID if isinstance(value, UUID) and value.version == MADE_ID else value


def fresh(value: Any) -> Any:
    if isinstance(value, list):
        return [fresh(one) for one in value]
    if isinstance(value, dict):
        return {name: fresh(one) for name, one in value.items()}
    return new_id() if value == NEW_ID else value


async def record(dsn: str, drawn: Sequence[Drawn], documents: Mapping[str, str]) -> Recorded:
    """Execute each request once and return its statements in order. No question of a search was asked before."""
    database, engine = ListeningDatabase(dsn), make_engine()
    await database.open()
    found: Recorded = []
    try:
        for one in track(drawn, f"Noting what {drawn[0].document} sends", console=notes):
            database.sent = []
            context = Context(database, scope_of(one.wiki))
            answer = await engine.execute(documents[one.document], one.variables, None, context)
            assert b'"errors"' not in answer.body, answer.body
            await asyncio.sleep(0)  # asyncpg calls the query logger of the last statement in the next turn of the loop
            found.append(database.sent)
    finally:
        await database.close()
    return found


def scope_of(wiki: Wiki) -> Scope:
    """Return the scope that the token of the wiki stands for."""
    return Scope(wiki.tenant_id, wiki.owner_id, Role.MEMBER, ACTOR, (wiki.owner_id,))


def save(path: Path, recorded: Mapping[str, Recorded]) -> None:
    path.write_bytes(pickle.dumps(dict(recorded)))


def load(path: Path) -> dict[str, Recorded]:
    """Load a file that `save` has just written; never one from elsewhere, as pickle runs code."""
    found: dict[str, Recorded] = pickle.loads(path.read_bytes())
    return found
