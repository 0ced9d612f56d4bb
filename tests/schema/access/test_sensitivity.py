"""Random documents over a world with secrets return no text and no id of them to callers who may not read them."""

import asyncio
import json
import os
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime
from itertools import product
from uuid import UUID

import orjson
import pytest

from db.database import Database
from db.scope import Role, Scope, Terms
from db.sensitivity import NOTHING_HIDDEN, Restriction, restrict_statement, restriction_of, tables
from db.sql import texts
from db.tables import metadata
from resolvers.auth.owners import Grant, OwnerKind, create_owner, grant
from resolvers.context import Context
from resolvers.model.drafts import PageDraft
from resolvers.pages.lifecycle import create_page, update_page
from resolvers.pages.merging import merge_many, merge_pages
from resolvers.pages.stubs import write_cited
from resolvers.proposals.proposals import propose_change
from resolvers.sources.sources import SourceDraft, add_source
from resolvers.subscriptions.changes import ChangeEvent, ChangeKind, Topic
from schema.root import STRAWBERRY
from selection import Engine
from tests.conftest import database_copy
from tests.examples import examples
from tests.schema.documents import Documents
from tests.schema.reference.executor import contract
from tests.schema.world import (
    CALLERS,
    GRANTS,
    OWNERS,
    WITHOUT_PAGES,
    Tables,
    World,
    make_world,
    owner_id,
    read_back,
    store,
)
from tests.wiki import Wiki

SEED, COUNT = int(os.environ.get("SEED", "1")), int(os.environ.get("DOCUMENTS", examples(100, 1000)))
RICH = 10**15
SECRET = "secret"
OF_NAMES = ("aliases", "page_names", "old_slugs", "renamings", "pages", "decision_questions")


def canary(owner: UUID) -> str:
    return f"zxqv{owner.int % 997:03d}k{owner.int >> 64}"


def with_secrets(world: Tables) -> Tables:
    """Make every fifth page, a section of every fifth page and every fourth source secret, and mark their texts."""
    hidden = {page["id"] for page in world["pages"][::5]}
    partly: set[UUID] = set()
    sections: set[UUID] = set()
    for page in world["pages"][1::5]:
        own = [section for section in world["sections"] if section["page_id"] == page["id"]]
        for section in own[:1]:
            section["heading"] = f"{section['heading'][:100]} {{sensitivity=secret}}".strip()
            sections.add(section["id"])
            partly.add(page["id"])
    sources = {source["id"] for source in world["sources"][::4]}
    for table, columns in {
        "pages": "title slug summary body_md", "aliases": "alias name", "page_names": "name", "old_slugs": "slug",
        "revisions": "title body_md edit_summary", "superseded_claims": "fact replacement heading",
        "contradictions": "older_claim newer_claim reason", "sections": "body_md", "link_targets": "target text",
        "proposals": "title proposed_title proposed_summary proposed_body why reason", "sources": "title content",
        "renamings": "title", "section_sources": "summary", "decision_questions": "question decision why",
    }.items():  # fmt: skip
        for row in world[table]:
            page_id = row["id"] if table == "pages" else row.get("page_id") or row.get("from_page_id")
            is_whole = page_id in hidden
            is_part = page_id in partly and table not in OF_NAMES
            if table == "sections":
                is_part = row["id"] in sections
            if table == "section_sources":
                is_part = row["section_id"] in sections or row["source_id"] in sources
            if table == "sources":
                is_part = row["id"] in sources
            if is_whole or is_part:
                for column in columns.split():
                    if isinstance(row[column], str):
                        row[column] = f"{canary(row['owner_id'])} {row[column]}"[:400]
                    if column == "slug":
                        row[column] = row[column].replace(" ", "-")
    for page in world["pages"]:
        if page["id"] in hidden:
            page["metadata"] = page["metadata"] | {"sensitivity": SECRET}
        if page["id"] in partly:
            page["body_md"] = f"{canary(page['owner_id'])} {page['body_md']}"
            page["summary"] = f"{canary(page['owner_id'])} {page['summary']}"
    for source in world["sources"]:
        if source["id"] in sources:
            source["metadata"] = source["metadata"] | {"sensitivity": "no known level"}
    hidden_mentions = {mention["mention_id"] for mention in world["sightings"] if mention["source_id"] in sources}
    for mention in world["mentions"]:
        mention["contexts"] = [one for one in mention["contexts"] if one.get("sourceId") not in map(str, sources)]
        if mention["id"] in hidden_mentions:
            mention["name"] = f"{canary(mention['owner_id'])} {mention['name']}"
    return world


