"""Kills a service that sends webhooks and their receiver in turn, and counts lost deliveries."""

import asyncio
import random
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

import asyncpg
import httpx
import typer
import uvloop

from db.database import Database
from db.embedded import EmbeddedServer
from db.migrate import migrate
from db.scope import Actor, ActorKind, Role, Scope
from resolvers.auth.credentials import mint
from resolvers.auth.owners import OwnerKind, create_owner
from resolvers.model.drafts import PageDraft
from resolvers.pages.lifecycle import create_page
from resolvers.tenants.tenants import create_tenant
from resolvers.webhooks.webhooks import WebhookDraft, create_webhook

from ..graphql.servers import SECRET, UNTHROTTLED
from ..processes import RestartableProcess, free_port
from .receiver import read_deliveries

UPDATE = """mutation ($input: UpdateWikiPageInput!) {
  updateWikiPage(input: $input) { page { version } userErrors { message } }
}"""
CLAIMED = "SELECT count(*) FROM webhook_queues WHERE split_part(claimed_by, ':', 2) = $1 AND due_at > now()"
PENDING = "SELECT count(*) FROM webhook_deliveries WHERE status = 'pending'"
QUEUED = "SELECT id, owner_id, page_id, version, position, status FROM webhook_deliveries ORDER BY owner_id, position"
DELIVERY_TIMEOUT = 900.0  # seconds after the last kill within which all must be delivered


class AcknowledgedWrites:
    """The page versions whose writes the service has acknowledged."""

    def __init__(self) -> None:
        self.versions: set[tuple[str, int]] = set()
        self.is_stopped = False

    async def write(self, url: str, tokens: dict[str, str], rng: random.Random) -> None:
        """Update random pages until `is_stopped`. Writes that are not acknowledged are not counted."""
        number = 0
        async with httpx.AsyncClient(base_url=url, timeout=20, trust_env=False) as client:
            while not self.is_stopped:
                page_id, number = rng.choice([*tokens]), number + 1
                sent = {"query": UPDATE, "variables": {"input": {"pageId": page_id, "summary": f"{rng.random()}"}}}
                try:
                    headers = {"authorization": f"Bearer {tokens[page_id]}"}
                    answer = (await client.post("/graphql", headers=headers, json=sent)).json()
                    payload = answer["data"]["updateWikiPage"]
                    if payload and payload["page"]:
                        self.versions.add((page_id, payload["page"]["version"]))
                except (httpx.HTTPError, ValueError, TypeError, KeyError):
                    await asyncio.sleep(0.1)


async def prepare(dsn: str, url: str, wikis: int) -> tuple[dict[str, str], str]:
    """Create the wikis with a page each, and a webhook. Return a token for each page, and the secret."""
    database, tokens = Database(dsn, size=4), dict[str, str]()
    await database.open()
    try:
        tenant_id = (await create_tenant(database, "acme", "Acme")).id
        issued = await create_webhook(database, tenant_id, WebhookDraft(url))
        for number in range(wikis):
            owner_id = (await create_owner(database, tenant_id, OwnerKind.USER, f"o-{number}", "Owner")).id
            scope = Scope(tenant_id, owner_id, Role.ADMIN, Actor(ActorKind.USER, "mara"), (owner_id,))
            page_id = (await create_page(database, scope, PageDraft("topic", "Kiln"))).page_id
            tokens[str(page_id)] = mint(SECRET, tenant_id=tenant_id, owner_id=owner_id, role=Role.MEMBER, ttl=86_400)
        return tokens, issued.secret
    finally:
        await database.close()


async def kill_in_turn(
    service: RestartableProcess,
    receiver: RestartableProcess,
    kills: int,
    connection: asyncpg.Connection,
    rng: random.Random,
) -> int:
    """Kill one of the two at random moments. Return how many kills left queues claimed by a killed sender."""
    at_work = 0
    for number in range(kills):
        await asyncio.sleep(0.1 + 5 * rng.random())  # long enough for a sender to resume after an outage
        process = (service, receiver)[number % 2]
        pid = await asyncio.to_thread(process.kill)
        at_work += process is service and await connection.fetchval(CLAIMED, str(pid)) > 0
        await asyncio.to_thread(process.start)
        if (number + 1) % 20 == 0:
            print(f"{number + 1} kills, {await connection.fetchval(PENDING):,} deliveries pending", flush=True)
    return at_work


