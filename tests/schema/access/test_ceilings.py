"""Reads of a caller omit the sensitivity rules once a read has found that nothing is hidden from it."""

from collections.abc import AsyncIterator
from dataclasses import dataclass

import orjson
import pytest

from db.database import Database
from db.scope import Actor, ActorKind, Role, Scope
from resolvers.auth.owners import Grant, OwnerKind, create_owner, grant, revoke, set_owner_settings
from resolvers.auth.wiki_settings import WikiSettings
from resolvers.context import Context
from resolvers.model.drafts import PageDraft
from resolvers.pages.lifecycle import create_page, update_page
from resolvers.sources.sources import SourceDraft, add_source
from schema.root import make_engine
from tests.recording_database import RecordingDatabase, recording_database
from tests.wiki import Wiki

PAGES = "query ($owner: ID!) { wikiPages(ownerId: $owner, first: 50) { nodes { title } } }"
SEARCH = """query ($tenant: ID!, $owner: ID!) {
    wikiSearch(tenantId: $tenant, ownerId: $owner, query: "harbour", limit: 50) { page { title } } }"""
ANY_COST = 10**9


@pytest.fixture
async def listener(dsn: str) -> AsyncIterator[RecordingDatabase]:
    async with recording_database(dsn) as found:
        yield found


@dataclass
class Reads:
    """The titles that a caller reads, the number of statements, and whether these have the sensitivity rules."""

    titles: set[str]
    statements: int
    is_restricted: bool


async def read(database: RecordingDatabase, scope: Scope, of: Wiki, document: str = PAGES) -> Reads:
    (await database.sent_statements()).clear()
    context = Context(database, scope, ANY_COST)
    given = {"tenant": str(of.scope.tenant_id), "owner": str(of.scope.owner_id)}
    answer = orjson.loads((await make_engine().execute(document, given, None, context)).body)
    assert "errors" not in answer, answer
    (found,) = answer["data"].values()
    sent = [one.sql for one in await database.sent_statements()]
    nodes = found if isinstance(found, list) else found["nodes"]
    titles = {node.get("page", node)["title"] for node in nodes}
    return Reads(titles, len(sent), any("withheld AS" in sql for sql in sent))


async def with_levels(wiki: Wiki) -> None:
    for level in ("public", "internal", "confidential", "secret"):
        draft = PageDraft("topic", level.title(), body="By the harbour.", fields={"sensitivity": level})
        await create_page(wiki.database, wiki.scope, draft)


async def guest_of(database: Database, wiki: Wiki, role: Role = Role.MEMBER) -> Scope:
    """Return a caller with its own wiki and no grant, who reads the given wiki."""
    guest = await create_owner(database, wiki.scope.tenant_id, OwnerKind.USER, "guest", "Guest")
    own = (guest.id,)
    return Scope(wiki.scope.tenant_id, wiki.scope.owner_id, role, Actor(ActorKind.USER, "guest"), own)


@pytest.mark.parametrize("document", [PAGES, SEARCH], ids=["pages", "search"])
async def test_a_member_without_grants_skips_the_rules_from_its_second_read(
    wiki: Wiki, listener: RecordingDatabase, document: str
) -> None:
    await with_levels(wiki)
    member = wiki.with_role(Role.MEMBER).scope
    own = {"Public", "Internal", "Confidential", "Secret"}
    first, *later = [await read(listener, member, wiki, document) for _ in range(3)]
    assert first.titles == own
    assert later == [Reads(own, 1, is_restricted=False)] * 2


async def test_the_first_search_of_a_member_after_a_read_skips_the_rules(
    wiki: Wiki, listener: RecordingDatabase
) -> None:
    await with_levels(wiki)
    member = wiki.with_role(Role.MEMBER).scope
    await read(listener, member, wiki)
    everything = {"Public", "Internal", "Confidential", "Secret"}
    assert await read(listener, member, wiki, SEARCH) == Reads(everything, 2, is_restricted=False)


async def test_a_search_does_not_find_a_page_that_has_become_secret(wiki: Wiki, listener: RecordingDatabase) -> None:
    """The statement that interprets the query and the one that answers it each find that a page is hidden now."""
    reader = wiki.with_role(Role.READER).scope
    for title in ("Harbour", "Pier"):
        page = await create_page(wiki.database, wiki.scope, PageDraft("topic", title, body="By the harbour."))
    for _ in range(2):
        assert (await read(listener, reader, wiki)).titles == {"Harbour", "Pier"}
    await update_page(wiki.database, wiki.scope, page.page_id, fields={"sensitivity": "secret"})
    assert await read(listener, reader, wiki, SEARCH) == Reads({"Harbour"}, 4, is_restricted=True)
    assert await read(listener, reader, wiki, SEARCH) == Reads({"Harbour"}, 1, is_restricted=True)


