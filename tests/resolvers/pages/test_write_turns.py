"""Writers of one wiki take turns before they acquire a connection, so that a busy wiki starves no other."""

import asyncio

import pytest

from db.database import Database
from db.one_transaction import OneTransaction
from db.scope import Role
from resolvers.errors import NotFound, Unavailable
from resolvers.model.drafts import PageDraft
from resolvers.pages.lifecycle import archive_page, create_page
from resolvers.search.request import SearchRequest, SearchResult
from resolvers.search.search import search
from resolvers.transactions import transaction
from resolvers.transactions.transaction import writing
from tests.wiki import Wiki, close_wiki, open_wiki


async def hold(wiki: Wiki, entered: asyncio.Event, leave: asyncio.Event) -> None:
    async with writing(wiki.database, wiki.scope):
        entered.set()
        await leave.wait()


@pytest.fixture
async def busy(wiki: Wiki):
    """A wiki in which a write transaction stays open until the test ends."""
    entered, leave = asyncio.Event(), asyncio.Event()
    holder = asyncio.create_task(hold(wiki, entered, leave))
    await entered.wait()
    yield wiki
    leave.set()
    await holder


async def test_queued_writers_of_one_wiki_leave_connections_for_other_wikis(busy: Wiki, dsn: str) -> None:
    """Twelve writers wait for a pool of four connections, of which three stay free."""
    page = PageDraft("topic", "A")
    writers = [asyncio.create_task(create_page(busy.database, busy.scope, page)) for _ in range(12)]
    await asyncio.sleep(0.1)
    stranger = await open_wiki(dsn)
    try:
        async with asyncio.timeout(30):
            assert await search(busy.database, stranger.scope, SearchRequest("word")) == SearchResult()
            await create_page(busy.database, stranger.scope, page)
    finally:
        await close_wiki(stranger)
        for writer in writers:
            writer.cancel()
        await asyncio.gather(*writers, return_exceptions=True)


async def test_queued_writers_of_two_transactions_leave_connections_for_other_wikis(busy: Wiki, dsn: str) -> None:
    """An operation of several writes is a part of the transaction of a request with an idempotency key."""
    page = PageDraft("topic", "A")

    async def write() -> None:
        async with OneTransaction(busy.database) as whole, OneTransaction(whole) as part:
            await create_page(part, busy.scope, page)

    writers = [asyncio.create_task(write()) for _ in range(12)]
    await asyncio.sleep(0.1)
    stranger = await open_wiki(dsn)
    try:
        async with asyncio.timeout(30):
            await create_page(busy.database, stranger.scope, page)
    finally:
        await close_wiki(stranger)
        for writer in writers:
            writer.cancel()
        await asyncio.gather(*writers, return_exceptions=True)


async def test_a_writer_that_waits_too_long_gets_an_error(busy: Wiki, monkeypatch) -> None:
    monkeypatch.setattr(transaction, "QUEUE_TIMEOUT", 0.05)
    with pytest.raises(Unavailable, match="locked by other writes"):
        await create_page(busy.database, busy.scope, PageDraft("topic", "A"))


async def test_a_write_times_out_on_a_lock_held_by_another_process(wiki: Wiki, dsn: str) -> None:
    hasty = Database(dsn, size=2, statement_timeout=0.3)
    await hasty.open()
    lock = "SELECT FROM owners WHERE tenant_id = $1 AND id = $2 FOR NO KEY UPDATE"
    async with wiki.connection.transaction():
        await wiki.connection.execute(lock, wiki.scope.tenant_id, wiki.scope.owner_id)
        with pytest.raises(Unavailable, match="locked by other writes"):
            await create_page(hasty, wiki.scope, PageDraft("topic", "A"))
    await hasty.ping()
    await hasty.close()
    await create_page(wiki.database, wiki.scope, PageDraft("topic", "A"))


async def test_unauthorised_writes_fail_without_waiting_for_the_lock(wiki: Wiki) -> None:
    page_id = (await create_page(wiki.database, wiki.scope, PageDraft("topic", "A"))).page_id
    stranger = (await wiki.neighbour()).with_role(Role.MEMBER).scope
    async with writing(wiki.database, wiki.scope), asyncio.timeout(30):
        with pytest.raises(NotFound, match="no such wiki"):
            await create_page(wiki.database, stranger.in_owner(wiki.scope.owner_id), PageDraft("topic", "A"))
        with pytest.raises(NotFound, match="no such page"):
            await archive_page(wiki.database, stranger, page_id)


async def test_a_queue_is_removed_after_its_last_writer(wiki: Wiki) -> None:
    writes = [create_page(wiki.database, wiki.scope, PageDraft("topic", "A")) for _ in range(5)]
    await asyncio.gather(*writes)
    assert not [key for key in transaction.QUEUES if key[0] is wiki.database]


async def test_a_cancelled_writer_passes_its_turn_on(wiki: Wiki) -> None:
    entered, leave = asyncio.Event(), asyncio.Event()
    holder = asyncio.create_task(hold(wiki, entered, leave))
    await entered.wait()
    waiting = [asyncio.create_task(create_page(wiki.database, wiki.scope, PageDraft("topic", "A"))) for _ in range(3)]
    await asyncio.sleep(0.05)
    waiting[0].cancel()
    leave.set()
    await holder
    outcomes = await asyncio.gather(*waiting, return_exceptions=True)
    assert [isinstance(outcome, BaseException) for outcome in outcomes] == [True, False, False]
