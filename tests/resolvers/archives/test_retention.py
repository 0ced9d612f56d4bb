"""Retention removes expired data of a tenant, and nothing that is still needed."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from resolvers.archives.retention import DAYS_MAX, KINDS, find_retention, prune, set_retention
from resolvers.errors import BadInput, NotFound
from resolvers.model.drafts import PageDraft
from resolvers.pages.lifecycle import create_page, update_page
from resolvers.pages.revision_store import find_states
from tests.wiki import Wiki

TEXTS = [f"{'A long beginning that stays. ' * 20}\n\n## Notes\n\nVersion {n} says so." for n in range(1, 8)]


async def test_retention_is_set_for_each_kind_of_data(wiki: Wiki) -> None:
    tenant_id = wiki.scope.tenant_id
    assert await find_retention(wiki.database, tenant_id) == {}
    assert await set_retention(wiki.database, tenant_id, {"jobs": 30, "sources": 0}) == {"jobs": 30, "sources": 0}
    assert await set_retention(wiki.database, tenant_id, {"jobs": None, "revisions": 1}) == {
        "sources": 0,
        "revisions": 1,
    }
    assert await find_retention(wiki.database, tenant_id) == {"sources": 0, "revisions": 1}
    for wrong in ({"jobs": -1}, {"jobs": 10**6}, {"pages": 1}):
        with pytest.raises(BadInput):
            await set_retention(wiki.database, tenant_id, wrong)


async def test_kinds_that_are_set_at_the_same_time_are_both_kept(wiki: Wiki) -> None:
    tenant_id = wiki.scope.tenant_id
    async with wiki.connection.transaction():
        await wiki.connection.execute("SELECT FROM tenants WHERE tenant_id = $1 FOR UPDATE", tenant_id)
        setting = [
            asyncio.create_task(set_retention(wiki.database, tenant_id, {kind: 30})) for kind in ("audit", "jobs")
        ]
        async with asyncio.timeout(60):
            while await wiki.connection.fetchval("SELECT count(*) FROM pg_locks WHERE NOT granted") < len(setting):
                await asyncio.sleep(0.01)
    await asyncio.gather(*setting)
    assert await find_retention(wiki.database, tenant_id) == {"audit": 30, "jobs": 30}


async def test_the_longest_retention_removes_nothing(wiki: Wiki) -> None:
    days = await set_retention(wiki.database, wiki.scope.tenant_id, dict.fromkeys(KINDS, DAYS_MAX))
    removed = await prune(wiki.database, wiki.scope.tenant_id, days, datetime.now(UTC))
    assert removed == dict.fromkeys(KINDS, 0)


async def test_old_revisions_lose_their_text_unless_later_ones_are_based_on_them(
    wiki: Wiki, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("resolvers.archives.retention.ROWS_PER_BATCH", 2)
    page = (await create_page(wiki.database, wiki.scope, PageDraft("topic", "Kiln", body=TEXTS[0]))).page_id
    for text in TEXTS[1:5]:
        await update_page(wiki.database, wiki.scope, page, body=text)
    bases = {row["version"]: row["base_version"] for row in await wiki.rows("revisions", page_id=page)}
    assert bases == {1: None, 2: 1, 3: 1, 4: 1, 5: 1}
    now = datetime.now(UTC)
    assert await prune(wiki.database, wiki.scope.tenant_id, {"revisions": 1}, now) == {"revisions": 0}
    later = now + timedelta(days=2)
    assert await prune(wiki.database, wiki.scope.tenant_id, {"revisions": 1}, later) == {"revisions": 3}
    assert await prune(wiki.database, wiki.scope.tenant_id, {"revisions": 0}, later) == {}
    async with wiki.database.connection() as connection:
        first, last = await find_states(connection, wiki.scope, page, [1, 5])
        assert (first.body, last.body) == (TEXTS[0], TEXTS[4])
        for version in (2, 3, 4):
            with pytest.raises(NotFound, match="kept no longer"):
                await find_states(connection, wiki.scope, page, [version])
    await update_page(wiki.database, wiki.scope, page, body=TEXTS[5])
    async with wiki.database.connection() as connection:
        (newest,) = await find_states(connection, wiki.scope, page, [6])
    assert newest.body == TEXTS[5]


async def test_old_sources_are_forgotten_unless_a_version_is_new(wiki: Wiki) -> None:
    old = await wiki.add_source(ref="old", content="The zylophon is in the attic.\n")
    await wiki.add_source(ref="edited", content="First.\n")
    await asyncio.sleep(0.005)
    between = datetime.now(UTC)
    await asyncio.sleep(0.005)
    edited = await wiki.add_source(ref="edited", content="Second.\n")
    assert await prune(wiki.database, wiki.scope.tenant_id, {"sources": 1}, between + timedelta(days=1)) == {
        "sources": 1
    }
    assert (await wiki.row("sources", id=edited))["content"] == "Second.\n"
    assert (await wiki.row("sources", id=old))["content"] == ""
    later = datetime.now(UTC) + timedelta(days=2)
    assert await prune(wiki.database, wiki.scope.tenant_id, {"sources": 3}, later) == {"sources": 0}
    assert await prune(wiki.database, wiki.scope.tenant_id, {"sources": 1}, later) == {"sources": 2}
    assert {row["content"] for row in await wiki.rows("sources")} == {""}
    assert {job["trigger"] for job in await wiki.rows("compile_jobs")} == {"forget"}
