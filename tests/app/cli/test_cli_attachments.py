"""`cairn attachments move` moves attachments between the database and the folder, even if it is killed."""

import asyncio
import json
import os
import time
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from tests.app.command_line import RunCommand
from tests.forked import start_command, stop_process

MARA = ("--tenant", "acme", "--owner", "mara")
FILES = {f"file-{n}.png": b"\x89PNG" + bytes([n]) * 5_000 for n in range(40)}


@pytest.fixture
def run_cairn(run_cairn: RunCommand, monkeypatch: pytest.MonkeyPatch, dsn: str, tmp_path: Path) -> RunCommand:
    """Return a function that runs a command on a wiki whose attachments were stored before a folder was set."""
    monkeypatch.setenv("CAIRN_DATABASE_URL", dsn)
    vault = tmp_path / "vault"
    vault.mkdir()
    (vault / "Austin.md").write_text("\n".join(f"![[{name}]]" for name in FILES))
    for name, data in FILES.items():
        (vault / name).write_bytes(data)
    assert run_cairn("import", str(vault), *MARA, "--create").code == 0
    monkeypatch.setenv("CAIRN_ATTACHMENTS_DIR", str(tmp_path / "files"))
    return run_cairn


def rows(dsn: str) -> list[tuple[bool, int]]:
    """Return for each file whether the folder has it, and how many bytes Postgres has."""

    async def read() -> list[Any]:
        connection = await asyncpg.connect(dsn)
        try:
            return list(await connection.fetch("SELECT is_in_folder, length(data) AS size FROM blobs ORDER BY hash"))
        finally:
            await connection.close()

    return [(row["is_in_folder"], row["size"]) for row in asyncio.run(read())]


def in_folder(tmp_path: Path) -> set[bytes]:
    return {path.read_bytes() for path in (tmp_path / "files").rglob("*") if path.is_file()}


def exported(run_cairn: RunCommand, place: Path) -> dict[str, bytes]:
    assert run_cairn("export", str(place), *MARA).code == 0
    return {path.name: path.read_bytes() for path in place.rglob("*.png")}


def test_attachments_are_moved_to_the_folder_and_back(run_cairn: RunCommand, dsn: str, tmp_path: Path) -> None:
    moved = run_cairn("attachments", "move", "--to", "folder", "--json")
    assert moved.code == 0
    report = json.loads(moved.out)
    assert (report["to"], report["files"], report["bytes"], report["missing"]) == ("folder", 40, 40 * 5_004, [])
    assert rows(dsn) == [(True, 0)] * 40
    assert in_folder(tmp_path) == set(FILES.values())
    assert exported(run_cairn, tmp_path / "one") == FILES
    assert "Moved 0 files (0 bytes) to the folder" in run_cairn("attachments", "move", "--to", "folder").out
    back = run_cairn("attachments", "move", "--to", "database", "--tenant", "acme")
    assert back.out.startswith("Moved 40 files (200,160 bytes) to the database in ")
    assert rows(dsn) == [(False, 5_004)] * 40
    assert in_folder(tmp_path) == set()
    assert exported(run_cairn, tmp_path / "two") == FILES


def test_a_missing_or_changed_file_is_reported_and_not_moved(run_cairn: RunCommand, dsn: str, tmp_path: Path) -> None:
    assert run_cairn("attachments", "move", "--to", "folder").code == 0
    first, second, *_ = sorted(path for path in (tmp_path / "files").rglob("*") if path.is_file())
    first.unlink()
    second.write_bytes(b"changed")
    result = run_cairn("attachments", "move", "--to", "database", "--json")
    assert (result.code, json.loads(result.out)["files"]) == (1, 38)
    assert sorted(json.loads(result.out)["missing"]) == [first.name, second.name]
    assert rows(dsn).count((True, 0)) == 2
    result = run_cairn("attachments", "move", "--to", "database")
    assert result.code == 1
    assert "cairn: 2 files are missing from the folder or were changed there: " in result.err


def test_move_without_a_folder_names_the_missing_setting(
    run_cairn: RunCommand, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CAIRN_ATTACHMENTS_DIR")
    result = run_cairn("attachments", "move", "--to", "folder")
    assert (result.code, result.err) == (
        1,
        "cairn: There is no folder of attachments: let CAIRN_ATTACHMENTS_DIR name it.\n",
    )


@pytest.mark.parametrize("to", ["folder", "database"])
def test_a_move_killed_at_any_moment_loses_no_file_and_continues(
    run_cairn: RunCommand, dsn: str, tmp_path: Path, to: str
) -> None:
    if to == "database":
        assert run_cairn("attachments", "move", "--to", "folder").code == 0
    moved = (to == "folder", 0 if to == "folder" else 5_004)
    for moved_before in (1, 15):
        running = start_command(["attachments", "move", "--to", to], os.environ, tmp_path / "log")
        until = time.monotonic() + 60
        while rows(dsn).count(moved) < moved_before and running.is_alive() and time.monotonic() < until:
            pass
        stop_process(running)
        assert exported(run_cairn, tmp_path / f"after-{moved_before}") == FILES
    assert run_cairn("attachments", "move", "--to", to).code == 0
    assert rows(dsn) == [moved] * 40
    assert exported(run_cairn, tmp_path / "last") == FILES
