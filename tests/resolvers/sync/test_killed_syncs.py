"""A sync that is killed at any step, or loses its database, can be started again and loses nothing."""

import asyncio
from collections import Counter
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from random import Random
from typing import Any

import asyncpg
import pytest

from db.database import Database
from db.scope import Role
from resolvers.errors import Unavailable
from resolvers.proposals.gate import Policy
from resolvers.sync.folder import KEPT
from resolvers.sync.syncing import sync_folder
from tests.connections import IDLE
from tests.forked import forked_process
from tests.resolvers.sync.killable_sync import sync_until
from tests.resolvers.sync.synced_pair import QUIET, ReviewedPair, SyncedPair
from tests.resolvers.sync.test_reviewed_syncs import set_policy
from tests.wiki import Wiki

KILLS = 32
OPERATIONS = 6


@pytest.fixture(autouse=True)
def connection_reuse() -> Iterator[None]:
    """Let each sync open connections of its own, which are told from those of others."""
    with IDLE.disabled():
        yield


async def test_a_sync_killed_at_any_step_loses_no_text(wiki: Wiki, dsn: str, tmp_path: Path) -> None:
    random = Random(7)
    synced = SyncedPair(wiki, tmp_path / "vault", random)
    await synced.run_random_operations(2 * OPERATIONS)
    killed = 0
    for _ in range(KILLS):
        await synced.run_random_operations(OPERATIONS)
        seen = await synced.all_marks()
        given = dsn, wiki.scope, str(synced.root), random.randrange(1, 150), QUIET
        process = forked_process(sync_until, args=given)
        process.start()
        await asyncio.to_thread(process.join, 60)
        assert process.exitcode in (0, -9)
        killed += process.exitcode == -9
        assert seen <= await synced.all_marks(), "a kill loses nothing"
        if random.random() < 0.5:  # else the person goes on before the next sync
            await synced.sync_to_the_end(seen)
            assert not (synced.root / KEPT).exists()
    assert killed >= KILLS // 2
    await synced.sync_to_the_end(await synced.all_marks())


async def test_a_reviewed_sync_killed_at_any_step_loses_no_edit(wiki: Wiki, dsn: str, tmp_path: Path) -> None:
    """No edit is proposed twice, and once all proposals are decided both sides are equal."""
    random = Random(11)
    await set_policy(wiki, Policy.REVIEW)
    folder = wiki.with_role(Role.MEMBER)
    synced = ReviewedPair(wiki, tmp_path / "vault", random, folder.scope)
    killed = 0
    for _ in range(KILLS // 2):
        await synced.run_random_operations(OPERATIONS)
        seen = await synced.all_marks()
        known = {row["id"] for row in await wiki.rows("proposals")}
        given = dsn, folder.scope, str(synced.root), random.randrange(1, 120), QUIET
        process = forked_process(sync_until, args=given)
        process.start()
        await asyncio.to_thread(process.join, 60)
        assert process.exitcode in (0, -9)
        killed += process.exitcode == -9
        assert seen <= await synced.all_marks(), "a kill loses nothing"
        await synced.sync()
        new = [row for row in await wiki.rows("proposals", status="open") if row["id"] not in known]
        assert max(Counter(map(subject, new)).values(), default=0) <= 1, "nothing is proposed twice"
        if random.random() < 0.5:
            await synced.decide_proposals()
    assert killed >= KILLS // 4
    await synced.sync_to_the_end(await synced.all_marks())


def subject(proposal: dict[str, Any]) -> str:
    """Return the subject of a proposal: a page, or the file from which a page is to be created."""
    return str(proposal["page_id"] or proposal["arguments"]["draft"]["metadata"]["imported_from"])


async def test_a_sync_that_loses_its_database_loses_no_text(wiki: Wiki, dsn: str, tmp_path: Path) -> None:
    random = Random(3)
    synced = SyncedPair(wiki, tmp_path / "vault", random)
    lost = 0
    for number in count(1):
        await synced.run_random_operations(OPERATIONS)
        seen = await synced.all_marks()
        others = [row["pid"] for row in await wiki.connection.fetch("SELECT pid FROM pg_stat_activity")]
        database = Database(dsn, size=2)
        await database.open()
        try:
            syncing = asyncio.create_task(sync_folder(database, wiki.scope, synced.root, quiet=QUIET))
            await asyncio.sleep(random.random() / 5)
            await wiki.connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE datname = current_database() AND NOT pid = ANY($1)",
                others,
            )
            await syncing
        except (Unavailable, asyncpg.PostgresError, asyncpg.InterfaceError, OSError):
            lost += 1
        finally:
            await database.close()
        assert seen <= await synced.all_marks()
        await synced.sync_to_the_end(seen)
        if number >= 10 and lost:  # on a busy machine many a sync is over, or has not begun, when it is to lose it
            break
        assert number < 50, "no sync lost its database"


async def test_files_moved_aside_by_a_killed_sync_are_put_back(wiki: Wiki, tmp_path: Path) -> None:
    root = tmp_path / "vault"
    synced = SyncedPair(wiki, root, Random(1))
    (root / "x").mkdir()
    (root / "x/A.md").write_text("One.\n")
    (root / "B.md").write_text("Two.\n")
    await synced.sync()
    aside = root / KEPT
    (aside / "x").mkdir(parents=True)
    (root / "x/A.md").rename(aside / "x/A.md")  # killed before another file was in its place
    (aside / "B.md").write_text("Saved in between.\n")  # killed after that, and an editor had still written into it
    await synced.sync()
    texts = {path.read_text() for path in root.rglob("*.md")}
    assert texts == {"One.\n", "Two.\n", "Saved in between.\n"}
    assert (root / "x/A.md").read_text() == "One.\n"
    assert {page["status"] for page in await wiki.rows("pages")} == {"active"}


@pytest.mark.parametrize("before", [None, "One.\n"])
async def test_a_save_by_an_editor_during_a_sync_write_is_kept(
    wiki: Wiki, tmp_path: Path, before: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An editor saves after the sync has looked at the file and before it writes it."""
    from resolvers.sync import folder
    from resolvers.sync.folder import FileChanged, hash_of, write

    file = tmp_path / "A.md"
    if before:
        file.write_text(before)
    put = folder.put

    def put_after_a_save(draft: str, target: str) -> None:
        if not file.exists():
            file.write_text("Saved.\n")
        put(draft, target)

    monkeypatch.setattr(folder, "put", put_after_a_save)
    with pytest.raises(FileChanged):
        write(str(tmp_path), "A.md", b"From the wiki.\n", hash_of(before.encode()) if before else None)
    assert file.read_text() == "Saved.\n"
    monkeypatch.undo()
    file.write_text("Saved again.\n")
    with pytest.raises(FileChanged):
        write(str(tmp_path), "A.md", b"From the wiki.\n", hash_of(b"Saved.\n"))
    assert file.read_text() == "Saved again.\n"
