"""Defines the faults: each is caused while clients write and read, is ended after a while, and returns when it
ended."""

import asyncio
import subprocess
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

import asyncpg

from .load import Load
from .stage import CLOCK, Requirements, Stage, kill_postgres, promote

LOCK_SECONDS = 12.0  # seconds of a fault that lasts longer than the statement timeout
OUTAGE_SECONDS = 8.0  # seconds without a network, or a disk
CROWD_CONNECTIONS = 640  # connections without a pause between requests: ten times those that keep a process busy
ONLY_SERVICE = Requirements()
Cause = Callable[[Stage, Load], Awaitable[float]]


@dataclass(frozen=True)
class Fault:
    """A fault. `cause` causes it and returns the moment from which on the service may recover."""

    name: str
    how: str
    cause: Cause
    requirements: Requirements = ONLY_SERVICE

    def lacks(self) -> str | None:
        """Return what this machine lacks for the fault, or None."""
        if self.requirements.clock and not CLOCK.exists():
            return "the package libfaketime"
        if self.requirements.small_disk and subprocess.run(["id", "-u"], capture_output=True).stdout.strip() != b"0":
            return "root, to mount a small disk"
        return None


async def service_killed(stage: Stage, load: Load) -> float:
    await asyncio.to_thread(stage.service.kill)
    killed = time.monotonic()
    await asyncio.to_thread(stage.service.start)
    return killed


async def worker_killed(stage: Stage, load: Load) -> float:
    await asyncio.to_thread(stage.worker.kill)
    killed = time.monotonic()
    await asyncio.to_thread(stage.worker.start)
    return killed


async def receiver_killed(stage: Stage, load: Load) -> float:
    await asyncio.to_thread(stage.receiver.kill)
    await asyncio.sleep(OUTAGE_SECONDS)
    await asyncio.to_thread(stage.receiver.start)
    return time.monotonic()


async def postgres_killed(stage: Stage, load: Load) -> float:
    kill_postgres(stage.primary)
    killed = time.monotonic()
    await asyncio.to_thread(stage.primary.launch)
    return killed


async def replica_killed(stage: Stage, load: Load) -> float:
    kill_postgres(stage.standby)
    killed = time.monotonic()
    await asyncio.sleep(OUTAGE_SECONDS)
    await asyncio.to_thread(stage.standby.launch)
    return killed


async def promoted(stage: Stage, load: Load) -> float:
    kill_postgres(stage.primary)
    killed = time.monotonic()
    await asyncio.to_thread(promote, stage.standby)
    stage.sockets.reverse()
    return killed


async def disk_filled(stage: Stage, load: Load) -> float:
    ballast = stage.primary.data_dir / "ballast"
    filling = ["dd", "if=/dev/zero", f"of={ballast}", "bs=64k"]
    await asyncio.to_thread(subprocess.run, filling, capture_output=True)
    await asyncio.sleep(OUTAGE_SECONDS)
    ballast.unlink()
    return time.monotonic()


async def clock_jumped(stage: Stage, load: Load) -> float:
    stage.clock.write_text("+3600")
    jumped = time.monotonic()
    await asyncio.sleep(OUTAGE_SECONDS)
    stage.clock.write_text("+0")
    return jumped


async def network_cut(stage: Stage, load: Load) -> float:
    assert stage.network is not None
    stage.network.flowing.clear()
    await asyncio.sleep(OUTAGE_SECONDS)
    stage.network.flowing.set()
    return time.monotonic()


async def lock_held(stage: Stage, load: Load) -> float:
    holder = await asyncpg.connect(stage.dsn())
    async with holder.transaction():
        await holder.execute("LOCK TABLE pages IN ACCESS EXCLUSIVE MODE")
        await asyncio.sleep(LOCK_SECONDS)
    await holder.close()
    return time.monotonic()


async def overloaded(stage: Stage, load: Load) -> float:
    script = stage.folder / "crowd.lua"
    script.write_text(f"""wrk.method = "POST"
wrk.body = '{{"query":"{{ wikiPages(first: 20) {{ nodes {{ title }} }} }}"}}'
wrk.headers["Content-Type"] = "application/json"
wrk.headers["Authorization"] = "Bearer {stage.other_token}"
""")
    command = [
        "wrk",
        "-t2",
        f"-c{CROWD_CONNECTIONS}",
        f"-d{OUTAGE_SECONDS:g}s",
        "--timeout",
        "20s",
        "-s",
        str(script),
        f"{stage.url}/graphql",
    ]
    with (stage.folder / "crowd").open("w") as output:
        crowd = await asyncio.create_subprocess_exec(*command, stdout=output, stderr=output)
        await crowd.wait()
    return time.monotonic()


FAULTS = (
    Fault("service", "SIGKILL, started again at once", service_killed),
    Fault("worker", "SIGKILL, started again at once", worker_killed, Requirements(webhooks=True)),
    Fault(
        "receiver", f"SIGKILL, started again after {OUTAGE_SECONDS:g} s", receiver_killed, Requirements(webhooks=True)
    ),
    Fault("postgres", "SIGKILL to all of its processes, started again at once", postgres_killed),
    Fault(
        "replica", f"SIGKILL to all of its processes, started again after {OUTAGE_SECONDS:g} s", replica_killed,
        Requirements(standby=True, replica=True),
    ),
    Fault(
        "promotion", "SIGKILL to the primary, pg_ctl promote on its synchronous standby", promoted,
        Requirements(standby=True, synchronous=True),
    ),
    Fault(
        "disk", f"the file system of Postgres is full for {OUTAGE_SECONDS:g} s", disk_filled,
        Requirements(small_disk=True),
    ),
    Fault(
        "clock", f"the service's clock is an hour ahead for {OUTAGE_SECONDS:g} s", clock_jumped,
        Requirements(clock=True),
    ),
    Fault(
        "network", f"no packet passes between the service and Postgres for {OUTAGE_SECONDS:g} s", network_cut,
        Requirements(network=True),
    ),
    Fault("lock", f"another session holds ACCESS EXCLUSIVE on `pages` for {LOCK_SECONDS:g} s", lock_held),
    Fault(
        "overload",
        f"{CROWD_CONNECTIONS} connections of another tenant send requests without a pause for {OUTAGE_SECONDS:g} s",
        overloaded,
    ),
)  # fmt: skip


def crowd_result(folder: Path) -> str:
    """Return what wrk printed about the responses to the crowd, or an empty text if there was no crowd."""
    file = folder / "crowd"
    lines = file.read_text().splitlines() if file.exists() else []
    return "; ".join(line.strip() for line in lines if "requests in" in line or "Non-2xx" in line)
