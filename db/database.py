"""The database: pools of connections to Postgres, and the ways to use them.

- Compiled reads (`json`, `row`): a GraphQL operation as one statement that returns JSON.
- `connection` and `searching`: named statements outside a transaction.
- `transaction`: writes.
"""

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
# Settings of plan_cache_mode: one plan for all values of a prepared statement, or a plan for each execution.
GENERIC_PLANS = {"plan_cache_mode": "force_generic_plan"}
SET_CUSTOM_PLAN = "SET LOCAL plan_cache_mode = force_custom_plan"
HAS_CITUS = "SELECT EXISTS (SELECT FROM pg_extension WHERE extname = 'citus')"
CONDITION = """SELECT version_num AS revision, current_setting('transaction_read_only') = 'on' AS is_read_only
FROM alembic_version"""


class AnswerTooLarge(Exception):
    """Raised if the value of a compiled read has more bytes than its statement allows."""


class Database:
    """Two pools on one server: one with generic plans, for compiled reads and search, and one for everything else.

    By default Postgres would plan a compiled read on each execution, which takes longer than running it, because a
    custom plan seems cheaper by more than the estimated cost of planning (decision 9). Reads run outside a transaction,
    except compiled reads with `anew`. Writes always run in a transaction.
    """

    blob_folder: BlobFolder | None = None
    """The folder that stores new files. Without a folder they are stored in rows."""
    stores_answers = False
    """Whether the response to a write is stored, to be repeated if the client sends the same request again."""

    def __init__(
        self, dsn: str, *, size: int = 8, queue: int = 256, statement_timeout: float = 10.0, statement_cache: int = 512,
        replicas: ReplicaSettings = NO_REPLICAS,
    ) -> None:  # fmt: skip
        """Set up the pools, without opening a connection.

        `size` and `queue` are those of each pool, and `statement_timeout` is in seconds. `statement_cache` is the
        number of prepared statements for each connection; it must be 0 behind a pooler that does not support them.
        """
        self.dsn = dsn
        self.size = size
        self.queue = queue
        self.replica_settings = replicas
        self.options: dict[str, Any] = {
            "statement_cache_size": statement_cache,
            "max_cached_statement_lifetime": 0,
            "max_cacheable_statement_size": 65536,  # a page with a dozen GraphQL connections is 15 kB of SQL
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
        """Open a connection of each pool. Without `opens_reads`, the pool for reads opens one at the first read.

        `check` is called with the first connection, before any other statement. Raises PoolerUnfit if there is a pooler
        that needs another setting.
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
        # Citus cannot use generic plans for joins (docs/how-to/citus.md).
        session = self.session if self.on_citus else self.session | GENERIC_PLANS
        self.read_pool = await self.make_pool(session, is_open=opens_reads)
        self.breaker = Breaker((self.pool, self.read_pool), Probe(self.dial))
        if self.replica_settings.dsns and not self.on_citus:  # each Citus worker has a write-ahead log of its own
            self.replicas = self.make_replicas(self.replica_settings, self.pool, self.read_pool, self.breaker.probe)

    async def check_pooler(self) -> None:
        """Raise PoolerUnfit if the pooler moves sessions between connections, which lack their prepared statements."""
        first, second = await self.dial(), await self.dial()
        try:
            await check_statements(first, second)
        finally:
            first.terminate()
            second.terminate()

    def make_replicas(self, settings: ReplicaSettings, writes: Pool, reads: Pool, probe: Probe) -> Replicas:
        """Return the replicas. Their connections have the same settings as those for reads of the primary."""
        connect, limits = partial(self.connect, self.session | GENERIC_PLANS), {"size": self.size, "queue": self.queue}
        members = [
            Replica(
                f"replica-{n}", partial(connect, dsn), partial(self.dial, dsn=dsn), bound=settings.max_lag, **limits
            )
            for n, dsn in enumerate(settings.dsns, 1)
        ]
        return Replicas(members, reads=reads, writes=writes, probe=probe, wait=settings.wait)

    async def fill(self) -> None:
        """Open all connections on Citus, where the first statement of each is slow, before a request needs them."""
        if self.on_citus:
            await asyncio.gather(require_open(self.pool).fill(), require_open(self.read_pool).fill())

    async def make_pool(self, session: Mapping[str, str], *, is_open: bool = True) -> Pool:
        """Return a pool whose connections have these session settings."""
        pool = Pool(lambda: self.connect(session), size=self.size, queue=self.queue)
        if is_open:
            await pool.open()
        return pool

    async def dial(self, session: Mapping[str, str] | None = None, dsn: str | None = None) -> asyncpg.Connection:
        """Open a connection without preparing it. Raises TimeoutError, ConnectionError or PostgresError."""
        settings = self.session if session is None else session
        try:
            return await asyncpg.connect(
                dsn or self.dsn, timeout=POOL_TIMEOUT, server_settings=settings, **self.options
            )
        except TimeoutError:
            raise
        except OSError as error:  # for a missing socket Python raises FileNotFoundError
            raise ConnectionError(*error.args) from error

    async def connect(self, session: Mapping[str, str], dsn: str | None = None) -> asyncpg.Connection:
        """Open a connection for a pool and prepare it. Raises PoolerUnfit if a pooler needs another setting."""
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
        for pool in filter(None, (self.pool, self.read_pool)):
            await pool.close()
        self.pool = self.read_pool = None

    async def json(self, sql: str, arguments: Sequence[Any], *, anew: bool = False) -> bytes | None:
        """Return the JSON value of a compiled read, exactly as Postgres returned it. Raises AnswerTooLarge.

        With `anew`, Postgres plans the statement for these arguments, which takes four round trips instead of one.
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
        """Return whether the circuit breaker is open: the server does not answer, and work is refused at once."""
        return self.breaker is not None and self.breaker.is_open

    async def ping(self) -> None:
        """Raise an error if Postgres does not answer."""
        async with acquire(self.pool) as connection:
            await connection.fetchval("SELECT 1")

    async def condition(self) -> "Condition":
        """Return the condition of the server, over a connection besides the pools.

        Raises TimeoutError, or an error of the server, if it does not answer a query, cannot write a temporary file, or
        refuses a connection to a pool that has none.
        """
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
        """Return the oldest schema revision whose Cairn works with this database."""
        async with acquire(self.pool) as connection:
            return await oldest_revision(connection)

    async def generic_plan(self, sql: str, seconds: float = 2.0) -> str:
        """Return the generic plan of a statement, as text, without running it. It needs no parameter values."""
        if self.on_citus:
            return "Citus plans a statement only with its values, which are not kept."
        async with acquire(self.pool) as connection, connection.transaction(readonly=True):
            await connection.execute(f"SET LOCAL statement_timeout = {int(seconds * 1000)}")
            return await generic_plan(connection, sql)

    @asynccontextmanager
    async def explaining(self) -> AsyncIterator[Explaining]:
        """Acquire a connection for compiled reads in a read-only transaction, which is rolled back."""
        async with acquire(self.read_pool) as connection:
            transaction = connection.transaction(readonly=True)
            await transaction.start()
            try:
                yield Explaining(connection, self.on_citus)
            finally:
                await transaction.rollback()

    def pools(self) -> dict[str, "PoolFacts"]:
        """Return the current use of each pool by name."""
        pools = {"reads": self.read_pool, "writes": self.pool}
        if self.replicas is not None:
            pools |= {replica.name: replica.pool for replica in self.replicas.members}
        return {name: facts(pool) for name, pool in pools.items() if pool is not None}

    @asynccontextmanager
    async def connection(self) -> AsyncIterator["Connection"]:
        """Acquire a connection for statements that each commit by themselves."""
        async with acquire(self.pool) as connection:
            yield Connection(connection)

    @asynccontextmanager
    async def searching(self) -> AsyncIterator["Connection"]:
        """Acquire a connection for reads outside a transaction, with generic plans. Replicas may answer them."""
        if self.replicas is not None:
            yield Connection(SingleReads(self.replicas))
            return
        async with acquire(self.read_pool) as connection:
            yield Connection(connection)

    @asynccontextmanager
    async def administering(self) -> AsyncIterator[asyncpg.Connection]:
        """Open a connection outside the pools, without timeouts, for example to create indexes concurrently."""
        connection = await asyncpg.connect(self.dsn, statement_cache_size=0)
        try:
            yield connection
        finally:
            await connection.close()

    def transaction(self, first: str = "") -> AbstractAsyncContextManager["Connection"]:
        """Begin a transaction. `first` is a statement without parameters that is sent together with the BEGIN."""
        close_route()
        return transacting(self.pool, first)


def answer_of(row: Mapping[str, Any]) -> bytes | None:
    """Return the JSON value in the row of a compiled read. Raises AnswerTooLarge if the row has only its size."""
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
    """The revision of the database's schema, and whether the server accepts reads only."""

    revision: str | None
    is_read_only: bool


class PoolFacts(NamedTuple):
    """The numbers of a pool's connections, of idle ones among them, and of tasks that wait for one."""

    size: int
    idle: int
    waiting: int


def facts(pool: Pool) -> PoolFacts:
    return PoolFacts(pool.total, len(pool.idle), len(pool.waiting))
