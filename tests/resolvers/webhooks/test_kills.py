"""Deliveries arrive in order for each wiki although processes are killed; `benchmarks.webhooks` kills more."""

import asyncio
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.processes import free_port
from benchmarks.webhooks.receiver import read_deliveries
from db.ids import new_id
from resolvers.model.drafts import PageDraft
from resolvers.pages.lifecycle import create_page, update_page
from resolvers.webhooks.webhooks import WebhookDraft, create_webhook
from tests.forked import forked_process
from tests.resolvers.webhooks.processes import run_receiver, run_sender
from tests.wiki import Wiki

KILLS = 10
LEASE = 1.0  # seconds that a killed sender delays a queue
HURRY = "UPDATE webhook_queues SET due_at = now() WHERE due_at IS NOT NULL AND claimed_by IS NULL"


class Killed:
    """A process that is started again whenever it was killed."""

    def __init__(self, run: Callable[..., None], *arguments: Any) -> None:
        self.run, self.arguments = run, arguments
        self.process = self.started()

    def started(self) -> Any:
        process = forked_process(self.run, args=self.arguments, daemon=True)
        process.start()
        return process

    def end(self) -> None:
        self.process.kill()
        self.process.join()

    def restart(self) -> None:
        self.end()
        self.process = self.started()


async def test_no_delivery_is_lost_while_sender_and_receiver_are_killed(wiki: Wiki, tmp_path: Path) -> None:
    chance, port, place = random.Random(1), free_port(), tmp_path / "heard"
    draft = WebhookDraft(f"http://127.0.0.1:{port}/")
    issued = await create_webhook(wiki.database, wiki.scope.tenant_id, draft)
    page_id = (await create_page(wiki.database, wiki.scope, PageDraft("topic", "Kiln"))).page_id
    is_over = False

    async def write() -> None:
        while not is_over:
            await update_page(wiki.database, wiki.scope, page_id, summary=str(new_id()))
            await asyncio.sleep(0.01)

    sender, receiver = (
        Killed(run_sender, wiki.database.dsn, LEASE),
        Killed(run_receiver, port, str(place), issued.secret),
    )
    writing = asyncio.create_task(write())
    try:
        for number in range(KILLS):
            await wiki.connection.execute(HURRY)
            await asyncio.sleep(0.1 + chance.random())
            await asyncio.to_thread((sender, receiver)[number % 2].restart)
        is_over = True
        await writing
        async with asyncio.timeout(120):
            while await wiki.rows("webhook_deliveries", status="pending"):
                await wiki.connection.execute(HURRY)
                await asyncio.sleep(0.2)
    finally:
        writing.cancel()
        sender.end()
        receiver.end()
    rows = await wiki.rows("webhook_deliveries", "position")
    deliveries = read_deliveries(place)
    assert len(rows) > KILLS
    assert [row["version"] for row in rows] == [*range(1, len(rows) + 1)]
    assert [*dict.fromkeys(delivery["id"] for delivery in deliveries)] == [str(row["id"]) for row in rows]
