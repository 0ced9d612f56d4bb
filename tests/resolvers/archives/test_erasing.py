"""Erasure leaves nothing of a tenant or an owner in any table except the record of the erasure."""

import asyncio
from dataclasses import replace
from uuid import UUID

import asyncpg
import pytest

from compiler.compiler import Compiler
from compiler.extraction.planner import ExtractivePlanner
from compiler.extraction.writer import ExtractiveWriter
from compiler.jobs.worker import work_once
from db.archives.catalogue import list_tables
from db.archives.copying import connect
from db.scope import Actor, ActorKind, Role
from resolvers.archives.erasing import (
    REFERS_OTHERWISE,
    SHARED,
    erase_owner,
    erase_sources,
    erase_tenant,
    list_erasures,
    owner_steps,
    tenant_steps,
)
from resolvers.archives.moves import tenant_tables
from resolvers.auth.api_keys import create_api_key
from resolvers.auth.oauth import AuthorizationRequest, Client, authorize
from resolvers.auth.owners import Grant, grant
from resolvers.errors import NotFound
from resolvers.model.drafts import PageDraft
from resolvers.pages.lifecycle import create_page
from resolvers.pages.transferring import transfer_page
from resolvers.sources.sources import SourceDraft, add_source, cite_source
from resolvers.webhooks.webhooks import WebhookDraft, create_webhook
from tests.resolvers.archives.filled_tenant import fill_tenant, fill_wiki
from tests.resolvers.archives.test_backups import count
from tests.waiting import within
from tests.wiki import Wiki, check_derived_rows, close_wiki, open_wiki

BY = "operator:test"


async def count_rows_with(dsn: str, *words: str) -> dict[str, int]:
    """Return for each table the number of rows that contain one of these words, if there are any."""
    found = {}
    async with connect(dsn, "test") as connection:
        for table in await list_tables(connection):
            where = "EXISTS (SELECT FROM unnest($1::text[]) AS word WHERE strpos(t::text, word) > 0)"
            rows = await connection.fetchval(f"SELECT count(*) FROM {table.name} AS t WHERE {where}", list(words))
            if rows:
                found[table.name] = rows
    return found


async def test_every_table_has_an_erasing_step(shared_dsn: str) -> None:
    """A new table has an `owner_id`, or REFERS_OTHERWISE says how its rows are found."""
    none = UUID(int=0)
    async with connect(shared_dsn, "test") as connection:
        tables = await list_tables(connection)
        names = {table.name for table in tenant_tables(tables)}
        steps = owner_steps(tables, none, none, [])
        assert {step.table for step in tenant_steps(tables, none)} == names
        assert {step.table for step in steps if step.rewritten is None} == names - SHARED
        assert {*REFERS_OTHERWISE} | SHARED <= names
        for step in (*steps, *tenant_steps(tables, none)):
            assert await step.count(connection) == 0, "each is a statement that Postgres understands"
        # Nothing is kept where no table refers to it: there is no large object, and no column that could name one.
        assert await connection.fetchval("SELECT count(*) FROM pg_largeobject_metadata") == 0
        oids = "SELECT count(*) FROM pg_attribute WHERE atttypid = 'oid'::regtype AND attnum > 0 AND attrelid = ANY($1)"
        relations = await connection.fetchval(
            "SELECT array_agg(to_regclass(n)::oid) FROM unnest($1::text[]) AS n", [*names]
        )
        assert await connection.fetchval(oids, relations) == 0


async def test_erasing_a_tenant_leaves_only_the_record_of_the_erasure(wiki: Wiki, dsn: str) -> None:
    gone = await open_wiki(dsn)
    try:
        await fill_wiki(gone)
        await fill_wiki(wiki, 2, "Boat")
        await fill_tenant(gone.database, gone.scope.tenant_id, gone.scope.owner_id)
        tenant_id = str(gone.scope.tenant_id)
        before, others = await count_rows_with(dsn, tenant_id), await count_rows_with(dsn, str(wiki.scope.tenant_id))
        assert len(before) > 20
        assert {"attachments", "blobs", "source_originals"} <= {*before}
        counted = await erase_tenant(dsn, tenant_id, BY, dry_run=True)
        assert (counted.counts, await count_rows_with(dsn, tenant_id)) == (before, before)
        erased = await erase_tenant(dsn, tenant_id, BY, dry_run=False)
        assert erased.counts == before
        assert await count_rows_with(dsn, tenant_id) == {"erasures": 1}
        assert await count_rows_with(dsn, "Kiln", f"t-{tenant_id}") == {}
        assert await count_rows_with(dsn, str(wiki.scope.tenant_id)) == others
        (row,) = await list_erasures(wiki.database, gone.scope.tenant_id)
        assert (row["kind"], row["erased_by"], row["counts"]) == ("tenant", BY, before)
        with pytest.raises(NotFound):
            await erase_tenant(dsn, tenant_id, BY, dry_run=False)
    finally:
        await close_wiki(gone)


