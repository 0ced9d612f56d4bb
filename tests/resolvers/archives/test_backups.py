"""Backups: complete at one moment, checked, restored into an empty database or in place of another."""

import asyncio
import gzip
import hashlib
import itertools
import shutil
from collections.abc import Awaitable, Callable
from pathlib import Path
from random import Random
from uuid import UUID

import asyncpg
import orjson
import pytest

from db.archives.catalogue import list_tables
from db.archives.copying import connect, copy_out, snapshot
from db.archives.folder import MANIFEST, SUMS, Archive, ArchiveBroken, ArchiveRefused
from db.database import Database
from db.migrate import migrate, pending
from db.tables import metadata
from resolvers.archives.backups import back_up, compare, restore, verify
from resolvers.archives.erasing import erase_owner, list_erasures
from resolvers.auth.api_keys import scope_of_key
from resolvers.auth.owners import OwnerKind, create_owner, list_owners
from resolvers.errors import NotFound
from resolvers.model.drafts import PageDraft
from resolvers.pages.lifecycle import create_page
from tests.citus import with_database
from tests.conftest import execute
from tests.examples import examples, is_nightly
from tests.forked import start_command, stop_process
from tests.recording_database import STATEMENT_TIMEOUT
from tests.resolvers.archives.filled_tenant import FILE, fill_tenant, fill_wiki, filled_files
from tests.wiki import Wiki, check_derived_rows, close_wiki, open_wiki

FULL = Path("/dev/full")
SECRET = b"a secret that signs tokens"
FORGET_RESTORE = "DELETE FROM audit_events WHERE action = 'backup.restored'"
"""A restore is recorded as an event that the backup does not have."""


@pytest.fixture(autouse=True)
def one_server(cluster: object) -> None:
    if cluster is not None:
        pytest.skip("databases on Citus are not renamed, and their workers are backed up apart")


def ignore_progress(step: str, done: int, total: int, current: str) -> None:
    """Report no progress."""


async def count(dsn: str, table: str) -> int:
    connection = await asyncpg.connect(dsn)
    try:
        found: int = await connection.fetchval(f"SELECT count(*) FROM {table}")
        return found
    finally:
        await connection.close()


async def open_copy(dsn: str, wiki: Wiki) -> Wiki:
    """Open the same wiki in another database."""
    database = Database(dsn, size=2, statement_timeout=STATEMENT_TIMEOUT)
    await database.open()
    connection = await asyncpg.connect(dsn)
    await connection.set_type_codec("jsonb", schema="pg_catalog", encoder=str, decoder=orjson.loads)
    return Wiki(database, wiki.scope, connection)


async def test_every_table_that_is_declared_is_in_a_backup(shared_dsn: str) -> None:
    async with connect(shared_dsn, "test") as connection:
        tables = await list_tables(connection)
    assert {table.name for table in tables} == {*metadata.tables}
    seen = set[str]()
    for table in tables:
        assert table.key, f"{table.name} has no primary key to be sorted by"
        assert table.refers <= seen, f"{table.name} is filled before what it refers to"
        seen.add(table.name)


async def test_a_restored_database_equals_the_backed_up_one(
    wiki: Wiki, dsn: str, empty_dsn: str, tmp_path: Path
) -> None:
    await fill_wiki(wiki)
    key = await fill_tenant(wiki.database, wiki.scope.tenant_id, wiki.scope.owner_id)
    manifest = await back_up(dsn, tmp_path / "backup", SECRET, ignore_progress)
    assert manifest.tables["pages"].rows == 6
    assert [query for query in manifest.sample if not query["hits"]] == []
    assert len(manifest.sample) == 4
    archive = Archive(tmp_path / "backup")
    assert archive.secret == SECRET
    assert {path.stat().st_mode & 0o77 for path in archive.folder.rglob("*") if path.is_file()} == {0}
    assert (await restore(empty_dsn, archive, ignore_progress, replace=False)).missing == []
    assert await compare(empty_dsn, archive, ignore_progress) == []
    copy = await open_copy(empty_dsn, wiki)
    try:
        await check_derived_rows(copy)
        assert await filled_files(copy) == (FILE, FILE[::-1])
        assert (await scope_of_key(copy.database, key)).tenant_id == wiki.scope.tenant_id
        histories = [
            await database.connection.fetchval("SELECT history_id FROM installation") for database in (wiki, copy)
        ]
        assert histories[0] != histories[1]
        await create_page(copy.database, copy.scope, PageDraft("topic", "After", body="It goes on."))
    finally:
        await close_wiki(copy)