@pytest.fixture(scope="module")
def secret_dsn(server_dsn: str, template: str) -> Iterator[str]:
    with database_copy(server_dsn, template) as dsn:
        asyncio.run(store(dsn, with_secrets(make_world(25))))
        yield dsn


@pytest.fixture(scope="module")
def secret_world(secret_dsn: str) -> World:
    return asyncio.run(read_back(secret_dsn))


@pytest.fixture
async def database(secret_dsn: str) -> AsyncIterator[Database]:
    database = Database(secret_dsn, size=4)
    await database.open()
    yield database
    await database.close()


def sees(scope: Scope, tenant: int, name: str) -> bool:
    """Return whether the caller may read everything in that wiki."""
    owner = owner_id(tenant, name)
    if scope.tenant_id.int >> 64 != tenant:
        return False
    if scope.spans_tenant:
        return True
    if owner in scope.owners:
        return scope.role is not Role.READER
    own = {one for one in OWNERS if owner_id(tenant, one) in scope.owners}
    granted = {role for grantee, of, role in GRANTS if grantee in own and of == name}
    return "admin" in granted and scope.role is not Role.READER


def forbidden(world: World, scope: Scope) -> list[str]:
    """Return the texts and ids that a response to that caller must not contain."""
    found = []
    for tenant in (1, 2):
        for name in OWNERS:
            if not sees(scope, tenant, name):
                found.append(canary(owner_id(tenant, name)))
                hidden = [row["id"] for row in world.rows("pages", tenant, name) if SECRET in row["metadata"].values()]
                for table in ("sections", "sources"):
                    hidden += [
                        row["id"]
                        for row in world.rows(table, tenant, name)
                        if canary(row["owner_id"]) in row["content" if table == "sources" else "body_md"]
                    ]
                found += map(str, hidden)
    return found


@pytest.fixture
def last_reads() -> Iterator[set[tuple[Restriction, str]]]:
    """Entries of the cache of callers from whom nothing is hidden, to be dropped: other tests have the same callers."""
    found = set[tuple[Restriction, str]]()
    yield found
    for entry in found:
        NOTHING_HIDDEN.discard(entry)


@pytest.mark.parametrize("part", range(4))
async def test_no_document_shows_a_secret(
    database: Database, secret_world: World, engine: Engine, part: int, last_reads: set[tuple[Restriction, str]]
) -> None:
    schema = contract(STRAWBERRY.as_str())
    for seed in range(SEED + part, SEED + COUNT, 4):
        scope = CALLERS[seed % len(CALLERS)]
        forbidden_texts = forbidden(secret_world, scope)
        documents = Documents(schema, secret_world, scope, seed)
        text, variables, name = documents.make()
        for given in (variables, documents.again()):
            if seed % 3 == 0 and (restriction := restriction_of(scope)) is not None:
                for condition in ("has_ceiling", "has_hidden"):  # as if all secrets were newer than its last read
                    NOTHING_HIDDEN.put((restriction, condition), value=True)
                    last_reads.add((restriction, condition))
            body = (await engine.execute(text, given, name, Context(database, scope, RICH))).body.decode()
            data = json.dumps(orjson.loads(body).get("data"), ensure_ascii=False)
            request = json.dumps(given) + text
            leaked = [one for one in forbidden_texts if one in data and one not in request]
            assert not leaked, f"SEED={seed} {scope}\n{text}\n{given}\n{leaked}\n{data[:3000]}"


