"""The embedded server: one per data directory, shared while it is used, gone when nobody uses it."""

import asyncio
import os
import pwd
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import asyncpg
import pytest

from db.embedded import LOG_MOST, EmbeddedServer, EmbeddedServerFailed
from db.system_account import SystemAccount

Start = Callable[[], "subprocess.Popen[str]"]

ROOT = Path(__file__).parents[2]
COMMAND = """
import asyncio, sys
from pathlib import Path
import asyncpg
from db.embedded import EmbeddedServer

async def use(dsn):
    connection = await asyncpg.connect(dsn)
    try:
        print("ready", flush=True)
        await asyncio.sleep(60)
    finally:
        print("still", await connection.fetchval("SELECT 'there'"), flush=True)
        await connection.close()

with EmbeddedServer(Path(sys.argv[1]), durable=False) as dsn:
    try:
        asyncio.run(use(dsn))
    except KeyboardInterrupt:
        sys.exit(130)
"""


@pytest.fixture
def data_dir() -> Iterator[Path]:
    with new_folder() as folder:
        yield folder


@pytest.fixture(scope="module")
def made_once() -> Iterator[Path]:
    with new_folder() as folder:
        with EmbeddedServer(folder, durable=False):
            pass
        yield folder


@pytest.fixture
def used_dir(data_dir: Path, made_once: Path) -> Path:
    """A data directory whose server has run before."""
    subprocess.run(["cp", "-a", made_once / "postgres", data_dir], check=True)
    return data_dir


@pytest.fixture
def command(data_dir: Path) -> Iterator[Start]:
    """Starts another process that uses the server, as a terminal would: in a process group of its own."""
    started: list[subprocess.Popen[str]] = []

    def start() -> "subprocess.Popen[str]":
        process = subprocess.Popen(
            [sys.executable, "-c", COMMAND, str(data_dir)], cwd=ROOT, env={"PYTHONPATH": str(ROOT)},
            stdout=subprocess.PIPE, text=True, process_group=0,
        )  # fmt: skip
        started.append(process)
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


