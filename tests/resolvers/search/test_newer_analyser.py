"""A release with a newer analyser builds its index beside the older one, during writes and searches."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from content.search.words import ANALYSER, ANALYSERS, words
from resolvers.model.drafts import PageDraft
from resolvers.pages.lifecycle import archive_page, create_page, delete_page, update_page
from resolvers.search import reindexing
from resolvers.search.index import searchable
from resolvers.search.interpretation import interpret_query
from resolvers.search.reindexing import begin, finish, read_batch
from tests.resolvers.search.indexes import (
    TABLES,
    cancel_reindexing,
    check_all_counted,
    check_counts,
    create_pages,
    delete_pages_and_index,
    find_page_ids,
    index_states,
    reindex_progress,
    reindex_wiki,
)
from tests.wiki import Wiki

NEWER = ANALYSER + 1
READERS = ("index", "reindexing", "interpretation", "passages")


def without_endings(text: str) -> list[str]:
    """Return the text as the newer release stems it: `harbourly` becomes `harbour`."""
    return [word.removesuffix("ly") for word in words(text)]


@pytest.fixture
def newer(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Return a function that makes this process one of a release with a newer analyser, that also knows the old one."""

    def become() -> None:
        monkeypatch.setitem(ANALYSERS, NEWER, without_endings)
        for module in READERS:
            monkeypatch.setattr(f"resolvers.search.{module}.ANALYSER", NEWER)
        monkeypatch.setattr(searchable, "__defaults__", (NEWER,))
        monkeypatch.setattr(interpret_query, "__defaults__", ("", ("active",), NEWER, 0))

    return become


@contextmanager
def older(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Make this process one of the present release again, which does not know the newer analyser, while the block
    runs."""
    with monkeypatch.context() as patch:
        patch.delitem(ANALYSERS, NEWER)
        for module in READERS:
            patch.setattr(f"resolvers.search.{module}.ANALYSER", ANALYSER)
        patch.setattr(searchable, "__defaults__", (ANALYSER,))
        patch.setattr(interpret_query, "__defaults__", ("", ("active",), ANALYSER, 0))
        yield


@pytest.fixture
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reindexing, "BATCH", 3)


@pytest.mark.usefixtures("small_batches")
async def test_the_older_index_answers_until_the_newer_is_complete(wiki: Wiki, newer: Callable[[], None]) -> None:
    ids = set(await create_pages(wiki))
    newer()
    assert await reindex_progress(wiki) == (10, True)
    assert len(await find_page_ids(wiki, "harbourly")) == 10, "the newer release reads what the older one made"
    await cancel_reindexing(wiki)
    assert await index_states(wiki) == {ANALYSER: "ready", NEWER: "building"}
    assert await find_page_ids(wiki, "harbourly") == ids
    assert await find_page_ids(wiki, "harbour") == ids, "as the beginning of a word"
    assert (await read_by(wiki, "harbourly")) == (ANALYSER, ["harbourly"])
    assert await reindex_wiki(wiki) == 7
    assert await index_states(wiki) == {NEWER: "ready"}
    assert (await read_by(wiki, "harbourly")) == (NEWER, ["harbour"])
    assert await find_page_ids(wiki, "harbour") == await find_page_ids(wiki, "harbourly") == ids
    for table in TABLES:
        assert await wiki.rows(table, "1", analyser=ANALYSER) == [], "nothing is left of the older one"
    await delete_pages_and_index(wiki)


async def read_by(wiki: Wiki, text: str) -> tuple[int, list[str]]:
    async with wiki.database.connection() as connection:
        reading = await interpret_query(connection, wiki.scope, text)
    assert reading is not None
    return reading.analyser, reading.words


async def test_the_older_index_can_be_kept_for_servers_of_the_older_release(
    wiki: Wiki, newer: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = set(await create_pages(wiki, 4))
    newer()
    assert await reindex_wiki(wiki, keep_older=True) == 4
    assert await index_states(wiki) == {ANALYSER: "ready", NEWER: "ready"}
    ids.add((await create_page(wiki.database, wiki.scope, PageDraft("topic", "Pier", body="Harbourly."))).page_id)
    assert await read_by(wiki, "harbourly") == (NEWER, ["harbour"])
    assert await find_page_ids(wiki, "harbour") == ids
    with older(monkeypatch):
        assert await read_by(wiki, "harbourly") == (ANALYSER, ["harbourly"])
        assert await find_page_ids(wiki, "harbourly") == ids
    assert await reindex_wiki(wiki) == 0
    assert await index_states(wiki) == {NEWER: "ready"}
    await delete_pages_and_index(wiki)


@pytest.mark.usefixtures("small_batches")
async def test_writes_during_reindexing_are_in_both_indexes(wiki: Wiki, newer: Callable[[], None]) -> None:
    ids = await create_pages(wiki)
    newer()
    await cancel_reindexing(wiki)
    page_id = (await create_page(wiki.database, wiki.scope, PageDraft("topic", "Ferry", body="Quietly."))).page_id
    await update_page(wiki.database, wiki.scope, ids[0], body="Loudly.")
    await archive_page(wiki.database, wiki.scope, ids[1])
    await delete_page(wiki.database, wiki.scope, ids[2])
    assert (await find_page_ids(wiki, "quietly"), await find_page_ids(wiki, "loudly")) == ({page_id}, {ids[0]})
    await reindex_wiki(wiki)
    assert (await find_page_ids(wiki, "quiet"), await find_page_ids(wiki, "loudly")) == ({page_id}, {ids[0]})
    assert await find_page_ids(wiki, "harbourly") == set(ids[3:])
    assert [row["status"] for row in await wiki.rows("search_pages", "page_id", page_id=ids[1])] == ["archived"]
    await check_counts(wiki)
    await delete_pages_and_index(wiki)


@pytest.mark.usefixtures("small_batches")
async def test_writes_and_reindexing_run_concurrently(wiki: Wiki, newer: Callable[[], None]) -> None:
    await create_pages(wiki, 30)
    newer()

    async def write(number: int) -> None:
        for step in range(5):
            body = f"Writer{number} wrote step{step} quickly."
            await create_page(wiki.database, wiki.scope, PageDraft("topic", f"W{number} {step}", body=body))
            assert await find_page_ids(wiki, f"writer{number}"), "each question is answered"

    await asyncio.gather(reindex_wiki(wiki), *(write(number) for number in range(4)))
    assert await index_states(wiki) == {NEWER: "ready"}
    assert len(await find_page_ids(wiki, "quick")) == 20
    assert len(await wiki.rows("search_pages", "page_id")) == 50
    await reindex_wiki(wiki)
    await check_all_counted(wiki)
    await delete_pages_and_index(wiki)


async def test_pages_written_by_an_older_release_are_indexed_before_the_switch(
    wiki: Wiki, newer: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = await create_pages(wiki, 4)
    scope = wiki.scope
    newer()
    await begin(wiki.database, scope, again=False)
    while await read_batch(wiki.database, scope, reindexing.FIRST):
        pass
    with older(monkeypatch):
        await update_page(wiki.database, scope, ids[0], body="Oldly said.")
        await create_page(wiki.database, scope, PageDraft("topic", "Late", body="Lately made."))
    assert await reindex_progress(wiki) == (2, True)
    await finish(wiki.database, scope)
    assert await find_page_ids(wiki, "old") == {ids[0]}
    assert len(await find_page_ids(wiki, "late")) == 1
    await check_all_counted(wiki)
    await delete_pages_and_index(wiki)
