"""Tests how services in their own processes stop, and how workers are replaced."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from resolvers.auth.credentials import mint
from tests.app.clients.continuous_clients import ContinuousClients
from tests.app.command_line import ServingCommand, environment
from tests.app.service import SECRET
from tests.forked import ROOT
from tests.waiting import within
from tests.wiki import Wiki

QUERY = "{ wikiPages(first: 1) { nodes { id } } viewer { role } }"
BLOCKED = "SELECT count(*) FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY (pg_blocking_pids(pid))"


@asynccontextmanager
async def served(dsn: str, data_dir: Path, workers: int = 1, **settings: str) -> AsyncIterator[ServingCommand]:
    """Run a service. Its log is read at the end: a pipe holds some hundred lines."""
    settings = {"database_url": dsn, "jwt_secret": SECRET, "log_level": "warning"} | settings
    arguments = ("serve", "--port", "0", "--workers", str(workers))
    with await asyncio.to_thread(ServingCommand, data_dir, *arguments, **settings) as service:
        yield service


@pytest.fixture
def token(wiki: Wiki) -> str:
    scope = wiki.scope
    return mint(SECRET, tenant_id=scope.tenant_id, owner_id=scope.owner_id, role=scope.role, ttl=3600)


async def stopped(service: ServingCommand) -> tuple[int, list[dict[str, Any]]]:
    """Wait for the service to end, and return its exit code and its log."""
    _, logged = await asyncio.to_thread(service.process.communicate, timeout=60)
    return service.process.returncode, [json.loads(line) for line in logged.splitlines()]


def client_of(service: ServingCommand, token: str) -> httpx.AsyncClient:
    """Return a client that opens a connection for each request, so that every worker gets some requests."""
    headers = {"authorization": f"Bearer {token}", "connection": "close"}
    return httpx.AsyncClient(base_url=service.url.removesuffix("/graphql"), headers=headers, timeout=30)


async def send_query(http: httpx.AsyncClient) -> int:
    """Return 1 if the request is answered successfully."""
    answer = (await http.post("/graphql", json={"query": QUERY})).json()
    return int("errors" not in answer)


def children(service: ServingCommand) -> set[int]:
    """Return the workers: each process of the service that holds its socket, except the parent."""
    every = {service.process.pid}
    while more := set(map(int, pgrep(*every))) - every:
        every |= more
    return {pid for pid in every - {service.process.pid} if listens(pid, service)}


def pgrep(*parents: int) -> list[str]:
    return subprocess.run(["pgrep", "-P", ",".join(map(str, parents))], capture_output=True, text=True).stdout.split()


def listens(pid: int, service: ServingCommand) -> bool:
    port = f"{urlsplit(service.url).port:04X}"
    sockets = {
        f"socket:[{fields[9]}]"
        for fields in map(str.split, Path("/proc/net/tcp").read_text().splitlines()[1:])
        if fields[1].endswith(f":{port}") and fields[3] == "0A"
    }
    with suppress(OSError):
        return any(str(file.readlink()) in sockets for file in Path(f"/proc/{pid}/fd").iterdir())
    return False


async def test_a_stopping_service_is_not_ready_and_loses_no_request(dsn: str, tmp_path: Path, token: str) -> None:
    """Clients that reuse a connection and clients that open a new one lose no request during the drain delay."""
    async with (
        served(dsn, tmp_path, drain_delay="1") as service,
        client_of(service, token) as http,
        httpx.AsyncClient() as reusing,
        ContinuousClients(service.url, token, QUERY) as clients,
    ):
        assert (await reusing.post(service.url, json={"query": QUERY}, headers=http.headers)).status_code == 200
        await clients.wait_for_outcomes("whole", 50)
        service.process.send_signal(signal.SIGTERM)
        async with within("the service called itself ready"):
            while (readiness := await http.get("/readyz")).status_code == 200:
                await asyncio.sleep(0.01)
        answer = await reusing.get(f"{http.base_url}/healthz")
        assert await stopped(service) == (0, [])
        await asyncio.wait_for(asyncio.gather(*clients.running), 30)
    assert (readiness.status_code, readiness.json()["reason"]) == (503, "draining")
    assert (answer.status_code, answer.headers["connection"]) == (200, "close")
    assert clients.outcomes.keys() == {"whole", "refused"}


async def test_a_killed_worker_loses_no_metrics_and_a_stop_loses_no_request(
    dsn: str, tmp_path: Path, token: str
) -> None:
    async with (
        served(dsn, tmp_path, workers=2, metrics="local", log_level="info") as service,
        client_of(service, token) as http,
    ):
        workers = children(service)
        done = sum([await send_query(http) for _ in range(40)])
        assert (len(workers), done) == (2, 40)
        text = (await http.get("/metrics")).text
        assert 'cairn_requests_total{path="/graphql",status="200"} 40.0' in text
        assert "cairn_processes 2.0" in text

        killed = workers.pop()
        os.kill(killed, signal.SIGKILL)
        while (now := children(service)) & {killed} or len(now) < 2:
            done += await send_query(http)
            await asyncio.sleep(0.1)
        text = (await http.get("/metrics")).text
        assert (
            f'cairn_requests_total{{path="/graphql",status="200"}} {float(done)}' in text
        )  # the counts of the killed worker are included

        async with ContinuousClients(service.url, token, QUERY) as clients:
            await clients.wait_for_outcomes("whole", 20)
            service.process.send_signal(signal.SIGTERM)
            code, records = await stopped(service)
            await asyncio.wait_for(asyncio.gather(*clients.running), 30)
    assert code == 0
    assert clients.outcomes.keys() == {"whole", "refused"}
    assert {record["pid"] for record in records if record["event"] == "request"} >= workers | {killed}


@pytest.mark.parametrize("seconds", [0.0, 0.5])
async def test_stopping_while_a_worker_is_replaced_starts_no_further_worker(
    dsn: str, tmp_path: Path, seconds: float
) -> None:
    """The supervisor neither waits for the health of the new worker nor starts one that would have no socket."""
    async with served(dsn, tmp_path, workers=2, log_level="info") as service:
        killed = children(service).pop()
        os.kill(killed, signal.SIGKILL)
        async with within("the killed process was not replaced"):
            while (now := children(service)) & {killed} or len(now) < 2:
                await asyncio.sleep(0.01)
        await asyncio.sleep(seconds)
        service.process.send_signal(signal.SIGTERM)
        code, records = await stopped(service)
    died = [record["event"] for record in records if record["event"].endswith("died")]
    assert (code, died) == (0, [f"Child process [{killed}] died"])


SIGNALLED = """
import os, sys
from app.cli import main
from app.server.workers import Worker

