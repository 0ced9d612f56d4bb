"""Restoring the embedded server to a point in time, from its files and its write-ahead log."""

import asyncio
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

import asyncpg
import orjson
import pytest

from db.embedded import EmbeddedServer
from tests.app.command_line import CommandResult, environment, processes, run_in_this_process
from tests.conftest import copy_server
from tests.forked import Command
from tests.waiting import SOON


@contextmanager
def outside() -> Iterator[Path]:
    """A folder outside pytest's own, which the account that runs Postgres cannot enter if tests run as root."""
    path = Path(tempfile.mkdtemp(prefix="cairn-test-"))
    path.chmod(0o755)
    yield path
    shutil.rmtree(path)


@pytest.fixture
def folder() -> Iterator[Path]:
    with outside() as path:
        yield path


@pytest.fixture(scope="module")
def data_dir_template(migrated_server_dir: Path) -> Iterator[Path]:
    """A data folder that has a server, with one tenant, to be copied."""
    with outside() as path:
        copy_server(migrated_server_dir, path / "data")
        run_command(path / "data", "tenants", "create", "first")
        yield path / "data"


@pytest.fixture
def data_dir(folder: Path, data_dir_template: Path) -> Path:
    """A data folder that has a server, with one tenant."""
    subprocess.run(["cp", "-a", data_dir_template, folder / "data"], check=True)
    return folder / "data"


def in_server(data_dir: Path, statement: str) -> str:
    async def run(dsn: str) -> str:
        connection = await asyncpg.connect(dsn)
        try:
            return str(await connection.fetchval(statement))
        finally:
            await connection.close()

    with EmbeddedServer(data_dir) as dsn:
        return asyncio.run(run(dsn))


def tenants(data_dir: Path) -> list[str]:
    result = run_in_this_process(data_dir, "tenants", "list", "--json")
    assert result.code == 0, result.err
    return [tenant["slug"] for tenant in orjson.loads(result.out)]


def run_command(data_dir: Path, *arguments: str) -> CommandResult:
    result = run_in_this_process(data_dir, *arguments)
    assert result.code == 0, result.err
    return result


def test_a_server_is_restored_to_a_point_in_time_and_to_the_end_of_its_log(folder: Path, data_dir: Path) -> None:
    files, log = folder / "files", folder / "log"
    run_command(data_dir, "backup", str(files), "--wal", str(log))
    with EmbeddedServer(data_dir):
        run_command(data_dir, "tenants", "create", "second")
        moment = in_server(data_dir, "SELECT now()")
        history = in_server(data_dir, "SELECT history_id FROM installation")
        run_command(data_dir, "tenants", "create", "third")
        archive_segment(data_dir, log)

    refused = run_in_this_process(data_dir, "restore", str(files), "--wal", str(log), "--json")
    assert (refused.code, refused.error["code"]) == (1, "ARCHIVE_REFUSED")
    with EmbeddedServer(data_dir):
        refused = run_in_this_process(data_dir, "restore", str(files), "--wal", str(log), "--replace")
        assert "Another command uses" in refused.err
    never = run_in_this_process(
        data_dir, "restore", str(files), "--wal", str(log), "--until", "2100-01-01", "--replace"
    )
    assert never.code == 1
    assert "ends before that moment" in never.err
    assert tenants(data_dir) == ["first", "second", "third"]

    run_command(data_dir, "restore", str(files), "--wal", str(log), "--until", moment, "--replace")
    with EmbeddedServer(data_dir):
        assert tenants(data_dir) == ["first", "second"]
        assert in_server(data_dir, "SELECT count(*) FROM audit_events WHERE action = 'backup.restored'") == "1"
        assert in_server(data_dir, "SELECT history_id FROM installation") != history
    run_command(folder / "other", "restore", str(files), "--wal", str(log), "--json")
    assert set(tenants(folder / "other")) >= {"first", "second"}
    assert (folder / "other" / "token-secret").exists() == (data_dir / "token-secret").exists()
    assert not (data_dir / "postgres.replaced").exists()
    assert not (data_dir / "restoring").exists()


def test_a_point_in_time_before_the_backup_is_refused(folder: Path, data_dir: Path) -> None:
    """The log leads forward from the time when the copy of the files was done, and not back."""
    files, log = folder / "files", folder / "log"
    with EmbeddedServer(data_dir):
        began = in_server(data_dir, "SELECT now()")
        run_command(data_dir, "backup", str(files), "--wal", str(log))
    run_command(data_dir, "tenants", "create", "second")
    for moment in ("2020-01-31T10:00Z", began):
        early = run_in_this_process(data_dir, "restore", str(files), "--wal", str(log), "--until", moment, "--replace")
        assert early.code == 1, early.out
        assert "Give a later moment, or an earlier backup" in early.err
    assert tenants(data_dir) == ["first", "second"]


