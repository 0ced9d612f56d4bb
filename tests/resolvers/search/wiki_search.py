"""Helpers that search a wiki and return the hits."""

from typing import Any

from resolvers.search.request import SearchRequest, SearchResult
from resolvers.search.search import search
from tests.wiki import Wiki


async def search_wiki(wiki: Wiki, text: str, **how: Any) -> SearchResult:
    return await search(wiki.database, wiki.scope, SearchRequest(text, **how))


async def hit_titles(wiki: Wiki, text: str, **how: Any) -> list[str]:
    named = {row["id"]: row["title"] for row in await wiki.rows("pages")}
    return [named[hit.page_id] for hit in (await search_wiki(wiki, text, **how)).hits]
