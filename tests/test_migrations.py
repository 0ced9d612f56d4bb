"""Migrations create the declared tables, run one at a time and only forward, and refuse with advice."""

import asyncio
import re
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from io import StringIO
from pathlib import Path
from typing import Any
from uuid import UUID

import asyncpg
import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Table
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.pool import NullPool

import db.migrate
from db.migrate import (
    EXTENSIONS,
    DatabaseServer,
    MigrationRefused,
    alembic_config,
    check_server,
    migrate,
    pending,
    refuse_unfit,
    revisions,
)
from db.tables import metadata
from tests.citus import with_database
from tests.conftest import drop_database, execute, new_database_name
from tests.waiting import within

ROOT = Path(__file__).parents[1]
SCOPE_STATISTICS = {"pages", "sections", "aliases", "links", "page_names", "sources", "mentions", "search_counts",
                    "search_terms", "search_vocabulary"}  # fmt: skip
# Lexemes carry their scope themselves, and no plan shall find a tenant's pages in any other way;
# an owner has one tenant.
LEAD_BY_PAGE_OR_WORD = {
    "search_pages_pk", "search_pages_words_ix", "search_passages_pk", "search_passages_words_ix", "page_names_owner_ix"
}  # fmt: skip
FIT = DatabaseServer(180006, "wiki", "cairn", may_extend=True, may_create=True, available=[*EXTENSIONS], installed=[])

COLUMNS = """
SELECT table_name, column_name, data_type, udt_name, collation_name, is_nullable, column_default,
       col_description(format('%I', table_name)::regclass, ordinal_position)
FROM information_schema.columns WHERE table_schema = 'public' ORDER BY 1, ordinal_position
"""
CONSTRAINTS = """
SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid)
FROM pg_constraint WHERE connamespace = 'public'::regnamespace AND contype <> 'n' ORDER BY 1, 2
"""
WAITING_MIGRATION = """
SELECT pid FROM pg_stat_activity
WHERE datname = current_database() AND application_name = 'cairn migrate' AND wait_event_type = 'Lock'
"""
INDEXES = "SELECT tablename, indexname, indexdef FROM pg_indexes WHERE schemaname = 'public' ORDER BY 1, 2"


async def run_sync(dsn: str, work: Callable[[Connection], Any]) -> Any:
    """Run synchronous SQLAlchemy work on a connection, and commit."""
    engine = create_async_engine(
        "postgresql+asyncpg://", async_creator=lambda: asyncpg.connect(dsn), poolclass=NullPool
    )
    async with engine.begin() as connection:
        return await connection.run_sync(work)


async def rows(dsn: str, query: str) -> list[tuple[Any, ...]]:
    connection = await asyncpg.connect(dsn)
    try:
        return [tuple(row) for row in await connection.fetch(query)]
    finally:
        await connection.close()


async def test_alembic_finds_no_difference_from_the_declared_tables(shared_dsn: str) -> None:
    def differences(connection: Connection) -> Any:
        options = {"compare_type": True, "compare_server_default": True}
        return compare_metadata(MigrationContext.configure(connection, opts=options), metadata)

    assert await run_sync(shared_dsn, differences) == []


async def test_the_migrated_catalog_equals_that_of_the_declared_tables(shared_dsn: str, empty_dsn: str) -> None:
    for extension in EXTENSIONS:
        await rows(empty_dsn, f"CREATE EXTENSION {extension}")
    await run_sync(empty_dsn, metadata.create_all)
    for query in (COLUMNS, CONSTRAINTS, INDEXES):
        migrated = [row for row in await rows(shared_dsn, query) if row[0] != "alembic_version"]
        assert migrated == await rows(empty_dsn, query)


async def test_scoped_tables_have_extended_statistics_on_tenant_and_owner(shared_dsn: str) -> None:
    found = await rows(
        shared_dsn,
        """
        SELECT stxrelid::regclass::text, stxkind::text[], pg_get_statisticsobjdef_columns(oid)
        FROM pg_statistic_ext WHERE stxnamespace = 'public'::regnamespace
        """,
    )
    assert {table for table, _, _ in found} == SCOPE_STATISTICS
    assert all((set(kinds), on) == ({"d", "f"}, "tenant_id, owner_id") for _, kinds, on in found)


