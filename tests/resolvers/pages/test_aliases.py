"""Aliases of a page."""

import pytest

from resolvers.errors import BadInput
from resolvers.model.drafts import PageDraft
from resolvers.pages.aliases import add_alias, remove_alias
from resolvers.pages.lifecycle import create_page, update_page
from tests.wiki import Wiki


async def create(wiki: Wiki, title: str, body: str = "", type: str = "topic"):
    return (await create_page(wiki.database, wiki.scope, PageDraft(type, title, body=body))).page_id


async def test_an_alias_is_kept_as_written_and_found_normalised(wiki: Wiki) -> None:
    page_id = await create(wiki, "Austin")
    saved = await add_alias(wiki.database, wiki.scope, page_id, name="  Bat   Citý! ")
    row = await wiki.row("aliases", alias="bat city")
    assert (row["name"], row["source"], saved.version) == ("Bat Citý!", "manual", 1)
    assert await wiki.actions() == ["page.created", "alias.added"]


async def test_the_same_alias_again_is_no_change(wiki: Wiki) -> None:
    page_id = await create(wiki, "Austin")
    assert (await add_alias(wiki.database, wiki.scope, page_id, name="ATX")).changed
    assert not (await add_alias(wiki.database, wiki.scope, page_id, name="atx")).changed
    assert await wiki.actions() == ["page.created", "alias.added"]


@pytest.mark.parametrize("name", ["", "?!", "a\0", "\udfff", "x" * 501])
async def test_a_name_by_which_nothing_could_be_found_is_refused(wiki: Wiki, name: str) -> None:
    page_id = await create(wiki, "Austin")
    with pytest.raises(BadInput) as refused:
        await add_alias(wiki.database, wiki.scope, page_id, name=name)
    assert refused.value.field == "name"


async def test_links_follow_an_alias_as_it_comes_and_goes(wiki: Wiki) -> None:
    reader = await create(wiki, "Reader", "[[Bat City]]")
    austin = await create(wiki, "Austin")
    assert await wiki.targets(reader) == {"bat-city": None}
    await add_alias(wiki.database, wiki.scope, austin, name="Bat City")
    assert await wiki.references() == {(reader, austin): {"text"}}
    assert (await wiki.page(austin))["hubness_score"] == 1
    await remove_alias(wiki.database, wiki.scope, austin, name="BAT CITY")
    assert await wiki.references() == {}
    assert (await wiki.page(austin))["hubness_score"] == 0


async def test_a_title_always_names_its_page_but_a_former_one_may_go(wiki: Wiki) -> None:
    page_id = await create(wiki, "Austin")
    with pytest.raises(BadInput) as refused:
        await remove_alias(wiki.database, wiki.scope, page_id, name="AUSTIN!")
    assert refused.value.field == "name"
    await update_page(wiki.database, wiki.scope, page_id, title="Bat City")
    assert (await remove_alias(wiki.database, wiki.scope, page_id, name="Austin")).changed
    assert not (await remove_alias(wiki.database, wiki.scope, page_id, name="Austin")).changed


async def test_two_pages_may_share_an_alias_and_a_link_means_the_older(wiki: Wiki) -> None:
    first, second = await create(wiki, "Austin"), await create(wiki, "Boston")
    for page_id in (second, first):
        await add_alias(wiki.database, wiki.scope, page_id, name="The City")
    reader = await create(wiki, "Reader", "[[The City]]")
    assert await wiki.targets(reader) == {"the-city": first}
