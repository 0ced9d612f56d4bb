"""Pages that a draft names as related, and how a slug without a type resolves."""

from typing import Any
from uuid import UUID

import pytest

from resolvers.errors import BadInput, Conflict, NotFound
from resolvers.model.drafts import PageDraft
from resolvers.model.lookup import SharedSlug, locate_slug
from resolvers.pages.lifecycle import archive_page, create_page, unarchive_page, update_page
from resolvers.pages.upsert import upsert_page
from tests.wiki import Wiki, check


async def made(wiki: Wiki, title: str, type: str = "topic", **more: Any) -> UUID:
    draft = PageDraft(type=type, title=title, **more)
    return (await create_page(wiki.database, wiki.scope, draft)).page_id


async def test_related_pages_are_linked_for_that_reason_and_lead_back(wiki: Wiki) -> None:
    austin = await made(wiki, "Austin")
    zilker = await made(wiki, "Zilker", body="In [[Austin]].", related=["austin", "topic/austin"])
    assert await wiki.references() == {(zilker, austin): {"text", "related"}}
    assert (await wiki.page(austin))["hubness_score"] == 1
    await check(wiki)


async def test_repeating_a_relation_changes_nothing(wiki: Wiki) -> None:
    await made(wiki, "Austin")
    draft = PageDraft(type="topic", title="Zilker", related=["austin"])
    changed = [(await upsert_page(wiki.database, wiki.scope, draft)).changed for _ in range(2)]
    assert changed == [True, False]


async def test_a_page_of_another_wiki_is_not_found_as_related(wiki: Wiki) -> None:
    other = await wiki.neighbour()
    await made(other, "Austin")
    for name in ("austin", "topic/austin", "No Slug", "\0", "x" * 1000):
        with pytest.raises(BadInput):
            await made(wiki, "Zilker", related=[name])
    assert await wiki.rows("pages") == []


async def test_a_slug_means_an_active_page_and_who_has_it_before_who_had_it(wiki: Wiki) -> None:
    async def meant(type: str | None = None) -> str:
        return (await locate_slug(wiki.database, wiki.scope, "austin", type)).type

    old = await made(wiki, "Austin", "entity")
    await update_page(wiki.database, wiki.scope, old, slug="atx")
    assert await meant() == "entity"
    new = await made(wiki, "Austin", "topic")
    assert (await meant(), await meant("entity")) == ("topic", "entity")
    await archive_page(wiki.database, wiki.scope, new)
    assert await meant() == "entity"
    await made(wiki, "Austin", "decision")
    await unarchive_page(wiki.database, wiki.scope, new)
    with pytest.raises(SharedSlug, match="topic, decision"):
        await meant()
    with pytest.raises(NotFound):
        await meant("concept")


async def test_archiving_an_old_version_is_a_conflict(wiki: Wiki) -> None:
    page = await made(wiki, "Austin")
    for change in (archive_page, unarchive_page):
        with pytest.raises(Conflict):
            await change(wiki.database, wiki.scope, page, expected_version=2)
    await archive_page(wiki.database, wiki.scope, page, expected_version=1)
    assert (await wiki.row("pages"))["status"] == "archived"
