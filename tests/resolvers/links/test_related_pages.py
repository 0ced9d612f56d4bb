"""Pages that a draft names as related, and how a slug without a type resolves."""

from typing import Any
from unicodedata import normalize
from uuid import UUID

import pytest

from resolvers.errors import BadInput, Conflict, NotFound
from resolvers.model.drafts import PageDraft
from resolvers.model.lookup import SharedSlug, locate_slug
from resolvers.pages.lifecycle import archive_page, create_page, unarchive_page, update_page
from resolvers.pages.upsert import upsert_page
from tests.wiki import Wiki, check_derived_rows


async def create(wiki: Wiki, title: str, type: str = "topic", **more: Any) -> UUID:
    draft = PageDraft(type=type, title=title, **more)
    return (await create_page(wiki.database, wiki.scope, draft)).page_id


async def test_related_pages_are_linked_with_the_reason_related(wiki: Wiki) -> None:
    austin = await create(wiki, "Austin")
    zilker = await create(wiki, "Zilker", body="In [[Austin]].", related=["austin", "topic/austin"])
    assert await wiki.references() == {(zilker, austin): {"text", "related"}}
    assert (await wiki.page(austin))["hubness_score"] == 1
    await check_derived_rows(wiki)


async def test_repeating_a_relation_changes_nothing(wiki: Wiki) -> None:
    await create(wiki, "Austin")
    draft = PageDraft(type="topic", title="Zilker", related=["austin"])
    changed = [(await upsert_page(wiki.database, wiki.scope, draft)).changed for _ in range(2)]
    assert changed == [True, False]


async def test_a_page_of_another_wiki_is_not_found_as_related(wiki: Wiki) -> None:
    other = await wiki.neighbour()
    await create(other, "Austin")
    for name in ("austin", "topic/austin", "No Slug", "\0", "x" * 1000):
        with pytest.raises(BadInput):
            await create(wiki, "Zilker", related=[name])
    assert await wiki.rows("pages") == []


async def test_decomposed_letters_of_a_slug_find_the_page(wiki: Wiki) -> None:
    tea = await create(wiki, "Чай")
    ids = [
        await create(wiki, f"Shop {n}", related=[normalize("NFD", name)]) for n, name in enumerate(("чай", "topic/чай"))
    ]
    assert await wiki.references() == {(id, tea): {"related"} for id in ids}


async def test_a_slug_resolves_to_active_pages_and_current_slugs_first(wiki: Wiki) -> None:
    async def located_type(type: str | None = None) -> str:
        return (await locate_slug(wiki.database, wiki.scope, "austin", type)).type

    old = await create(wiki, "Austin", "entity")
    await update_page(wiki.database, wiki.scope, old, slug="atx")
    assert await located_type() == "entity"
    new = await create(wiki, "Austin", "topic")
    assert (await located_type(), await located_type("entity")) == ("topic", "entity")
    await archive_page(wiki.database, wiki.scope, new)
    assert await located_type() == "entity"
    await create(wiki, "Austin", "decision")
    await unarchive_page(wiki.database, wiki.scope, new)
    with pytest.raises(SharedSlug, match="topic, decision"):
        await located_type()
    with pytest.raises(NotFound):
        await located_type("concept")


async def test_archiving_with_a_stale_version_is_a_conflict(wiki: Wiki) -> None:
    page = await create(wiki, "Austin")
    for change in (archive_page, unarchive_page):
        with pytest.raises(Conflict):
            await change(wiki.database, wiki.scope, page, expected_version=2)
    await archive_page(wiki.database, wiki.scope, page, expected_version=1)
    assert (await wiki.row("pages"))["status"] == "archived"
