"""The parameters of a search are cached until the words of the wiki are counted again."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import orjson
import pytest

from db.scope import Scope
from resolvers.model.drafts import PageDraft
from resolvers.pages.lifecycle import archive_page, create_page
from resolvers.pages.upsert import upsert_page
from resolvers.search.query_cache import query_cache_of
from resolvers.search.reindexing import reindex
from selection import Engine
from tests.schema.executing import RecordingContext
from tests.wiki import Wiki, close_wiki, open_wiki

FERRY = 'query($n: Int) { mobileWikiSearch(query: "ferry", limit: $n) { page { title } } }'
ANY_COST = 10**9


@pytest.fixture
async def wiki(dsn: str) -> AsyncIterator[Wiki]:
    wiki = await open_wiki(dsn)
    await create_page(wiki.database, wiki.scope, PageDraft("topic", "Pier", body="Where the ferry leaves."))
    yield wiki
    await close_wiki(wiki)


async def search_titles(
    engine: Engine, wiki: Wiki, scope: Scope | None = None, size: int = 10, text: str = FERRY
) -> tuple[set[str], int]:
    """Return the titles that were found, and the number of compiled statements."""
    context = RecordingContext(wiki.database, scope or wiki.scope, ANY_COST)
    answer: Any = orjson.loads((await engine.execute(text, {"n": size}, None, context)).body)
    assert "errors" not in answer
    return {hit["page"]["title"] for hit in answer["data"]["mobileWikiSearch"]}, len(context.statements)


async def test_a_cached_question_takes_one_statement(engine: Engine, wiki: Wiki) -> None:
    for _ in range(2):
        assert await search_titles(engine, wiki) == ({"Pier"}, 1)


async def test_recounted_words_invalidate_the_cached_question(engine: Engine, wiki: Wiki) -> None:
    for _ in range(2):
        await search_titles(engine, wiki)
    page = await create_page(
        wiki.database, wiki.scope, PageDraft("topic", "Timetable", body="The ferry leaves at noon.")
    )
    assert await search_titles(engine, wiki) == ({"Pier", "Timetable"}, 2), "first for nothing"
    assert await search_titles(engine, wiki) == ({"Pier", "Timetable"}, 1)
    await reindex(wiki.database, wiki.scope.tenant_id, wiki.scope.owner_id, again=True)
    assert await search_titles(engine, wiki) == ({"Pier", "Timetable"}, 2)
    assert await search_titles(engine, wiki) == ({"Pier", "Timetable"}, 1)
    await archive_page(wiki.database, wiki.scope, page.page_id)
    assert (await search_titles(engine, wiki))[0] == {"Pier"}


async def test_concurrent_callers_get_the_results_of_their_own_wiki(engine: Engine, wiki: Wiki) -> None:
    other = await wiki.neighbour()
    await create_page(other.database, other.scope, PageDraft("topic", "Gulls", body="They follow the ferry."))
    same = wiki.scope.in_owner(wiki.scope.owner_id)
    scopes = {wiki.scope.owner_id: {"Pier"}, other.scope.owner_id: {"Gulls"}}
    for _ in range(3):
        callers = [wiki.scope, other.scope, same] * 2
        titles = await asyncio.gather(*(search_titles(engine, wiki, scope) for scope in callers))
        assert [one for one, _ in titles] == [scopes[scope.owner_id] for scope in callers]


async def test_each_limit_returns_its_number_of_hits(engine: Engine, wiki: Wiki) -> None:
    for number in range(7):
        await create_page(wiki.database, wiki.scope, PageDraft("topic", f"Ferry {number}"))
    for _ in range(2):
        for size in range(1, 8):
            assert len((await search_titles(engine, wiki, size=size))[0]) == size


async def test_a_repeated_question_stays_in_the_cache(engine: Engine, wiki: Wiki) -> None:
    cache = query_cache_of(wiki.database)
    cache.page_queries.size = 3
    await search_titles(engine, wiki)
    entries = list(cache.page_queries.entries.values())
    for number in range(6):
        await search_titles(engine, wiki)
        await search_titles(engine, wiki, text=FERRY.replace("ferry", f"harbour{number} ferry"))
    assert len(cache.page_queries.entries) == 3
    assert any(one is entries[0] for one in cache.page_queries.entries.values())


async def test_equal_scores_are_ordered_by_the_last_compilation(engine: Engine, wiki: Wiki) -> None:
    drafts = {name: PageDraft("topic", f"Kiln {name}", slug=f"kiln-{name}") for name in ("none", "west", "east")}
    for draft in drafts.values():
        await create_page(wiki.database, wiki.scope, draft)
    for name in ("east", "west"):
        await upsert_page(wiki.database, wiki.scope, drafts[name], mark_compiled=True)
    context = RecordingContext(wiki.database, wiki.scope, ANY_COST)
    text = '{ mobileWikiSearch(query: "kiln", limit: 2) { score page { title } } }'
    hits = orjson.loads((await engine.execute(text, {}, None, context)).body)["data"]["mobileWikiSearch"]
    assert [hit["page"]["title"] for hit in hits] == ["Kiln west", "Kiln east"]
    assert hits[0]["score"] == hits[1]["score"]
    assert len(context.statements) == 1
    assert not context.searches