ROWS = """query ($owner: ID!) { wikiPages(ownerId: $owner, first: 100) { nodes { id title summary bodyMd
    sections { heading bodyMd } sources(first: 20) { nodes { title content } } } } }"""


@pytest.mark.parametrize("name", [name for name in OWNERS if name != WITHOUT_PAGES])
@pytest.mark.parametrize("scope", CALLERS, ids=range(len(CALLERS)))
async def test_secrets_are_shown_only_to_callers_who_may_read_them(
    database: Database, secret_world: World, engine: Engine, scope: Scope, name: str
) -> None:
    """The query selects the secret rows, which the people of the wiki see and guests do not."""
    tenant = scope.tenant_id.int >> 64
    context, given = Context(database, scope, RICH), {"owner": str(owner_id(tenant, name))}
    text = json.dumps(orjson.loads((await engine.execute(ROWS, given, None, context)).body), ensure_ascii=False)
    assert (canary(owner_id(tenant, name)) in text) == sees(scope, tenant, name)
    hidden = [row["id"] for row in secret_world.rows("pages", tenant, name) if SECRET in row["metadata"].values()]
    assert hidden, "or nothing is asked"


EVENTS = {
    Topic.PAGES: ("pages", "subscription { told: wikiScopeChanged { kind id: pageId version } }"),
    Topic.PROPOSALS: ("proposals", "subscription { told: wikiProposalChanged { kind id: proposalId } }"),
}


@pytest.mark.parametrize("topic", EVENTS)
async def test_no_event_names_a_hidden_page(
    database: Database, secret_world: World, engine: Engine, topic: Topic
) -> None:
    table, document = EVENTS[topic]
    withheld = shown = 0
    for scope, name in product(CALLERS, OWNERS):
        tenant = scope.tenant_id.int >> 64
        pages = secret_world.rows("pages", tenant, name)
        secret = {page["id"] for page in pages if SECRET in page["metadata"].values()}
        for row in secret_world.rows(table, tenant, name):
            context = Context(database, scope, RICH)
            owner, now = owner_id(tenant, name), datetime.now(UTC)
            context.event = ChangeEvent(scope.tenant_id, owner, topic, ChangeKind.UPDATED, row["id"], 1, now)
            event = orjson.loads((await engine.execute(document, {}, None, context)).body)["data"]["told"]
            is_secret = (row["id"] if topic is Topic.PAGES else row["page_id"]) in secret
            if is_secret and not sees(scope, tenant, name):
                assert event is None, f"{scope} {name} {event}"
                withheld += 1
            elif event:
                assert event["id"] == str(row["id"])
                shown += 1
    assert withheld > 0
    assert shown > 0


def test_every_table_of_pages_and_sources_is_restricted() -> None:
    """A new table with rows of pages or sources has to define which of its rows are hidden.

    Deliveries of webhooks are read by admins of the tenant alone, who read every page. What a webhook is sent has its
    own ceiling, and a page above it is never queued: tests/resolvers/webhooks/test_outbox.py.
    """
    restricted = {"page_embeddings", "forgettings"} | set(tables())
    of_pages = {
        table.name
        for table in metadata.sorted_tables
        if {"page_id", "from_page_id", "source_id"} & set(table.c.keys()) or table.name in ("pages", "sources")
    }
    of_jobs, of_admins = {"compile_cursors", "embedding_cursors"}, {"webhook_deliveries"}
    assert of_pages - of_jobs - of_admins <= restricted


@pytest.mark.parametrize("table", ["pages", "sections", "revisions"])
def test_the_restricted_form_of_a_table_has_its_columns(table: str) -> None:
    body = texts("access/sensitivity")[table]
    for column in metadata.tables[table].columns.keys():  # noqa: SIM118  it is no dict
        assert f".{column}" in body or f"AS {column}" in body, column


