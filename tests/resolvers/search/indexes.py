"""Helpers that create pages, and delete, rebuild, read and check the search index of a wiki."""

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


async def create_pages(wiki: Wiki, count: int = 10) -> list[UUID]:
    return [await create_indexed_page(wiki, n) for n in range(count)]


async def create_indexed_page(wiki: Wiki, n: int) -> UUID:
    """Create a page with a value in each field that search reads."""
    body = f"Seen harbourly, word{n}.\n\n## Part {n}\n\nMore."
    aliases = [f"Name {n}", f"N-{n}"]
    draft = PageDraft("topic", f"Page {n}", summary=f"Sum {n}.", body=body, tags=[f"t{n % 2}"], aliases=aliases)
    page_id = (await create_page(wiki.database, wiki.scope, draft)).page_id
    await update_page(wiki.database, wiki.scope, page_id, slug=f"moved-{n}")
    return page_id


async def reindex_wiki(wiki: Wiki, **options: Any) -> int:
    return await reindex(wiki.database, wiki.scope.tenant_id, wiki.scope.owner_id, **options)


async def find_page_ids(wiki: Wiki, text: str) -> set[UUID]:
    return {hit.page_id for hit in (await search(wiki.database, wiki.scope, SearchRequest(text, first=50))).hits}


async def index_states(wiki: Wiki) -> dict[int, str]:
    """Return the state of each index of the wiki by the version of its analyser."""
    return {row["analyser"]: row["state"] for row in await wiki.rows("search_scopes", "analyser")}


async def reindex_progress(wiki: Wiki) -> tuple[int, bool]:
    """Return how many pages are still to be indexed, and whether the wiki is due."""
    (row,) = await unread(wiki.database, wiki.scope.tenant_id, wiki.scope.owner_id)
    return row["unread"], row["is_due"]


async def cancel_reindexing(wiki: Wiki, **options: Any) -> None:
    """Cancel reindexing in the middle of its second batch, as Ctrl-C does."""
    reading = asyncio.create_task(reindex_wiki(wiki, progress=lambda _: reading.cancel(), **options))
    with pytest.raises(asyncio.CancelledError):
        await reading


async def delete_index(wiki: Wiki) -> None:
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


async def check_all_counted(wiki: Wiki) -> None:
    """Check that no change waits to be counted and that the stored counts are right."""
    assert await wiki.rows("search_changes") == []
    await check_counts(wiki)


async def delete_pages_and_index(wiki: Wiki) -> None:
    """Delete all pages and their index: the `wiki` fixture cannot check a wiki with a newer index."""
    await wiki.connection.execute("DELETE FROM pages WHERE tenant_id = $1", wiki.scope.tenant_id)
    await delete_index(wiki)


async def lexemes(wiki: Wiki) -> set[str]:
    """Return all lexemes of the index, without the letter of the wiki."""
    (row,) = await wiki.connection.fetch(
        "SELECT array_agg(substr(lexeme, 2)) AS found FROM search_pages, unnest(tsv) WHERE tenant_id = $1",
        wiki.scope.tenant_id,
    )
    return set(row["found"])
