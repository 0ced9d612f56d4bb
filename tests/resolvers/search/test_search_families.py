"""Codes that no page contains are found on the page that has the neighbouring codes."""

from typing import Any

import pytest

from resolvers.model.drafts import PageDraft
from resolvers.pages.lifecycle import archive_page, create_page
from resolvers.search.request import SearchRequest
from resolvers.search.search import search
from tests.wiki import Wiki

LINKER = tuple(f"LNK{n}" for n in (1100, 1101, 1144, 1200, 2013, 2019))


@pytest.fixture
async def errors(wiki: Wiki) -> Wiki:
    await make(wiki, "Linker errors", "What the linker says.", aliases=LINKER)
    await make(wiki, "Unresolved external", "A symbol is missing.", aliases=("LNK2001",))
    await make(wiki, "Build tools", "Where they are kept.", aliases=("BT10", "BT11"))
    return wiki


async def make(wiki: Wiki, title: str, body: str, **more: Any) -> None:
    await create_page(wiki.database, wiki.scope, PageDraft("topic", title, body=body, **more))


async def found(wiki: Wiki, text: str, **how: Any) -> list[tuple[str, str | None]]:
    """Return the title and the matched alias of each hit."""
    named = {row["id"]: row["title"] for row in await wiki.rows("pages")}
    hits = (await search(wiki.database, wiki.scope, SearchRequest(text, **how))).hits
    return [(named[hit.page_id], hit.matched_alias) for hit in hits]


async def test_a_code_that_no_page_has_finds_the_page_with_neighbouring_codes(errors: Wiki) -> None:
    assert await found(errors, "LNK2014") == [("Linker errors", "lnk2013")]
    assert (await found(errors, "missing symbol lnk2014"))[0] == ("Linker errors", "lnk2013")


async def test_a_code_that_is_a_name_finds_its_page_alone(errors: Wiki) -> None:
    assert await found(errors, "LNK2001") == [("Unresolved external", "lnk2001")]


@pytest.mark.parametrize("code", ["LNK14", "LNK20144", "LNX2014", "BT12", "LNK20x4", "2014"])
async def test_codes_of_another_form_or_with_too_few_neighbours_find_nothing(errors: Wiki, code: str) -> None:
    assert await found(errors, code) == []


async def test_a_code_is_counted_and_filtered_like_any_name(errors: Wiki) -> None:
    counted = await search(errors.database, errors.scope, SearchRequest("LNK2014", with_counts=True))
    assert (counted.total, counted.types) == (1, (("topic", 1),))
    assert await found(errors, "LNK2014 type:entity") == []


async def test_neighbouring_codes_of_archived_pages_need_the_status_operator(errors: Wiki) -> None:
    assert await found(errors, "LNK2014")
    page = await errors.row("pages", title="Linker errors")
    await archive_page(errors.database, errors.scope, page["id"])
    assert await found(errors, "LNK2014") == []
    assert await found(errors, "LNK2014 status:archived") == [("Linker errors", "lnk2013")]
