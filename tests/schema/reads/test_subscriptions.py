"""An event shows a page like a query does, in one statement, and only to callers who may read it."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from uuid import UUID

import pytest

from db.scope import Role, Scope
from resolvers.context import Context
from resolvers.subscriptions.changes import ChangeEvent, ChangeKind, Topic
from schema.root import GRAPHQL
from selection import Engine
from tests.recording_database import RecordingDatabase, recording_database
from tests.schema.executing import error_code, execute_document, query_data
from tests.schema.world import World, caller_scope, owner_id, tenant_id

SHOWN = {
    "fields of the page": "title type status tags metadata updatedAt redirectedFrom version",
    "related objects": """sections { heading citations { nodes { source { ref } } } } parent { title } aliases
        backlinks(first: 2) { totalCount pageInfo { endCursor } nodes { title children { title } } }""",
    "computed fields": "title excerpt(length: 20) backlinks { nodes { excerpt } }",
}
EVENT = "subscription ($page: ID!) { wikiPageChanged(pageId: $page) { kind pageId version at page { %s } } }"


@pytest.fixture
async def listener(world_dsn: str) -> AsyncIterator[RecordingDatabase]:
    async with recording_database(world_dsn) as database:
        yield database


def pages_of(world: World, owner: str) -> list[UUID]:
    """Return the ids of the pages of a wiki, the greatest hub first."""
    rows = [row for row in world.tables["pages"] if row["owner_id"] == owner_id(1, owner)]
    return [row["id"] for row in sorted(rows, key=lambda row: row["hubness_score"], reverse=True)]


def showing(
    database: RecordingDatabase, scope: Scope, page_id: UUID | None, owner: str = "alice", kind: str = "updated"
) -> Context:
    at = datetime(2026, 11, 20, 10, tzinfo=UTC)
    event = ChangeEvent(tenant_id(1), owner_id(1, owner), Topic.PAGES, ChangeKind(kind), page_id, 7, at)
    context = Context(database, scope)
    context.event = event
    return context


@pytest.mark.parametrize("name", SHOWN)
async def test_an_event_shows_the_page_like_a_query_in_one_statement(
    engine: Engine, listener: RecordingDatabase, world: World, name: str
) -> None:
    scope, page = caller_scope(1, "alice", Role.MEMBER), pages_of(world, "alice")[0]
    queried = await query_data(
        engine,
        Context(listener, scope),
        f"query ($page: ID!) {{ node(id: $page) {{ ... on WikiPage {{ {SHOWN[name]} }} }} }}",
        page=str(page),
    )
    listener.sent.clear()
    event = await query_data(engine, showing(listener, scope, page), EVENT % SHOWN[name], page=str(page))
    at = "2026-11-20T10:00:00.000000Z"
    own = {"kind": "UPDATED", "pageId": str(page), "version": 7, "at": at}
    assert event["wikiPageChanged"] == own | {"page": queried["node"]}
    assert len(listener.sent) == 1


async def test_an_event_of_a_wiki_as_a_whole_shows_no_page(engine: Engine, listener: RecordingDatabase) -> None:
    scope = caller_scope(1, "alice", Role.MEMBER)
    document = "subscription { wikiScopeChanged { kind pageId page { title excerpt } } }"
    event = await query_data(engine, showing(listener, scope, None, kind="resync"), document)
    assert event == {"wikiScopeChanged": {"kind": "RESYNC", "pageId": None, "page": None}}


@pytest.mark.parametrize(
    ("scope", "owner", "is_seen"),
    [
        (caller_scope(1, "alice", Role.READER), "alice", True),
        (caller_scope(1, "alice", Role.MEMBER), "space", True),
        (caller_scope(1, "alice", Role.MEMBER), "eve", False),
        (caller_scope(1, "eve", Role.MEMBER), "alice", False),
        (caller_scope(1, "eve", Role.SERVICE), "alice", True),
        (caller_scope(2, "alice", Role.READER), "alice", False),
    ],
)
async def test_events_are_shown_only_to_readers_of_the_wiki(
    engine: Engine, listener: RecordingDatabase, world: World, scope: Scope, owner: str, is_seen: bool
) -> None:
    page = pages_of(world, owner)[0]
    for shown in ("title", "excerpt"):
        event = await query_data(engine, showing(listener, scope, page, owner), EVENT % shown, page=str(page))
        assert bool(event["wikiPageChanged"]) is is_seen


async def test_an_admin_of_another_tenant_sees_no_event(
    engine: Engine, listener: RecordingDatabase, world: World
) -> None:
    page = pages_of(world, "alice")[0]
    other = caller_scope(2, "alice", Role.ADMIN)
    event = await query_data(engine, showing(listener, other, page), EVENT % "title", page=str(page))
    assert event["wikiPageChanged"] is None


async def test_subscriptions_without_an_event_require_a_stream(engine: Engine, listener: RecordingDatabase) -> None:
    assert GRAPHQL.subscription_type is not None
    for name, field in GRAPHQL.subscription_type.fields.items():
        given = '(pageId: "1")' if "pageId" in field.args else ""
        context = Context(listener, caller_scope(1, "alice", Role.ADMIN))
        answer = await execute_document(engine, context, f"subscription {{ {name}{given} {{ at }} }}")
        assert error_code(answer) == "STREAM_REQUIRED"
        assert "data" not in answer
    assert listener.sent == []


@pytest.mark.parametrize(
    ("scope", "is_seen"),
    [
        (caller_scope(1, "alice", Role.MEMBER), True),
        (caller_scope(1, "alice", Role.READER), False),
        (caller_scope(2, "alice", Role.ADMIN), False),
    ],
)
async def test_proposal_events_are_shown_only_to_writers(
    engine: Engine, listener: RecordingDatabase, world: World, scope: Scope, is_seen: bool
) -> None:
    proposal = next(row for row in world.tables["proposals"] if row["owner_id"] == owner_id(1, "alice"))
    context = showing(listener, scope, proposal["id"])
    assert context.event is not None
    context.event = context.event._replace(topic=Topic.PROPOSALS)
    document = "subscription { wikiProposalChanged { kind proposalId proposal { id status } } }"
    event = await query_data(engine, context, document)
    shown = {"id": str(proposal["id"]), "status": proposal["status"].upper()}
    seen = {"kind": "UPDATED", "proposalId": str(proposal["id"]), "proposal": shown}
    assert event["wikiProposalChanged"] == (seen if is_seen else None)
