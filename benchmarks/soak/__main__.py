"""python -m benchmarks.soak"""

import asyncio
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import asyncpg
import typer
import uvloop

from db.database import Database
from db.embedded import EmbeddedServer
from db.migrate import migrate
from db.scope import Role
from resolvers.auth.credentials import mint
from resolvers.webhooks.webhooks import WebhookDraft, create_webhook

from ..graphql.servers import SECRET, UNTHROTTLED
from ..processes import free_port, postmaster, running_server, stop, wait_for
from ..wikis import Wiki, wiki, write_wikis
from .load import KnownPage, Load, edit_files
from .samples import Samples
from .trends import Trend, growth, percentile, trends

CAIRN = [sys.executable, "-c", "from app.cli import main; main()"]
PAGES = "SELECT id, type, slug FROM pages WHERE tenant_id = $1 AND owner_id = $2 AND status = 'active'"
JOBS = "SELECT count(*) FROM compile_jobs WHERE status IN ('pending', 'running')"
SAMPLE_INTERVAL = 10.0
FILE_INTERVAL = 15.0
"""Seconds between two samples, and between two edits of a file of the synced folder."""
REQUESTS_PER_GROWTH = 36_000  # requests per which memory growth is reported: two hours at five requests a second


async def prepare(dsn: str, wikis: list[Wiki], receiver: str) -> tuple[list[KnownPage], str]:
    """Create wikis and a webhook. Return the pages, each with a token, and the secret of the webhook."""
    await write_wikis(dsn, wikis)
    database, connection, known = Database(dsn, size=2), await asyncpg.connect(dsn), []
    await database.open()
    try:
        issued = await create_webhook(database, wikis[0].tenant_id, WebhookDraft(receiver))
        for wiki in wikis:
            token = mint(SECRET, tenant_id=wiki.tenant_id, owner_id=wiki.owner_id, role=Role.MEMBER, ttl=864_000)
            rows = await connection.fetch(PAGES, wiki.tenant_id, wiki.owner_id)
            known += [KnownPage(str(wiki.tenant_id), str(row["id"]), row["type"], row["slug"], token) for row in rows]
        return known, issued.secret
    finally:
        await connection.close()
        await database.close()


async def wait_for_jobs(dsn: str) -> None:
    """Wait until no compile job is pending or running."""
    connection = await asyncpg.connect(dsn)
    try:
        while await connection.fetchval(JOBS):
            await asyncio.sleep(1)
    finally:
        await connection.close()


async def run(
    dsn: str, folder: Path, minutes: float, rate: float, at_once: int, evidence: int, wikis: list[Wiki], seed: int
) -> dict[str, Any]:
    """Serve, load and sample for `minutes`. Return the series by minute, the trends and the errors."""
    rng, port, vault = random.Random(seed), free_port(), folder / "vault"
    pages, secret = await prepare(dsn, wikis, f"http://127.0.0.1:{port}/hooks")
    settings = {
        "CAIRN_DATABASE_URL": dsn, "CAIRN_DATA_DIR": str(folder / "cairn"), "CAIRN_JWT_SECRET": SECRET,
        "CAIRN_WORKER": "true", "CAIRN_WEBHOOK_NETWORKS": "127.0.0.1", "CAIRN_LOG_LEVEL": "warning", **UNTHROTTLED,
    }  # fmt: skip
    place = ["--tenant", str(wikis[0].tenant_id), "--owner", str(wikis[0].owner_id)]
    receiver_command = [sys.executable, "-m", "benchmarks.webhooks.receiver", str(port), str(folder / "heard"), secret]
    with ExitStack() as stack:
        others_log = stack.enter_context((folder / "others.log").open("wb"))
        receiver = subprocess.Popen(receiver_command, stdout=others_log, stderr=others_log)
        stack.callback(stop, receiver)
        wait_for(port, receiver, folder / "others.log")
        service = stack.enter_context(running_server("cairn", [*CAIRN, "serve"], settings, folder / "service.log"))
        command = [*CAIRN, "sync", str(vault), "--watch", *place]
        syncing = subprocess.Popen(command, env={**os.environ, **settings}, stdout=others_log, stderr=others_log)
        stack.callback(stop, syncing)
        server = await postmaster(dsn)
        load = Load(service.url, pages, rate, rng, at_once)
        await load.retain_many(evidence)
        await wait_for_jobs(dsn)
        load.began = time.monotonic()
        samples = Samples(dsn, {"service": service.pid, "cairn sync --watch": syncing.pid}, server)
        background_tasks = [
            asyncio.create_task(samples.run(SAMPLE_INTERVAL)),
            asyncio.create_task(edit_files(vault, random.Random(seed), FILE_INTERVAL)),
        ]
        loading = asyncio.create_task(load.run(60 * minutes))
        await asyncio.wait([loading, *background_tasks], return_when=asyncio.FIRST_COMPLETED)
        for task in background_tasks:
            if task.done():
                task.result()
            task.cancel()
        await loading
        is_syncing = syncing.poll() is None
    whole = max(int(minutes), 1)
    series = samples.by_minute(whole)
    sent_at = Counter(at for by_minute in load.latencies.values() for at, all in by_minute.items() for _ in all)
    series |= samples.cpu_per_request(sent_at, whole)
    memory_growth = growth(series["service, MB"], [sent_at[at] for at in range(whole)], REQUESTS_PER_GROWTH)
    for kind, by_minute in load.latencies.items():
        for share in (0.5, 0.99):
            series[f"{kind} p{100 * share:.0f}, ms"] = [percentile(by_minute.get(at, []), share) for at in range(whole)]
    errors = dict(load.errors) if is_syncing else {**load.errors, "cairn sync --watch ended": 1}
    sent = {kind: sum(map(len, by_minute.values())) for kind, by_minute in load.latencies.items()}
    return {
        "sent": sent, "errors": errors, "series": series, "tables": samples.tables, "trends": trends(series),
        "grown": memory_growth,
    }  # fmt: skip


