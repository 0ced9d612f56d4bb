"""The change feed and events of pages that are hidden, were deleted while hidden, or became hidden."""

from datetime import UTC, datetime
from itertools import product
from typing import Any
from uuid import UUID

import orjson

from db.scope import Actor, ActorKind, Role, Scope
from resolvers.auth.owners import Grant, OwnerKind, create_owner, grant
from resolvers.context import Context
from resolvers.model.drafts import PageDraft
from resolvers.pages.lifecycle import create_page, delete_page, update_page
from resolvers.subscriptions.changes import ChangeEvent, ChangeKind, Topic
from selection import Engine
from tests.schema.access.test_sensitivity import RICH, SECRET
from tests.wiki import Wiki

FEED = "{ wikiChanges(first: 50) { nodes { pageId state } } }"


async def test_a_deleted_hidden_page_stays_hidden_in_the_feed_and_events(wiki: Wiki, engine: Engine) -> None:
    """The row with its sensitivity is deleted, and still neither the feed nor an event contains its id."""
    tenant_id, own = wiki.scope.tenant_id, wiki.scope.owner_id
    guest = await create_owner(wiki.database, tenant_id, OwnerKind.USER, "guest", "Guest")
    await grant(wiki.database, tenant_id, owner_id=own, grantee_id=guest.id, role=Grant.MEMBER)
    levels = ("internal", "confidential", "secret")
    drafts = [PageDraft("topic", level, fields={"sensitivity": level}) for level in levels]
    ids = [(await create_page(wiki.database, wiki.scope, draft)).page_id for draft in drafts]
    for id in ids:
        await delete_page(wiki.database, wiki.scope, id)
    actor = Actor(ActorKind.USER, "guest")
    guests = Scope(tenant_id=tenant_id, owner_id=own, owners=(guest.id,), role=Role.MEMBER, actor=actor)
    for scope, seen in ((wiki.scope, ids), (guests, ids[:2])):
        feed = FEED.replace("first", f'owner: "{own}", first')
        context = Context(wiki.database, scope, RICH)
        nodes = orjson.loads((await engine.execute(feed, {}, None, context)).body)["data"]["wikiChanges"]["nodes"]
        assert {one["pageId"] for one in nodes} == set(map(str, seen))
        for id in ids:
            context = Context(wiki.database, scope, RICH)
            now = datetime.now(UTC)
            context.event = ChangeEvent(tenant_id, own, Topic.PAGES, ChangeKind.DELETED, id, None, now)
            document = f'subscription {{ told: wikiScopeChanged(owner: "{own}") {{ kind pageId }} }}'
            event = orjson.loads((await engine.execute(document, {}, None, context)).body)["data"]["told"]
            assert (event is not None) == (id in seen), (scope, id, event)


FOLLOWED = """query ($owner: String!, $after: String) { wikiChanges(owner: $owner, first: 50, after: $after) {
    nodes { pageId state page { title } } pageInfo { endCursor } } }"""


TOLD = "subscription ($owner: String!) { wikiScopeChanged(owner: $owner) { kind pageId version page { title } } }"


async def read_changes(
    engine: Engine, wiki: Wiki, reader: Scope, after: str | None = None
) -> tuple[dict[UUID, str], str | None]:
    """Return the states of the changed pages of a wiki that a reader sees, by page, and the last cursor."""
    variables = {"owner": str(wiki.scope.owner_id), "after": after}
    body = orjson.loads((await engine.execute(FOLLOWED, variables, None, Context(wiki.database, reader, RICH))).body)
    assert "errors" not in body, body
    found = body["data"]["wikiChanges"]
    assert all((node["page"] is None) == (node["state"] == "DELETED") for node in found["nodes"])
    return {UUID(node["pageId"]): node["state"] for node in found["nodes"]}, found["pageInfo"]["endCursor"]


async def test_the_feed_shows_the_pages_that_the_caller_may_read_or_once_could(wiki: Wiki, engine: Engine) -> None:
    reader, expected = (await wiki.colleague()).scope, {}
    for levels in product(("internal", "confidential", SECRET), repeat=3):
        first, *later = levels
        draft = PageDraft("topic", " ".join(levels), fields={"sensitivity": first})
        page_id = (await create_page(wiki.database, wiki.scope, draft)).page_id
        for level in later:
            await update_page(wiki.database, wiki.scope, page_id, fields={"sensitivity": level})
        if "internal" in levels:
            expected[page_id] = "ACTIVE" if levels[-1] == "internal" else "DELETED"
    assert (await read_changes(engine, wiki, reader))[0] == expected


async def test_a_page_that_becomes_hidden_reads_as_deleted_in_the_feed_and_events(wiki: Wiki, engine: Engine) -> None:
    """A client with a copy of the wiki drops the page. The feed names no page that the caller never could read."""
    reader = (await wiki.colleague()).scope
    here = (wiki.database, wiki.scope)

    async def follow(after: str | None) -> tuple[dict[UUID, str], str | None]:
        return await read_changes(engine, wiki, reader, after)

    async def told(scope: Scope, page_id: UUID) -> Any:
        context = Context(wiki.database, scope, RICH)
        context.event = ChangeEvent(
            scope.tenant_id, wiki.scope.owner_id, Topic.PAGES, ChangeKind.UPDATED, page_id, 3, datetime.now(UTC)
        )
        body = orjson.loads((await engine.execute(TOLD, {"owner": str(wiki.scope.owner_id)}, None, context)).body)
        return body["data"]["wikiScopeChanged"]

    async def classify(page_id: UUID, level: str | None) -> None:
        await update_page(*here, page_id, fields={"sensitivity": level})

    raised, removed, never = [
        (await create_page(*here, PageDraft("topic", title, fields={"sensitivity": level}))).page_id
        for title, level in (("Pay", None), ("Plan", "public"), ("Vault", SECRET))
    ]
    seen, cursor = await follow(None)
    assert seen == {raised: "ACTIVE", removed: "ACTIVE"}
    for page_id in (raised, removed):
        await classify(page_id, SECRET)
    await update_page(*here, never, title="Safe")
    assert await told(reader, raised) == {"kind": "DELETED", "pageId": str(raised), "version": None, "page": None}
    assert await told(reader, never) is None
    assert (await told(wiki.scope, raised))["page"] == {"title": "Pay"}
    await delete_page(*here, removed)
    seen, cursor = await follow(cursor)
    assert seen == {raised: "DELETED", removed: "DELETED"}
    assert (await follow(None))[0] == seen
    await classify(raised, None)
    seen, cursor = await follow(cursor)
    assert seen == {raised: "ACTIVE"}
    await update_page(*here, never, title="Strongbox")
    assert await follow(cursor) == ({}, None)
