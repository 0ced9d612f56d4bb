"""Connections that are reused by later tests.

A new connection to Postgres reads the catalogue and plans every statement again, which takes longer than most tests.
"""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import asyncpg

from db.database import Database
from db.pool import POOL_TIMEOUT, is_lost


class ReusedConnection(asyncpg.Connection):
    """A connection whose `close` resets it and leaves it to the next test that opens one like it."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self.key: Hashable = None
        self.codecs: dict[str, tuple[Any, ...]] = {}
        self.query_loggers: list[Callable[..., Any]] = []

    async def set_type_codec(self, typename: str, **codec: Any) -> None:
        """Set a codec, without querying Postgres for a type whose codec is set already."""
        wanted = tuple(sorted(codec.items()))
        if self.codecs.get(typename) != wanted:
            await super().set_type_codec(typename, **codec)
            self.codecs[typename] = wanted

    def add_query_logger(self, callback: Callable[..., Any]) -> None:
        super().add_query_logger(callback)
        self.query_loggers.append(callback)

    async def close(self, *, timeout: float | None = None) -> None:
        if self.is_closed() or self.key is None:
            await super().close(timeout=timeout)
            return
        while self.query_loggers:
            self.remove_query_logger(self.query_loggers.pop())
        try:
            await self.reset(timeout=timeout)
        except BaseException as error:
            self.terminate()
            if not is_lost(error):
                raise
            return
        IDLE.put(self)


class IdleConnections:
    """The connections that no test uses at the moment. They belong to the event loop of the run."""

    def __init__(self) -> None:
        self.loop: asyncio.AbstractEventLoop | None = None
        self.is_enabled = True
        self.connections: dict[Hashable, list[ReusedConnection]] = defaultdict(list)

    def __iter__(self) -> Iterator[ReusedConnection]:
        for alike in self.connections.values():
            yield from alike

    @property
    def pids(self) -> list[int]:
        return [connection.get_server_pid() for connection in self if not connection.is_closed()]

    async def connect(self, dsn: str, settings: Mapping[str, str], **options: Any) -> asyncpg.Connection:
        """Return an idle connection with the same DSN and settings, or a new one."""
        if not self.is_enabled or asyncio.get_running_loop() is not self.loop:
            return await asyncpg.connect(dsn, timeout=POOL_TIMEOUT, server_settings=settings, **options)
        key = dsn, frozenset(settings.items()), frozenset(options.items())
        while alike := self.connections[key]:
            if not (connection := alike.pop()).is_closed():
                return connection
        opened: ReusedConnection = await asyncpg.connect(
            dsn, timeout=POOL_TIMEOUT, server_settings=settings, connection_class=ReusedConnection, **options
        )
        opened.key = key
        return opened

    def put(self, connection: ReusedConnection) -> None:
        self.connections[connection.key].append(connection)

    @contextmanager
    def disabled(self) -> Iterator[None]:
        """Open and close each connection anew while the block runs, for tests of connections themselves."""
        self.drop()
        self.is_enabled = False
        try:
            yield
        finally:
            self.is_enabled = True

    def drop(self) -> None:
        """Close all idle connections, because their database is about to be dropped."""
        for connection in self:
            connection.terminate()
        self.connections.clear()


IDLE = IdleConnections()


async def dial_reused(
    database: Database, session: Mapping[str, str] | None = None, dsn: str | None = None
) -> asyncpg.Connection:
    """Replace `Database.dial` with reused connections."""
    try:
        settings = database.session if session is None else session
        return await IDLE.connect(dsn or database.dsn, settings, **database.options)
    except TimeoutError:
        raise
    except OSError as error:
        raise ConnectionError(*error.args) from error