async def test_a_backup_is_consistent_during_concurrent_writes(wiki: Wiki, dsn: str, tmp_path: Path) -> None:
    is_over = False

    async def write() -> None:
        for n in itertools.count():
            await create_page(wiki.database, wiki.scope, PageDraft("topic", f"New {n}", body=f"Of [[New {n - 1}]]."))
            if is_over:
                return

    await fill_wiki(wiki, 2)
    writing = asyncio.create_task(write())
    counts = []
    for n in range(3):
        await asyncio.sleep(0.1)
        manifest = await back_up(dsn, tmp_path / f"{n}", None, ignore_progress)
        tables = manifest.tables
        assert tables["pages"].rows == tables["search_pages"].rows
        assert tables["revisions"].rows == tables["pages"].rows + 2
        counts.append(tables["pages"].rows)
    assert counts == sorted(set(counts))
    is_over = True
    await writing
    assert (await verify(tmp_path / "2", ignore_progress)).is_whole


async def test_a_changed_backup_is_refused_and_leaves_no_rows(
    wiki: Wiki, dsn: str, empty_dsn: str, tmp_path: Path
) -> None:
    await fill_wiki(wiki)
    await back_up(dsn, tmp_path / "backup", None, ignore_progress)
    archive = Archive(tmp_path / "backup")
    archive.check()
    table = archive.folder / "tables" / "pages.copy.gz"
    original = table.read_bytes()
    seeded = Random(5)
    for _ in range(20):
        place = seeded.randrange(len(original))
        table.write_bytes(
            original[:place] + bytes([original[place] ^ (1 << seeded.randrange(8))]) + original[place + 1 :]
        )
        with pytest.raises(ArchiveBroken, match=r"pages\.copy\.gz"):
            archive.check()
    # With matching sums the manifest still differs, and a refused restore leaves no rows.
    table.write_bytes(gzip.compress(gzip.decompress(original)[:-1000].rpartition(b"\n")[0] + b"\n"))
    sums = archive.folder / SUMS
    old = hashlib.sha256(original).hexdigest()
    new = hashlib.sha256(table.read_bytes()).hexdigest()
    sums.write_text(sums.read_text().replace(old, new))
    with pytest.raises(ArchiveBroken, match="does not match the manifest"):
        await restore(empty_dsn, archive, ignore_progress, replace=False)
    assert await count(empty_dsn, "tenants") == 0
    table.write_bytes(original)
    with pytest.raises(ArchiveBroken):
        archive.check()
    sums.write_text(sums.read_text().replace(new, old))
    archive.check()


async def test_a_comparison_finds_the_tables_with_different_rows(
    wiki: Wiki, dsn: str, empty_dsn: str, tmp_path: Path
) -> None:
    await fill_wiki(wiki)
    await back_up(dsn, tmp_path / "backup", None, ignore_progress)
    archive = Archive(tmp_path / "backup")
    await restore(empty_dsn, archive, ignore_progress, replace=False)
    connection = await asyncpg.connect(empty_dsn)
    await connection.execute("UPDATE sections SET body_md = body_md || '.' WHERE position = 0")
    await connection.execute("DELETE FROM api_keys")
    await connection.execute("DELETE FROM sightings")
    await connection.close()
    assert await compare(empty_dsn, archive, ignore_progress) == ["sections", "sightings"]


async def test_existing_data_is_replaced_only_on_request(
    wiki: Wiki, dsn: str, other_dsn: str, server_dsn: str, tmp_path: Path
) -> None:
    await fill_wiki(wiki)
    await back_up(dsn, tmp_path / "backup", None, ignore_progress)
    archive = Archive(tmp_path / "backup")
    other = await open_wiki(other_dsn)
    await create_page(other.database, other.scope, PageDraft("topic", "Mine", body="Mine."))
    with pytest.raises(ArchiveRefused, match="give --replace"):
        await restore(other_dsn, archive, ignore_progress, replace=False)
    with pytest.raises(ArchiveRefused, match="Stop them"):
        await restore(other_dsn, archive, ignore_progress, replace=True)
    await close_wiki(other)
    assert (await restore(other_dsn, archive, ignore_progress, replace=True)).missing == []
    assert await compare(other_dsn, archive, ignore_progress) == []
    names = [row["datname"] for row in await databases(server_dsn)]
    assert [name for name in names if name.endswith(("_restoring", "_replaced"))] == []