def test_a_restore_to_a_point_in_time_requires_the_log(folder: Path, data_dir: Path) -> None:
    with EmbeddedServer(data_dir):
        run_command(data_dir, "backup", str(folder / "rows"))
        run_command(data_dir, "tenants", "create", "second")
    result = run_in_this_process(data_dir, "restore", str(folder / "rows"), "--until", "2100-01-01", "--replace")
    assert result.code == 2
    assert "--wal" in result.err
    assert tenants(data_dir) == ["first", "second"]


def test_a_backup_and_its_log_are_verified_in_a_separate_server(folder: Path, data_dir: Path) -> None:
    files, log = folder / "files", folder / "log"
    with EmbeddedServer(data_dir):
        run_command(data_dir, "backup", str(files), "--wal", str(log))
        run_command(data_dir, "tenants", "create", "second")
        last = archive_segment(data_dir, log)

    found = orjson.loads(run_command(data_dir, "backup", "verify", str(files), "--wal", str(log), "--json").out)
    assert found["isWhole"]
    assert found["rows"] > 2
    created_at = orjson.loads((files / "manifest.json").read_bytes())["created_at"]
    assert datetime.fromisoformat(found["until"]) > datetime.fromisoformat(created_at)
    refused = run_in_this_process(data_dir, "backup", "verify", str(files))
    assert (refused.code, "Give --wal" in refused.err) == (1, True)

    segment_path(log, last).write_bytes(segment_path(log, last).read_bytes()[:-100])
    result = run_in_this_process(data_dir, "backup", "verify", str(files), "--wal", str(log))
    assert result.code == 1, result.out
    assert tenants(data_dir) == ["first", "second"]


def test_a_log_with_a_gap_is_reported(folder: Path, data_dir: Path) -> None:
    files, log = folder / "files", folder / "log"
    run_command(data_dir, "backup", str(files), "--wal", str(log))
    ended = []
    for slug in ("second", "third"):
        run_command(data_dir, "tenants", "create", slug)
        ended.append(archive_segment(data_dir, log))
    segment_path(log, ended[0]).unlink()

    result = run_in_this_process(data_dir, "backup", "verify", str(files), "--wal", str(log), "--json")
    found = orjson.loads(result.out)
    assert (result.code, found["isWhole"], found["lacking"]) == (1, False, [ended[0]])
    refused = run_in_this_process(data_dir, "restore", str(files), "--wal", str(log), "--replace")
    assert (refused.code, ended[0] in refused.err) == (1, True)
    run_command(data_dir, "restore", str(files), "--wal", str(log), "--until", found["until"], "--replace")
    assert tenants(data_dir)[:1] == ["first"]


def test_a_backup_without_its_log_is_restored_to_the_time_of_its_files(folder: Path, data_dir: Path) -> None:
    """The log cannot be read, so no commit in the log has a time before that of the files."""
    files, log = folder / "files", folder / "log"
    with EmbeddedServer(data_dir):
        run_command(data_dir, "backup", str(files), "--wal", str(log))
        lost = [archive_segment(data_dir, log)]
        for slug in ("second", "third"):
            run_command(data_dir, "tenants", "create", slug)
            lost.append(archive_segment(data_dir, log))
    for segment in lost[:-1]:
        segment_path(log, segment).unlink(missing_ok=True)
    result = run_in_this_process(data_dir, "backup", "verify", str(files), "--wal", str(log), "--json")
    found = orjson.loads(result.out)
    assert found["lacking"]
    created_at = orjson.loads((files / "manifest.json").read_bytes())["created_at"]
    assert datetime.fromisoformat(found["until"]) == datetime.fromisoformat(created_at)
    run_command(data_dir, "restore", str(files), "--wal", str(log), "--until", found["until"], "--replace")
    assert tenants(data_dir) == ["first"]


