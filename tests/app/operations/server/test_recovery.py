"""Tests that services recover when a worker, their parent process or the embedded Postgres ends."""

import asyncio
import os
import re
import shutil
import signal
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import asyncpg
import httpx
import pytest

from app.server.serve import metrics_folder
from benchmarks.processes import stat_fields
from db.database import Database
from db.embedded import EmbeddedServer
from db.scope import Role
from resolvers.jobs.queue import ask_for_compile
from tests.app.command_line import ServingCommand, environment
from tests.app.operations.observability.test_metrics import samples
from tests.app.operations.server.test_stopping import children, served, stopped
from tests.app.service import SECRET
from tests.conftest import copy_server, new_folder
from tests.forked import COMMAND, ROOT
from tests.wiki import close_wiki, open_wiki

SOON = 30.0  # seconds


@pytest.fixture
def folder() -> Iterator[Path]:
    folder = Path(new_folder())
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def used_dir(folder: Path, migrated_server_dir: Path) -> Path:
    """Return a data folder whose server is migrated and has run before."""
    copy_server(migrated_server_dir, folder / "server")
    return folder / "server"


async def until(condition: object, seconds: float = SOON) -> None:
    assert callable(condition)
    async with asyncio.timeout(seconds):
        while not condition():
            await asyncio.sleep(0.1)


def lives(pid: int) -> bool:
    """Return whether a process runs and is no zombie."""
    try:
        return stat_fields(pid)[0] != "Z"
    except OSError:
        return False


async def answers(service: ServingCommand) -> bool:
    async with httpx.AsyncClient(base_url=service.url.removesuffix("/graphql"), timeout=5) as http:
        try:
            return (await http.get("/readyz", headers={"connection": "close"})).status_code == 200
        except httpx.HTTPError:
            return False


async def test_a_worker_killed_in_an_outage_is_replaced_and_the_service_recovers(folder: Path, used_dir: Path) -> None:
    server = EmbeddedServer(used_dir)
    dsn = await asyncio.to_thread(server.start)
    try:
        async with served(dsn, folder, workers=2) as service:
            first, second = children(service)
            await asyncio.to_thread(server.halt)
            os.kill(first, signal.SIGKILL)
            await asyncio.sleep(4)  # by now its replacement has failed to start
            assert service.process.poll() is None
            assert lives(second)
            assert not await answers(service)
            await asyncio.to_thread(server.launch)
            async with asyncio.timeout(SOON):
                while not (await answers(service) and len(children(service)) == 2):
                    await asyncio.sleep(0.2)
            service.process.send_signal(signal.SIGTERM)
            code, _ = await stopped(service)
            assert code == 0
    finally:
        await asyncio.to_thread(server.stop)


async def test_a_service_whose_workers_cannot_start_exits_with_a_failure(dsn: str, folder: Path) -> None:
    connection = await asyncpg.connect(dsn)
    settings = {"CAIRN_DATABASE_URL": dsn, "CAIRN_JWT_SECRET": SECRET, "CAIRN_DOCUMENTS": "only"}
    process = await asyncio.create_subprocess_exec(
        *COMMAND, "serve", "--port", "0", "--workers", "2", cwd=ROOT, stderr=asyncio.subprocess.PIPE,
        env=environment(folder) | settings | {"CAIRN_DOCUMENTS_DIR": str(folder / "nowhere")},
    )  # fmt: skip
    async with asyncio.timeout(SOON):
        _, stderr = await process.communicate()
    await connection.close()
    assert process.returncode == 1, stderr