async def test_a_restore_keeps_the_records_of_erasures_and_names_those_to_repeat(
    other_dsn: str, tmp_path: Path
) -> None:
    wiki = await open_wiki(other_dsn)
    tenant = wiki.scope.tenant_id

    async def add(name: str) -> UUID:
        return (await create_owner(wiki.database, tenant, OwnerKind.USER, name, name)).id

    async def erase(name: str) -> None:
        await erase_owner(other_dsn, str(tenant), name, "operator", dry_run=False)

    earlier, back = await add("earlier"), await add("back")
    await erase("earlier")
    await back_up(other_dsn, tmp_path / "backup", None, ignore_progress)
    later = await add("later")  # the backup does not have this owner
    await erase("back")
    await erase("later")
    await close_wiki(wiki)
    restored = await restore(other_dsn, Archive(tmp_path / "backup"), ignore_progress, replace=True)
    undone = [(row["kind"], row["tenant_id"], row["owner_id"]) for row in restored.undone or ()]
    assert undone == [("owner", tenant, back)]
    again = await open_copy(other_dsn, wiki)
    assert [row["owner_id"] for row in await list_erasures(again.database, tenant)] == [earlier, back, later]
    assert back in {owner.id for owner in await list_owners(again.database, tenant)}
    await close_wiki(again)


async def databases(server_dsn: str) -> list[asyncpg.Record]:
    connection = await asyncpg.connect(server_dsn)
    try:
        found: list[asyncpg.Record] = await connection.fetch("SELECT datname FROM pg_database")
        return found
    finally:
        await connection.close()


async def test_a_database_that_is_not_cairns_is_not_dropped(
    wiki: Wiki, dsn: str, other_dsn: str, server_dsn: str, tmp_path: Path
) -> None:
    await fill_wiki(wiki, 1)
    await back_up(dsn, tmp_path / "backup", None, ignore_progress)
    await close_wiki(await open_wiki(other_dsn))
    name = f"{other_dsn.partition('?')[0].rpartition('/')[2]}_restoring"
    await asyncio.to_thread(execute, server_dsn, f"CREATE DATABASE {name}")
    try:
        await asyncio.to_thread(execute, with_database(server_dsn, name), "CREATE TABLE mine (id int)")
        with pytest.raises(ArchiveRefused, match="that was not created by a restore"):
            await restore(other_dsn, Archive(tmp_path / "backup"), ignore_progress, replace=True)
    finally:
        await asyncio.to_thread(execute, server_dsn, f"DROP DATABASE {name}")


async def test_a_backup_of_an_older_release_is_restored_and_migrated(
    empty_dsn: str, server_dsn: str, tmp_path: Path
) -> None:
    await migrate(empty_dsn, to="0045")
    sql = "INSERT INTO tenants (tenant_id, slug, name) VALUES (gen_random_uuid(), 'acme', 'Acme')"
    await asyncio.to_thread(execute, empty_dsn, sql)
    manifest = await back_up(empty_dsn, tmp_path / "backup", None, ignore_progress)
    assert (manifest.revision, manifest.sample) == ("0045", [])
    await migrate(empty_dsn)
    await asyncio.to_thread(execute, empty_dsn, "UPDATE tenants SET slug = 'other'")
    await restore(empty_dsn, Archive(tmp_path / "backup"), ignore_progress, replace=True)
    assert await pending(empty_dsn) == []
    assert await count(empty_dsn, "tenants WHERE slug = 'acme'") == 1
    await asyncio.to_thread(execute, empty_dsn, "DELETE FROM tenants")
    await restore(empty_dsn, Archive(tmp_path / "backup"), ignore_progress, replace=False)
    assert await pending(empty_dsn) == []
    assert await count(empty_dsn, "tenants WHERE slug = 'acme'") == 1
    assert (await verify(tmp_path / "backup", ignore_progress)).is_whole


async def test_a_backup_of_a_newer_release_is_refused(wiki: Wiki, dsn: str, empty_dsn: str, tmp_path: Path) -> None:
    await back_up(dsn, tmp_path / "backup", None, ignore_progress)
    manifest = tmp_path / "backup" / MANIFEST
    found = orjson.loads(manifest.read_bytes())
    manifest.write_bytes(orjson.dumps(found | {"revision": "9999"}))
    sums = tmp_path / "backup" / SUMS
    lines = [line for line in sums.read_text().splitlines() if MANIFEST not in line]
    sums.write_text("\n".join([*lines, f"{hashlib.sha256(manifest.read_bytes()).hexdigest()}  {MANIFEST}", ""]))
    with pytest.raises(ArchiveRefused, match="install the one that wrote it"):
        await restore(empty_dsn, Archive(tmp_path / "backup"), ignore_progress, replace=False)
    manifest.write_bytes(orjson.dumps(found | {"format": 2}))
    with pytest.raises(ArchiveBroken, match="newer Cairn"):
        Archive(tmp_path / "backup")