async def test_erasing_an_owner_removes_its_rows_and_ids_from_every_wiki(wiki: Wiki, dsn: str) -> None:
    """This includes the ids under which the owner wrote in a space that others still use."""
    tenant_id = wiki.scope.tenant_id
    team = await wiki.neighbour()
    await fill_wiki(wiki)
    await fill_tenant(wiki.database, tenant_id, wiki.scope.owner_id)
    await grant(
        wiki.database, tenant_id, owner_id=team.scope.owner_id, grantee_id=wiki.scope.owner_id, role=Grant.MEMBER
    )
    person = str(wiki.scope.owner_id)
    shared = await create_api_key(
        wiki.database, tenant_id, "shared", Role.SERVICE, [team.scope.owner_id, wiki.scope.owner_id]
    )
    scope = replace(team.scope, actor=Actor(ActorKind.USER, person))
    await create_page(team.database, scope, PageDraft("topic", "Boat", body="By the team."))
    assert {"revisions", "activity", "api_keys", "grants", "pages"} <= {*await count_rows_with(dsn, person)}
    counted = await erase_owner(dsn, str(tenant_id), person, BY, dry_run=True)
    erased = await erase_owner(dsn, str(tenant_id), person, BY, dry_run=False)
    assert counted == erased
    assert await count_rows_with(dsn, person) == {"erasures": 1}
    assert await count_rows_with(dsn, "Kiln", f"o-{person}") == {}
    assert [row["author_id"] for row in await team.rows("revisions")] == ["erased"]
    (row,) = await wiki.connection.fetch("SELECT owner_ids FROM api_keys WHERE id = $1", shared.id)
    assert row["owner_ids"] == [team.scope.owner_id]
    await check_derived_rows(team)
    await create_page(team.database, team.scope, PageDraft("topic", "After", body="After [[Boat]]."))


@pytest.mark.parametrize("is_connected", [True, False])
async def test_what_programs_wrote_and_added_for_an_owner_is_erased_with_the_owner(
    wiki: Wiki, dsn: str, is_connected: bool
) -> None:
    """A program writes under a name that contains the owner's, also after its authorization has ended."""
    tenant, person, team = str(wiki.scope.tenant_id), wiki.scope.owner_id, await wiki.neighbour()
    await wiki.connection.execute("UPDATE owners SET name = 'Mara \u200dLind' WHERE id = $1", person)
    await authorize(wiki.database, wiki.scope, authorization_request("Claude"), "Mara \u200dLind")
    if not is_connected:
        await wiki.connection.execute("DELETE FROM oauth_authorizations")
    for name in ("Claude for Mara Lind", "Claude for Tamara Lind"):
        scope = replace(team.scope, actor=Actor(ActorKind.AGENT, name))
        await create_page(team.database, scope, PageDraft("topic", name.replace("for", "of"), body="By the team."))
        await add_source(team.database, scope, SourceDraft("document", name, f"Added by {name}.\n"))
    assert (await erase_sources(wiki.database, tenant, str(person), BY, dry_run=True)).counts == {"sources": 1}
    await erase_owner(dsn, tenant, str(person), BY, dry_run=False)
    assert sorted(row["author_id"] for row in await team.rows("revisions")) == ["Claude for Tamara Lind", "erased"]
    assert "Claude for Mara Lind" not in {row["actor_id"] for row in await team.rows("activity")}


async def test_programs_of_an_owner_with_the_same_name_keep_their_texts(wiki: Wiki, dsn: str) -> None:
    tenant, namesake, team = str(wiki.scope.tenant_id), await wiki.neighbour(), await wiki.neighbour()
    await authorize(namesake.database, namesake.scope, authorization_request("Claude"), "O")
    scope = replace(team.scope, actor=Actor(ActorKind.AGENT, "Claude for O"))
    await create_page(team.database, scope, PageDraft("topic", "Boat", body="By the team."))
    await erase_owner(dsn, tenant, str(wiki.scope.owner_id), BY, dry_run=False)
    assert [row["author_id"] for row in await team.rows("revisions")] == ["Claude for O"]


def authorization_request(name: str) -> AuthorizationRequest:
    return AuthorizationRequest(Client("1", name), ("wiki:write",), "https://x/mcp", "https://x/", True, "challenge")


