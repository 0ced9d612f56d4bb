"""Repeated reads are planned once, because planning takes Postgres longer than running them."""

from collections.abc import AsyncIterator, Iterator
from typing import Any
from uuid import UUID

import asyncpg
import orjson
import pytest

from db.pool import Pool, acquire
from resolvers.context import Context
from resolvers.model.drafts import PageDraft
from resolvers.pages.lifecycle import create_page
from schema.root import make_engine
from tests.connections import IDLE
from tests.recording_database import DRIVER_QUERIES, RecordingDatabase, recording_database
from tests.wiki import Wiki

TRIED = 5  # plans that Postgres makes for the values before it thinks of keeping one
READS = {
    "page": """{ wikiPage(tenantId: "TENANT", type: CONCEPT, slug: $s) {
        title sections { heading } backlinks(first: 3) { nodes { title } } } }""",
    "list": "{ wikiPages(first: 5, orderBy: HUBNESS, filter: {titlePrefix: $s}) { nodes { children { title } } } }",
    "search": '{ wikiSearch(tenantId: "TENANT", query: $s) { score page { title } } }',
    "results": "{ wikiSearchResults(query: $s, first: 2) { nodes { title } totalCount } }",
}
LINK = "mutation($i: LinkWikiPagesInput!) { linkWikiPages(input: $i) { page { links { nodes { kind } } } } }"
UNLINK = LINK.replace("($i: Link", "($i: Unlink").replace("{ linkWiki", "{ unlinkWiki")
SINCE = "query($s: DateTime!) { wikiPages(filter: {updatedSince: $s}) { nodes { title } } }"


@pytest.fixture(autouse=True)
def connection_reuse() -> Iterator[None]:
    with IDLE.disabled():
        yield


async def plans(pool: Pool | None) -> list[asyncpg.Record]:
    """Return the statements of the product on the connection of the pool, and how they were planned."""
    async with acquire(pool) as connection:
        rows = await connection.fetch("SELECT statement, generic_plans, custom_plans FROM pg_prepared_statements")
    return [row for row in rows if not any(mark in row["statement"] for mark in (*DRIVER_QUERIES, "pg_prepared"))]


@pytest.fixture
async def database(wiki: Wiki, dsn: str) -> AsyncIterator[RecordingDatabase]:
    async with recording_database(dsn) as found:
        yield found


async def ask(database: RecordingDatabase, wiki: Wiki, document: str, **variables: Any) -> Any:
    answer = orjson.loads((await make_engine().execute(document, variables, None, Context(database, wiki.scope))).body)
    assert "errors" not in answer, answer
    return answer["data"]


async def create(wiki: Wiki, title: str) -> UUID:
    return (await create_page(wiki.database, wiki.scope, PageDraft("concept", title, body="The capital."))).page_id


@pytest.mark.parametrize("name", READS)
async def test_repeated_reads_use_generic_plans(database: RecordingDatabase, wiki: Wiki, name: str) -> None:
    await create(wiki, "Austin")
    document = READS[name].replace("TENANT", str(wiki.scope.tenant_id))
    for slug in ("austin", "dallas", "capital"):
        await ask(database, wiki, f"query($s: String!) {document}", s=slug)
    found = await plans(database.read_pool)
    assert found
    assert all(row["custom_plans"] == 0 for row in found)


async def test_a_read_whose_best_plan_depends_on_a_value_uses_custom_plans(
    database: RecordingDatabase, wiki: Wiki
) -> None:
    for day in range(1, 8):
        await ask(database, wiki, SINCE, s=f"2026-01-0{day}T00:00:00Z")
    (row,) = [row for row in await plans(database.read_pool) if "updated_at >=" in row["statement"]]
    assert (row["generic_plans"], row["custom_plans"]) == (0, 7)


async def test_a_repeated_write_is_planned_at_most_five_times(database: RecordingDatabase, wiki: Wiki) -> None:
    start, end = await create(wiki, "Austin"), await create(wiki, "Texas")
    for _ in range(TRIED + 3):
        for document in (LINK, UNLINK):
            await ask(database, wiki, document, i={"fromPageId": str(start), "toPageId": str(end)})
    found = await plans(database.pool)
    assert found
    assert all(row["custom_plans"] <= TRIED for row in found)
