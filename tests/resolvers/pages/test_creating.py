"""Creating pages together gives the same rows as creating them one by one, in a fixed number of statements."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from resolvers.errors import NotFound
from resolvers.model.drafts import PageDraft
from resolvers.pages.lifecycle import create_page
from resolvers.pages.renaming import rename_page
from resolvers.pages.upsert import Prepared, count_new_words, prepare_draft, upsert_page, upsert_pages
from tests.recording_database import RecordingDatabase, recording_database
from tests.wiki import Wiki

DRAFTS = [
    PageDraft("topic", "Austin", body="See [[Bat City]].\n\n## Food\n\n[[Barbecue]] and [[Nowhere]].", aliases=["ATX"]),
    PageDraft("topic", "Barbecue", body="In [[ATX]].", summary="Meat, slowly.", tags=["food", "slow food"]),
    PageDraft("entity", "Bat City", body="Another name.", aliases=["ATX", "Austin"], former_slugs=["bats", "austin"]),
    PageDraft("topic", "Bats", body="[x](/wiki/entity/bats)", status="archived", metadata={"seen": [1, None]}),
    PageDraft("topic", "Empty", body="", former_slugs=["barbecue", "nothing"]),
]
COLUMNS = {
    "pages": "type, slug, title, summary, body_md, status, tags, metadata, version, hubness_score",
    "sections": "section_slug, heading, body_md, position",
    "aliases": "alias, name, source",
    "old_slugs": "type, slug",
    "page_names": "kind, name, status",
    "revisions": "version, title, summary, body_md, tags, edit_summary, author_id",
    "activity": "action, detail",
    "link_targets": "target, slug, alias, (SELECT slug FROM pages p WHERE p.tenant_id = $1 AND p.id = to_page_id)",
    "links": "kind, reasons, (SELECT slug FROM pages p WHERE p.tenant_id = $1 AND p.id = to_page_id)",
    "search_pages": "status, type, tags, title_words, words, length(tsv), length(name_tsv)",
    "search_scopes": "pages, words, languages",
    "search_vocabulary": "side, letter, length, place, words",
    "search_counts": "shelf, pages",
}


async def content(wiki: Wiki) -> dict[str, list[Any]]:
    """Return the rows of the wiki's tables, without ids, times and the letter of its words."""
    found = {}
    for table, columns in COLUMNS.items():
        sql = f"SELECT {columns} FROM {table} WHERE tenant_id = $1 AND owner_id = $2"
        rows = await wiki.connection.fetch(sql, wiki.scope.tenant_id, wiki.scope.owner_id)
        found[table] = sorted(repr(tuple(row)) for row in rows)
    return found


async def prepared(drafts: list[PageDraft]) -> list[Prepared]:
    return [await prepare_draft(draft) for draft in drafts]


async def test_pages_created_together_are_as_if_created_one_by_one(wiki: Wiki) -> None:
    other = await wiki.neighbour()
    for draft in DRAFTS:
        await upsert_page(wiki.database, wiki.scope, draft)
    await count_new_words(wiki.database, wiki.scope)
    saved = await upsert_pages(other.database, other.scope, await prepared(DRAFTS))
    await count_new_words(other.database, other.scope)
    assert all(result.created and result.version == 1 for result in saved)
    assert await content(other) == await content(wiki)


async def test_existing_and_repeated_pages_of_a_batch_are_updated(wiki: Wiki) -> None:
    await upsert_page(wiki.database, wiki.scope, PageDraft("topic", "Austin", body="Before."))
    drafts = [PageDraft("topic", "Austin", body="After."), *DRAFTS[1:], PageDraft("topic", "Barbecue", body="Again.")]
    saved = await upsert_pages(wiki.database, wiki.scope, await prepared(drafts))
    assert [(result.created, result.version) for result in saved] == [(False, 2), *[(True, 1)] * 4, (False, 2)]
    assert saved[1].page_id == saved[-1].page_id
    await count_new_words(wiki.database, wiki.scope)


@pytest.fixture
async def database(wiki: Wiki, dsn: str) -> AsyncIterator[RecordingDatabase]:
    async with recording_database(dsn) as found:
        yield found


async def test_ten_new_pages_take_as_many_statements_as_two(database: RecordingDatabase, wiki: Wiki) -> None:
    statement_counts = []
    for number, size in enumerate((2, 2, 10)):
        drafts = [
            PageDraft(
                "topic", f"P {number} {n}", body=f"[[P {number} {size - n - 1}]]\n\n## More\n\nWords.", aliases=["P"]
            )
            for n in range(size)
        ]
        before = len(await database.sent_statements())
        await upsert_pages(database, wiki.scope, await prepared(drafts))
        statement_counts.append(len(await database.sent_statements()) - before)
    await count_new_words(wiki.database, wiki.scope)
    assert statement_counts[1] == statement_counts[2]


async def test_a_write_by_a_former_name_of_a_hidden_page_does_not_name_the_page(wiki: Wiki) -> None:
    draft = PageDraft("topic", "Plan", aliases=["Plan B"], fields={"sensitivity": "secret"})
    page = await create_page(wiki.database, wiki.scope, draft)
    await rename_page(wiki.database, wiki.scope, page.page_id, title="Layoffs", slug="layoffs")
    colleague = await wiki.colleague()
    with pytest.raises(NotFound, match=r'^The slug "plan" is taken\.$'):
        await upsert_page(colleague.database, colleague.scope, PageDraft("topic", "Plan"))
    for title in ("Plan", "Plan B"):
        saved = await create_page(colleague.database, colleague.scope, PageDraft("topic", title), unless_called=True)
        assert saved.created
