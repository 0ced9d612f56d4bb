"""Webhooks in backups and moves: pending deliveries are sent by the new server, signed, in order, and once."""

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from db.archives.folder import Archive
from db.migrate import migrate
from resolvers.archives.backups import back_up, restore
from resolvers.archives.moves import export_tenant, import_tenant
from resolvers.pages.lifecycle import update_page
from resolvers.webhooks.webhooks import find_webhook, rotate_webhook_secret
from tests.resolvers.archives.test_backups import ignore_progress, one_server, open_copy
from tests.resolvers.webhooks.receiver import run_webhook_receiver
from tests.resolvers.webhooks.sender import add_webhook, create_topics, sender, wait_for_deliveries
from tests.wiki import Wiki, close_wiki

__all__ = ["one_server"]
Move = Callable[[str, str, Wiki, Path], Awaitable[None]]


async def by_backup(dsn: str, other: str, wiki: Wiki, place: Path) -> None:
    await back_up(dsn, place, None, ignore_progress)
    assert (await restore(other, Archive(place), ignore_progress, replace=False)).missing == []


async def by_export(dsn: str, other: str, wiki: Wiki, place: Path) -> None:
    await export_tenant(dsn, str(wiki.scope.tenant_id), place, ignore_progress)
    await migrate(other)
    assert (await import_tenant(other, Archive(place), ignore_progress, replace=False)).is_new


@pytest.mark.parametrize("move", [by_backup, by_export])
async def test_webhooks_continue_on_the_other_server(
    wiki: Wiki, dsn: str, empty_dsn: str, tmp_path: Path, move: Move
) -> None:
    with run_webhook_receiver() as receiver:
        issued = await add_webhook(wiki, receiver, kinds=("created", "updated"))
        former = issued.secret
        (austin,) = await create_topics(wiki, "Austin")
        async with sender(wiki.database):
            await wait_for_deliveries(wiki, issued.id, "delivered")
        await create_topics(wiki, "Boston")
        await update_page(wiki.database, wiki.scope, austin, summary="Hot.")
        rotated = await rotate_webhook_secret(wiki.database, wiki.scope.tenant_id, issued.id)
        before = await find_webhook(wiki.database, wiki.scope.tenant_id, issued.id)
        await move(dsn, empty_dsn, wiki, tmp_path / "archive")
        copy = await open_copy(empty_dsn, wiki)
        try:
            assert await find_webhook(copy.database, wiki.scope.tenant_id, issued.id) == before
            assert await copy.rows("webhook_deliveries", "position") == await wiki.rows(
                "webhook_deliveries", "position"
            )
            await create_topics(copy, "Camden")
            receiver.secret = former  # for a day both secrets sign
            async with sender(copy.database):
                await wait_for_deliveries(copy, issued.id, "delivered")
            assert receiver.events() == [
                ("page.created", "austin", 1),
                ("page.created", "boston", 1),
                ("page.updated", "austin", 2),
                ("page.created", "camden", 1),
            ], "earlier deliveries are not sent again, and new changes follow the pending ones"
            receiver.secret = rotated.secret
            await create_topics(copy, "Dover")
            async with sender(copy.database):
                await wait_for_deliveries(copy, issued.id, "delivered")
            assert [request["is_signed"] for request in receiver.received] == [True] * 5
        finally:
            await close_wiki(copy)


@pytest.mark.parametrize("move", [by_backup, by_export])
async def test_a_claimed_queue_is_sent_after_a_move_once_the_claim_expires(
    wiki: Wiki, dsn: str, empty_dsn: str, tmp_path: Path, move: Move
) -> None:
    """The archive was written while a sender had claimed the queue, and no sender of the other server has the claim."""
    with run_webhook_receiver() as receiver:
        issued = await add_webhook(wiki, receiver)
        await create_topics(wiki, "Austin")
        claimed = "UPDATE webhook_queues SET claimed_by = 'gone:1:2', due_at = now() + interval '1 second'"
        await wiki.connection.execute(claimed)
        await move(dsn, empty_dsn, wiki, tmp_path / "archive")
        copy = await open_copy(empty_dsn, wiki)
        try:
            async with sender(copy.database):
                await wait_for_deliveries(copy, issued.id, "delivered")
            assert receiver.events() == [("page.created", "austin", 1)]
        finally:
            await close_wiki(copy)