@contextmanager
def new_folder() -> Iterator[Path]:
    """Not below pytest's own folder, which only its owner may enter."""
    folder = Path(tempfile.mkdtemp(prefix="cairn-test-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


def runs(data_dir: Path) -> bool:
    return (data_dir / "postgres" / "postmaster.pid").exists()


async def becomes(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while not holds():
            await asyncio.sleep(0.1)


async def ask(dsn: str, question: str) -> object:
    connection = await asyncpg.connect(dsn)
    try:
        return await connection.fetchval(question)
    finally:
        await connection.close()


async def test_data_outlives_the_server(used_dir: Path) -> None:
    with EmbeddedServer(used_dir, durable=False) as dsn:
        await ask(dsn, "CREATE TABLE kept AS SELECT 7 AS value")
    assert not runs(used_dir)
    with EmbeddedServer(used_dir, durable=False) as dsn:
        assert await ask(dsn, "SELECT value FROM kept") == 7


async def test_slow_steps_are_told_before_they_happen(data_dir: Path) -> None:
    told: list[str] = []
    with EmbeddedServer(data_dir, told.append, durable=False):
        assert "Creating a PostgreSQL 18 server (once)" in told
        assert told[-1] == "Starting PostgreSQL"
    told.clear()
    with EmbeddedServer(data_dir, told.append, durable=False):
        assert told == ["Starting PostgreSQL"]


async def test_what_is_kept_is_kept_durably(data_dir: Path) -> None:
    with EmbeddedServer(data_dir) as dsn:
        assert await ask(dsn, "SELECT current_database()") == "cairn"
        assert await ask(dsn, "SHOW fsync") == "on"
        assert await ask(dsn, "SHOW jit") == "off"
        assert await ask(dsn, "SHOW listen_addresses") == ""


async def test_the_last_one_out_stops_the_server(used_dir: Path) -> None:
    first, second = EmbeddedServer(used_dir, durable=False), EmbeddedServer(used_dir, durable=False)
    assert first.start() == second.start()
    first.stop()
    assert runs(used_dir)
    second.stop()
    assert not runs(used_dir)


async def test_of_two_first_starts_at_once_one_waits_for_the_other(data_dir: Path) -> None:
    told: list[str] = []
    servers = [EmbeddedServer(data_dir, told.append, durable=False) for _ in range(2)]
    first, second = await asyncio.gather(*(asyncio.to_thread(server.start) for server in servers))
    assert first == second
    assert told.count("Creating a PostgreSQL 18 server (once)") == 1
    assert "Waiting for another command that is starting or stopping Postgres" in told
    for server in servers:
        server.stop()
    assert not runs(data_dir)


async def test_two_folders_are_two_servers(data_dir: Path) -> None:
    with EmbeddedServer(data_dir / "a", durable=False) as a, EmbeddedServer(data_dir / "b", durable=False) as b:
        await ask(a, "CREATE TABLE only_here AS SELECT 1")
        assert await ask(b, "SELECT to_regclass('only_here')") is None


async def test_a_copied_folder_is_another_server(data_dir: Path) -> None:
    with EmbeddedServer(data_dir / "a", durable=False) as a:
        await ask(a, "CHECKPOINT")
        subprocess.run(["cp", "-a", data_dir / "a", data_dir / "b"], check=True, stderr=subprocess.DEVNULL)
        with EmbeddedServer(data_dir / "b", durable=False) as b:
            assert await ask(a, "SHOW data_directory") != await ask(b, "SHOW data_directory")


async def test_a_long_path_with_odd_signs_works(data_dir: Path) -> None:
    with EmbeddedServer(data_dir / ('it\'s a "$HOME", ' + "long" * 30), durable=False) as dsn:
        assert await ask(dsn, "SELECT 1") == 1
        sockets = Path(str(await ask(dsn, "SHOW unix_socket_directories")))
        assert sockets.exists()
    assert not sockets.exists()


async def test_a_killed_command_does_not_stop_the_others(used_dir: Path, command: Start) -> None:
    killed = command()
    with EmbeddedServer(used_dir, durable=False) as dsn:
        killed.kill()
        killed.wait()
        assert await ask(dsn, "SELECT 1") == 1
    assert not runs(used_dir)


async def test_a_server_left_by_a_killed_command_is_taken_over(used_dir: Path, command: Start) -> None:
    killed = command()
    killed.kill()
    killed.wait()
    assert runs(used_dir)
    told: list[str] = []
    with EmbeddedServer(used_dir, told.append, durable=False) as dsn:
        assert await ask(dsn, "SELECT 1") == 1
    assert told == []
    assert not runs(used_dir)


async def test_a_crashed_server_is_started_again(used_dir: Path) -> None:
    with EmbeddedServer(used_dir, durable=False):
        crash(used_dir)
    with EmbeddedServer(used_dir, durable=False) as dsn:
        assert await ask(dsn, "SELECT 1") == 1


class EndsByItself(EmbeddedServer):
    """A server that ends between being seen and being stopped, as one does whose log ends before its target."""

    def run(self, account: SystemAccount, program: str, *arguments: str, typed: str = "") -> None:
        if arguments[0] == "stop" and runs(self.data_dir):
            super().run(account, program, "stop", "--mode=immediate", "--silent")
        super().run(account, program, *arguments, typed=typed)


@pytest.mark.parametrize("ends", ["when it is seen", "when it is told to"])
async def test_a_server_that_ends_by_itself_is_stopped_without_an_error(used_dir: Path, ends: str) -> None:
    server = (EndsByItself if ends == "when it is told to" else EmbeddedServer)(used_dir, durable=False)
    with server:
        if ends == "when it is seen":
            crash(used_dir)
        server.halt()
        assert not server.running()


async def test_a_stale_process_id_that_now_is_another_process_does_no_harm(used_dir: Path) -> None:
    with EmbeddedServer(used_dir, durable=False):
        pid_file = used_dir / "postgres" / "postmaster.pid"
        lines = pid_file.read_text().splitlines()
        crash(used_dir)
    pid_file.write_text("\n".join([str(os.getpid()), *lines[1:]]))
    with EmbeddedServer(used_dir, durable=False) as dsn:
        assert await ask(dsn, "SELECT 1") == 1


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
async def test_a_signal_ends_the_command_before_its_server(used_dir: Path, command: Start, number: int) -> None:
    process = command()
    os.killpg(process.pid, number)
    said, _ = process.communicate(timeout=90)
    assert process.returncode == 128 + number
    assert said == "still there\n"
    assert not runs(used_dir)


@pytest.mark.parametrize("moment", [0.4, 0.7, 1.0])
async def test_an_interrupted_first_start_leaves_nothing_running(data_dir: Path, moment: float) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", COMMAND, str(data_dir)], cwd=ROOT, env={"PYTHONPATH": str(ROOT)},
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, process_group=0,
    )  # fmt: skip
    time.sleep(moment)
    os.killpg(process.pid, signal.SIGINT)
    process.wait(timeout=90)  # a signal in the middle of connecting may be lost on asyncpg: then its minute runs out
    assert not runs(data_dir)
    with EmbeddedServer(data_dir, durable=False) as dsn:
        assert await ask(dsn, "SELECT current_database()") == "cairn"


def test_a_folder_that_cannot_be_made_is_a_clear_error(data_dir: Path) -> None:
    (data_dir / "file").write_text("")
    with pytest.raises(EmbeddedServerFailed, match=r"Not a directory.*CAIRN_DATA_DIR"):
        EmbeddedServer(data_dir / "file" / "cairn").start()


def test_a_server_that_does_not_start_says_why(used_dir: Path) -> None:
    (used_dir / "postgres" / "PG_VERSION").write_text("12\n")
    with pytest.raises(EmbeddedServerFailed, match=r"pg_ctl failed(.|\n)*initialized by PostgreSQL version 12"):
        EmbeddedServer(used_dir, durable=False).start()
    assert not runs(used_dir)


async def test_the_log_says_why_a_server_that_died_cannot_be_started_again(
    used_dir: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("db.embedded.LOOKED_EVERY", 0.1)
    settings = used_dir / "postgres" / "postgresql.conf"
    whole = settings.read_text()
    server = EmbeddedServer(used_dir, durable=False)
    with server, server.keep_running():
        settings.write_text(whole + "shared_buffers = 'none'\n")
        crash(used_dir)
        await becomes(lambda: "PostgreSQL could not be started again: pg_ctl failed" in caplog.text)
        assert 'invalid value for parameter "shared_buffers"' in caplog.text
        settings.write_text(whole)
        await becomes(server.running)


async def test_a_log_that_has_grown_large_is_moved_aside_while_the_server_runs(used_dir: Path) -> None:
    log = used_dir / "postgres.log"
    server = EmbeddedServer(used_dir, durable=False)
    with server as dsn, server.keep_running():
        connection = await asyncpg.connect(dsn)
        with log.open("ab") as file:
            file.write(b"x" * (LOG_MOST + 1))
        await becomes(lambda: log.stat().st_size == 0)
        assert (used_dir / "postgres.log.1").stat().st_size > LOG_MOST
        with pytest.raises(asyncpg.DivisionByZeroError):
            await connection.execute("SELECT 1 / 0")
        await becomes(lambda: b"division by zero" in log.read_bytes())
        assert log.stat().st_size < 1_000
        await connection.close()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_an_ordinary_user_without_a_home_has_a_server_too(data_dir: Path) -> None:
    nobody = pwd.getpwnam("nobody")
    os.chown(data_dir, nobody.pw_uid, nobody.pw_gid)
    become = f"import os; os.setgroups([]); os.setgid({nobody.pw_gid}); os.setuid({nobody.pw_uid})\n"
    script = COMMAND.replace("with Embedded", become + "with Embedded").replace("asyncio.sleep(60)", "asyncio.sleep(0)")
    ran = subprocess.run(
        [sys.executable, "-W", "error", "-c", script, str(data_dir)], cwd=ROOT, env={"PYTHONPATH": str(ROOT)},
        capture_output=True, text=True,
    )  # fmt: skip
    assert ran.stderr == ""
    assert ran.stdout == "ready\nstill there\n"
    assert (data_dir / "postgres").stat().st_uid == nobody.pw_uid
    with EmbeddedServer(data_dir, durable=False):
        assert (data_dir / "postgres" / "postmaster.pid").stat().st_uid == nobody.pw_uid


def crash(data_dir: Path) -> None:
    """As when the power fails: every process of the server at once."""
    pid_file = data_dir / "postgres" / "postmaster.pid"
    postmaster = int(pid_file.read_text().split()[0])
    os.kill(postmaster, signal.SIGKILL)
    deadline = time.monotonic() + 10
    while re.search(rf"^\s*{postmaster}$", subprocess.check_output(["ps", "-eo", "ppid"], text=True), re.MULTILINE):
        assert time.monotonic() < deadline
        time.sleep(0.05)
