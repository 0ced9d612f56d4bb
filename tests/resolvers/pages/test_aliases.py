"""Aliases of a page."""

import pytest

from resolvers.errors import BadInput
from resolvers.model.drafts import PageDraft
from resolvers.pages.aliases import add_alias, remove_alias
from resolvers.pages.lifecycle import create_page, update_page
from tests.wiki import Wiki


async def create(wiki: Wiki, title: str, body: str = "", type: str = "topic"):
    return (await create_page(wiki.database, wiki.scope, PageDraft(type, title, body=body))).page_id


async def test_an_alias_is_stored_as_written_and_in_normalised_form(wiki: Wiki) -> None:
    page_id = await create(wiki, "Austin")
    saved = await add_alias(wiki.database, wiki.scope, page_id, name="  Bat   Citý! ")
    row = await wiki.row("aliases", alias="bat city")
    assert (row["name"], row["source"], saved.version) == ("Bat Citý!", "manual", 1)
    assert await wiki.actions() == ["page.created", "alias.added"]


async def test_adding_an_existing_alias_changes_nothing(wiki: Wiki) -> None:
    page_id = await create(wiki, "Austin")
    assert (await add_alias(wiki.database, wiki.scope, page_id, name="ATX")).changed
    assert not (await add_alias(wiki.database, wiki.scope, page_id, name="atx")).changed
    assert await wiki.actions() == ["page.created", "alias.added"]


@pytest.mark.parametrize("name", ["", "?!", "a\0", "\udfff", "x" * 501])
async def test_an_invalid_alias_is_refused(wiki: Wiki, name: str) -> None:
    page_id = await create(wiki, "Austin")
    with pytest.raises(BadInput) as refused:
        await add_alias(wiki.database, wiki.scope, page_id, name=name)
    assert refused.value.field == "name"


async def test_links_follow_added_and_removed_aliases(wiki: Wiki) -> None:
    reader = await create(wiki, "Reader", "[[Bat City]]")
    austin = await create(wiki, "Austin")
    assert await wiki.targets(reader) == {"bat-city": None}
    await add_alias(wiki.database, wiki.scope, austin, name="Bat City")
    assert await wiki.references() == {(reader, austin): {"text"}}
    assert (await wiki.page(austin))["hubness_score"] == 1
    await remove_alias(wiki.database, wiki.scope, austin, name="BAT CITY")
    assert await wiki.references() == {}
    assert (await wiki.page(austin))["hubness_score"] == 0


async def test_the_alias_of_a_former_title_can_be_removed_but_not_of_the_title(wiki: Wiki) -> None:
    page_id = await create(wiki, "Austin")
    with pytest.raises(BadInput) as refused:
        await remove_alias(wiki.database, wiki.scope, page_id, name="AUSTIN!")
    assert refused.value.field == "name"
    await update_page(wiki.database, wiki.scope, page_id, title="Bat City")
    assert (await remove_alias(wiki.database, wiki.scope, page_id, name="Austin")).changed
    assert not (await remove_alias(wiki.database, wiki.scope, page_id, name="Austin")).changed


async def test_a_link_by_a_shared_alias_resolves_to_the_older_page(wiki: Wiki) -> None:
    first, second = await create(wiki, "Austin"), await create(wiki, "Boston")
    for page_id in (second, first):
        await add_alias(wiki.database, wiki.scope, page_id, name="The City")
    reader = await create(wiki, "Reader", "[[The City]]")
    assert await wiki.targets(reader) == {"the-city": first}
