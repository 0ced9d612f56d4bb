"""Search: the words that find a page, the order of hits, and queries that could break it."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import settings as profile
from hypothesis import strategies as st

from resolvers.model.drafts import PageDraft
from resolvers.pages.aliases import add_alias
from resolvers.pages.lifecycle import archive_page, create_page
from resolvers.pages.upsert import upsert_page
from resolvers.search.request import SearchRequest, SearchResult
from resolvers.search.search import search
from tests.wiki import Wiki, close_wiki, open_wiki


async def make(wiki: Wiki, title: str, body: str = "", *aliases: str) -> str:
    draft = PageDraft(type="topic", title=title, body=body, aliases=aliases)
    saved = await create_page(wiki.database, wiki.scope, draft)
    return str(saved.page_id)


async def found(wiki: Wiki, query: str, limit: int | None = None) -> list[str]:
    request = SearchRequest(query) if limit is None else SearchRequest(query, first=limit)
    return [str(hit.page_id) for hit in (await search(wiki.database, wiki.scope, request)).hits]


async def test_words_of_title_summary_and_body_find_a_page(wiki: Wiki) -> None:
    page = await make(wiki, "Franklin Barbecue", "## Notes\n\nThe brisket was smoked over oak.")
    await make(wiki, "Lisbon", "Trams.")
    for query in ("barbecue", "brisket", "smoking oak", "Franklin BRISKET"):
        assert await found(wiki, query) == [page]


async def test_every_prefix_of_a_word_finds_its_page(wiki: Wiki) -> None:
    page = await make(wiki, "Empanadas", "Baked.")
    for end in range(2, len("empanadas") + 1):
        assert await found(wiki, "empanadas"[:end]) == [page]


async def test_a_page_is_found_once_when_several_of_its_names_match(wiki: Wiki) -> None:
    page = await make(wiki, "Austin", "Austin.", "Austin TX", "Austin Texas", "City of Austin")
    (hit,) = (await search(wiki.database, wiki.scope, SearchRequest("austin"))).hits
    assert str(hit.page_id) == page
    assert hit.matched_alias is None, "it is the title"


async def test_a_page_with_the_exact_name_comes_first(wiki: Wiki) -> None:
    await make(wiki, "Vector class and vector operations", "vector class " * 50)
    page = await make(wiki, "Vector class", "Short.")
    other = await make(wiki, "Arrays", "Contiguous.", "vec")
    assert (await found(wiki, "vector class"))[0] == page
    assert (await found(wiki, "VEC"))[0] == other


async def test_accents_and_case_make_no_difference(wiki: Wiki) -> None:
    page = await make(wiki, "Momofuku Daishō", "Réglages du café.")
    for query in ("daisho", "DAISHŌ", "reglages", "café"):
        assert await found(wiki, query) == [page]


async def test_percent_and_underscore_are_no_wildcards(wiki: Wiki) -> None:
    await make(wiki, "Plain", "Nothing special.")
    for query in ("%", "_", "%%%", "100%", "a_b"):
        assert await found(wiki, query) == []


async def test_a_name_in_any_script_is_found(wiki: Wiki) -> None:
    pages = {title: await make(wiki, title) for title in ("喫茶店", "Ссылки", "ไทย", "روابط")}
    for title, page in pages.items():
        assert await found(wiki, title) == [page]


async def test_archived_pages_and_other_wikis_are_not_found(wiki: Wiki) -> None:
    page = await make(wiki, "Austin")
    other = await wiki.neighbour()
    await make(other, "Austin")
    assert await found(wiki, "austin") == [page]
    (row,) = await wiki.rows("pages")
    await archive_page(wiki.database, wiki.scope, row["id"])
    assert await found(wiki, "austin") == []


@pytest.mark.parametrize("query", ["", "   ", "?!", "…", "—", "\u200b"])
async def test_an_empty_search_runs_no_statement(wiki: Wiki, query: str) -> None:
    await wiki.database.close()
    assert await search(wiki.database, wiki.scope, SearchRequest(query)) == SearchResult()
    await wiki.database.open()


async def test_the_number_of_hits_is_clamped_and_20_by_default(wiki: Wiki) -> None:
    for n in range(25):
        await make(wiki, f"Coffee number {n}")
    sizes = {None: 20, 0: 1, -5: 1, 7: 7, 1000: 25}
    for limit, size in sizes.items():
        assert len(await found(wiki, "coffee", limit)) == size


async def test_hits_of_equal_score_have_a_stable_order(wiki: Wiki) -> None:
    for _ in range(6):
        await make(wiki, "Same title")
    orders = {tuple(await found(wiki, "same title")) for _ in range(5)}
    assert len(orders) == 1


@pytest.mark.parametrize(
    "query", ["kiln", "how does the old kiln on that hill warm the whole town"], ids=["few", "many"]
)
async def test_hits_of_equal_score_are_ordered_by_last_compile(wiki: Wiki, query: str) -> None:
    """The pages are created in another order than they are compiled, so that their ids cannot decide."""
    pages = {name: await make(wiki, f"Kiln {name}", "The old kiln on the hill.") for name in ("none", "west", "east")}
    scores = {hit.score for hit in (await search(wiki.database, wiki.scope, SearchRequest(query))).hits}
    assert len(scores) == 1, "otherwise this test says nothing"
    for name in ("east", "west"):
        draft = PageDraft(type="topic", title=f"Kiln {name}", slug=f"kiln-{name}")
        await upsert_page(wiki.database, wiki.scope, draft, mark_compiled=True)
    assert await found(wiki, query) == [pages["west"], pages["east"], pages["none"]]
    assert await found(wiki, query, 1) == [pages["west"]], "also where the list ends among equals"


async def test_a_new_alias_finds_its_page_at_once(wiki: Wiki) -> None:
    page = await make(wiki, "Austin")
    (row,) = await wiki.rows("pages")
    await add_alias(wiki.database, wiki.scope, row["id"], name="Live Music Capital")
    assert await found(wiki, "music cap") == [page]


def test_no_query_raises_an_error(shared_dsn: str) -> None:
    """Operators of tsquery and LIKE, control characters, long words and long queries are read as text."""
    with asyncio.Runner() as runner:
        wiki = runner.run(open_wiki(shared_dsn))
        runner.run(make(wiki, "C++ templates & std::vector", "what's new (x | y) !z <-> :*"))

        @profile(max_examples=300)
        @given(st.one_of(st.text(max_size=300), st.text("&|!()<->:*'\"\\%_ ab", max_size=60), long_words()))
        def harmless(query: str) -> None:
            for hit in runner.run(search(wiki.database, wiki.scope, SearchRequest(query, with_snippets=True))).hits:
                assert hit.score >= 0
                assert hit.page_id

        harmless()
        runner.run(close_wiki(wiki))


def long_words() -> st.SearchStrategy[str]:
    return st.builds(str.__mul__, st.text(min_size=1, max_size=8), st.integers(1, 1500))
