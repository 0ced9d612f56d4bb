"""Moving tenants to another database, completely or not at all."""

import asyncio
from pathlib import Path

import asyncpg
import orjson
import pytest

from db.archives.catalogue import list_tables
from db.archives.copying import connect
from db.archives.folder import Archive, ArchiveRefused
from db.migrate import migrate
from resolvers.archives.moves import compare_tenant, export_tenant, import_tenant, tenant_tables
from resolvers.auth.api_keys import scope_of_key
from resolvers.errors import NotFound
from resolvers.model.drafts import PageDraft
from resolvers.pages.lifecycle import create_page
from tests.app.command_line import run_command
from tests.conftest import execute
from tests.forked import Command
from tests.resolvers.archives.filled_tenant import FILE, fill_tenant, fill_wiki, filled_files
from tests.resolvers.archives.test_backups import count, ignore_progress, open_copy
from tests.wiki import Wiki, check_derived_rows, close_wiki, open_wiki


@pytest.fixture(autouse=True)
def one_server(cluster: object) -> None:
    if cluster is not None:
        pytest.skip("two databases of one Citus share their shards' numbers")


async def test_every_table_but_those_of_the_server_belongs_to_tenants(shared_dsn: str) -> None:
    async with connect(shared_dsn, "test") as connection:
        tables = await list_tables(connection)
    left = {table.name for table in tables} - {table.name for table in tenant_tables(tables)}
    assert left <= {"installation", "erasures"}


async def test_a_tenant_is_imported_unchanged_and_other_tenants_stay(
    wiki: Wiki, dsn: str, other_dsn: str, tmp_path: Path
) -> None:
    await fill_wiki(wiki)
    key = await fill_tenant(wiki.database, wiki.scope.tenant_id, wiki.scope.owner_id)
    stranger = await open_wiki(dsn)
    await fill_wiki(stranger, 2, "Boat")
    await close_wiki(stranger)
    manifest = await export_tenant(dsn, str(wiki.scope.tenant_id), tmp_path / "moved", ignore_progress)
    assert manifest.tables["tenants"].rows == 1
    assert manifest.tables["pages"].rows == 6
    resident = await open_wiki(other_dsn)
    await fill_wiki(resident, 1, "Tree")
    archive = Archive(tmp_path / "moved")
    done = await import_tenant(other_dsn, archive, ignore_progress, replace=False)
    assert (done.is_new, done.rows) == (True, manifest.rows)
    copy = await open_copy(other_dsn, wiki)
    try:
        await check_derived_rows(copy)
        await check_derived_rows(resident)
        assert await filled_files(copy) == (FILE, FILE[::-1])
        assert (await scope_of_key(copy.database, key)).tenant_id == wiki.scope.tenant_id
        assert await count(other_dsn, "pages") == 7
        assert (await import_tenant(other_dsn, archive, ignore_progress, replace=False)).is_new is False
        await create_page(copy.database, copy.scope, PageDraft("topic", "After", body="It goes on."))
        with pytest.raises(ArchiveRefused, match="exists with other data"):
            await import_tenant(other_dsn, archive, ignore_progress, replace=False)
        assert (await import_tenant(other_dsn, archive, ignore_progress, replace=True)).is_new is True
        assert await count(other_dsn, "pages") == 7
        assert await compare_tenant(other_dsn, manifest) == []
        assert await compare_tenant(dsn, manifest) == []
        await create_page(wiki.database, wiki.scope, PageDraft("topic", "Meanwhile", body="New."))
        assert {"pages", "sections", "activity"} <= {*await compare_tenant(dsn, manifest)}
    finally:
        await close_wiki(copy)
        await close_wiki(resident)


async def test_an_archive_that_cannot_be_imported_is_refused_and_leaves_no_rows(
    wiki: Wiki, dsn: str, empty_dsn: str, tmp_path: Path
) -> None:
    with pytest.raises(NotFound, match="cairn tenants list"):
        await export_tenant(dsn, "nobody", tmp_path / "none", ignore_progress)
    assert not (tmp_path / "none").exists()
    await fill_wiki(wiki, 1)
    await export_tenant(dsn, str(wiki.scope.tenant_id), tmp_path / "moved", ignore_progress)
    archive = Archive(tmp_path / "moved")
    with pytest.raises(ArchiveRefused, match="Run cairn migrate here"):
        await import_tenant(empty_dsn, archive, ignore_progress, replace=False)
    await migrate(empty_dsn)
    assert archive.manifest.tenant is not None
    insert = f"INSERT INTO tenants VALUES (gen_random_uuid(), '{archive.manifest.tenant['slug']}', 'Other')"
    await asyncio.to_thread(execute, empty_dsn, insert)
    with pytest.raises(ArchiveRefused, match="Another tenant is called"):
        await import_tenant(empty_dsn, archive, ignore_progress, replace=True)
    assert await count(empty_dsn, "pages") == 0


async def test_a_killed_transfer_can_be_run_again(wiki: Wiki, dsn: str, other_dsn: str, tmp_path: Path) -> None:
    await fill_wiki(wiki, 40)
    settings = {"PATH": "/usr/bin:/bin", "CAIRN_DATABASE_URL": dsn, "CAIRN_DATA_DIR": str(tmp_path)}
    name = str(wiki.scope.tenant_id)
    command = ["tenants", "transfer", name, "--to", "-", "--json"]
    killed = 0
    for stage in ("tables/pages.copy.gz", "SHA256SUMS", "loading", "loading"):
        with Command(command, settings, given=other_dsn) as process:
            while process.poll() is None and not await has_reached(tmp_path / "transfers", name, stage, other_dsn):
                await asyncio.sleep(0.002)
            process.kill()
            killed += process.wait() < 0
        assert await count(other_dsn, "pages") in ((0, 40) if stage == "loading" else (0,))
    assert killed >= 3
    result = orjson.loads(run_command(command, settings, other_dsn).out)
    assert (result["slug"], result["changed"]) == (f"t-{name}", [])
    assert await count(other_dsn, "pages") == 40
    assert [*(tmp_path / "transfers").iterdir()] == []


async def has_reached(folder: Path, name: str, stage: str, target: str) -> bool:
    """Return whether a transfer has reached a stage: a file that it has begun, or the connection by which it loads."""
    if stage != "loading":
        return any((place / stage).exists() for place in (folder / name, folder / f".{name}.partial"))
    connection = await asyncpg.connect(target)
    try:
        loads = "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE query LIKE 'COPY%' AND datname = current_database())"
        return bool(await connection.fetchval(loads))
    finally:
        await connection.close()