def test_writes_and_locks_are_not_restricted() -> None:
    for sql in ("UPDATE pages SET title = $1", "SELECT id FROM pages WHERE tenant_id = $1 FOR UPDATE", "SELECT 1"):
        assert restrict_statement(sql).sql == sql
    read = restrict_statement("SELECT id FROM pages WHERE tenant_id = $2 AND id = $1")
    assert read.parameters == ("is_reader", "owners")
    assert read.sql.endswith(")\nSELECT id FROM pages WHERE tenant_id = $2 AND id = $1")


def test_a_table_that_only_a_comment_names_is_not_restricted() -> None:
    sql = "-- Tags of pages and sections.\nSELECT t.tag FROM tags AS t WHERE t.tenant_id = $1"
    assert restrict_statement(sql).sql == sql


async def test_sections_without_listed_pages_skip_the_hidden_pages_filter(wiki: Wiki) -> None:
    """In a large wiki the filter would compare every section with every secret page."""
    guest = await create_owner(wiki.database, wiki.scope.tenant_id, OwnerKind.USER, "guest", "Guest")
    await grant(
        wiki.database, wiki.scope.tenant_id, owner_id=wiki.scope.owner_id, grantee_id=guest.id, role=Grant.MEMBER
    )
    await create_page(wiki.database, wiki.scope, PageDraft("topic", "Hidden", fields={"sensitivity": SECRET}))
    await create_page(wiki.database, wiki.scope, PageDraft("topic", "Plain", body="## A\n\nWords."))
    read = restrict_statement("SELECT s.aggregation FROM sections AS s WHERE s.tenant_id = $1")
    given = {"owners": [guest.id], "is_reader": False}
    values = [wiki.scope.tenant_id, *(given[name] for name in read.parameters)]
    lines = [row[0] for row in await wiki.connection.fetch(f"EXPLAIN (ANALYZE, TIMING OFF) {read.sql}", *values)]
    filters = [lines[n - 1] for n, line in enumerate(lines) if "Filter: (strpos((t.aggregation)" in line]
    assert filters, "\n".join(lines)
    assert all("never executed" in line for line in filters), "\n".join(lines)


PROPOSED = "query ($owner: ID!) { wikiProposals(ownerId: $owner, first: 5) { nodes { proposedBodyMd } } }"


@pytest.mark.parametrize("operation", ["merge_pages", "merge_many", "write_cited"])
async def test_a_proposal_with_the_text_of_a_hidden_page_or_source_is_hidden(
    wiki: Wiki, engine: Engine, operation: str
) -> None:
    """The page that the proposal changes or creates is hidden from nobody."""
    here, secret = (wiki.database, wiki.scope), {"sensitivity": SECRET}
    pay = (await create_page(*here, PageDraft("topic", "Pay", body="A million."))).page_id
    into = (await create_page(*here, PageDraft("topic", "Work", body="Daily."))).page_id
    source = await add_source(*here, SourceDraft("document", "doc-1", "A million.", metadata=secret))

    async def write(scope: Scope) -> object:
        if operation == "merge_pages":
            return await merge_pages(wiki.database, scope, pay, into)
        if operation == "merge_many":
            return await merge_many(wiki.database, scope, [pay], into)
        draft = PageDraft("topic", "Wages", body="## Pay\n\nA million.")
        return await write_cited(wiki.database, scope, draft, [("pay", source.source_id)])

    await propose_change(*here, Terms("They are the same."), write)
    await update_page(*here, pay, fields=secret)
    for scope, is_seen in ((wiki.scope, True), ((await wiki.colleague()).scope, False)):
        context = Context(wiki.database, scope, RICH)
        answer = (await engine.execute(PROPOSED, {"owner": str(wiki.scope.owner_id)}, None, context)).body
        assert (b"A million." in answer) == is_seen, answer
