"""Tests that faults of the database are reported quickly at /readyz, in the log and in the metrics."""

import asyncio
import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import asyncpg
import pytest
from structlog.testing import capture_logs

from db.embedded import EmbeddedServer
from db.migrate import migrate
from tests.app.command_line import environment, run_command
from tests.app.operations.observability.test_metrics import counted
from tests.app.service import Service, serving
from tests.conftest import copy_server, new_folder
from tests.connections import IDLE
from tests.postgres_proxy import Proxy
from tests.wiki import Wiki, close_wiki, open_wiki

MAKE = """mutation($title: String!) {
  createWikiPage(input: {type: TOPIC, title: $title, bodyMd: "x"}) { page { title } userErrors { message } }
}"""
READ = "{ wikiPages(first: 1) { nodes { title } } }"


@pytest.fixture(autouse=True)
def connection_reuse() -> Iterator[None]:
    with IDLE.disabled():
        yield


@pytest.fixture(autouse=True)
def uncached_readiness(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.http.health.CACHED_FOR", 0.0)


@pytest.fixture
def logged() -> Iterator[list[Any]]:
    with capture_logs() as records:
        yield records


async def reason(service: Service) -> str | None:
    readiness: dict[str, str] = (await service.http.get("/readyz")).json()
    return readiness.get("reason")


async def test_a_read_only_server_is_reported_in_health_log_and_metrics(
    dsn: str, tmp_path: Path, wiki: Wiki, logged: list[Any]
) -> None:
    operator = await asyncpg.connect(dsn)
    name = await operator.fetchval("SELECT current_database()")
    await operator.execute(f"ALTER DATABASE {name} SET default_transaction_read_only = on")
    async with serving(dsn, tmp_path, metrics="local") as service:
        token = service.token(wiki.scope.tenant_id, wiki.scope.owner_id)
        assert (await service.post(READ, token)).status_code == 200
        answer = await service.post(MAKE, token, {"title": "hunter2"})
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
        assert await reason(service) == "read_only"
        found = await counted(service)
    await operator.execute("SET default_transaction_read_only = off")
    await operator.execute(f"ALTER DATABASE {name} RESET default_transaction_read_only")
    await operator.close()
    assert found["cairn_database_refusals_total", "read_only"] == 1
    assert sum(count for labels, count in found.items() if "failed" in labels) == 1
    *_, record = (record for record in logged if record["event"] == "database refused")
    assert (record["cause"], record["sqlstate"], record["error"]) == (
        "read_only",
        "25006",
        "ReadOnlySQLTransactionError",
    )
    assert "read-only transaction" in str(record["message"])
    assert "hunter2" not in json.dumps(record)


async def test_a_command_reports_a_read_only_server_on_stderr_only(dsn: str, tmp_path: Path) -> None:
    operator = await asyncpg.connect(dsn)
    name = await operator.fetchval("SELECT current_database()")
    await operator.execute(f"ALTER DATABASE {name} SET default_transaction_read_only = on")
    command = ["tenants", "create", "acme"]
    settings = environment(tmp_path) | {"CAIRN_DATABASE_URL": dsn}
    plain, as_json = [
        await asyncio.to_thread(run_command, [*command, *options], settings) for options in ([], ["--json"])
    ]
    await operator.execute("SET default_transaction_read_only = off")
    await operator.execute(f"ALTER DATABASE {name} RESET default_transaction_read_only")
    await operator.close()
    assert (plain.code, plain.out, as_json.code, as_json.out) == (1, "", 1, "")
    (line,) = plain.err.splitlines()
    assert "PostgreSQL says: cannot execute INSERT in a read-only transaction" in line
    assert "PostgreSQL says" in as_json.error["message"]


@pytest.fixture
def folder() -> Iterator[Path]:
    folder = Path(new_folder())
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def small_disk(folder: Path) -> Iterator[Path]:
    """Mount a file system of 160 MB at a folder, which only root may do, and yield the folder."""
    mounting = ["mount", "-t", "tmpfs", "-o", "size=160m,mode=0755", "none", str(folder)]
    if os.geteuid() != 0 or subprocess.run(mounting, capture_output=True).returncode != 0:
        pytest.skip("no file system can be mounted here")
    with ExitStack() as after:
        after.callback(subprocess.run, ["umount", "--lazy", str(folder)], check=True)
        yield folder


async def test_a_full_disk_is_reported_until_space_is_freed(
    small_disk: Path, tmp_path: Path, logged: list[Any]
) -> None:
    server = EmbeddedServer(small_disk)
    dsn = await asyncio.to_thread(server.start)
    try:
        await migrate(dsn)
        wiki = await open_wiki(dsn)
        async with serving(dsn, tmp_path, metrics="local") as service:
            token = service.token(wiki.scope.tenant_id, wiki.scope.owner_id)
            assert await reason(service) is None
            ballast = small_disk / "ballast"
            subprocess.run(["dd", "if=/dev/zero", f"of={ballast}", "bs=64k"], capture_output=True)
            assert await reason(service) == "disk_full"
            statuses = [(await service.post(MAKE, token, {"title": f"Page {n}"})).status_code for n in range(60)]
            found = await counted(service)
            ballast.unlink()
            assert await reason(service) is None
            assert (await service.post(MAKE, token, {"title": "After"})).status_code == 200
        await close_wiki(wiki)
    finally:
        await asyncio.to_thread(server.stop)
    assert set(statuses) <= {200, 503}
    assert found["cairn_database_refusals_total", "disk_full"] == statuses.count(503) > 0
    refused = {record["sqlstate"] for record in logged if record["event"] == "database refused"}
    assert refused == {"53100"}
    assert "No space left on device" in server.log.read_text()


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("db.breaker.EVERY", 0.2)
    monkeypatch.setattr("db.breaker.ANSWER_TIMEOUT", 0.5)


async def refuse_and_heal(service: Service, token: str, hang: Callable[[], None], resume: Callable[[], None]) -> None:
    """Check that requests fail fast, after the first ones, while the database hangs, and succeed when it resumes."""
    assert (await service.post(READ, token)).status_code == 200
    hang()
    try:
        requests = [(READ, {}), (MAKE, {"title": "Ash"}), (MAKE, {"title": "Elm"})] * 8
        first_answers = await asyncio.gather(*(service.post(text, token, values) for text, values in requests))
        assert {(answer.status_code, answer.headers.get("retry-after")) for answer in first_answers} == {(503, "1")}
        began = time.perf_counter()
        later_answers = [await service.post(READ, token) for _ in range(20)]
        took = time.perf_counter() - began
        found = await counted(service)
        assert await reason(service) == "timeout"
    finally:
        resume()
    assert {answer.status_code for answer in later_answers} == {503}
    assert took < 20, "each request alone would have waited for five seconds"
    assert found["cairn_database_unresponsive",] == 1
    assert found["cairn_database_refusals_total", "timeout"] >= 20
    async with asyncio.timeout(10):
        while (await service.post(READ, token)).status_code != 200:
            await asyncio.sleep(0.1)
    assert await reason(service) is None


async def test_requests_fail_fast_while_the_database_server_hangs(
    folder: Path, tmp_path: Path, migrated_server_dir: Path, impatient: None
) -> None:
    copy_server(migrated_server_dir, folder)
    server = EmbeddedServer(folder)
    dsn = await asyncio.to_thread(server.start)
    postmaster = int(server.postmaster()[0])
    stopped: list[int] = []

    def hang() -> None:
        family = subprocess.run(["pgrep", "-P", str(postmaster)], capture_output=True, text=True).stdout.split()
        for pid in (postmaster, *map(int, family)):
            os.kill(pid, signal.SIGSTOP)
            stopped.append(pid)

    def resume() -> None:
        while stopped:
            os.kill(stopped.pop(), signal.SIGCONT)

    try:
        wiki = await open_wiki(dsn)
        async with serving(dsn, tmp_path, metrics="local", pool_size=2) as service:
            token = service.token(wiki.scope.tenant_id, wiki.scope.owner_id)
            await refuse_and_heal(service, token, hang, resume)
        await close_wiki(wiki)
    finally:
        await asyncio.to_thread(server.stop)


async def test_requests_fail_fast_while_the_network_holds_packets_back(
    dsn: str, tmp_path: Path, wiki: Wiki, impatient: None
) -> None:
    """The proxy keeps connections open and accepts new ones, but forwards no data."""
    async with (
        Proxy(dsn).open() as proxy,
        serving(proxy.dsn, tmp_path, metrics="local", pool_size=2) as service,
    ):
        token = service.token(wiki.scope.tenant_id, wiki.scope.owner_id)
        await refuse_and_heal(service, token, proxy.flowing.clear, proxy.flowing.set)


async def test_a_wiki_locked_by_another_session_is_unavailable_until_the_lock_ends(
    dsn: str, tmp_path: Path, wiki: Wiki
) -> None:
    holder = await asyncpg.connect(dsn)
    async with serving(dsn, tmp_path, statement_timeout=0.5) as service:
        token = service.token(wiki.scope.tenant_id, wiki.scope.owner_id)
        async with holder.transaction():
            await holder.execute("SELECT FROM owners WHERE id = $1 FOR UPDATE", wiki.scope.owner_id)
            assert (await service.post(READ, token)).status_code == 200, "reads do not wait for the lock"
            answer = await service.post(MAKE, token, {"title": "Ash"})
            assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
        answer = await service.post(MAKE, token, {"title": "Ash"})
        assert answer.json()["data"]["createWikiPage"]["page"] == {"title": "Ash"}
    await holder.close()
    assert [page["title"] for page in await wiki.rows("pages")] == ["Ash"]
