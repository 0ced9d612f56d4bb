"""An event is shown by one statement, as a query would show the same page, and only to those who may see it."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from uuid import UUID

import pytest

from db.scope import Role, Scope
from resolvers.context import Context
from resolvers.subscriptions.changes import ChangeEvent, ChangeKind, Topic
from schema.root import GRAPHQL
from selection import Engine
from tests.listening import ListeningDatabase, listening
from tests.schema.asking import ask, code, data
from tests.schema.world import World, caller, owner_id, tenant_id

SHOWN = {
    "its own values": "title type status tags metadata updatedAt redirectedFrom version",
    "what hangs on it": """sections { heading citations { nodes { source { ref } } } } parent { title } aliases
        backlinks(first: 2) { totalCount pageInfo { endCursor } nodes { title children { title } } }""",
    "what Python makes of it": "title excerpt(length: 20) backlinks { nodes { excerpt } }",
}
EVENT = "subscription ($page: ID!) { wikiPageChanged(pageId: $page) { kind pageId version at page { %s } } }"


@pytest.fixture
async def heard(world_dsn: str) -> AsyncIterator[ListeningDatabase]:
    async with listening(world_dsn) as database:
        yield database


def pages_of(world: World, owner: str) -> list[UUID]:
    """The greatest hub first."""
    rows = [row for row in world.tables["pages"] if row["owner_id"] == owner_id(1, owner)]
    return [row["id"] for row in sorted(rows, key=lambda row: row["hubness_score"], reverse=True)]


def showing(
    database: ListeningDatabase, scope: Scope, page_id: UUID | None, owner: str = "alice", kind: str = "updated"
) -> Context:
    at = datetime(2026, 11, 20, 10, tzinfo=UTC)
    event = ChangeEvent(tenant_id(1), owner_id(1, owner), Topic.PAGES, ChangeKind(kind), page_id, 7, at)
    context = Context(database, scope)
    context.event = event
    return context


@pytest.mark.parametrize("name", SHOWN)
async def test_an_event_is_one_statement_and_shows_the_page_as_a_query_does(
    engine: Engine, heard: ListeningDatabase, world: World, name: str
) -> None:
    scope, page = caller(1, "alice", Role.MEMBER), pages_of(world, "alice")[0]
    asked = await data(
        engine,
        Context(heard, scope),
        f"query ($page: ID!) {{ node(id: $page) {{ ... on WikiPage {{ {SHOWN[name]} }} }} }}",
        page=str(page),
    )
    heard.sent.clear()
    told = await data(engine, showing(heard, scope, page), EVENT % SHOWN[name], page=str(page))
    at = "2026-11-20T10:00:00.000000Z"
    own = {"kind": "UPDATED", "pageId": str(page), "version": 7, "at": at}
    assert told["wikiPageChanged"] == own | {"page": asked["node"]}
    assert len(heard.sent) == 1


async def test_an_event_of_a_wiki_as_a_whole_shows_no_page(engine: Engine, heard: ListeningDatabase) -> None:
    scope = caller(1, "alice", Role.MEMBER)
    document = "subscription { wikiScopeChanged { kind pageId page { title excerpt } } }"
    told = await data(engine, showing(heard, scope, None, kind="resync"), document)
    assert told == {"wikiScopeChanged": {"kind": "RESYNC", "pageId": None, "page": None}}


@pytest.mark.parametrize(
    ("scope", "owner", "is_seen"),
    [
        (caller(1, "alice", Role.READER), "alice", True),
        (caller(1, "alice", Role.MEMBER), "space", True),
        (caller(1, "alice", Role.MEMBER), "eve", False),
        (caller(1, "eve", Role.MEMBER), "alice", False),
        (caller(1, "eve", Role.SERVICE), "alice", True),
        (caller(2, "alice", Role.READER), "alice", False),
    ],
)
async def test_an_event_is_shown_to_those_who_may_read_the_wiki(
    engine: Engine, heard: ListeningDatabase, world: World, scope: Scope, owner: str, is_seen: bool
) -> None:
    page = pages_of(world, owner)[0]
    for shown in ("title", "excerpt"):
        told = await data(engine, showing(heard, scope, page, owner), EVENT % shown, page=str(page))
        assert bool(told["wikiPageChanged"]) is is_seen


async def test_an_admin_of_another_tenant_sees_nothing_even_if_told_of_it(
    engine: Engine, heard: ListeningDatabase, world: World
) -> None:
    page = pages_of(world, "alice")[0]
    other = caller(2, "alice", Role.ADMIN)
    told = await data(engine, showing(heard, other, page), EVENT % "title", page=str(page))
    assert told["wikiPageChanged"] is None


async def test_nothing_is_shown_where_nothing_happened(engine: Engine, heard: ListeningDatabase) -> None:
    assert GRAPHQL.subscription_type is not None
    for name, field in GRAPHQL.subscription_type.fields.items():
        given = '(pageId: "1")' if "pageId" in field.args else ""
        context = Context(heard, caller(1, "alice", Role.ADMIN))
        answer = await ask(engine, context, f"subscription {{ {name}{given} {{ at }} }}")
        assert code(answer) == "STREAM_REQUIRED"
        assert "data" not in answer
    assert heard.sent == []


@pytest.mark.parametrize(
    ("scope", "is_seen"),
    [
        (caller(1, "alice", Role.MEMBER), True),
        (caller(1, "alice", Role.READER), False),
        (caller(2, "alice", Role.ADMIN), False),
    ],
)
async def test_proposals_are_announced_to_those_who_may_write(
    engine: Engine, heard: ListeningDatabase, world: World, scope: Scope, is_seen: bool
) -> None:
    proposal = next(row for row in world.tables["proposals"] if row["owner_id"] == owner_id(1, "alice"))
    context = showing(heard, scope, proposal["id"])
    assert context.event is not None
    context.event = context.event._replace(topic=Topic.PROPOSALS)
    document = "subscription { wikiProposalChanged { kind proposalId proposal { id status } } }"
    told = await data(engine, context, document)
    shown = {"id": str(proposal["id"]), "status": proposal["status"].upper()}
    seen = {"kind": "UPDATED", "proposalId": str(proposal["id"]), "proposal": shown}
    assert told["wikiProposalChanged"] == (seen if is_seen else None)
