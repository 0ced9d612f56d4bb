"""Citus in the tests: a stand-in for the extension, for servers without it, and the databases on a real coordinator.

The stand-in records which tables were distributed, and refuses what Citus refuses to a session that changes its tables.
What Citus refuses in queries is checked on their text, in sql_rules.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import NamedTuple
from urllib.parse import urlsplit

import asyncpg

from db.migrate import migrate
from db.pool import MAY_STILL_RUN
from tests.connections import IDLE

STAND_IN = """
CREATE SCHEMA citus_stand_in;
CREATE TABLE citus_stand_in.spread (name text PRIMARY KEY, key text, beside text);

INSERT INTO pg_extension (oid, extname, extowner, extnamespace, extrelocatable, extversion)
SELECT 4294960000, 'citus', oid, 'citus_stand_in'::regnamespace, false, '14.0-1'
FROM pg_roles WHERE rolname = current_user;

CREATE FUNCTION create_reference_table(name text) RETURNS void LANGUAGE sql
AS $$ INSERT INTO citus_stand_in.spread VALUES (name) $$;

CREATE FUNCTION create_distributed_table(
    name text, key text, colocate_with text DEFAULT NULL, shard_count int DEFAULT NULL
) RETURNS void LANGUAGE sql AS $$ INSERT INTO citus_stand_in.spread VALUES (name, key, colocate_with) $$;

CREATE FUNCTION citus_stand_in.check_mode() RETURNS event_trigger LANGUAGE plpgsql AS $$
BEGIN
    IF coalesce(current_setting('citus.multi_shard_modify_mode', true), '') <> 'sequential' THEN
        RAISE 'cannot execute parallel DDL after DDL command on a reference table'
        USING HINT = 'Try re-running the transaction with SET LOCAL citus.multi_shard_modify_mode TO ''sequential'';';
    END IF;
END $$;
CREATE EVENT TRIGGER citus_stand_in_mode ON ddl_command_start
WHEN TAG IN ('CREATE TABLE', 'ALTER TABLE', 'DROP TABLE', 'CREATE INDEX', 'DROP INDEX')
EXECUTE FUNCTION citus_stand_in.check_mode();
"""


async def install_stand_in(dsn: str) -> None:
    """Make the database look as if Citus were installed in it. The role must be a superuser."""
    await execute(dsn, STAND_IN)


async def distributed_tables(dsn: str) -> dict[str, str | None]:
    """Return the tables given to Citus, with the column that they are distributed by; None for reference tables."""
    async with connected(dsn) as connection:
        rows = await connection.fetch("SELECT name, key FROM citus_stand_in.spread")
        return {row["name"]: row["key"] for row in rows}


# -- a real coordinator: CAIRN_TEST_CITUS_URL

CATALOGUE = """
SELECT md5(string_agg(line, E'\\n' ORDER BY line)) FROM (
    SELECT format('%s %s %s %s', attrelid::regclass, attname, format_type(atttypid, atttypmod), attnotnull) AS line
    FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
    WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'i') AND attnum > 0 AND NOT attisdropped
    UNION ALL
    SELECT format('%s %s', conrelid::regclass, pg_get_constraintdef(oid)) FROM pg_constraint
    WHERE connamespace = 'public'::regnamespace AND contype <> 'n'
    UNION ALL
    SELECT format('%s %s %s', relname, relacl, relkind = 'r' AND reltuples >= 0)
    FROM pg_class WHERE relnamespace = 'public'::regnamespace
    UNION ALL
    SELECT format('%s on %s', tgname, tgrelid::regclass) FROM pg_trigger WHERE NOT tgisinternal
    UNION ALL
    SELECT format('%s(%s)', oid::regproc, proargtypes) FROM pg_proc WHERE pronamespace = 'public'::regnamespace
    UNION ALL
    SELECT nspname FROM pg_namespace WHERE nspname !~ '^pg_(temp|toast)'
    UNION ALL
    SELECT extname FROM pg_extension
    UNION ALL
    SELECT evtname FROM pg_event_trigger
    UNION ALL
    SELECT setconfig::text FROM pg_db_role_setting JOIN pg_database ON pg_database.oid = setdatabase
    WHERE datname = current_database()
    UNION ALL
    SELECT version_num FROM alembic_version
    UNION ALL
    SELECT format('%s %s', oldest_revision, history_id) FROM installation
) AS lines
"""

# Any change of the result of CATALOGUE writes or deletes a row that is counted here: CATALOGUE is read again only then.
VERSIONS = """
SELECT ARRAY[
    (SELECT (count(*), max(xmin::text::bigint), count(*) FILTER (WHERE reltuples >= 0))::text FROM pg_class
     WHERE relnamespace = 'public'::regnamespace),
    (SELECT (count(*), max(xmin::text::bigint))::text FROM pg_attribute WHERE attrelid >= 16384),
    (SELECT (count(*), max(xmin::text::bigint))::text FROM pg_constraint WHERE oid >= 16384),
    (SELECT (count(*), max(xmin::text::bigint))::text FROM pg_trigger WHERE oid >= 16384),
    (SELECT (count(*), max(xmin::text::bigint))::text FROM pg_proc WHERE oid >= 16384),
    (SELECT (count(*), max(xmin::text::bigint))::text FROM pg_namespace WHERE nspname !~ '^pg_(temp|toast)'),
    (SELECT (count(*), max(xmin::text::bigint))::text FROM pg_extension),
    (SELECT (count(*), max(xmin::text::bigint))::text FROM pg_event_trigger),
    (SELECT (count(*), max(pg_db_role_setting.xmin::text::bigint))::text FROM pg_db_role_setting
     JOIN pg_database ON pg_database.oid = setdatabase WHERE datname = current_database()),
    (SELECT (count(*), max(xmin::text::bigint))::text FROM alembic_version),
    (SELECT (count(*), max(xmin::text::bigint))::text FROM installation)
]
"""

END_OTHER_SESSIONS = """
SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid() AND pid <> ALL ($1::int[])
    AND backend_type = 'client backend'