async def run(dsn: str, folder: Path, kills: int, wikis: int, writers: int, seed: int) -> bool:
    rng, ports, heard = random.Random(seed), (free_port(), free_port()), folder / "heard"
    tokens, secret = await prepare(dsn, f"http://127.0.0.1:{ports[1]}/hooks", wikis)
    settings = {
        "CAIRN_DATABASE_URL": dsn, "CAIRN_DATA_DIR": str(folder / "cairn"), "CAIRN_JWT_SECRET": SECRET,
        "CAIRN_PORT": str(ports[0]), "CAIRN_WORKER": "true", "CAIRN_WEBHOOK_NETWORKS": "127.0.0.1",
        "CAIRN_LOG_LEVEL": "warning", **UNTHROTTLED,
    }  # fmt: skip
    cairn = [sys.executable, "-c", "from app.cli import main; main()", "serve"]
    receiver_command = [sys.executable, "-m", "benchmarks.webhooks.receiver", str(ports[1]), str(heard), secret]
    service = RestartableProcess(cairn, ports[0], folder / "service.log", settings)
    receiver = RestartableProcess(receiver_command, ports[1], folder / "receiver.log", {})
    connection, writes = await asyncpg.connect(dsn), AcknowledgedWrites()
    try:
        await asyncio.gather(asyncio.to_thread(service.start), asyncio.to_thread(receiver.start))
        began = time.monotonic()
        url = f"http://127.0.0.1:{ports[0]}"
        writing = [asyncio.create_task(writes.write(url, tokens, random.Random(seed + n))) for n in range(writers)]
        at_work = await kill_in_turn(service, receiver, kills, connection, rng)
        writes.is_stopped = True
        await asyncio.gather(*writing)
        over = time.monotonic()
        while await connection.fetchval(PENDING) and time.monotonic() - over < DELIVERY_TIMEOUT:
            await asyncio.sleep(0.5)
        drained = time.monotonic() - over
        rows = await connection.fetch(QUEUED)
    finally:
        for process in (service, receiver):
            with suppress(ProcessLookupError, AssertionError):
                process.kill()
        await connection.close()
    print(f"{kills} kills in {over - began:.0f} s, {at_work} of them of a service that was sending")
    return report(rows, read_deliveries(heard), writes, drained)


def report(rows: Sequence[Any], heard: Sequence[dict[str, Any]], writes: AcknowledgedWrites, drained: float) -> bool:
    """Print what was lost, repeated or out of order. Return whether nothing was lost and nothing was out of order."""
    queued = {(str(row["page_id"]), row["version"]) for row in rows}
    arrived = {delivery["id"] for delivery in heard}
    lost = sum(str(row["id"]) not in arrived for row in rows)
    unqueued = len(writes.versions - queued)
    disordered = sum(out_of_order(rows, heard))
    print(
        f"acknowledged {len(writes.versions):,}, queued {len(rows):,}, arrived {len(arrived):,}, "
        f"lost {lost + unqueued}, out of order {disordered}, sent again {len(heard) - len(arrived):,}, "
        f"all delivered {drained:.0f} s after the last kill"
    )
    return bool(writes.versions) and lost + unqueued + disordered == 0


def out_of_order(rows: Sequence[Any], heard: Sequence[dict[str, Any]]) -> Iterator[bool]:
    """Yield for each first arrival whether a later change of the same wiki had arrived before it."""
    places = {str(row["id"]): (row["owner_id"], row["position"]) for row in rows}
    furthest: dict[Any, int] = {}
    for id in dict.fromkeys(delivery["id"] for delivery in heard):
        owner_id, position = places[id]
        yield position < furthest.get(owner_id, 0)
        furthest[owner_id] = max(position, furthest.get(owner_id, 0))


def main(
    kills: Annotated[int, typer.Option(min=2, help="Kills of the service and of the receiver, in turn.")] = 200,
    wikis: Annotated[int, typer.Option(min=1, help="Wikis that are written to.")] = 100,
    writers: Annotated[int, typer.Option(min=1, help="Concurrent writers.")] = 4,
    seed: Annotated[int, typer.Option(help="The same seed gives the same moments.")] = 1,
) -> None:
    """Kill a service that receives writes and sends webhooks, and their receiver, with SIGKILL: nothing may be lost."""
    with tempfile.TemporaryDirectory(prefix="cairn-bench-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        with EmbeddedServer(folder / "data", durable=False) as dsn:
            uvloop.run(migrate(dsn))
            if not uvloop.run(run(dsn, folder, kills, wikis, writers, seed)):
                raise typer.Exit(1)


if __name__ == "__main__":
    typer.run(main)
