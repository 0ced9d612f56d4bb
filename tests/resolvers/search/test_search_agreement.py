"""Linked pages: pages without the words of the query, to which several matching pages link."""

from typing import Any
from uuid import UUID

import pytest

from resolvers.model.drafts import PageDraft
from resolvers.pages.lifecycle import archive_page, create_page
from resolvers.search.request import Filter, SearchRequest, SearchResult
from resolvers.search.search import ranking_values, search
from tests.wiki import Wiki

SAYING = [
    ("Glossary", "Frontmatter comes first: see [[Properties]]."),
    ("Bases syntax", "Frontmatter may be asked for, as [[Properties]] are, and frontmatter is sorted."),
]
FILLER = 4


@pytest.fixture
async def vault(wiki: Wiki) -> Wiki:
    """Two pages that contain the word, a page to which both link, and others."""
    await make(wiki, "Properties", "What is kept of a note.\n\n## Types\n\nText and dates.", tags=("notes",))
    for title, body in SAYING:
        await make(wiki, title, body)
    for n in range(FILLER):
        await make(wiki, f"Note {n}", "Something else.")
    return wiki


async def make(wiki: Wiki, title: str, body: str, **more: Any) -> UUID:
    return (await create_page(wiki.database, wiki.scope, PageDraft("topic", title, body=body, **more))).page_id


async def ask(wiki: Wiki, text: str, **how: Any) -> SearchResult:
    return await search(wiki.database, wiki.scope, SearchRequest(text, **how))


async def titles(wiki: Wiki, text: str, **how: Any) -> list[str]:
    named = {row["id"]: row["title"] for row in await wiki.rows("pages")}
    return [named[hit.page_id] for hit in (await ask(wiki, text, **how)).hits]


async def test_a_page_linked_by_several_of_the_best_hits_is_found(vault: Wiki) -> None:
    assert set(await titles(vault, "frontmatter")) == {"Glossary", "Bases syntax", "Properties"}
    assert (await titles(vault, "frontmatter"))[-1] == "Properties"


async def test_a_linked_page_is_explained_and_has_its_beginning_as_snippet(vault: Wiki) -> None:
    *_, hit = (await ask(vault, "frontmatter", explained=True, with_snippets=True)).hits
    assert hit.explanation is not None
    assert hit.explanation["parts"]["linked"] == hit.score > 0
    assert hit.snippet is not None
    assert (hit.snippet.text, hit.snippet.highlights) == ("What is kept of a note.", ())
    assert hit.section_id is not None


async def test_a_linked_page_is_counted_in_the_totals(vault: Wiki) -> None:
    found = await ask(vault, "frontmatter", with_counts=True)
    assert (found.total, found.total_is_exact, found.types) == (3, True, (("topic", 3),))
    assert found.tags == (("notes", 1),)


async def test_the_ranking_query_finds_linked_pages(vault: Wiki) -> None:
    request = SearchRequest("frontmatter", with_cursors=False)
    values = await ranking_values(vault.database, vault.scope, request, is_stale=False)
    assert values is not None
    assert values["agreed"]


async def test_paging_shows_a_linked_page_once_with_a_constant_total(vault: Wiki) -> None:
    seen, after = [], None
    for _ in range(3):
        found = await ask(vault, "frontmatter", first=1, after=after, with_counts=True)
        assert (len(found.hits), found.total) == (1, 3)
        seen.append(found.hits[0].page_id)
        after = found.hits[0].cursor
    assert len(set(seen)) == 3
    end = await ask(vault, "frontmatter", first=1, after=after, with_counts=True)
    assert (end.hits, end.total, end.has_next_page) == ((), 3, False)


async def test_a_linked_page_must_satisfy_the_operators_of_the_query(vault: Wiki) -> None:
    demands = ("-kept", "tag:other", "type:entity", '"comes first"', "in:title", "updated:<2020", "-tag:notes")
    for demand in demands:
        assert "Properties" not in await titles(vault, f"frontmatter {demand}"), demand


async def test_a_single_matching_page_adds_no_linked_page(vault: Wiki) -> None:
    assert await titles(vault, "frontmatter -glossary") == ["Bases syntax"]


async def test_a_filter_applies_to_linked_pages(vault: Wiki) -> None:
    assert "Properties" in await titles(vault, "frontmatter", filter=Filter(types=("topic",)))
    assert "Properties" not in await titles(vault, "frontmatter", filter=Filter(excluded_tags=("notes",)))


async def test_archived_linked_pages_are_not_found(vault: Wiki) -> None:
    page = await vault.row("pages", title="Properties")
    await archive_page(vault.database, vault.scope, page["id"])
    assert set(await titles(vault, "frontmatter")) == {"Glossary", "Bases syntax"}
    assert (await ask(vault, "frontmatter", with_counts=True)).total == 2


async def test_a_mistyped_query_finds_no_linked_pages(vault: Wiki) -> None:
    assert set(await titles(vault, "frontmattre ")) == {"Glossary", "Bases syntax"}


async def test_the_name_of_a_page_finds_no_linked_pages(vault: Wiki) -> None:
    assert "Properties" not in await titles(vault, "Glossary")


async def test_a_page_linked_from_most_of_the_wiki_is_not_found(vault: Wiki) -> None:
    for n in range(3):
        await make(vault, f"Hub note {n}", "See [[Properties]].")
    assert "Properties" not in await titles(vault, "frontmatter")


async def test_a_page_linked_by_few_of_the_best_hits_is_not_found(vault: Wiki) -> None:
    for n in range(3):
        await make(vault, f"Other {n}", "Frontmatter, frontmatter, frontmatter.")
    assert "Properties" not in await titles(vault, "frontmatter")


async def test_pages_with_long_lists_of_links_add_no_linked_pages(vault: Wiki) -> None:
    for n in range(4):
        await make(vault, f"Listed {n}", "An entry.")
    links = " ".join(f"[[Listed {n}]]" for n in range(4))
    for title in ("List", "Lists"):
        await make(vault, title, f"Wombats: {links}")
    assert set(await titles(vault, "wombats")) == {"List", "Lists"}


async def test_links_add_no_page_to_20_matching_pages(vault: Wiki) -> None:
    for n in range(24):
        await make(vault, f"Empty {n}", "Nothing of it.")
    for n in range(17):
        await make(vault, f"More {n}", "Frontmatter, frontmatter: [[Properties]]." if n < 6 else f"Frontmatter {n}.")
    assert (await ask(vault, "frontmatter", with_counts=True)).total == 19 + 1
    await make(vault, "One more", "Frontmatter again.")
    assert (await ask(vault, "frontmatter", with_counts=True)).total == 20