async def test_migrating_from_any_folder_applies_everything_once(
    empty_dsn: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    messages: list[str] = []
    revisions = await pending(empty_dsn)
    assert revisions[0] == "0001"
    assert await migrate(empty_dsn, messages.append) == revisions
    assert messages == [f"Applying {', '.join(revisions)}"]
    assert await pending(empty_dsn) == await migrate(empty_dsn) == []


async def test_the_second_of_two_concurrent_migrations_waits_and_does_nothing(empty_dsn: str) -> None:
    messages: list[str] = []
    results = await asyncio.gather(migrate(empty_dsn, messages.append), migrate(empty_dsn, messages.append))
    assert sorted(map(bool, results)) == [False, True]
    assert "Waiting for another migration of this database" in messages


@pytest.mark.parametrize("mode", ["SHARE", "ACCESS EXCLUSIVE"])
async def test_a_locked_table_refuses_the_migration_and_changes_nothing(
    empty_dsn: str, mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(db.migrate, "LOCK_TIMEOUT", "300ms")
    await rows(empty_dsn, "CREATE TABLE alembic_version (version_num varchar(32) PRIMARY KEY)")
    user = await asyncpg.connect(empty_dsn)
    async with user.transaction():
        await user.execute(f"LOCK TABLE alembic_version IN {mode} MODE")
        with pytest.raises(MigrationRefused, match=r"in use.*300ms.*`cairn migrate` again"):
            await migrate(empty_dsn)
    await user.close()
    assert await rows(empty_dsn, "SELECT tablename FROM pg_tables WHERE schemaname = 'public'") == [
        ("alembic_version",)
    ]
    assert await migrate(empty_dsn) != []


@pytest.mark.parametrize("revision", ["0111", "0171"])
async def test_a_migration_whose_index_waits_for_another_session_can_be_repeated(
    empty_dsn: str, revision: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(db.migrate, "LOCK_TIMEOUT", "300ms")
    await migrate(empty_dsn, to=revisions()[revisions().index(revision) - 1])
    user = await asyncpg.connect(empty_dsn)
    async with user.transaction(isolation="repeatable_read"):
        await user.execute("SELECT FROM tenants")
        with pytest.raises(MigrationRefused, match=r"in use.*300ms.*`cairn migrate` again"):
            await migrate(empty_dsn)
    await user.close()
    assert (await migrate(empty_dsn))[0] == revision


@pytest.fixture
async def blocked_migration(empty_dsn: str, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[asyncio.Task[Any]]:
    """A migration whose `CREATE INDEX CONCURRENTLY` waits for the end of an older transaction."""
    monkeypatch.setattr(db.migrate, "LOCK_TIMEOUT", "60s")
    await migrate(empty_dsn, to="0170")
    user = await asyncpg.connect(empty_dsn)
    async with user.transaction(isolation="repeatable_read"):
        await user.execute("SELECT FROM tenants")
        migration = asyncio.create_task(migrate(empty_dsn, to="0171"))
        async with within("the migration did not wait"):
            while not await rows(empty_dsn, WAITING_MIGRATION):
                await asyncio.sleep(0.05)
        yield migration
    await user.close()
    assert await migrate(empty_dsn) == [*revisions()[revisions().index("0171") :]]


async def test_a_migration_can_be_cancelled_outside_of_a_transaction(blocked_migration: asyncio.Task[Any]) -> None:
    blocked_migration.cancel()
    with pytest.raises(asyncio.CancelledError):
        await blocked_migration


async def test_a_migration_that_loses_its_connection_reports_what_postgres_said(
    blocked_migration: asyncio.Task[Any], empty_dsn: str
) -> None:
    await rows(empty_dsn, f"SELECT pg_terminate_backend(pid) FROM ({WAITING_MIGRATION}) AS waiting")
    with pytest.raises(asyncpg.PostgresConnectionError, match="terminating connection"):
        await blocked_migration


async def test_an_older_release_runs_only_within_the_compatibility_window(dsn: str) -> None:
    messages: list[str] = []
    await rows(dsn, "UPDATE alembic_version SET version_num = '9999'")
    assert await migrate(dsn, messages.append) == await pending(dsn) == []
    assert "at revision 9999 of a newer Cairn" in messages[0]
    await rows(dsn, "UPDATE installation SET oldest_revision = '9998'")
    with pytest.raises(MigrationRefused, match=r"9999 and needs a Cairn that knows 9998.*newer"):
        await migrate(dsn)
    await rows(dsn, "DROP TABLE installation")
    with pytest.raises(MigrationRefused, match=r"9999, but.*newer"):
        await pending(dsn)


def test_each_revision_names_the_oldest_revision_it_runs_beside() -> None:
    known = revisions()
    scripts = ScriptDirectory.from_config(alembic_config())
    for revision in known[known.index("0033") :]:
        oldest = scripts.get_revision(revision).module.runs_beside
        assert oldest in known[: known.index(revision) + 1], f"{revision} must name `runs_beside`"


async def test_the_compatibility_window_is_the_narrowest_of_all_revisions(shared_dsn: str) -> None:
    scripts = ScriptDirectory.from_config(alembic_config())
    declared = [getattr(script.module, "runs_beside", "") for script in scripts.walk_revisions()]
    assert await rows(shared_dsn, "SELECT oldest_revision FROM installation") == [(max(declared),)]


async def test_migrations_go_forward_only(dsn: str) -> None:
    def down(connection: Connection) -> None:
        config = alembic_config()
        config.attributes["connection"] = connection
        command.downgrade(config, "base")

    with pytest.raises(NotImplementedError, match="forward only"):
        await run_sync(dsn, down)


async def test_the_test_server_meets_the_requirements(shared_dsn: str) -> None:
    connection = await asyncpg.connect(shared_dsn)
    await check_server(connection)
    await connection.close()


async def test_a_role_without_rights_gets_the_statements_for_a_superuser(empty_dsn: str) -> None:
    connection = await asyncpg.connect(empty_dsn)
    async with asyncio.timeout(10), connection.transaction():
        await connection.execute("CREATE ROLE cairn_test_guest")
        await connection.execute("SET LOCAL ROLE cairn_test_guest")
        with pytest.raises(MigrationRefused, match=r"superuser.*CREATE EXTENSION pg_trgm; CREATE EXTENSION btree_gin;"):
            await check_server(connection)
        await connection.execute("RESET ROLE")
        await connection.execute("DROP ROLE cairn_test_guest")
    await connection.close()


@pytest.mark.parametrize(
    ("server", "advice"),
    [
        (FIT._replace(version=150018), "this is PostgreSQL 15; Cairn needs 16 or newer: upgrade the server"),
        (
            FIT._replace(available=["btree_gin", "unaccent"]),
            r"does not have pg_trgm, fuzzystrmatch: install .*postgresql-contrib",
        ),
        (FIT._replace(may_extend=False, installed=["pg_trgm"]), r"in the database wiki: CREATE EXTENSION btree_gin;"),
        (FIT._replace(encoding="SQL_ASCII"), "wiki is encoded in SQL_ASCII.* CREATE DATABASE … ENCODING 'UTF8'"),
        (FIT._replace(is_read_only=True), "wiki can only be read here: name the server that it is written on"),
        (FIT._replace(may_create=False), r'GRANT CREATE ON SCHEMA public TO "cairn";'),
    ],
)
def test_an_unsuitable_server_is_refused_with_advice(server: DatabaseServer, advice: str) -> None:
    with pytest.raises(MigrationRefused, match=advice):
        refuse_unfit(server)


def test_migrating_a_database_of_another_encoding_is_refused(server_dsn: str) -> None:
    name = new_database_name()
    execute(
        server_dsn, f"CREATE DATABASE {name} TEMPLATE template0 ENCODING 'SQL_ASCII' LOCALE_PROVIDER libc LOCALE 'C'"
    )
    try:
        with pytest.raises(MigrationRefused, match=f"the database {name} is encoded in SQL_ASCII"):
            asyncio.run(migrate(with_database(server_dsn, name)))
    finally:
        drop_database(server_dsn, name)


def test_the_oldest_supported_server_with_extensions_is_accepted() -> None:
    refuse_unfit(FIT._replace(version=160000, may_extend=False, installed=[*EXTENSIONS]))


async def test_indexes_of_tenant_tables_start_with_the_tenant(shared_dsn: str) -> None:
    first_columns = await rows(
        shared_dsn,
        """
        SELECT i.indexrelid::regclass::text, a.attname
        FROM pg_index i JOIN pg_class t ON t.oid = i.indrelid
        JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]
        WHERE t.relnamespace = 'public'::regnamespace
          AND t.relname NOT IN ('tenants', 'api_keys', 'alembic_version', 'installation')
        """,
    )
    assert len(first_columns) > 40
    assert {name for name, column in first_columns if column != "tenant_id"} == LEAD_BY_PAGE_OR_WORD


@pytest.mark.parametrize("table", metadata.sorted_tables, ids=str)
def test_foreign_keys_include_tenant_and_owner(table: Table) -> None:
    for key in table.foreign_key_constraints:
        own, others = list(key.column_keys), [element.column.name for element in key.elements]
        assert own[0] == others[0] == "tenant_id"
        assert key.referred_table.name in ("tenants", "owners", "webhooks") or own[1] == others[1] == "owner_id"


async def test_a_row_cannot_reference_a_page_of_another_owner(dsn: str) -> None:
    tenant, here, there, page = (UUID(int=number) for number in range(1, 5))
    connection = await asyncpg.connect(dsn)
    await connection.execute("INSERT INTO tenants (tenant_id, slug, name) VALUES ($1, 'acme', 'Acme')", tenant)
    owner = "INSERT INTO owners (tenant_id, id, kind, slug, name) VALUES ($1, $2, 'user', $3, $3)"
    await connection.executemany(owner, [(tenant, here, "here"), (tenant, there, "there")])
    given = "(tenant_id, owner_id, id, type, slug, title, body_md) VALUES ($1, $2, $3, 'topic', 't', 'T', '')"
    await connection.execute(f"INSERT INTO pages {given}", tenant, here, page)
    given = "(tenant_id, owner_id, id, page_id, alias, name, source) VALUES ($1, $2, $3, $3, 't', 'T', 'manual')"
    alias = f"INSERT INTO aliases {given}"
    with pytest.raises(asyncpg.ForeignKeyViolationError, match="aliases_page_fk"):
        await connection.execute(alias, tenant, there, page)
    await connection.execute(alias, tenant, here, page)
    await connection.close()


async def test_the_schema_has_no_triggers_and_no_functions(shared_dsn: str) -> None:
    assert await rows(shared_dsn, "SELECT tgname FROM pg_trigger WHERE NOT tgisinternal") == []
    of_no_extension = "NOT EXISTS (SELECT FROM pg_depend WHERE objid = p.oid AND deptype = 'e')"
    ours = f"SELECT proname FROM pg_proc p WHERE pronamespace = 'public'::regnamespace AND {of_no_extension}"
    assert await rows(shared_dsn, ours) == []


def test_the_revisions_form_one_chain() -> None:
    scripts = ScriptDirectory.from_config(alembic_config())
    assert revisions() == tuple(script.revision for script in scripts.walk_revisions())[::-1]
    assert len(scripts.get_heads()) == len(scripts.get_bases()) == 1


def test_revisions_import_no_product_code() -> None:
    for script in ScriptDirectory.from_config(alembic_config()).walk_revisions():
        source = Path(script.path).read_text(encoding="utf-8")
        imported = re.findall(r"^(?:from|import) (\w+)", source, re.MULTILINE)
        assert set(imported) <= {"alembic", "sqlalchemy", "migrations"}


def test_squawk_accepts_the_sql_of_every_revision() -> None:
    config = alembic_config()
    config.output_buffer = StringIO()
    command.upgrade(config, "head", sql=True)
    settings, *revisions = config.output_buffer.getvalue().split("BEGIN;")
    assert len(revisions) > 1
    assert [squawk(f"{settings}BEGIN;{sql}") for sql in revisions] == [""] * len(revisions)


def test_squawk_rejects_unsafe_sql() -> None:
    found = squawk("CREATE INDEX pages_new_ix ON pages (tenant_id, slug);")
    assert "require-concurrent-index-creation" in found
    assert "require-lock-timeout" in found


def squawk(sql: str) -> str:
    """Return the findings of squawk for the statements."""
    program = Path(sys.executable).with_name("squawk")
    checked = subprocess.run(
        [program, "--config", ROOT / ".squawk.toml", "--reporter", "gcc"], input=sql, capture_output=True, text=True
    )
    assert checked.stderr == ""
    return checked.stdout