@pytest.mark.parametrize("workers", [1, 2])
async def test_an_embedded_server_that_dies_is_started_again_by_the_running_service(
    used_dir: Path, workers: int
) -> None:
    arguments = ("serve", "--port", "0", "--workers", str(workers))
    server = EmbeddedServer(used_dir)
    starting = partial(ServingCommand, used_dir, *arguments, is_fresh=workers > 1, log_level="error")
    with await asyncio.to_thread(starting) as service:
        for _ in range(2):
            killed = int(server.postmaster()[0])
            os.kill(killed, signal.SIGKILL)
            await until(lambda: not lives(killed))  # noqa: B023
            async with asyncio.timeout(SOON):
                while not await answers(service):
                    await asyncio.sleep(0.1)
        service.process.send_signal(signal.SIGTERM)
        await asyncio.to_thread(service.process.communicate, timeout=SOON)
        assert service.process.returncode == 0
    assert not server.running()


async def test_workers_end_when_their_parent_process_is_killed(dsn: str, folder: Path) -> None:
    async with served(dsn, folder, workers=2) as service:
        workers = children(service)
        assert len(workers) == 2
        service.process.kill()
        await until(lambda: not any(map(lives, workers)))
        assert not await answers(service)


async def test_metrics_folders_of_killed_services_are_removed_unless_in_use(
    dsn: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary = folder / "temporary"
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    monkeypatch.setenv("TMPDIR", str(temporary))
    older = temporary / "cairn-metrics-of-an-older-version"
    older.mkdir()

    def metrics_folders() -> set[Path]:
        return set(temporary.glob("cairn-metrics-*")) - {older}

    async with served(dsn, folder, workers=2) as service:
        workers = children(service)
        (abandoned,) = metrics_folders()
        with metrics_folder() as other:
            assert metrics_folders() == {abandoned, Path(other)}, "the service lives"
        service.process.kill()
        await until(lambda: not any(map(lives, workers)))
        assert metrics_folders() == {abandoned}
    with metrics_folder() as other:
        assert metrics_folders() == {Path(other)}
        with metrics_folder() as another:
            assert metrics_folders() == {Path(other), Path(another)}
    assert metrics_folders() == set()
    assert older.exists()


async def test_a_worker_waits_for_postgres_and_reports_health_and_metrics(folder: Path, used_dir: Path) -> None:
    server = EmbeddedServer(used_dir)
    dsn = await asyncio.to_thread(server.start)
    try:
        wiki = await open_wiki(dsn)
        database = Database(dsn, size=2)
        await database.open()
        await ask_for_compile(database, wiki.with_role(Role.ADMIN).scope)
        await database.close()
        await close_wiki(wiki)
        await asyncio.to_thread(server.halt)
        settings = {"CAIRN_DATABASE_URL": dsn, "CAIRN_METRICS": "local", "CAIRN_LOG_FORMAT": "json"}
        process = await asyncio.create_subprocess_exec(
            *COMMAND, "worker", "--port", "0", cwd=ROOT, env=environment(folder) | settings,
            stderr=asyncio.subprocess.PIPE,
        )  # fmt: skip
        assert process.stderr is not None
        async with asyncio.timeout(SOON):
            while not (found := re.search(rb"health at (\S+)/readyz", line := await process.stderr.readline())):
                assert line
        async with httpx.AsyncClient(base_url=found[1].decode(), timeout=5) as http:
            assert (await http.get("/healthz")).status_code == 200
            assert (await http.get("/readyz")).json()["reason"] == "database"
            await asyncio.to_thread(server.launch)
            async with asyncio.timeout(SOON):
                while (await http.get("/readyz")).status_code != 200:
                    await asyncio.sleep(0.2)
                counted = ("cairn_job_attempts_total", "ok")
                while counted not in {
                    (name, *labels[:1]) for name, *labels in samples((await http.get("/metrics")).text)
                }:
                    await asyncio.sleep(0.2)
        process.send_signal(signal.SIGTERM)
        async with asyncio.timeout(SOON):
            _, logged = await process.communicate()
        assert process.returncode == 0
        assert b'"event":"waiting for the database"' in logged or b"waiting for the database" in line
    finally:
        await asyncio.to_thread(server.stop)
