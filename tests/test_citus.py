"""With the citus extension, migrations distribute every table and pools warm their connections."""

from collections.abc import AsyncIterator
from contextlib import suppress

import asyncpg
import pytest

from db.database import Database
from db.migrate import migrate
from db.sql import statements
from db.tables import metadata
from resolvers.model.drafts import PageDraft
from resolvers.pages.lifecycle import create_page
from tests.citus import Cluster, WorkerDatabase, connected, distributed_tables, install_stand_in, with_address
from tests.conftest import new_database_name
from tests.sql_rules import REFERENCE_TABLES, TENANT_TABLES, session_faults
from tests.wiki import close_wiki, open_wiki

MADE_AT = "SELECT oid FROM pg_database WHERE datname = current_database()"
MODE = "SHOW plan_cache_mode"


@pytest.fixture
async def citus_dsn(dsn: str) -> str:
    """The address of a migrated database that looks like a Citus coordinator."""
    await install_stand_in(dsn)
    return dsn


async def test_migrations_distribute_every_table_with_sequential_ddl(empty_dsn: str) -> None:
    await install_stand_in(empty_dsn)
    await migrate(empty_dsn)
    distributed = {name: key for name, key in (await distributed_tables(empty_dsn)).items() if name in metadata.tables}
    assert {name for name, key in distributed.items() if key == "tenant_id"} == TENANT_TABLES
    assert {name for name, key in distributed.items() if key is None} == REFERENCE_TABLES
    assert set(distributed) == set(metadata.tables)


async def test_the_citus_stand_in_refuses_parallel_ddl(citus_dsn: str) -> None:
    connection = await asyncpg.connect(citus_dsn)
    with pytest.raises(asyncpg.RaiseError, match="parallel DDL"):
        await connection.execute("CREATE TABLE more (id int)")
    await connection.execute(
        "BEGIN; SET LOCAL citus.multi_shard_modify_mode TO 'sequential'; CREATE TABLE more (id int)"
    )
    await connection.close()


def test_parallel_ddl_in_a_session_is_reported() -> None:
    change = "ALTER TABLE pages ADD COLUMN note text"
    [finding] = session_faults(["BEGIN", change])
    assert finding.startswith("ALTER TABLE pages: parallel DDL")
    assert list(session_faults(["SET citus.multi_shard_modify_mode TO 'sequential'", change])) == []
    assert list(session_faults(["SET LOCAL citus.multi_shard_modify_mode = parallel", change])) != []


async def test_reads_use_generic_plans_on_plain_postgres(dsn: str) -> None:
    database = Database(dsn, size=1)
    await database.open()
    async with database.searching() as connection:
        assert await connection.raw.fetchval(MODE) == "force_generic_plan"
    await database.close()


async def test_no_plan_mode_is_forced_on_citus(citus_dsn: str) -> None:
    database = Database(citus_dsn, size=1)
    await database.open()
    for lend in (database.searching, database.connection):
        async with lend() as connection:
            assert await connection.raw.fetchval(MODE) == "auto"
    assert "values" in await database.generic_plan("SELECT 1")
    await database.close()


async def test_citus_connections_run_the_warming_statements_before_use(
    citus_dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first statement of a connection is slow on Citus, and no request should wait for it."""
    executed: dict[asyncpg.Connection, list[str]] = {}

    async def listening(connection: asyncpg.Connection) -> None:
        executed[connection] = []
        connection.add_query_logger(lambda record: executed[connection].append(record.query))

    monkeypatch.setattr("db.database.prepare_connection", listening)
    database = Database(citus_dsn, size=3)
    await database.open()
    await database.fill()
    warming = {statement.sql for statement in statements("operations/warming").values()}
    assert database.pools()["reads"].idle == database.pools()["writes"].idle == 3
    assert len(executed) == 6
    assert all(warming <= set(queries) for queries in executed.values())
    await database.close()


async def test_pools_on_plain_postgres_open_connections_on_demand(dsn: str) -> None:
    database = Database(dsn, size=3)
    await database.open()
    await database.fill()
    assert database.pools()["reads"].size == database.pools()["writes"].size == 1
    await database.close()


# -- the databases that the suite has on a coordinator, tried on a plain server


@pytest.fixture
async def own_worker_database(server_dsn: str) -> AsyncIterator[WorkerDatabase]:
    cluster = Cluster(server_dsn)
    await cluster.connection()
    worker_database = WorkerDatabase(cluster, new_database_name())
    await worker_database.make()
    yield worker_database
    await cluster.drop(worker_database.name)


async def test_cleaning_a_worker_database_empties_it_without_recreating_it(own_worker_database: WorkerDatabase) -> None:
    wiki = await open_wiki(own_worker_database.dsn)
    await create_page(wiki.database, wiki.scope, PageDraft("topic", "Kilns"))
    async with connected(own_worker_database.dsn) as connection:
        made_at = await connection.fetchval(MADE_AT)
    await own_worker_database.clean()
    async with connected(own_worker_database.dsn) as connection:
        for table in metadata.tables.keys() - {"installation"}:
            assert await connection.fetchval(f"SELECT count(*) FROM {table}") == 0
        assert await connection.fetchval(MADE_AT) == made_at, "it was not made anew"
    with suppress(asyncpg.PostgresError, asyncpg.InterfaceError, OSError):
        await close_wiki(wiki)


CHANGES = [
    "ALTER TABLE pages ADD COLUMN note text",
    "ALTER TABLE pages ALTER COLUMN summary SET NOT NULL",
    "ALTER TABLE pages ALTER COLUMN title TYPE varchar(2000)",
    "ALTER TABLE aliases DROP CONSTRAINT aliases_page_fk",
    "ALTER TABLE pages ADD CHECK (version > 0)",
    "CREATE INDEX ON pages (summary)",
    "CREATE FUNCTION heard() RETURNS event_trigger LANGUAGE plpgsql AS 'BEGIN END'",
    "CREATE SCHEMA another",
    "CREATE TRIGGER heard BEFORE DELETE ON pages EXECUTE FUNCTION suppress_redundant_updates_trigger()",
    "DROP TABLE alembic_version",
    "GRANT SELECT ON pages TO PUBLIC",
    "UPDATE alembic_version SET version_num = '0001'",
    "UPDATE installation SET history_id = gen_random_uuid()",
]


@pytest.mark.parametrize("change", CHANGES)
async def test_catalog_changes_of_a_worker_database_are_noticed(
    dsn: str, worker_database: WorkerDatabase, change: str
) -> None:
    async with connected(dsn) as connection:
        assert await worker_database.is_unchanged(connection)
        changing = connection.transaction()
        await changing.start()
        await connection.execute(change)
        assert not await worker_database.is_unchanged(connection)
        await changing.rollback()
        assert await worker_database.is_unchanged(connection)


async def test_cleaning_recreates_a_worker_database_with_a_changed_catalog(own_worker_database: WorkerDatabase) -> None:
    async with connected(own_worker_database.dsn) as connection:
        made_at = await connection.fetchval(MADE_AT)
        await connection.execute("ANALYZE pages")
    await own_worker_database.clean()
    async with connected(own_worker_database.dsn) as connection:
        assert await own_worker_database.is_unchanged(connection)
        assert await connection.fetchval(MADE_AT) != made_at


def test_worker_addresses_use_the_account_of_the_coordinator() -> None:
    assert with_address("postgresql://me:secret@one:5432/wiki", "two", 6432) == "postgresql://me:secret@two:6432/wiki"
    assert with_address("postgresql://one/wiki?host=/tmp", "two", 6432) == "postgresql://two:6432/wiki"