async def test_webhooks_of_an_erased_owner_are_deleted_or_lose_that_owner(wiki: Wiki, dsn: str) -> None:
    tenant_id, team = wiki.scope.tenant_id, await wiki.neighbour()
    person, others = wiki.scope.owner_id, team.scope.owner_id
    wanted: list[list[UUID]] = [[person], [person, others], [others], []]
    for owner_ids in wanted:
        await create_webhook(wiki.database, tenant_id, WebhookDraft("https://app.example.org/", owner_ids))
    await fill_wiki(wiki, 2)
    await create_page(team.database, team.scope, PageDraft("topic", "Boat"))
    assert {"webhooks", "webhook_queues", "webhook_deliveries"} <= {*await count_rows_with(dsn, str(person))}
    counted = await erase_owner(dsn, str(tenant_id), str(person), BY, dry_run=True)
    assert counted == await erase_owner(dsn, str(tenant_id), str(person), BY, dry_run=False)
    assert await count_rows_with(dsn, str(person)) == {"erasures": 1}
    rows = await wiki.connection.fetch("SELECT owner_ids FROM webhooks ORDER BY id")
    assert [row["owner_ids"] for row in rows] == [[others], [others], []]
    assert [row["slug"] for row in await team.rows("webhook_deliveries")] == ["boat"] * 3


async def test_a_killed_erasure_erases_nothing(wiki: Wiki, dsn: str) -> None:
    await fill_wiki(wiki)
    tenant_id = str(wiki.scope.tenant_id)
    before = await count_rows_with(dsn, tenant_id)
    holder = await asyncpg.connect(dsn)
    transaction = holder.transaction()
    await transaction.start()
    await holder.execute("SELECT FROM tenants WHERE tenant_id = $1 FOR UPDATE", wiki.scope.tenant_id)
    erasing = asyncio.create_task(erase_tenant(dsn, tenant_id, BY, dry_run=False))
    waits = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'cairn erase' AND wait_event_type = 'Lock'"
    async with within("the deletion did not wait for the lock"):
        while not await wiki.connection.fetchval(waits):
            await asyncio.sleep(0.01)
    await holder.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'cairn erase'"
    )
    with pytest.raises((asyncpg.PostgresError, asyncpg.InterfaceError, OSError)):
        await erasing
    await transaction.rollback()
    await holder.close()
    assert await count_rows_with(dsn, tenant_id) == before


async def test_the_sources_of_a_person_are_forgotten_in_every_wiki(wiki: Wiki, dsn: str) -> None:
    team = await wiki.neighbour()
    for place in (wiki, team):
        await place.add_source(ref="by-marco", content="The zylophon is in the attic.\n")
    scope = replace(team.scope, actor=Actor(ActorKind.USER, "ines"))
    await add_source(team.database, scope, SourceDraft("document", "by-ines", "The boat is red.\n"))
    tenant = str(wiki.scope.tenant_id)
    assert (await erase_sources(wiki.database, tenant, "marco", BY, dry_run=True)).counts == {"sources": 2}
    assert await count_rows_with(dsn, "zylophon") != {}
    assert (await erase_sources(wiki.database, tenant, "marco", BY, dry_run=False)).counts == {"sources": 2}
    assert await count(dsn, "compile_jobs WHERE status = 'pending' AND trigger = 'forget'") == 2
    while await work_once(wiki.database, Compiler(ExtractivePlanner(), ExtractiveWriter()), "test"):
        pass
    assert await count_rows_with(dsn, "zylophon") == {}
    assert await count_rows_with(dsn, "The boat is red") != {}
    assert (await erase_sources(wiki.database, tenant, "marco", BY, dry_run=True)).counts == {}
    assert len(await list_erasures(wiki.database, wiki.scope.tenant_id)) == 1


async def test_copies_of_a_transfer_are_forgotten_with_the_sources_of_the_person_who_added_them(
    wiki: Wiki, dsn: str
) -> None:
    team, board = await wiki.neighbour(), await wiki.neighbour()
    page = await create_page(wiki.database, wiki.scope, PageDraft("entity", "Attic", body="The zylophon is there."))
    source_id = await wiki.add_source(ref="by-marco", content="The zylophon is in the attic.\n")
    cited = {"page_id": page.page_id, "section_slug": "overview", "source_id": source_id}
    await cite_source(wiki.database, wiki.scope, **cited)
    ines = replace(wiki.scope, actor=Actor(ActorKind.USER, "ines"))
    for place in (team, board):
        page = await transfer_page(wiki.database, ines, page.page_id, str(place.scope.owner_id))
    tenant = str(wiki.scope.tenant_id)
    assert (await erase_sources(wiki.database, tenant, "ines", BY, dry_run=True)).counts == {}
    assert (await erase_sources(wiki.database, tenant, "marco", BY, dry_run=False)).counts == {"sources": 3}
    assert {row["content"] for place in (wiki, team, board) for row in await place.rows("sources")} == {""}