start, signals = Worker.start, iter(sys.argv[1:])

def start_and_signal(worker):
    start(worker)
    os.kill(os.getpid(), int(next(signals, 0)))

Worker.start = start_and_signal
sys.exit(main(["serve", "--port", "0", "--workers", "2"]))
"""


@pytest.mark.parametrize(
    "signals",
    [[signal.SIGTERM], [signal.SIGHUP, 0, signal.SIGTERM]],
    ids=["the first worker", "the replacement of a worker"],
)
async def test_a_signal_while_a_worker_is_started_stops_all_of_them(
    dsn: str, tmp_path: Path, signals: list[int]
) -> None:
    """The signals are sent after the start of each worker; 0 is none."""
    settings = environment(tmp_path) | {"CAIRN_DATABASE_URL": dsn, "CAIRN_JWT_SECRET": SECRET}
    service = await asyncio.create_subprocess_exec(
        sys.executable, "-c", SIGNALLED, *map(str, map(int, signals)), env=settings, cwd=ROOT, stderr=subprocess.PIPE
    )
    async with within("the service did not stop"):
        _, logged = await service.communicate()
    assert (service.returncode, b"Traceback" in logged) == (0, False), logged


@pytest.mark.parametrize(("timeout", "frees"), [("30", True), ("0.3", False)])
async def test_requests_in_flight_are_awaited_up_to_the_drain_timeout(
    dsn: str, tmp_path: Path, token: str, wiki: Wiki, timeout: str, frees: bool
) -> None:
    async with served(dsn, tmp_path, drain_timeout=timeout) as service, client_of(service, token) as http:
        async with wiki.connection.transaction():
            await wiki.connection.execute("LOCK TABLE pages IN ACCESS EXCLUSIVE MODE")
            answer = asyncio.create_task(http.post("/graphql", json={"query": QUERY}))
            async with within("the request did not wait for the lock"):
                while not await wiki.connection.fetchval(BLOCKED):
                    await asyncio.sleep(0.01)
            service.process.send_signal(signal.SIGTERM)
            if not frees:
                assert (await stopped(service))[0] == 0
            else:
                await asyncio.sleep(1)  # longer than it lingers
        found = await answer
    assert found.status_code == (200 if frees else 503)
    assert ("errors" in found.json()) is not frees
