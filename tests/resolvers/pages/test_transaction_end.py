"""The end of a write transaction writes each derived row once."""

from uuid import UUID

import pytest

from db.sql import statements
from resolvers.links.references import refresh_all_hubness, refresh_hubness
from resolvers.model.drafts import PageDraft
from resolvers.pages.lifecycle import create_page
from resolvers.transactions.transaction import writing
from resolvers.transactions.writer import Writer, record
from tests.wiki import Wiki

PAGES = statements("pages/pages")


async def create(wiki: Wiki, title: str, body: str = "") -> UUID:
    return (await create_page(wiki.database, wiki.scope, PageDraft("topic", title, body=body))).page_id


async def set_wrong_scores(wiki: Wiki, *page_ids: UUID) -> None:
    await wiki.connection.execute(
        "UPDATE pages SET hubness_score = 77, updated_at = '2001-01-01' WHERE id = ANY($1)", page_ids
    )


async def recount_scores(wiki: Wiki) -> None:
    async with writing(wiki.database, wiki.scope) as writer:
        await refresh_all_hubness(writer)


async def scores(wiki: Wiki) -> dict[str, tuple[int, int]]:
    """Return the hubness score of each page, and the year in which it was changed, by its title."""
    return {row["title"]: (row["hubness_score"], row["updated_at"].year) for row in await wiki.rows("pages")}


@pytest.mark.parametrize("counted", [(), ("austin",), ("austin", "boston")])
@pytest.mark.parametrize("touched", [(), ("austin",), ("boston", "reader")])
async def test_a_write_updates_only_touched_dates_and_counted_scores(
    wiki: Wiki, counted: tuple[str, ...], touched: tuple[str, ...]
) -> None:
    ids = {name: await create(wiki, name) for name in ("austin", "boston")}
    ids["reader"] = await create(wiki, "reader", "[[austin]] [[boston]]")
    await set_wrong_scores(wiki, *ids.values())
    async with writing(wiki.database, wiki.scope) as writer:
        writer.touched.update(ids[name] for name in touched)
        refresh_hubness(writer, [ids[name] for name in counted])
        now = writer.now.year
    right = {"austin": 1, "boston": 1, "reader": 0}
    assert await scores(wiki) == {
        name: (right[name] if name in counted else 77, now if name in touched else 2001) for name in ids
    }
    await recount_scores(wiki)


async def test_hubness_is_counted_at_the_end_of_the_write(wiki: Wiki) -> None:
    """A refresh that was requested before a change includes the change."""
    hub, parent = await create(wiki, "Hub"), await create(wiki, "Parent")

    async def set_parent(writer: Writer, parent_id: UUID | None) -> None:
        await writer.run(PAGES["set_parent"], page_id=hub, parent_id=parent_id)

    async with writing(wiki.database, wiki.scope) as writer:
        refresh_hubness(writer, [parent, None])
        await set_parent(writer, parent)
    assert (await wiki.page(parent))["hubness_score"] == 2
    async with writing(wiki.database, wiki.scope) as writer:
        await set_parent(writer, None)
        refresh_hubness(writer, [parent, parent])
    assert (await wiki.page(parent))["hubness_score"] == 0


async def test_a_page_deleted_in_the_write_is_not_written_again(wiki: Wiki) -> None:
    page_id = await create(wiki, "Gone")
    async with writing(wiki.database, wiki.scope) as writer:
        writer.touched.add(page_id)
        refresh_hubness(writer, [page_id])
        await writer.run(PAGES["delete_page"], page_id=page_id)
    assert await wiki.rows("pages") == []
    await wiki.empty()


async def test_activity_entries_keep_their_order_and_detail(wiki: Wiki) -> None:
    page_id = await create(wiki, "Page")
    detail = {"quote": "it's \\ 'so'", "none": None, "numbers": [1, 2.5], "page": page_id}
    async with writing(wiki.database, wiki.scope) as writer:
        await record(writer, "page.one", page_id, **detail)
        await record(writer, "wiki.other")
    lines = [
        (row["action"], row["page_id"], row["detail"]) for row in await wiki.rows("activity") if "." in row["action"]
    ]
    assert [line[:2] for line in lines] == [("page.created", page_id), ("page.one", page_id), ("wiki.other", None)]
    async with wiki.database.connection() as connection:
        stored = await connection.raw.fetchval(
            "SELECT detail FROM activity WHERE action = 'page.one' AND tenant_id = $1", wiki.scope.tenant_id
        )
    assert stored == detail | {"page": str(page_id)}