async def test_a_changed_grant_applies_its_ceiling_from_the_next_read(wiki: Wiki, listener: RecordingDatabase) -> None:
    """The read after a change takes a second statement if its first one finds another ceiling; later reads take one."""
    await with_levels(wiki)
    guest = await guest_of(listener, wiki)
    own, tenant = guest.owners[0], guest.tenant_id
    await read(listener, guest, wiki)
    assert await read(listener, guest, wiki) == Reads(set(), 1, is_restricted=False)

    granted = {"owner_id": wiki.scope.owner_id, "grantee_id": own}
    await grant(listener, tenant, **granted, role=Grant.MEMBER)
    seen = {"Public", "Internal", "Confidential"}
    assert [await read(listener, guest, wiki) for _ in range(3)] == [
        Reads(seen, statements, is_restricted=True) for statements in (2, 1, 1)
    ]
    await set_owner_settings(listener, tenant, wiki.scope.owner_id, WikiSettings(member_ceiling="internal"))
    assert await read(listener, guest, wiki) == Reads({"Public", "Internal"}, 1, is_restricted=True)

    await grant(listener, tenant, **granted, role=Grant.ADMIN)
    everything = {*seen, "Secret"}
    assert [await read(listener, guest, wiki) for _ in range(2)] == [
        Reads(everything, 1, is_restricted=restricted) for restricted in (True, False)
    ]
    await grant(listener, tenant, **granted, role=Grant.READER)
    assert await read(listener, guest, wiki) == Reads({"Public", "Internal"}, 2, is_restricted=True)
    await revoke(listener, tenant, **granted)
    assert [await read(listener, guest, wiki) for _ in range(2)] == [
        Reads(set(), 1, is_restricted=restricted) for restricted in (True, False)
    ]


async def test_readers_are_held_to_the_ceiling_of_their_own_wiki(wiki: Wiki, listener: RecordingDatabase) -> None:
    await with_levels(wiki)
    reader = wiki.with_role(Role.READER).scope
    assert [await read(listener, reader, wiki) for _ in range(2)] == [Reads({"Public", "Internal"}, 1, True)] * 2
    own = (reader.tenant_id, reader.owner_id)
    await set_owner_settings(listener, *own, WikiSettings(reader_ceiling="secret"))
    everything = {"Public", "Internal", "Confidential", "Secret"}
    assert [await read(listener, reader, wiki) for _ in range(2)] == [
        Reads(everything, 1, is_restricted=restricted) for restricted in (True, False)
    ]
    await set_owner_settings(listener, *own, WikiSettings(reader_ceiling="confidential"))
    assert await read(listener, reader, wiki) == Reads(everything - {"Secret"}, 2, is_restricted=True)


async def test_a_page_that_becomes_secret_is_hidden_from_the_next_read(wiki: Wiki, listener: RecordingDatabase) -> None:
    guest, tenant = await guest_of(listener, wiki), wiki.scope.tenant_id
    await grant(listener, tenant, owner_id=wiki.scope.owner_id, grantee_id=guest.owners[0], role=Grant.MEMBER)
    page = await create_page(wiki.database, wiki.scope, PageDraft("topic", "Harbour", body="## Tides\n\nHigh."))
    callers = (guest, wiki.with_role(Role.READER).scope)
    for scope in callers:
        assert [await read(listener, scope, wiki) for _ in range(2)] == [
            Reads({"Harbour"}, 1, is_restricted=restricted) for restricted in (True, False)
        ]
    await update_page(wiki.database, wiki.scope, page.page_id, fields={"sensitivity": "secret"})
    for scope in callers:
        assert await read(listener, scope, wiki) == Reads(set(), 2, is_restricted=True)


@pytest.mark.parametrize("hides", ["source", "heading"])
async def test_a_secret_source_or_heading_enables_the_rules(
    wiki: Wiki, listener: RecordingDatabase, hides: str
) -> None:
    reader = wiki.with_role(Role.READER).scope
    await create_page(wiki.database, wiki.scope, PageDraft("topic", "Harbour"))
    await read(listener, reader, wiki)
    assert await read(listener, reader, wiki) == Reads({"Harbour"}, 1, is_restricted=False)
    if hides == "source":
        draft = SourceDraft("document", "doc-1", "Words.", metadata={"sensitivity": "secret"})
        await add_source(wiki.database, wiki.scope, draft)
    else:
        body = "## Tides {sensitivity=secret}\n\nHigh."
        await create_page(wiki.database, wiki.scope, PageDraft("topic", "Pier", body=body))
    assert (await read(listener, reader, wiki)).is_restricted


async def test_proposal_lists_are_restricted_even_when_no_page_is_hidden(
    wiki: Wiki, listener: RecordingDatabase
) -> None:
    """A proposal may contain text above the ceiling even if no page does."""
    document = "query ($owner: ID!) { wikiProposals(ownerId: $owner, first: 5) { nodes { title } } }"
    reader = wiki.with_role(Role.READER).scope
    for _ in range(2):
        assert (await read(listener, reader, wiki, document)).is_restricted
    for _ in range(2):
        result = await read(listener, wiki.with_role(Role.MEMBER).scope, wiki, document)
    assert not result.is_restricted


async def test_admins_and_services_read_without_the_rules(wiki: Wiki, listener: RecordingDatabase) -> None:
    await with_levels(wiki)
    for role in (Role.ADMIN, Role.SERVICE):
        result = await read(listener, wiki.with_role(role).scope, wiki)
        assert (len(result.titles), result.statements, result.is_restricted) == (4, 1, False)
