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
from .stage import CLOCK, Stage, Wanted, kill_postgres, promote

HELD = 12.0  # seconds of a fault that lasts longer than the statement timeout
CUT = 8.0  # seconds without a network, or a disk
CROWD = 640  # connections without a pause between requests: ten times those that keep a process busy
ONLY_A_SERVICE = Wanted()
Cause = Callable[[Stage, Load], Awaitable[float]]


@dataclass(frozen=True)
class Fault:
    """A fault. `cause` causes it and returns the moment from which on the service may recover."""

    name: str
    how: str
    cause: Cause
    wanted: Wanted = ONLY_A_SERVICE

    def lacks(self) -> str | None:
        """Return what this machine lacks for the fault, or None."""
        if self.wanted.clock and not CLOCK.exists():
            return "the package libfaketime"
        if self.wanted.small_disk and subprocess.run(["id", "-u"], capture_output=True).stdout.strip() != b"0":
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
    await asyncio.sleep(CUT)
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
    await asyncio.sleep(CUT)
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
    await asyncio.sleep(CUT)
    ballast.unlink()
    return time.monotonic()


async def clock_jumped(stage: Stage, load: Load) -> float:
    stage.clock.write_text("+3600")
    jumped = time.monotonic()
    await asyncio.sleep(CUT)
    stage.clock.write_text("+0")
    return jumped


async def network_cut(stage: Stage, load: Load) -> float:
    assert stage.network is not None
    stage.network.flowing.clear()
    await asyncio.sleep(CUT)
    stage.network.flowing.set()
    return time.monotonic()


async def lock_held(stage: Stage, load: Load) -> float:
    holder = await asyncpg.connect(stage.dsn())
    async with holder.transaction():
        await holder.execute("LOCK TABLE pages IN ACCESS EXCLUSIVE MODE")
        await asyncio.sleep(HELD)
    await holder.close()
    return time.monotonic()


async def overloaded(stage: Stage, load: Load) -> float:
    script = stage.folder / "crowd.lua"
    script.write_text(f"""wrk.method = "POST"
wrk.body = '{{"query":"{{ wikiPages(first: 20) {{ nodes {{ title }} }} }}"}}'
wrk.headers["Content-Type"] = "application/json"
wrk.headers["Authorization"] = "Bearer {stage.other_token}"
""")
    asking = ["wrk", "-t2", f"-c{CROWD}", f"-d{CUT:g}s", "--timeout", "20s", "-s", str(script), f"{stage.url}/graphql"]
    with (stage.folder / "crowd").open("w") as said:
        crowd = await asyncio.create_subprocess_exec(*asking, stdout=said, stderr=said)
        await crowd.wait()
    return time.monotonic()


FAULTS = (
    Fault("service", "SIGKILL, started again at once", service_killed),
    Fault("worker", "SIGKILL, started again at once", worker_killed, Wanted(webhooks=True)),
    Fault("receiver", f"SIGKILL, started again after {CUT:g} s", receiver_killed, Wanted(webhooks=True)),
    Fault("postgres", "SIGKILL to all of its processes, started again at once", postgres_killed),
    Fault(
        "replica", f"SIGKILL to all of its processes, started again after {CUT:g} s", replica_killed,
        Wanted(standby=True, replica=True),
    ),
    Fault(
        "promotion", "SIGKILL to the primary, pg_ctl promote on its synchronous standby", promoted,
        Wanted(standby=True, synchronous=True),
    ),
    Fault("disk", f"the file system of Postgres is full for {CUT:g} s", disk_filled, Wanted(small_disk=True)),
    Fault("clock", f"the service's clock is an hour ahead for {CUT:g} s", clock_jumped, Wanted(clock=True)),
    Fault("network", f"no packet passes between service and Postgres for {CUT:g} s", network_cut, Wanted(network=True)),
    Fault("lock", f"another session holds ACCESS EXCLUSIVE on `pages` for {HELD:g} s", lock_held),
    Fault("overload", f"{CROWD} connections of another tenant send requests without a pause for {CUT:g} s", overloaded),
)  # fmt: skip


def crowd_of(folder: Path) -> str:
    """Return what wrk printed about the responses to the crowd, or an empty text if there was no crowd."""
    place = folder / "crowd"
    lines = place.read_text().splitlines() if place.exists() else []
    return "; ".join(line.strip() for line in lines if "requests in" in line or "Non-2xx" in line)
