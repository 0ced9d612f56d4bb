"""A database of pools on Postgres: one read whose answer is JSON bytes, single statements, and transactions."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from typing import Any, NamedTuple

import asyncpg

from observability.trace import span

from .blob_folder import BlobFolder
from .breaker import ANSWER_TIMEOUT, Breaker, Probe
from .connection import Connection, Row, prepare_connection, transacting, warm
from .explaining import Explaining, generic_plan
from .migrate import oldest_revision
from .pool import POOL_TIMEOUT, Pool, acquire, require_open
from .pooler import FORGOTTEN, check_statements, forgotten_statements, is_pooled, refused_settings
from .replicas.replica import Replica
from .replicas.replicas import Replicas, ReplicaSettings, SingleReads
from .replicas.routing import close_route

Check = Callable[[asyncpg.Connection], Awaitable[None]]
NO_REPLICAS = ReplicaSettings()
GENERIC_PLANS = {"plan_cache_mode": "force_generic_plan"}
SET_CUSTOM_PLAN = "SET LOCAL plan_cache_mode = force_custom_plan"
HAS_CITUS = "SELECT EXISTS (SELECT FROM pg_extension WHERE extname = 'citus')"
CONDITION = """SELECT version_num AS revision, current_setting('transaction_read_only') = 'on' AS is_read_only
FROM alembic_version"""


class AnswerTooLarge(Exception):
    """A compiled read whose value has more bytes than its statement lets pass."""


class Database:
    """Pools on one server: one whose statements are planned once, for compiled reads and search, and one for the rest.

    Postgres by itself plans a compiled read anew each time it runs, which takes longer than to run it: the plan that
    knows the values looks cheaper by more than the making of a plan is thought to cost (decision 9). Reads open no
    transaction but for that of `json_anew`; writes always do.
    """

    blob_folder: BlobFolder | None = None
    """The folder in which new files are kept; without one they are rows."""
    stores_answers = False
    """Whether the answer to what is written through this is stored, for whoever sends the same again."""

    def __init__(
        self, dsn: str, *, size: int = 8, queue: int = 256, statement_timeout: float = 10.0, statement_cache: int = 512,
        replicas: ReplicaSettings = NO_REPLICAS,
    ) -> None:  # fmt: skip
        """Set up the pools: `size` and `queue` are those of each one, and `statement_timeout` is in seconds.
        A `statement_cache` of 0 is for poolers that forget prepared statements."""
        self.dsn, self.size, self.queue, self.replica_settings = dsn, size, queue, replicas
        self.options: dict[str, Any] = {
            "statement_cache_size": statement_cache,
            "max_cached_statement_lifetime": 0,
            "max_cacheable_statement_size": 65536,  # a dozen connections below one page are 15 kB of SQL
        }
        self.session = {
            "application_name": "cairn",
            "statement_timeout": str(int(statement_timeout * 1000)),
            "jit": "off",
        }
        self.on_citus = self.is_pooled = False
        self.pool: Pool | None = None
        self.read_pool: Pool | None = None
        self.breaker: Breaker | None = None
        self.replicas: Replicas | None = None

    async def open(self, *, check: Check | None = None, opens_reads: bool = True) -> None:
        """Open a connection of each pool, or with `opens_reads=False` that for reads when the first one comes.

        `check` is given a connection before anything else is asked. Raises PoolerUnfit where a pooler is between that
        needs another setting.
        """
        self.pool = await self.make_pool(self.session)
        async with acquire(self.pool) as connection:
            if check is not None:
                await check(connection)
            self.is_pooled = await is_pooled(connection)
            if self.is_pooled and self.options["statement_cache_size"]:
                await self.check_pooler()
            self.on_citus = await connection.fetchval(HAS_CITUS)
            if self.on_citus:
                await warm(connection)
        # Citus plans a join only with the values in it (docs/how-to/citus.md).
        session = self.session if self.on_citus else self.session | GENERIC_PLANS
        self.read_pool = await self.make_pool(session, is_open=opens_reads)
        self.breaker = Breaker((self.pool, self.read_pool), Probe(self.dial))
        if self.replica_settings.dsns and not self.on_citus:  # whose log is not the only one
            self.replicas = self.make_replicas(self.replica_settings, self.pool, self.read_pool, self.breaker.probe)

    async def check_pooler(self) -> None:
        """Raise PoolerUnfit if sessions are given the connections of others, which do not know their statements."""
        one, other = await self.dial(), await self.dial()
        try:
            await check_statements(one, other)
        finally:
            one.terminate()
            other.terminate()

    def make_replicas(self, given: ReplicaSettings, writes: Pool, reads: Pool, probe: Probe) -> Replicas:
        """Return the replicas, whose connections are as those for reads of the primary."""
        connect, most = partial(self.connect, self.session | GENERIC_PLANS), {"size": self.size, "queue": self.queue}
        members = [
            Replica(f"replica-{n}", partial(connect, dsn), partial(self.dial, dsn=dsn), bound=given.max_lag, **most)
            for n, dsn in enumerate(given.dsns, 1)
        ]
        return Replicas(members, reads=reads, writes=writes, probe=probe, wait=given.wait)

    async def fill(self) -> None:
        """Open every connection now, where the first statement of each takes long: no request shall wait for it."""
        if self.on_citus:
            await asyncio.gather(require_open(self.pool).fill(), require_open(self.read_pool).fill())

    async def make_pool(self, session: Mapping[str, str], *, is_open: bool = True) -> Pool:
        made = Pool(lambda: self.connect(session), size=self.size, queue=self.queue)
        if is_open:
            await made.open()
        return made

    async def dial(self, session: Mapping[str, str] | None = None, dsn: str | None = None) -> asyncpg.Connection:
        settings = self.session if session is None else session
        try:
            return await asyncpg.connect(
                dsn or self.dsn, timeout=POOL_TIMEOUT, server_settings=settings, **self.options
            )
        except TimeoutError:
            raise
        except OSError as error:  # a socket that is not there is one of a file, to Python
            raise ConnectionError(*error.args) from error

    async def connect(self, session: Mapping[str, str], dsn: str | None = None) -> asyncpg.Connection:
        try:
            connection = await self.dial(session, dsn)
        except TimeoutError:
            raise ConnectionError(f"no connection within {POOL_TIMEOUT:g} seconds") from None
        except asyncpg.ProtocolViolationError as error:
            raise refused_settings(error) from error
        try:
            await prepare_connection(connection)
            if self.on_citus:
                await warm(connection)
        except FORGOTTEN as error:
            connection.terminate()
            raise forgotten_statements() from error
        except BaseException:
            connection.terminate()
            raise
        return connection

    async def close(self) -> None:
        if self.replicas is not None:
            await self.replicas.close()
            self.replicas = None
        if self.breaker is not None:
            await self.breaker.close()
            self.breaker = None
        for one in filter(None, (self.pool, self.read_pool)):
            await one.close()
        self.pool = self.read_pool = None

    async def json(self, sql: str, arguments: Sequence[Any], *, anew: bool = False) -> bytes | None:
        """Return the JSON value of a compiled read, exactly as Postgres wrote it. Raises AnswerTooLarge.

        `anew` is for a read whose best plan depends on a value; it takes four round trips in the place of one.
        """
        row = await self.row(sql, arguments, anew=anew)
        return None if row is None else answer_of(row)

    async def row(self, sql: str, arguments: Sequence[Any], *, anew: bool = False) -> Row | None:
        """Return the row of a compiled read: `answer`, its JSON value, and `size` in bytes."""
        read = read_with_custom_plan if anew else read_once
        if self.replicas is not None:
            return await self.replicas.read(lambda connection: read(connection, sql, arguments))
        async with acquire(self.read_pool) as connection:
            return await read(connection, sql, arguments)

    @property
    def is_cut(self) -> bool:
        """Return whether the server does not answer, so that work is refused at once."""
        return self.breaker is not None and self.breaker.is_open

    async def ping(self) -> None:
        """Raise when Postgres does not answer."""
        async with acquire(self.pool) as connection:
            await connection.fetchval("SELECT 1")

    async def condition(self) -> "Condition":
        """Return what the server is like, over a connection that no request waits for. Raises TimeoutError, or what it
        says when it is asked, has to write a file, or is to open a connection for requests that have none."""
        if self.breaker is None:
            raise ConnectionError("it has not been reached yet")
        probe = self.breaker.probe
        row = await probe.ask(CONDITION)
        await probe.write()
        async with asyncio.timeout(ANSWER_TIMEOUT):
            for pool in filter(None, (self.pool, self.read_pool)):
                await pool.revive()
        return Condition(**row) if row else Condition(None, False)

    async def oldest_revision(self) -> str | None:
        """Return the oldest revision whose programs work beside this database."""
        async with acquire(self.pool) as connection:
            return await oldest_revision(connection)

    async def generic_plan(self, sql: str, seconds: float = 2.0) -> str:
        """Return how Postgres would run a statement whatever its values; it is not run, and needs none."""
        if self.on_citus:
            return "Citus plans a statement only with its values, which are not kept."
        async with acquire(self.pool) as connection, connection.transaction(readonly=True):
            await connection.execute(f"SET LOCAL statement_timeout = {int(seconds * 1000)}")
            return await generic_plan(connection, sql)

    @asynccontextmanager
    async def explaining(self) -> AsyncIterator[Explaining]:
        """Acquire a connection of compiled reads in a transaction that is read-only and is rolled back."""
        async with acquire(self.read_pool) as connection:
            transaction = connection.transaction(readonly=True)
            await transaction.start()
            try:
                yield Explaining(connection, self.on_citus)
            finally:
                await transaction.rollback()

    def pools(self) -> dict[str, "PoolFacts"]:
        """Return how busy each pool is at this moment."""
        pools = {"reads": self.read_pool, "writes": self.pool}
        if self.replicas is not None:
            pools |= {one.name: one.pool for one in self.replicas.members}
        return {name: facts(pool) for name, pool in pools.items() if pool is not None}

    @asynccontextmanager
    async def connection(self) -> AsyncIterator["Connection"]:
        """Acquire a connection for single statements; each commits by itself."""
        async with acquire(self.pool) as connection:
            yield Connection(connection)

    @asynccontextmanager
    async def searching(self) -> AsyncIterator["Connection"]:
        """Acquire a connection for single reads, whose statements have one plan for all values."""
        if self.replicas is not None:
            yield Connection(SingleReads(self.replicas))
            return
        async with acquire(self.read_pool) as connection:
            yield Connection(connection)

    @asynccontextmanager
    async def administering(self) -> AsyncIterator[asyncpg.Connection]:
        """Open a connection of its own, without timeouts: for indexes that are made while others write."""
        connection = await asyncpg.connect(self.dsn, statement_cache_size=0)
        try:
            yield connection
        finally:
            await connection.close()

    def transaction(self, first: str = "") -> AbstractAsyncContextManager["Connection"]:
        """Begin a transaction, all of it or nothing. `first` is SQL without parameters to send along with the BEGIN."""
        close_route()
        return transacting(self.pool, first)


def answer_of(row: Mapping[str, Any]) -> bytes | None:
    """Return the value of a compiled read; its statement returns the size alone if that is too large."""
    value: bytes | None = row["answer"]
    if value is None and row["size"] is not None:
        raise AnswerTooLarge(f"This answer would have {row['size']:,} bytes, more than one answer may have.")
    return value


async def read_once(connection: asyncpg.Connection, sql: str, arguments: Sequence[Any]) -> Row | None:
    with span("sql", sql):
        row: Row | None = await connection.fetchrow(sql, *arguments)
    return row


async def read_with_custom_plan(connection: asyncpg.Connection, sql: str, arguments: Sequence[Any]) -> Row | None:
    async with connection.transaction(readonly=True):
        await connection.execute(SET_CUSTOM_PLAN)
        return await read_once(connection, sql, arguments)


class Condition(NamedTuple):
    """The last migration that was applied, and whether the server takes no writes."""

    revision: str | None
    is_read_only: bool


class PoolFacts(NamedTuple):
    """The connections of a pool, those of them that are idle, and the requests that wait for one."""

    size: int
    idle: int
    waiting: int


def facts(pool: Pool) -> PoolFacts:
    return PoolFacts(pool.total, len(pool.idle), len(pool.waiting))
