"""Reindexing can be repeated, interrupted anywhere, and continued."""

import asyncio
from typing import Any

import pytest

from content.search.words import ANALYSER
from resolvers.auth.owners import set_language
from resolvers.model.drafts import PageDraft
from resolvers.pages.lifecycle import create_page, update_page
from resolvers.search import reindexing
from resolvers.search.index import count_words, has_unsearchable
from resolvers.search.interpretation import interpret_query
from resolvers.search.lexemes import scope_letter
from resolvers.search.reindexing import unread
from resolvers.search.request import SearchRequest
from resolvers.search.search import search
from resolvers.transactions.transaction import writing
from tests.resolvers.search.indexes import (
    cancel_reindexing,
    check_all_counted,
    create_indexed_page,
    create_pages,
    delete_index,
    delete_pages_and_index,
    find_page_ids,
    index_states,
    lexemes,
    reindex_progress,
    reindex_wiki,
)
from tests.resolvers.search.test_search_statistics import Crew
from tests.wiki import Wiki


@pytest.fixture
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reindexing, "BATCH", 3)


async def search_rows(wiki: Wiki) -> dict[str, Any]:
    """Return all search rows of the wiki, without times. No change may wait to be counted."""
    (scope,) = await wiki.rows("search_scopes", "analyser")
    assert await wiki.rows("search_changes") == []
    return {
        "pages": await wiki.rows("search_pages", "page_id"),
        "counts": await wiki.counts(),
        "words": await wiki.rows("search_vocabulary", "side, letter, length, place"),
        "scope": scope | {"updated_at": None, "edition": None},
    }


async def test_reindexing_analyses_tables_without_statistics_first(wiki: Wiki) -> None:
    """Tables have no statistics after a dump is restored, and a plan without them reads all sections for each page."""
    await create_pages(wiki)
    with_statistics = (
        "SELECT relname FROM pg_class WHERE relname IN ('sections', 'pages') AND reltuples >= 0 ORDER BY relname"
    )
    assert await wiki.connection.fetch(with_statistics) == []
    await reindex_wiki(wiki)
    assert [row["relname"] for row in await wiki.connection.fetch(with_statistics)] == ["pages", "sections"]


@pytest.mark.usefixtures("small_batches")
async def test_an_interrupted_reindexing_continues_to_the_same_index(wiki: Wiki) -> None:
    await create_pages(wiki)
    written = await wiki.rows("search_pages", "page_id")
    await delete_index(wiki)
    assert await reindex_progress(wiki) == (10, True)
    assert await has_unsearchable(wiki.database, wiki.scope.tenant_id)
    assert await reindex_wiki(wiki) == 10
    whole = await search_rows(wiki)
    assert whole["pages"] == written, "read at once or page by page, it is the same"
    await delete_index(wiki)
    await cancel_reindexing(wiki)
    assert await reindex_progress(wiki) == (7, True)
    assert await find_page_ids(wiki, "harbourly") == set(), "half an index answers nothing"
    assert await has_unsearchable(wiki.database, wiki.scope.tenant_id)
    batches: list[int] = []
    assert await reindex_wiki(wiki, progress=batches.append) == sum(batches) == 7
    assert await search_rows(wiki) == whole
    assert await reindex_progress(wiki) == (0, False)
    assert not await has_unsearchable(wiki.database, wiki.scope.tenant_id)


@pytest.mark.usefixtures("small_batches")
async def test_an_interrupted_repeat_of_reindexing_continues_to_the_same_index(wiki: Wiki) -> None:
    await create_pages(wiki)
    assert await reindex_wiki(wiki, again=True) == 10
    whole = await search_rows(wiki)
    await cancel_reindexing(wiki, again=True)
    assert await reindex_progress(wiki) == (7, True)
    assert len(await find_page_ids(wiki, "harbourly")) == 10, "the index answers while it is read again"
    assert await reindex_wiki(wiki, again=True) == 7
    assert await search_rows(wiki) == whole


async def test_reindexing_an_indexed_wiki_reads_no_page(wiki: Wiki) -> None:
    await create_pages(wiki, 3)
    assert await reindex_progress(wiki) == (0, False)
    assert await reindex_wiki(wiki) == 0
    assert len(await find_page_ids(wiki, "harbourly")) == 3


async def test_reindexing_restores_lost_search_rows(wiki: Wiki) -> None:
    ids = await create_pages(wiki, 3)
    await wiki.connection.execute("UPDATE search_pages SET tsv = '', name_tsv = '' WHERE page_id = $1", ids[0])
    await wiki.connection.execute("DELETE FROM search_counts WHERE tenant_id = $1", wiki.scope.tenant_id)
    await wiki.connection.execute("DELETE FROM search_pages WHERE page_id = $1", ids[1])
    await wiki.connection.execute("UPDATE search_pages SET tsv = '' WHERE page_id = $1", ids[2])
    assert await reindex_wiki(wiki, again=True) == 3
    assert await find_page_ids(wiki, "word0") == {ids[0]}
    assert await find_page_ids(wiki, "harbourly") == set(ids)