def show(found: dict[str, Any]) -> None:
    """Print the trends as a table, and the largest tables."""
    print(", ".join(f"{count:,} {kind}" for kind, count in found["sent"].items()))
    for error, count in found["errors"].items():
        print(f"error, {count} times: {error}")
    print("| measurement | first | median | last | change per hour | verdict |\n|---|---|---|---|---|---|")
    trend: Trend
    for trend in found["trends"]:
        print(
            f"| {trend.name} | {trend.first:,.1f} | {trend.median:,.1f} | {trend.last:,.1f} | {trend.per_hour:+,.2f} | "
            f"{trend.verdict} |"
        )
    if found["grown"] is not None:
        print(
            f"\nIn the second half the service's memory grew by {found['grown']:+.1f} MB per "
            f"{REQUESTS_PER_GROWTH:,} requests."
        )
    print("\n| table | rows | dead | heap, MB | indexes, MB |\n|---|---|---|---|---|")
    largest = sorted(found["tables"], key=lambda row: row["heap"] + row["indexes"], reverse=True)
    for row in largest[:12]:
        print(
            f"| {row['name']} | {row['live']:,} | {row['dead']:,} | {row['heap'] / 1e6:,.1f} | "
            f"{row['indexes'] / 1e6:,.1f} |"
        )


def main(
    minutes: Annotated[float, typer.Option(min=0.1, help="Duration of the load.")] = 60,
    rate: Annotated[float, typer.Option(min=0.1, help="Requests per second.")] = 10,
    at_once: Annotated[int, typer.Option(min=0, help="Concurrent clients without a pause, instead of a rate.")] = 0,
    evidence: Annotated[
        int, typer.Option(min=0, help="Sources that are compiled before the load, to fill caches.")
    ] = 0,
    wikis: Annotated[int, typer.Option(min=1, help="Number of wikis.")] = 8,
    pages: Annotated[int, typer.Option(min=10, help="Pages of each wiki.")] = 250,
    seed: Annotated[int, typer.Option(help="The same seed gives the same requests.")] = 1,
    as_json: Annotated[bool, typer.Option("--json", help="Print all figures by minute as JSON.")] = False,
) -> None:
    """Load a service with reads, searches, edits, evidence to compile, webhooks and a synced folder.

    Prints whether memory, connections, tables and latencies stay flat after the first fifth of the time.
    """
    generated_wikis = [wiki(1, number, pages) for number in range(wikis)]
    with tempfile.TemporaryDirectory(prefix="cairn-bench-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        with EmbeddedServer(folder / "data", durable=False) as dsn:
            uvloop.run(migrate(dsn))
            result = uvloop.run(run(dsn, folder, minutes, rate, at_once, evidence, generated_wikis, seed))
    if as_json:
        print(
            json.dumps(
                {**result, "trends": [{**asdict(trend), "verdict": trend.verdict} for trend in result["trends"]]}
            )
        )
    else:
        show(result)
    if result["errors"]:
        raise typer.Exit(1)


if __name__ == "__main__":
    app = typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False, add_completion=False)
    app.command()(main)
    app(prog_name="python -m benchmarks.soak")