"""

USES_MAX = 100
"""The number of tests that leave dead rows in a database before it is created again."""


class Node(NamedTuple):
    """A machine of a cluster. The coordinator has the group 0."""

    host: str
    port: int
    group: int


class Cluster:
    """The databases of one run on a Citus coordinator, or on a plain server without a template.

    `CREATE DATABASE … TEMPLATE` does not copy Citus' metadata, so a database is created empty. The database that tests
    share is emptied between them, and created again only where a test has changed its tables.
    """

    def __init__(self, url: str) -> None:
        self.url = url
        self.nodes: list[Node] = []
        self.has_citus = False

    async def connection(self) -> None:
        """Find the machines over which the database of the URL is distributed."""
        async with connected(self.url) as connection:
            self.has_citus = await connection.fetchval("SELECT to_regclass('pg_dist_node') IS NOT NULL")
            if self.has_citus:
                sql = "SELECT nodename, nodeport, groupid FROM pg_dist_node WHERE noderole = 'primary'"
                self.nodes = [Node(*row) for row in await connection.fetch(sql)]

    def urls(self) -> list[str]:
        """Return the URL of the database on every machine, the workers first."""
        workers = (with_address(self.url, node.host, node.port) for node in self.nodes if node.group)
        return [*workers, self.url]

    async def make(self, name: str) -> str:
        """Create a database without tables that is distributed as that of the URL is."""
        for url in self.urls():
            await execute(url, f"CREATE DATABASE {name}")
            if self.has_citus:
                await execute(with_database(url, name), "CREATE EXTENSION citus")
        dsn = with_database(self.url, name)
        for node in sorted(self.nodes, key=lambda node: node.group):
            call = "citus_add_node" if node.group else "citus_set_coordinator_host"
            await execute(dsn, f"SELECT {call}($1, $2)", node.host, node.port)
        return dsn

    async def drop(self, name: str) -> None:
        for url in reversed(self.urls()):
            await execute(url, f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")


class DatabaseCopies:
    """The databases of one run on a plain server: copies of a migrated template."""

    def __init__(self, server: str, template: str) -> None:
        self.server, self.template = server, template

    async def make(self, name: str) -> str:
        await execute(self.server, f"CREATE DATABASE {name} TEMPLATE {self.template}")
        return with_database(self.server, name)

    async def drop(self, name: str) -> None:
        await execute(self.server, f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")


class WorkerDatabase:
    """One migrated database for all tests of a worker. Each test finds it empty: emptying takes a tenth of the time of
    a copy.

    It is created again after a test that changed its tables or had Postgres collect statistics, which would change the
    plans of later tests, and after USES_MAX tests, whose dead rows it has. Its connections are reused (connections.py).
    """

    def __init__(self, databases: Cluster | DatabaseCopies, name: str) -> None:
        self.databases, self.name, self.dsn, self.catalogue, self.uses = databases, name, "", "", 0
        self.versions: list[str] = []

    async def make(self) -> None:
        self.dsn, self.uses = await self.databases.make(self.name), 0
        await migrate(self.dsn)
        async with connected(self.dsn) as connection:
            self.catalogue, self.versions = await connection.fetchval(CATALOGUE), await connection.fetchval(VERSIONS)

    async def drop(self) -> None:
        IDLE.drop()
        await self.databases.drop(self.name)

    async def clean(self) -> None:
        """End all other sessions, and delete the rows of the test.

        If the test changed the tables, and after USES_MAX tests, create the database again instead.
        """
        self.uses += 1
        if self.uses >= USES_MAX or not await self.is_emptied():
            await self.drop()
            await self.make()

    async def is_emptied(self) -> bool:
        """Empty the database if only its rows have changed. The test may have ended connections."""
        try:
            return await self.empty()
        except (asyncpg.PostgresConnectionError, asyncpg.AdminShutdownError, *MAY_STILL_RUN):
            IDLE.drop()
            return await self.empty()

    async def empty(self) -> bool:
        connection = await IDLE.connect(self.dsn, {})
        try:
            await connection.fetch(END_OTHER_SESSIONS, IDLE.pids)
            if not await self.is_unchanged(connection):
                return False
            await connection.execute("DELETE FROM audit_events; DELETE FROM tenants")  # events outlive their tenants
            return True
        finally:
            await connection.close()

    async def is_unchanged(self, connection: asyncpg.Connection) -> bool:
        try:
            if (versions := await connection.fetchval(VERSIONS)) == self.versions:
                return True
            self.versions = versions
            return bool(await connection.fetchval(CATALOGUE) == self.catalogue)
        except asyncpg.UndefinedTableError:
            return False


@asynccontextmanager
async def connected(dsn: str) -> AsyncIterator[asyncpg.Connection]:
    connection = await asyncpg.connect(dsn)
    try:
        yield connection
    finally:
        await connection.close()


async def execute(dsn: str, statement: str, *values: object) -> None:
    async with connected(dsn) as connection:
        await connection.execute(statement, *values)


def with_database(dsn: str, name: str) -> str:
    return urlsplit(dsn)._replace(path=f"/{name}").geturl()


def with_address(dsn: str, host: str, port: int) -> str:
    """Return the DSN of the same database and account on another machine."""
    parts = urlsplit(dsn)
    account = parts.netloc.rpartition("@")[0]
    return parts._replace(netloc=f"{account}@{host}:{port}" if account else f"{host}:{port}", query="").geturl()
