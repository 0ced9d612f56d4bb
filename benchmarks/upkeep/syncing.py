"""Measures `cairn sync` of a large vault: the first sync, one without changes, and one with few changes."""

import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, NamedTuple

import typer
import uvloop

from ..compiler.database import new_wiki, open_database, temporary_server
from ..processes import cluster_cpu_seconds, peak_mb, postmaster
from ..wikis import VOCABULARY

COMMAND = [sys.executable, "-c", "from app.cli import main; main()", "sync"]
EDITED_NOTES = 10
SETTLE_SECONDS = 2.5
"""The seconds after which sync identifies a written file by its time and size."""


class Cost(NamedTuple):
    """The cost of one sync."""

    seconds: float
    cpu: float
    postgres: float
    peak_mb: float


def syncs(
    notes: Annotated[int, typer.Option(min=EDITED_NOTES, help="Notes in the vault.")] = 10_000,
    words: Annotated[int, typer.Option(min=1, help="Words of each note.")] = 150,
) -> None:
    """Sync a vault with an empty wiki, again without a change, with few edits, and into a new folder."""
    with temporary_server() as dsn, tempfile.TemporaryDirectory(prefix="cairn-bench-") as name:
        vault, other = Path(name) / "vault", Path(name) / "other"
        uvloop.run(create_wiki(dsn))
        write_vault(vault, notes, words, random.Random(1))
        time.sleep(SETTLE_SECONDS)
        steps: dict[str, Callable[[], Cost]] = {
            f"the first sync of {notes:,} notes": lambda: sync(dsn, vault),
            "again, nothing changed": lambda: sync(dsn, vault),
            "once more, nothing changed": lambda: sync(dsn, vault),
            f"{EDITED_NOTES} notes were edited": lambda: sync(dsn, edit_notes(vault)),
            "into a new folder": lambda: sync(dsn, other),
            "again, nothing changed there": lambda: sync(dsn, other),
        }
        print("| sync | seconds | CPU of cairn, s | CPU of Postgres, s | peak memory, MB |\n|---|---|---|---|---|")
        for step, run in steps.items():
            cost = run()
            figures = f"{cost.seconds:,.1f} | {cost.cpu:,.1f} | {cost.postgres:,.1f} | {cost.peak_mb:,.0f}"
            print(f"| {step} | {figures} |", flush=True)


async def create_wiki(dsn: str) -> None:
    database = await open_database(dsn)
    await new_wiki(database, "acme", "mara")
    await database.close()


def write_vault(vault: Path, notes: int, words: int, rng: random.Random) -> None:
    """Write notes in folders of a hundred, each with a header, two sections and three links."""
    for number in range(notes):
        path = vault / f"folder-{number // 100}" / f"Note {number}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        links = " ".join(f"[[Note {rng.randrange(notes)}]]" for _ in range(3))
        first, second = (" ".join(rng.choices(VOCABULARY, k=words // 2)) for _ in range(2))
        path.write_text(f"---\ntags: [a, b]\n---\n## One\n\n{first}. {links}\n\n## Two\n\n{second}.\n")


def edit_notes(vault: Path) -> Path:
    for path in sorted(vault.rglob("*.md"))[:EDITED_NOTES]:
        path.write_text(f"{path.read_text()}\n## More\n\nMore.\n")
    return vault


def sync(dsn: str, folder: Path) -> Cost:
    """Run one sync in its own process."""
    server, began = uvloop.run(postmaster(dsn)), time.monotonic()
    before = cluster_cpu_seconds(server)
    process = subprocess.Popen(
        [*COMMAND, str(folder), "--tenant", "acme", "--owner", "mara", "--json"], stdout=subprocess.DEVNULL,
        env={**os.environ, "CAIRN_DATABASE_URL": dsn, "CAIRN_DATA_DIR": str(folder.parent / "cairn")},
    )  # fmt: skip
    peak = 0.0
    while os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
        peak = max(peak, peak_mb(process.pid))
        time.sleep(0.02)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise typer.Exit(process.returncode)
    seconds = time.monotonic() - began
    time.sleep(SETTLE_SECONDS)
    return Cost(seconds, used.ru_utime + used.ru_stime, cluster_cpu_seconds(server) - before, peak)