@pytest.mark.usefixtures("small_batches")
async def test_reindexing_again_reads_pages_that_lost_their_row(wiki: Wiki) -> None:
    ids = sorted(await create_pages(wiki, 7))
    await cancel_reindexing(wiki, again=True)
    await wiki.connection.execute("DELETE FROM search_pages WHERE page_id = $1", ids[0])
    assert await reindex_progress(wiki) == (5, True), "the four that are left, and the one behind them"
    assert await reindex_wiki(wiki) == 5
    assert {row["page_id"] for row in await wiki.rows("search_pages", "page_id")} == set(ids)
    await delete_index(wiki)
    await reindex_wiki(wiki)


async def test_concurrent_reindexings_build_one_index(wiki: Wiki, monkeypatch: pytest.MonkeyPatch) -> None:
    await create_pages(wiki, 12)
    await delete_index(wiki)
    monkeypatch.setattr(reindexing, "BATCH", 2)
    assert sum(await asyncio.gather(reindex_wiki(wiki), reindex_wiki(wiki))) == 12
    await check_all_counted(wiki)


async def test_batches_are_limited_in_bytes(wiki: Wiki, monkeypatch: pytest.MonkeyPatch) -> None:
    await create_pages(wiki, 5)
    monkeypatch.setattr(reindexing, "BYTES", 60)
    batches: list[int] = []
    assert await reindex_wiki(wiki, progress=batches.append, again=True) == 5
    assert batches == [2, 2, 1], "a batch ends with the page that is too much"


async def test_an_empty_wiki_is_ready_at_once(wiki: Wiki) -> None:
    assert await reindex_progress(wiki) == (0, False)
    assert await reindex_wiki(wiki) == 0
    assert await index_states(wiki) == {ANALYSER: "ready"}


async def test_each_wiki_is_indexed_separately(wiki: Wiki) -> None:
    other = await wiki.neighbour()
    await create_pages(wiki, 2)
    await create_pages(other, 3)
    await delete_index(wiki)
    assert await reindex_wiki(other) == 3
    assert await reindex_progress(wiki) == (2, True)
    listed = await unread(wiki.database, wiki.scope.tenant_id)
    assert sorted((row["pages"], row["unread"]) for row in listed) == [(2, 2), (3, 0)]
    await reindex_wiki(wiki)


@pytest.mark.usefixtures("small_batches")
async def test_a_changed_language_makes_reindexing_due_and_stems_by_it(wiki: Wiki) -> None:
    await create_page(wiki.database, wiki.scope, PageDraft("topic", "Häuser", body="Die Häuser standen nicht leer."))
    assert await lexemes(wiki) >= {"hauser", "nicht"}
    owner = await set_language(wiki.database, wiki.scope.tenant_id, wiki.scope.owner_id, "de")
    assert owner.language == "german"
    assert await reindex_progress(wiki) == (1, True)
    assert await reindex_wiki(wiki) == 1
    assert "haus" in await lexemes(wiki)
    assert "nicht" not in await lexemes(wiki)
    assert (await wiki.row("search_scopes"))["languages"] == ["german"], "questions are no longer read as English"
    result = await search(wiki.database, wiki.scope, SearchRequest("nicht ein einziges haus"))
    assert len(result.hits) == 1
    await set_language(wiki.database, wiki.scope.tenant_id, wiki.scope.owner_id, "english")
    assert await reindex_wiki(wiki) == 1


