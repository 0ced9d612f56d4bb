"""Parents and children of pages."""

import pytest

from db.ids import new_id
from resolvers.errors import BadInput, NotFound
from resolvers.links.links import link_pages
from resolvers.model.drafts import PageDraft
from resolvers.pages.hierarchy import set_parent
from resolvers.pages.lifecycle import archive_page, create_page
from tests.wiki import Wiki


async def create(wiki: Wiki, title: str):
    return (await create_page(wiki.database, wiki.scope, PageDraft("topic", title))).page_id


async def links(wiki: Wiki) -> set[tuple]:
    return {(link["from_page_id"], link["kind"], link["to_page_id"]) for link in await wiki.rows("links")}


async def test_a_parent_is_mirrored_by_two_links(wiki: Wiki) -> None:
    texas, austin = await create(wiki, "Texas"), await create(wiki, "Austin")
    saved = await set_parent(wiki.database, wiki.scope, austin, parent_id=texas)
    assert (saved.changed, saved.version) == (True, 1)
    assert await links(wiki) == {(texas, "parent_of", austin), (austin, "child_of", texas)}
    assert (await wiki.page(texas))["hubness_score"] == 2
    assert not (await set_parent(wiki.database, wiki.scope, austin, parent_id=texas)).changed
    assert (await wiki.actions())[2:] == ["page.moved"]


async def test_moving_a_page_removes_its_old_parent_links_and_keeps_references(wiki: Wiki) -> None:
    texas, usa, austin = [await create(wiki, title) for title in ("Texas", "USA", "Austin")]
    await link_pages(wiki.database, wiki.scope, austin, texas)
    await set_parent(wiki.database, wiki.scope, austin, parent_id=texas)
    await set_parent(wiki.database, wiki.scope, austin, parent_id=usa)
    reference = (austin, "reference", texas)
    assert await links(wiki) == {(usa, "parent_of", austin), (austin, "child_of", usa), reference}
    await set_parent(wiki.database, wiki.scope, austin, parent_id=None)
    assert await links(wiki) == {reference}
    assert [(await wiki.page(page_id))["hubness_score"] for page_id in (texas, usa)] == [1, 0]


async def test_archived_children_do_not_count_in_the_hubness_of_their_parent(wiki: Wiki) -> None:
    texas, austin = await create(wiki, "Texas"), await create(wiki, "Austin")
    await set_parent(wiki.database, wiki.scope, austin, parent_id=texas)
    await archive_page(wiki.database, wiki.scope, austin)
    assert (await wiki.page(texas))["hubness_score"] == 0


async def test_a_page_cannot_be_its_own_ancestor(wiki: Wiki) -> None:
    a, b, c = [await create(wiki, title) for title in "ABC"]
    await set_parent(wiki.database, wiki.scope, b, parent_id=a)
    await set_parent(wiki.database, wiki.scope, c, parent_id=b)
    for parent_id in (a, b, c):
        with pytest.raises(BadInput) as refused:
            await set_parent(wiki.database, wiki.scope, a, parent_id=parent_id)
        assert refused.value.field == "parentId"


async def test_a_parent_must_be_in_the_same_wiki(wiki: Wiki) -> None:
    own, foreign = await create(wiki, "A"), await create(await wiki.neighbour(), "B")
    with pytest.raises(BadInput, match="same wiki"):
        await set_parent(wiki.database, wiki.scope, own, parent_id=foreign)
    with pytest.raises(NotFound):
        await set_parent(wiki.database, wiki.scope, own, parent_id=new_id())