def test_a_restore_to_another_folder_does_not_write_to_the_log(folder: Path, data_dir: Path) -> None:
    files, log = folder / "files", folder / "log"
    with EmbeddedServer(data_dir):
        run_command(data_dir, "backup", str(files), "--wal", str(log))
        moment = in_server(data_dir, "SELECT now()")
        run_command(data_dir, "tenants", "create", "second")
        archive_segment(data_dir, log)
    copy = folder / "look"
    for replace in ((), ("--replace",)):
        run_command(copy, "restore", str(files), "--wal", str(log), "--until", moment, *replace)
        with EmbeddedServer(copy):
            run_command(copy, "tenants", "create", "looked")
            in_server(copy, "SELECT pg_switch_wal()")
    with EmbeddedServer(data_dir):
        run_command(data_dir, "tenants", "create", "third")
        archive_segment(data_dir, log)

    assert not [*log.glob("*.history*")]
    run_command(folder / "other", "restore", str(files), "--wal", str(log))
    assert tenants(folder / "other") == ["first", "second", "third"]


def test_the_log_continues_after_its_server_was_restored(folder: Path, data_dir: Path) -> None:
    files, log = folder / "files", folder / "log"
    with EmbeddedServer(data_dir):
        run_command(data_dir, "backup", str(files), "--wal", str(log))
        moment = in_server(data_dir, "SELECT now()")
        run_command(data_dir, "tenants", "create", "second")
        archive_segment(data_dir, log)
    run_command(data_dir, "restore", str(files), "--wal", str(log), "--until", moment, "--replace")
    with EmbeddedServer(data_dir):
        run_command(data_dir, "tenants", "create", "third")
        archive_segment(data_dir, log)

    run_command(folder / "other", "restore", str(files), "--wal", str(log))
    assert tenants(folder / "other") == ["first", "third"]


def test_a_log_in_which_the_database_was_replaced_can_be_read(folder: Path, data_dir: Path) -> None:
    files, log = folder / "files", folder / "log"
    run_command(data_dir, "backup", str(files), "--wal", str(log))
    run_command(data_dir, "backup", str(folder / "rows"))
    for _ in range(3):
        run_command(data_dir, "restore", str(folder / "rows"), "--replace")
    archive_segment(data_dir, log)
    run_command(folder / "other", "restore", str(files), "--wal", str(log))
    assert tenants(folder / "other") == ["first"]


def archive_segment(data_dir: Path, log: Path) -> str:
    """End the current segment, wait until the log has the segment, and return its name."""
    with EmbeddedServer(data_dir):
        last = in_server(data_dir, "SELECT pg_walfile_name(pg_switch_wal())")
        wait(lambda: segment_path(log, last).exists())
    return last


def segment_path(log: Path, segment: str) -> Path:
    return log / f"{segment}.gz"


def test_a_restore_killed_between_its_renames_loses_no_data(data_dir: Path) -> None:
    (data_dir / "postgres").rename(data_dir / "postgres.replaced")
    assert tenants(data_dir) == ["first"]


def test_a_restore_killed_while_reading_the_log_can_be_run_again(folder: Path, data_dir: Path) -> None:
    files, log = folder / "files", folder / "log"
    with EmbeddedServer(data_dir):
        run_command(data_dir, "backup", str(files), "--wal", str(log))
        run_command(data_dir, "tenants", "create", "second")
    command = ["restore", str(files), "--wal", str(log), "--replace"]
    for begun in (data_dir / "restoring" / "postgres" / "PG_VERSION", data_dir / "restoring" / "postgres.users"):
        with Command(command, environment(data_dir)) as process:
            wait(lambda begun=begun, process=process: begun.exists() or process.poll() is not None)  # type: ignore[misc]
            process.kill()
            assert process.wait() == -9
        assert tenants(data_dir) == ["first", "second"]
    run_command(data_dir, "restore", str(files), "--wal", str(log), "--replace")
    assert tenants(data_dir)[0] == "first"
    wait(lambda: not processes(data_dir / "restoring"))


def test_wal_options_that_do_not_match_the_backup_are_refused(folder: Path, data_dir: Path) -> None:
    run_command(data_dir, "backup", str(folder / "rows"))
    result = run_in_this_process(data_dir, "restore", str(folder / "rows"), "--wal", str(folder / "log"), "--replace")
    assert "made without --wal" in result.err
    run_command(data_dir, "backup", str(folder / "files"), "--wal", str(folder / "log"))
    result = run_in_this_process(data_dir, "restore", str(folder / "files"), "--replace")
    assert "Give --wal" in result.err
    result = run_in_this_process(data_dir, "backup", str(folder / "odd"), "--wal", str(folder / "a'b"))
    assert "cannot quote" in result.err
    assert not (folder / "odd").exists()


def wait(is_met: Callable[[], bool]) -> None:
    end = time.monotonic() + SOON
    while not is_met():
        assert time.monotonic() < end, "the condition was not met in time"
        time.sleep(0.05)