async def test_words_are_not_stemmed_in_a_language_that_postgres_lacks(
    wiki: Wiki, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("content.languages.LANGUAGES", frozenset({"klingon", "english"}))
    draft = PageDraft("topic", "Ships", body="Running ships.", metadata={"lang": "klingon"})
    page_id = (await create_page(wiki.database, wiki.scope, draft)).page_id
    assert await lexemes(wiki) >= {"ships", "running"}
    assert await find_page_ids(wiki, "ships") == {page_id}
    await reindex_wiki(wiki, again=True)
    assert (await wiki.row("search_scopes"))["languages"] == ["simple"]
    await delete_pages_and_index(wiki)


async def test_reindexing_again_corrects_wrong_counts(wiki: Wiki) -> None:
    await create_pages(wiki, 5)
    await wiki.connection.execute(
        'UPDATE search_counts SET pages = pages || \'{"never": 7, "harbour": 3}\' WHERE tenant_id = $1',
        wiki.scope.tenant_id,
    )
    await wiki.connection.execute("UPDATE search_scopes SET pages = 99 WHERE tenant_id = $1", wiki.scope.tenant_id)
    assert await reindex_wiki(wiki, again=True) == 5
    await check_all_counted(wiki)
    assert (await wiki.row("search_scopes"))["pages"] == 5
    editions = await wiki.connection.fetch(
        "SELECT DISTINCT edition FROM search_counts WHERE owner_id = $1", wiki.scope.owner_id
    )
    assert len(editions) == 1, "what was counted before is gone"


@pytest.mark.usefixtures("small_batches")
async def test_recounting_during_writes_ends_with_exact_counts(wiki: Wiki) -> None:
    crews = [Crew(wiki, seed) for seed in range(3)]
    for crew in crews:
        for step in range(9):
            await crew.create(step)
    await cancel_reindexing(wiki, again=True)
    for crew in crews:
        await crew.delete(100)
        await crew.edit(101)
    await wiki.connection.execute(
        "UPDATE search_counts AS c SET pages = c.pages || '{\"rope\": 77}' FROM search_scopes AS s "
        "WHERE c.owner_id = $1 AND s.owner_id = $1 AND c.edition = s.edition",
        wiki.scope.owner_id,
    )
    await asyncio.gather(reindex_wiki(wiki), *(crew.work(12) for crew in crews))
    async with writing(wiki.database, wiki.scope) as writer:
        await count_words(writer)
    await check_all_counted(wiki)
    index = await wiki.row("search_scopes")
    rows = await wiki.rows("search_pages", "page_id")
    assert (index["pages"], index["words"]) == (len(rows), sum(row["words"] for row in rows))
    assert (index["reached"], index["recounted_pages"], index["state"]) == (None, None, "ready")


async def test_no_transaction_of_a_recount_reads_more_than_a_batch(wiki: Wiki, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reindexing, "BATCH", 2)
    await create_pages(wiki, 9)
    batches: list[int] = []
    run = reindexing.run

    async def run_noting_batches(connection: Any, scope: Any, name: str, **values: Any) -> int:
        if name == "recount_pages":
            batches.append(len(values["page_ids"]))
        return await run(connection, scope, name, **values)

    monkeypatch.setattr(reindexing, "run", run_noting_batches)
    assert await reindex_wiki(wiki, again=True) == 9
    assert batches == [2, 2, 2, 2, 1]
    await check_all_counted(wiki)


async def test_counts_of_an_older_release_are_read_and_then_migrated(wiki: Wiki) -> None:
    ids = await create_pages(wiki, 12)
    counts = await wiki.counts()
    await store_counts_of_an_older_release(wiki, counts)
    assert len(await find_page_ids(wiki, "harbourly")) == 12
    async with wiki.database.connection() as connection:
        reading = await interpret_query(connection, wiki.scope, "harbour word3")
    assert reading is not None
    assert sorted(reading.found.values()) == [1, 12]
    assert await reindex_progress(wiki) == (0, True)
    await update_page(wiki.database, wiki.scope, ids[0], body="Something else.")
    assert await reindex_wiki(wiki) == 0
    assert await wiki.rows("search_terms", "lexeme") == []
    await check_all_counted(wiki)
    assert await reindex_progress(wiki) == (0, False)


async def store_counts_of_an_older_release(wiki: Wiki, counts: dict[str, int]) -> None:
    own = (wiki.scope.tenant_id, wiki.scope.owner_id)
    letter = scope_letter(*own, ANALYSER)
    sql = "INSERT INTO search_terms (tenant_id, owner_id, analyser, lexeme, pages) VALUES ($1, $2, $3, $4, $5)"
    await wiki.connection.executemany(sql, [(*own, ANALYSER, letter + word, pages) for word, pages in counts.items()])
    await wiki.connection.execute("DELETE FROM search_counts WHERE tenant_id = $1 AND owner_id = $2", *own)
    await wiki.connection.execute(
        "UPDATE search_scopes SET shelves = NULL WHERE tenant_id = $1 AND owner_id = $2", *own
    )


async def test_writes_after_the_last_batch_of_a_recount_are_counted(
    wiki: Wiki, monkeypatch: pytest.MonkeyPatch
) -> None:
    await create_pages(wiki, 3)
    switch = reindexing.switch

    async def switch_after_a_write(*arguments: Any) -> bool:
        await create_indexed_page(wiki, 3)
        return await switch(*arguments)

    monkeypatch.setattr(reindexing, "switch", switch_after_a_write)
    await reindex_wiki(wiki, again=True)
    async with writing(wiki.database, wiki.scope) as writer:
        await count_words(writer)
    await check_all_counted(wiki)
    assert (await wiki.row("search_scopes"))["pages"] == 4


@pytest.mark.usefixtures("small_batches")
async def test_a_language_set_during_reindexing_applies_to_all_pages(wiki: Wiki) -> None:
    for n in range(7):
        await create_page(wiki.database, wiki.scope, PageDraft("topic", f"Page {n}", body="Die Häuser."))
    tenant_id, owner_id = wiki.scope.tenant_id, wiki.scope.owner_id
    setting: list[asyncio.Task[Any]] = []

    def set_language_once(_: int) -> None:
        if not setting:
            setting.append(asyncio.create_task(set_language(wiki.database, tenant_id, owner_id, "german")))

    await reindex_wiki(wiki, again=True, progress=set_language_once)
    await setting[0]
    await reindex_wiki(wiki)
    assert (await wiki.counts())["haus"] == 7
    await check_all_counted(wiki)
    await set_language(wiki.database, tenant_id, owner_id, "english")
    assert await reindex_wiki(wiki) == 7
    await check_all_counted(wiki)
