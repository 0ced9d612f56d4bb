"""The same change to many pages, each of which succeeds or fails separately."""

import pytest

from db.ids import new_id
from db.scope import Role
from resolvers.errors import BadInput
from resolvers.model.drafts import PageDraft
from resolvers.pages.batches import PAGES_MAX, archive_pages, tag_pages, unarchive_pages
from resolvers.pages.lifecycle import create_page
from tests.wiki import Wiki


async def create(wiki: Wiki, title: str, **more: object):
    return (await create_page(wiki.database, wiki.scope, PageDraft("topic", title, **more))).page_id


async def test_an_error_of_one_page_does_not_affect_the_others(wiki: Wiki) -> None:
    a, b = await create(wiki, "A"), await create(wiki, "B")
    outcomes = await archive_pages(wiki.database, wiki.scope, [a, new_id(), b, a])
    assert [outcome.error and outcome.error.code for outcome in outcomes] == [None, "NOT_FOUND", None, None]
    assert [outcome.saved and outcome.saved.changed for outcome in outcomes] == [True, None, True, False]
    assert {row["status"] for row in await wiki.rows("pages")} == {"archived"}
    await unarchive_pages(wiki.database, wiki.scope, [a, b])
    assert {row["status"] for row in await wiki.rows("pages")} == {"active"}


async def test_tags_are_added_and_removed(wiki: Wiki) -> None:
    a, b = await create(wiki, "A", tags=["old", "kept"]), await create(wiki, "B", tags=[str(n) for n in range(50)])
    outcomes = await tag_pages(wiki.database, wiki.scope, [a, b], add=["new", "kept"], remove=["old"])
    assert [outcome.error and outcome.error.code for outcome in outcomes] == [None, "BAD_USER_INPUT"]
    assert (await wiki.page(a))["tags"] == ["kept", "new"]
    assert (await wiki.page(b))["version"] == 1


async def test_batches_that_are_too_large_or_contradictory_are_refused(wiki: Wiki) -> None:
    with pytest.raises(BadInput, match="at most 100"):
        await archive_pages(wiki.database, wiki.scope, [new_id() for _ in range(PAGES_MAX + 1)])
    with pytest.raises(BadInput) as refused:
        await tag_pages(wiki.database, wiki.scope, [], add=["x", " "])
    assert refused.value.field == "add.1"
    with pytest.raises(BadInput, match="at once"):
        await tag_pages(wiki.database, wiki.scope, [], add=["x"], remove=["x"])


async def test_pages_of_other_wikis_are_reported_as_not_found(wiki: Wiki) -> None:
    page_id, other = await create(wiki, "A"), await wiki.neighbour(Role.MEMBER)
    (outcome,) = await archive_pages(wiki.database, other.scope, [page_id])
    assert (outcome.saved, outcome.error and outcome.error.code) == (None, "NOT_FOUND")