async def test_a_backup_requires_a_new_folder_and_a_migrated_database(dsn: str, empty_dsn: str, tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    with pytest.raises(ArchiveRefused, match="already exists"):
        await back_up(dsn, tmp_path / "there", None, ignore_progress)
    with pytest.raises(NotFound, match="cairn migrate"):
        await back_up(empty_dsn, tmp_path / "new", None, ignore_progress)
    assert [path.name for path in tmp_path.iterdir()] == ["there"]


@pytest.mark.skipif(not FULL.exists(), reason="needs /dev/full")
@pytest.mark.parametrize("rows", [1, 5_000])
async def test_a_copy_to_a_full_disk_ends_with_an_error(dsn: str, rows: int) -> None:
    """The disk fills up with the last piece of a table, or with an earlier one."""
    filled = f"SELECT n, repeat('x', 500) AS text FROM generate_series(1, {rows}) AS n"
    async with connect(dsn, "test") as connection:
        await connection.execute(f"CREATE TABLE notes AS {filled}")
        async with snapshot(connection) as tables:
            (table,) = [table for table in tables if table.name == "notes"]
            with FULL.open("wb", buffering=0) as full, pytest.raises(OSError, match="No space left"):
                async with asyncio.timeout(20):
                    await copy_out(connection, table, full)
            assert await connection.fetchval("SELECT count(*) FROM notes") == rows


async def test_a_killed_backup_or_restore_leaves_no_partial_result(
    wiki: Wiki, dsn: str, other_dsn: str, server_dsn: str, tmp_path: Path
) -> None:
    await fill_wiki(wiki, 40)
    settings = {"PATH": "/usr/bin:/bin", "CAIRN_DATABASE_URL": dsn, "CAIRN_DATA_DIR": str(tmp_path / "data")}
    place, log, killed = tmp_path / "backup", tmp_path / "log", 0
    for files in range(0, 50, examples(12, 7)):

        async def is_begun(files: int = files) -> bool:
            return len([*(tmp_path / ".backup.partial" / "tables").glob("*")]) > files

        killed += await run(["backup", str(place)], settings, log, is_begun)
        if place.exists():
            Archive(place).check()
            shutil.rmtree(place)
    assert killed >= 3
    assert await run(["backup", str(place)], settings, log) == 0
    Archive(place).check()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["backup", "log"]

    other = await open_wiki(other_dsn)
    await create_page(other.database, other.scope, PageDraft("topic", "Mine", body="Mine."))
    await close_wiki(other)
    settings["CAIRN_DATABASE_URL"] = other_dsn
    progress, seeded, killed = RestoreProgress(server_dsn), Random(3), 0
    for stage in (0, 5, 30, 48, 50, 50, *((0, 20, 40, 50) if is_nightly() else ())):

        async def is_far(stage: int = stage) -> bool:
            return await progress.tables() >= stage

        killed += await run(["restore", str(place), "--replace"], settings, log, is_far)
        found = await count(other_dsn, "pages"), await count(other_dsn, "tenants")
        assert found in ((1, 1), (40, 1))
        if found[0] == 40:
            await asyncio.to_thread(execute, other_dsn, FORGET_RESTORE)
            assert await compare(other_dsn, Archive(place), ignore_progress) == []
        await asyncio.sleep(seeded.random() / 5)
    assert killed >= 3
    assert await run(["restore", str(place), "--replace"], settings, log) == 0
    await asyncio.to_thread(execute, other_dsn, FORGET_RESTORE)
    assert await compare(other_dsn, Archive(place), ignore_progress) == []


CONNECTION_ERRORS = (asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError, OSError)
"""The errors of a connection whose database is renamed or dropped during a query."""


class RestoreProgress:
    """Counts the tables of the database that a restore creates, or returns -1 before that database exists."""

    def __init__(self, server_dsn: str) -> None:
        self.server_dsn = server_dsn

    async def tables(self) -> int:
        names = [row["datname"] for row in await databases(self.server_dsn)]
        restoring = [name for name in names if name.endswith("_restoring")]
        try:
            wanted = "pg_tables WHERE schemaname = 'public'"
            return await count(with_database(self.server_dsn, restoring[0]), wanted) if restoring else -1
        except CONNECTION_ERRORS:
            return -1


async def never() -> bool:
    return False


async def run(
    command: list[str], settings: dict[str, str], log: Path, is_over: Callable[[], Awaitable[bool]] = never
) -> int:
    """Run a command and kill it once `is_over` holds. Return 1 if it was killed, and 0 if it ended successfully."""
    begun = start_command(command, settings, log)
    try:
        while begun.is_alive() and not await is_over():
            await asyncio.sleep(0.005)
    finally:
        code = stop_process(begun)
    assert code in (0, -9), log.read_text()
    return int(code < 0)
