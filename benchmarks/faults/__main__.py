"""Prints the fault table: python -m benchmarks.faults [--only NAME …] [--json]. On Linux, best with nothing else
running.

Each fault gets a new Postgres and a new service. Four clients write and four read, each one request after the other
with a pause of 50 ms. At the end every acknowledged page is looked up.
"""

import asyncio
import json
import shutil
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

import asyncpg
import typer
import uvloop
from rich.console import Console
from rich.table import Table

from ..webhooks.receiver import read_deliveries
from .faults import FAULTS, Fault, crowd_result
from .load import Load
from .stage import Stage, running_stage

BEFORE, AFTER = 4.0, 8.0  # seconds of requests before a fault and after it
MIN_WRITES, WARM_UP_TIMEOUT = 20, 60.0  # acknowledged writes before a fault, and the seconds they may take
DELIVERY_TIMEOUT = 90.0  # seconds until deliveries must have arrived


@dataclass(frozen=True)
class Outcome:
    """The outcome of one fault. `acknowledged_before`, `acknowledged`, `lost` and `failed` are counts, the rest
    seconds."""

    fault: str
    how: str
    acknowledged_before: int
    acknowledged: int
    lost: int
    failed: dict[str, int]
    p99: float
    longest: float
    recovered: float
    note: str


async def run_fault(fault: Fault) -> Outcome:
    folder = Path(tempfile.mkdtemp(prefix="cairn-faults-"))
    folder.chmod(0o755)
    try:
        async with running_stage(folder, fault.requirements) as stage:
            load = Load(stage.url, stage.token)
            load.start()
            await asyncio.sleep(BEFORE)
            async with asyncio.timeout(WARM_UP_TIMEOUT):
                while len(load.acknowledged) < MIN_WRITES:
                    await asyncio.sleep(0.1)
            before, moment = len(load.acknowledged), time.monotonic()
            ended = await fault.cause(stage, load)
            await asyncio.sleep(AFTER)
            await load.stop()
            waits = load.waits(moment)
            missing, note = await count_lost(stage, load), crowd_result(folder)
            if fault.requirements.clock:
                note = f"{await dated_ahead(stage)} pages are dated ahead"
            if fault.requirements.webhooks:
                undelivered, seconds = await undelivered_after(stage, load)
                missing += undelivered
                note = f"all deliveries arrived within {seconds:.0f} s after the last write"
            return Outcome(
                fault.name, fault.how, before, len(load.acknowledged), missing, dict(load.failed(moment)),
                waits[int(len(waits) * 0.99)] if waits else 0.0, waits[-1] if waits else 0.0,
                max(0.0, load.recovered(moment, ended)), note,
            )  # fmt: skip
    finally:
        shutil.rmtree(folder, ignore_errors=True)


async def count_lost(stage: Stage, load: Load) -> int:
    """Return how many acknowledged pages are missing."""
    connection = await asyncpg.connect(stage.dsn())
    try:
        rows = await connection.fetch("SELECT title FROM pages WHERE tenant_id = $1", stage.scope.tenant_id)
    finally:
        await connection.close()
    return len(set(load.acknowledged) - {row["title"] for row in rows})


async def dated_ahead(stage: Stage) -> int:
    """Return how many pages were created by a clock that was ahead. If there is none, the fault had no effect."""
    ahead = "SELECT count(*) FROM pages WHERE tenant_id = $1 AND created_at > now() + interval '30 minutes'"
    connection = await asyncpg.connect(stage.dsn())
    try:
        found: int = await connection.fetchval(ahead, stage.scope.tenant_id)
        return found
    finally:
        await connection.close()


async def undelivered_after(stage: Stage, load: Load) -> tuple[int, float]:
    """Wait until all webhook deliveries have arrived, or for 90 seconds. Return the number of missing deliveries and
    the seconds that it took."""
    began = time.monotonic()
    while True:
        arrived = {(item.get("pageId"), item.get("version")) for item in read_deliveries(stage.deliveries)}
        missing, waited = len(load.versions - arrived), time.monotonic() - began
        if not missing or waited > DELIVERY_TIMEOUT:
            return missing, waited
        await asyncio.sleep(0.5)


def table_of(rows: list[Outcome]) -> Table:
    table = Table("fault", "how", "acknowledged", "lost", "failed", "p99 s", "longest s", "recovered s", "")
    for row in rows:
        failed = ", ".join(f"{count} {status}" for status, count in sorted(row.failed.items())) or "0"
        table.add_row(
            row.fault, row.how, f"{row.acknowledged_before:,}, {row.acknowledged:,}", str(row.lost), failed,
            f"{row.p99:.2f}", f"{row.longest:.1f}", f"{row.recovered:.1f}", row.note,
        )  # fmt: skip
    return table


def main(
    only: Annotated[list[str] | None, typer.Option(help="The faults to cause, by name; default: all.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Cause the faults one after the other, and print acknowledged and lost writes and the time of recovery."""
    unknown = set(only or ()) - {fault.name for fault in FAULTS}
    if unknown:
        raise typer.BadParameter(
            f"{', '.join(sorted(unknown))}: the faults are {', '.join(fault.name for fault in FAULTS)}"
        )
    console, rows = Console(stderr=True), []
    for fault in FAULTS:
        if only and fault.name not in only:
            continue
        if missing := fault.lacks():
            console.print(f"{fault.name} is skipped: it needs {missing}")
            continue
        console.print(f"{fault.name}: {fault.how}")
        rows.append(uvloop.run(run_fault(fault)))
    if as_json:
        print(json.dumps([asdict(row) for row in rows], indent=2))
    else:
        Console(width=220).print(table_of(rows))
    if any(row.lost for row in rows):
        raise typer.Exit(1)


if __name__ == "__main__":
    typer.run(main)
