"""The embedded server: one per data directory, shared by processes, and stopped by the last of them."""

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

from db.embedded import LOG_MAX, EmbeddedServer, EmbeddedServerFailed, exit_on_signals
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


@pytest.fixture
def signals_by_default() -> Iterator[None]:
    """Signals without a handler for a test."""
    handlers = {number: signal.signal(number, signal.SIG_DFL) for number in (signal.SIGTERM, signal.SIGHUP)}
    yield
    for number, handler in handlers.items():
        signal.signal(number, handler)


@pytest.fixture(scope="module")
def initialised_dir() -> Iterator[Path]:
    with new_folder() as folder:
        with EmbeddedServer(folder, durable=False):
            pass
        yield folder


@pytest.fixture
def used_dir(data_dir: Path, initialised_dir: Path) -> Path:
    """A data directory whose server has run before."""
    subprocess.run(["cp", "-a", initialised_dir / "postgres", data_dir], check=True)
    return data_dir


@pytest.fixture
def command(data_dir: Path) -> Iterator[Start]:
    """Return a function that starts a process with the server, in a process group of its own as a terminal does."""
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
    """Create a folder outside that of pytest, which only its owner may enter."""
    folder = Path(tempfile.mkdtemp(prefix="cairn-test-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


def runs(data_dir: Path) -> bool:
    return (data_dir / "postgres" / "postmaster.pid").exists()


async def wait_until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while not holds():
            await asyncio.sleep(0.1)


async def fetch_value(dsn: str, question: str) -> object:
    connection = await asyncpg.connect(dsn)
    try:
        return await connection.fetchval(question)
    finally:
        await connection.close()


async def test_data_outlives_the_server(used_dir: Path) -> None:
    with EmbeddedServer(used_dir, durable=False) as dsn:
        await fetch_value(dsn, "CREATE TABLE kept AS SELECT 7 AS value")
    assert not runs(used_dir)
    with EmbeddedServer(used_dir, durable=False) as dsn:
        assert await fetch_value(dsn, "SELECT value FROM kept") == 7


async def test_slow_steps_are_reported_before_they_begin(data_dir: Path) -> None:
    progress: list[str] = []
    with EmbeddedServer(data_dir, progress.append, durable=False):
        assert "Creating a PostgreSQL 18 server (once)" in progress
        assert progress[-1] == "Starting PostgreSQL"
    progress.clear()
    with EmbeddedServer(data_dir, progress.append, durable=False):
        assert progress == ["Starting PostgreSQL"]


async def test_the_server_is_durable_by_default(data_dir: Path) -> None:
    with EmbeddedServer(data_dir) as dsn:
        assert await fetch_value(dsn, "SELECT current_database()") == "cairn"
        assert await fetch_value(dsn, "SHOW fsync") == "on"
        assert await fetch_value(dsn, "SHOW jit") == "off"
        assert await fetch_value(dsn, "SHOW listen_addresses") == ""


async def test_the_last_user_stops_the_server(used_dir: Path) -> None:
    first, second = EmbeddedServer(used_dir, durable=False), EmbeddedServer(used_dir, durable=False)
    assert first.start() == second.start()
    first.stop()
    assert runs(used_dir)
    second.stop()
    assert not runs(used_dir)


async def test_concurrent_first_starts_create_one_server(data_dir: Path) -> None:
    progress: list[str] = []
    servers = [EmbeddedServer(data_dir, progress.append, durable=False) for _ in range(2)]
    first, second = await asyncio.gather(*(asyncio.to_thread(server.start) for server in servers))
    assert first == second
    assert progress.count("Creating a PostgreSQL 18 server (once)") == 1
    assert "Waiting for another command that is starting or stopping Postgres" in progress
    for server in servers:
        server.stop()
    assert not runs(data_dir)


async def test_two_folders_have_separate_servers(data_dir: Path) -> None:
    with EmbeddedServer(data_dir / "a", durable=False) as a, EmbeddedServer(data_dir / "b", durable=False) as b:
        await fetch_value(a, "CREATE TABLE only_here AS SELECT 1")
        assert await fetch_value(b, "SELECT to_regclass('only_here')") is None


async def test_a_copied_folder_has_its_own_server(data_dir: Path) -> None:
    with EmbeddedServer(data_dir / "a", durable=False) as a:
        await fetch_value(a, "CHECKPOINT")
        subprocess.run(["cp", "-a", data_dir / "a", data_dir / "b"], check=True, stderr=subprocess.DEVNULL)
        with EmbeddedServer(data_dir / "b", durable=False) as b:
            assert await fetch_value(a, "SHOW data_directory") != await fetch_value(b, "SHOW data_directory")


async def test_a_long_path_with_special_characters_works(data_dir: Path) -> None:
    with EmbeddedServer(data_dir / ('it\'s a "$HOME", ' + "long" * 30), durable=False) as dsn:
        assert await fetch_value(dsn, "SELECT 1") == 1
        sockets = Path(str(await fetch_value(dsn, "SHOW unix_socket_directories")))
        assert sockets.exists()
    assert not sockets.exists()


async def test_a_killed_command_does_not_stop_the_others(used_dir: Path, command: Start) -> None:
    killed = command()
    with EmbeddedServer(used_dir, durable=False) as dsn:
        killed.kill()
        killed.wait()
        assert await fetch_value(dsn, "SELECT 1") == 1
    assert not runs(used_dir)


async def test_a_server_left_by_a_killed_command_is_taken_over(used_dir: Path, command: Start) -> None:
    killed = command()
    killed.kill()
    killed.wait()
    assert runs(used_dir)
    progress: list[str] = []
    with EmbeddedServer(used_dir, progress.append, durable=False) as dsn:
        assert await fetch_value(dsn, "SELECT 1") == 1
    assert progress == []
    assert not runs(used_dir)


async def test_a_crashed_server_is_started_again(used_dir: Path) -> None:
    with EmbeddedServer(used_dir, durable=False):
        crash(used_dir)
    with EmbeddedServer(used_dir, durable=False) as dsn:
        assert await fetch_value(dsn, "SELECT 1") == 1


class EndsByItself(EmbeddedServer):
    """A server that ends after it was seen running and before it is stopped, as during recovery."""

    def run(self, account: SystemAccount, program: str, *arguments: str, typed: str = "") -> None:
        if arguments[0] == "stop" and runs(self.data_dir):
            super().run(account, program, "stop", "--mode=immediate", "--silent")
        super().run(account, program, *arguments, typed=typed)


@pytest.mark.parametrize("end", ["before the check", "before the stop"])
async def test_a_server_that_ends_by_itself_is_stopped_without_an_error(used_dir: Path, end: str) -> None:
    server = (EndsByItself if end == "before the stop" else EmbeddedServer)(used_dir, durable=False)
    with server:
        if end == "before the check":
            crash(used_dir)
        server.halt()
        assert not server.running()


async def test_a_stale_pid_of_another_process_does_not_prevent_a_start(used_dir: Path) -> None:
    with EmbeddedServer(used_dir, durable=False):
        pid_file = used_dir / "postgres" / "postmaster.pid"
        lines = pid_file.read_text().splitlines()
        crash(used_dir)
    pid_file.write_text("\n".join([str(os.getpid()), *lines[1:]]))
    with EmbeddedServer(used_dir, durable=False) as dsn:
        assert await fetch_value(dsn, "SELECT 1") == 1


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
async def test_a_signal_ends_the_command_before_its_server(used_dir: Path, command: Start, number: int) -> None:
    process = command()
    os.killpg(process.pid, number)
    output, _ = process.communicate(timeout=90)
    assert process.returncode == 128 + number
    assert output == "still there\n"
    assert not runs(used_dir)


class SignalsWhenCollected:
    """Receives SIGTERM where Python ignores exceptions."""

    def __del__(self) -> None:
        signal.raise_signal(signal.SIGTERM)


def test_a_signal_in_the_middle_of_a_callback_ends_the_command(signals_by_default: None) -> None:
    ended = []

    async def work() -> None:
        try:
            SignalsWhenCollected()
            await asyncio.sleep(0.5)
            ended.append("completed")
        finally:
            ended.append("cleaned up")

    exit_on_signals()
    with pytest.raises(SystemExit, match=str(128 + signal.SIGTERM)):
        asyncio.run(work())
    assert ended == ["cleaned up"]


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
        assert await fetch_value(dsn, "SELECT current_database()") == "cairn"


def test_a_data_directory_that_cannot_be_created_is_a_clear_error(data_dir: Path) -> None:
    (data_dir / "file").write_text("")
    with pytest.raises(EmbeddedServerFailed, match=r"Not a directory.*CAIRN_DATA_DIR"):
        EmbeddedServer(data_dir / "file" / "cairn").start()


class ShortServer(EmbeddedServer):
    """A server that ends after its start, like one that restores a moment which its log does not reach."""

    def launch(self) -> None:
        super().launch()
        self.halt()


def test_a_server_that_ends_after_its_start_is_a_clear_error(used_dir: Path) -> None:
    with pytest.raises(EmbeddedServerFailed, match=r"stopped right after it had started\. See .*postgres\.log"):
        ShortServer(used_dir, durable=False).start()


def test_a_server_that_fails_to_start_reports_its_cause(used_dir: Path) -> None:
    (used_dir / "postgres" / "PG_VERSION").write_text("12\n")
    with pytest.raises(EmbeddedServerFailed, match=r"pg_ctl failed(.|\n)*initialized by PostgreSQL version 12"):
        EmbeddedServer(used_dir, durable=False).start()
    assert not runs(used_dir)


async def test_the_log_explains_why_a_crashed_server_cannot_be_restarted(
    used_dir: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("db.embedded.LOOKED_EVERY", 0.1)
    settings = used_dir / "postgres" / "postgresql.conf"
    whole = settings.read_text()
    server = EmbeddedServer(used_dir, durable=False)
    with server, server.keep_running():
        settings.write_text(whole + "shared_buffers = 'none'\n")
        crash(used_dir)
        await wait_until(lambda: "PostgreSQL could not be started again: pg_ctl failed" in caplog.text)
        assert 'invalid value for parameter "shared_buffers"' in caplog.text
        settings.write_text(whole)
        await wait_until(server.running)


async def test_a_large_log_is_rotated_while_the_server_runs(used_dir: Path) -> None:
    log = used_dir / "postgres.log"
    server = EmbeddedServer(used_dir, durable=False)
    with server as dsn, server.keep_running():
        connection = await asyncpg.connect(dsn)
        with log.open("ab") as file:
            file.write(b"x" * (LOG_MAX + 1))
        await wait_until(lambda: log.stat().st_size == 0)
        assert (used_dir / "postgres.log.1").stat().st_size > LOG_MAX
        with pytest.raises(asyncpg.DivisionByZeroError):
            await connection.execute("SELECT 1 / 0")
        await wait_until(lambda: b"division by zero" in log.read_bytes())
        assert log.stat().st_size < 1_000
        await connection.close()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_an_unprivileged_user_without_a_home_can_run_a_server(data_dir: Path) -> None:
    nobody = pwd.getpwnam("nobody")
    os.chown(data_dir, nobody.pw_uid, nobody.pw_gid)
    become = f"import os; os.setgroups([]); os.setgid({nobody.pw_gid}); os.setuid({nobody.pw_uid})\n"
    script = COMMAND.replace("with Embedded", become + "with Embedded").replace("asyncio.sleep(60)", "asyncio.sleep(0)")
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", script, str(data_dir)], cwd=ROOT, env={"PYTHONPATH": str(ROOT)},
        capture_output=True, text=True,
    )  # fmt: skip
    assert result.stderr == ""
    assert result.stdout == "ready\nstill there\n"
    assert (data_dir / "postgres").stat().st_uid == nobody.pw_uid
    with EmbeddedServer(data_dir, durable=False):
        assert (data_dir / "postgres" / "postmaster.pid").stat().st_uid == nobody.pw_uid


def crash(data_dir: Path) -> None:
    """Kill every process of the server at once, as when the power fails."""
    pid_file = data_dir / "postgres" / "postmaster.pid"
    postmaster = int(pid_file.read_text().split()[0])
    os.kill(postmaster, signal.SIGKILL)
    deadline = time.monotonic() + 10
    while re.search(rf"^\s*{postmaster}$", subprocess.check_output(["ps", "-eo", "ppid"], text=True), re.MULTILINE):
        assert time.monotonic() < deadline
        time.sleep(0.05)
