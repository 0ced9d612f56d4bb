"""Helpers of the tests of search indexes: they change a wiki and read its index."""

import asyncio
from typing import Any
from uuid import UUID

import pytest

from resolvers.model.drafts import PageDraft
from resolvers.pages.lifecycle import create_page, update_page
from resolvers.search.reindexing import reindex, unread
from resolvers.search.request import SearchRequest
from resolvers.search.search import search
from tests.wiki import Wiki

TABLES = ("search_pages", "search_counts", "search_vocabulary", "search_changes", "search_scopes")


async def fill(wiki: Wiki, count: int = 10) -> list[UUID]:
    return [await make(wiki, n) for n in range(count)]


async def make(wiki: Wiki, n: int) -> UUID:
    """Create a page with a value in each field that search reads."""
    body = f"Seen harbourly, word{n}.\n\n## Part {n}\n\nMore."
    aliases = [f"Name {n}", f"N-{n}"]
    draft = PageDraft("topic", f"Page {n}", summary=f"Sum {n}.", body=body, tags=[f"t{n % 2}"], aliases=aliases)
    page_id = (await create_page(wiki.database, wiki.scope, draft)).page_id
    await update_page(wiki.database, wiki.scope, page_id, slug=f"moved-{n}")
    return page_id


async def reindexed(wiki: Wiki, **options: Any) -> int:
    return await reindex(wiki.database, wiki.scope.tenant_id, wiki.scope.owner_id, **options)


async def found(wiki: Wiki, text: str) -> set[UUID]:
    return {hit.page_id for hit in (await search(wiki.database, wiki.scope, SearchRequest(text, first=50))).hits}


async def indexes(wiki: Wiki) -> dict[int, str]:
    return {row["analyser"]: row["state"] for row in await wiki.rows("search_scopes", "analyser")}


async def due(wiki: Wiki) -> tuple[int, bool]:
    (row,) = await unread(wiki.database, wiki.scope.tenant_id, wiki.scope.owner_id)
    return row["unread"], row["is_due"]


async def stopped_after_a_batch(wiki: Wiki, **options: Any) -> None:
    """Cancel reindexing in the middle of its second batch, as Ctrl-C does."""
    reading = asyncio.create_task(reindexed(wiki, progress=lambda _: reading.cancel(), **options))
    with pytest.raises(asyncio.CancelledError):
        await reading


async def forget(wiki: Wiki) -> None:
    """Delete the index, as after an upgrade from a release that had none."""
    for table in TABLES:
        await wiki.connection.execute(f"DELETE FROM {table} WHERE tenant_id = $1", wiki.scope.tenant_id)


async def check_counts(wiki: Wiki) -> None:
    """Check that the stored counts are those of the rows."""
    sql = """
        SELECT substr(lexeme, 2), count(*) FROM search_pages, unnest(tsv)
        WHERE tenant_id = $1 AND cardinality(positions) > 0 GROUP BY lexeme
    """
    assert await wiki.counts() == dict(await wiki.connection.fetch(sql, wiki.scope.tenant_id))


async def check_folded(wiki: Wiki) -> None:
    assert await wiki.rows("search_changes") == []
    await check_counts(wiki)


async def back(wiki: Wiki) -> None:
    """Delete all pages and their index, because the `wiki` fixture can only check a wiki without a newer index."""
    await wiki.connection.execute("DELETE FROM pages WHERE tenant_id = $1", wiki.scope.tenant_id)
    await forget(wiki)


async def lexemes(wiki: Wiki) -> set[str]:
    (row,) = await wiki.connection.fetch(
        "SELECT array_agg(substr(lexeme, 2)) AS found FROM search_pages, unnest(tsv) WHERE tenant_id = $1",
        wiki.scope.tenant_id,
    )
    return set(row["found"])
