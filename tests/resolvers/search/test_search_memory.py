"""The cache of interpreted queries: it stores no results, and nothing that is out of date."""

from resolvers.auth.owners import set_language
from resolvers.model.drafts import PageDraft
from resolvers.pages.lifecycle import archive_page, create_page, delete_page, update_page
from resolvers.search.query_cache import query_cache_of
from resolvers.search.reindexing import reindex
from resolvers.search.request import Filter, SearchRequest
from resolvers.search.search import search
from resolvers.search.source_search import SourceSearchRequest, search_sources
from resolvers.sources.retain import retain_sources
from resolvers.sources.sources import SourceDraft
from tests.wiki import Wiki

ANYTHING = Filter()


async def slugs(wiki: Wiki, text: str, wanted: Filter = ANYTHING) -> list[str]:
    found = await search(wiki.database, wiki.scope, SearchRequest(text, filter=wanted))
    named = {row["id"]: row["slug"] for row in await wiki.rows("pages")}
    return [named[hit.page_id] for hit in found.hits]


async def test_a_new_page_is_found_by_a_cached_query(wiki: Wiki) -> None:
    for number in range(30):
        await create_page(wiki.database, wiki.scope, PageDraft("topic", f"Harbour {number}"))
    assert await slugs(wiki, "lighthouse") == []
    await create_page(wiki.database, wiki.scope, PageDraft("topic", "The lighthouse keeper", body="By the harbour."))
    assert (await wiki.rows("search_changes")) != []  # nobody has counted its words yet
    assert await slugs(wiki, "lighthouse") == ["the-lighthouse-keeper"]


async def test_a_changed_page_is_found_by_its_current_text(wiki: Wiki) -> None:
    page_id = (
        await create_page(wiki.database, wiki.scope, PageDraft("topic", "Ferry", body="It leaves at noon."))
    ).page_id
    assert await slugs(wiki, "noon") == ["ferry"]
    assert await slugs(wiki, "dusk") == []
    await update_page(wiki.database, wiki.scope, page_id, body="It leaves at dusk.")
    assert await slugs(wiki, "noon") == []
    assert await slugs(wiki, "dusk") == ["ferry"]
    await archive_page(wiki.database, wiki.scope, page_id)
    assert await slugs(wiki, "dusk") == []
    assert await slugs(wiki, "dusk status:archived") == ["ferry"]
    await delete_page(wiki.database, wiki.scope, page_id)
    assert await slugs(wiki, "dusk status:archived") == []


async def test_a_cached_query_is_not_shared_by_wikis_or_filters(wiki: Wiki) -> None:
    other = await wiki.neighbour()
    await create_page(wiki.database, wiki.scope, PageDraft("topic", "Pier", body="A ferry."))
    await create_page(wiki.database, wiki.scope, PageDraft("entity", "Ropes", body="A ferry."))
    await create_page(other.database, other.scope, PageDraft("topic", "Gulls", body="A ferry."))
    for _ in range(2):
        assert sorted(await slugs(wiki, "ferry")) == ["pier", "ropes"]
        assert await slugs(wiki, "ferry", Filter(types=("topic",))) == ["pier"]
        assert await slugs(other, "ferry") == ["gulls"]


async def test_a_cached_query_is_interpreted_anew_after_reindexing(wiki: Wiki) -> None:
    await create_page(wiki.database, wiki.scope, PageDraft("topic", "Segeln", body="Zwei Häuser."))
    assert await slugs(wiki, "haus ") == []
    for language, found in (("german", ["segeln"]), ("english", [])):
        await set_language(wiki.database, wiki.scope.tenant_id, wiki.scope.owner_id, language)
        await reindex(wiki.database, wiki.scope.tenant_id, wiki.scope.owner_id, again=True)
        assert await slugs(wiki, "haus ") == found


async def test_long_and_mistyped_queries_are_not_cached(wiki: Wiki) -> None:
    await create_page(wiki.database, wiki.scope, PageDraft("topic", "Lighthouse", body="A tall one."))
    for text in ("lighthuose", "tall " * 60):
        await slugs(wiki, text)
    assert not query_cache_of(wiki.database).page_queries.entries
    await slugs(wiki, "lighthouse")
    assert len(query_cache_of(wiki.database).page_queries.entries) == 1


async def passages(wiki: Wiki, text: str) -> list[str]:
    found = await search_sources(wiki.database, wiki.scope, SourceSearchRequest(text))
    return [hit.text for hit in found.hits]


async def test_a_new_source_is_found_by_a_cached_query(wiki: Wiki) -> None:
    for number in range(30):
        draft = SourceDraft("url", f"harbour-{number}", "The harbour is wide.")
        await retain_sources(wiki.database, wiki.scope, [draft])
        await passages(wiki, "lighthouses")
    text = "The lighthouse stands by the harbour."
    await retain_sources(wiki.database, wiki.scope, [SourceDraft("url", "lighthouse", text)])
    assert await passages(wiki, "lighthouses") == [text]
    assert (await passages(wiki, "harbour lighthouse"))[0] == text


async def test_a_passage_query_is_interpreted_anew_once_passages_are_recounted(wiki: Wiki) -> None:
    await retain_sources(wiki.database, wiki.scope, [SourceDraft("url", "lighthouse", "The lighthouse is tall.")])
    cache = query_cache_of(wiki.database).passage_queries
    assert await passages(wiki, "tall lighthouse")
    (first,) = cache.entries.values()
    assert await passages(wiki, "tall lighthouse")
    assert list(cache.entries.values()) == [first]
    drafts = [SourceDraft("url", f"mole-{number}", f"Mole {number}.") for number in range(9)]
    await retain_sources(wiki.database, wiki.scope, drafts)
    assert await passages(wiki, "tall lighthouse")
    (later,) = cache.entries.values()
    assert later.interpreted.pages == first.interpreted.pages + 9


async def test_long_and_mistyped_passage_queries_are_not_cached(wiki: Wiki) -> None:
    await retain_sources(wiki.database, wiki.scope, [SourceDraft("url", "lighthouse", "The lighthouse is tall.")])
    for text in ("lighthuose", "tall " * 60):
        assert await passages(wiki, text)
    assert not query_cache_of(wiki.database).passage_queries.entries


async def test_the_query_cache_is_limited_by_total_length(wiki: Wiki) -> None:
    await create_page(wiki.database, wiki.scope, PageDraft("topic", "Lighthouse", body="A tall one."))
    await retain_sources(wiki.database, wiki.scope, [SourceDraft("url", "lighthouse", "The lighthouse is tall.")])
    cache = query_cache_of(wiki.database)
    questions = [f"lighthouse tall {number}" for number in range(10, 19)]
    length = len(questions[0])
    cache.page_queries.max_weight = cache.passage_queries.max_weight = 3 * length
    for text in questions:
        await slugs(wiki, text)
        await passages(wiki, text)
    assert [key[2] for key in cache.page_queries.entries] == questions[-3:]  # type: ignore[index]
    assert [key[2] for key in cache.passage_queries.entries] == questions[-3:]  # type: ignore[index]
    assert cache.page_queries.total_weight == cache.passage_queries.total_weight == 3 * length
