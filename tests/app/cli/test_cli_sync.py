"""`cairn sync` copies changes between a folder and a wiki."""

import asyncio
import json
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Timer
from typing import Any

import asyncpg
import pytest

from tests.app.command_line import MARA, RunCommand
from tests.forked import Command


def changes_of(result: Any) -> list[tuple[str, str]]:
    return [(change["action"], change["path"]) for change in json.loads(result.out)["done"]]


def test_changes_are_synced_in_both_directions(run_in_acme: RunCommand, tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    vault.mkdir()
    (vault / "Kiln.md").write_text("Hot.\n")
    assert run_in_acme("create", "topic", "Clay", "Soft.", *MARA).code == 0
    dry = run_in_acme("sync", str(vault), *MARA, "--dry-run")
    assert dry.out.splitlines()[-1] == "Nothing was written. To make these changes, leave out --dry-run."
    first = run_in_acme("sync", str(vault), *MARA, "--json")
    assert (first.code, sorted(changes_of(first))) == (0, [("pull", "topic/clay.md"), ("push", "Kiln.md")])
    assert run_in_acme("sync", str(vault), *MARA).out == "The folder and the wiki are in sync.\n"
    assert run_in_acme("append", "reference/kiln", "Hotter.", *MARA).code == 0
    (vault / "Kiln.md").write_text("Cold.\n")
    conflict = run_in_acme("sync", str(vault), *MARA)
    assert conflict.code == 1
    assert "copy what you want to keep into the file beside" in conflict.out
    assert json.loads(run_in_acme("sync", str(vault), *MARA, "--json").out)["conflicts"] != []
    pages = [
        event
        for event in json.loads(run_in_acme("audit", "--tenant", "acme", "--json").out)
        if event["action"] == "wiki.exported"
    ]
    assert len(pages) == 1


def test_conflicting_options_and_a_file_target_are_refused(run_in_acme: RunCommand, tmp_path: Path) -> None:
    assert run_in_acme("sync", str(tmp_path), *MARA, "--push", "--pull").code == 2
    assert run_in_acme("sync", str(tmp_path), *MARA, "--watch", "--dry-run").code == 2
    file = tmp_path / "file.md"
    file.write_text("x")
    refused = run_in_acme("sync", str(file), *MARA, "--json")
    assert (refused.code, refused.error["code"]) == (1, "BAD_USER_INPUT")


def test_a_one_way_sync_writes_one_side(run_in_acme: RunCommand, tmp_path: Path) -> None:
    (tmp_path / "Kiln.md").write_text("Hot.\n")
    assert run_in_acme("create", "topic", "Clay", "Soft.", *MARA).code == 0
    pulled = run_in_acme("sync", str(tmp_path), *MARA, "--pull")
    assert "1 changes need a sync in the other direction." in pulled.out
    assert run_in_acme("page", "reference/kiln", *MARA).code == 1
    assert changes_of(run_in_acme("sync", str(tmp_path), *MARA, "--push", "--json")) == [("push", "Kiln.md")]


def test_proposed_edits_are_reported_until_they_are_decided(run_in_acme: RunCommand, tmp_path: Path) -> None:
    (tmp_path / "Kiln.md").write_text("Hot.\n")
    (tmp_path / "Clay.md").write_text("Soft.\n")
    assert run_in_acme("owners", "policy", "mara", "admin=review", "--tenant", "acme").code == 0
    first = run_in_acme("sync", str(tmp_path), *MARA)
    assert first.code == 0, "to wait for a reviewer is no failure"
    assert [line.split()[:2] for line in first.out.splitlines()[:2]] == [
        ["proposed", "Clay.md"],
        ["proposed", "Kiln.md"],
    ]
    assert first.out.splitlines()[-1] == "2 edits wait for review. List them with: cairn wiki proposals"
    report = json.loads(run_in_acme("sync", str(tmp_path), *MARA, "--json").out)
    ids = [proposal["proposalId"] for proposal in report["proposed"]]
    assert (report["done"], report["left"], len(ids)) == ([], [], 2)
    assert run_in_acme("owners", "policy", "mara", "admin=open", "--tenant", "acme").code == 0
    assert run_in_acme("wiki", "decide", ids[0], *MARA).code == 0
    assert run_in_acme("wiki", "decide", ids[1], "--as", "decline", "--reason", "Which one?", *MARA).code == 0
    last = run_in_acme("sync", str(tmp_path), *MARA)
    assert last.code == 1
    assert "DECLINED" in last.out
    assert "Which one?" in last.out


@contextmanager
def watching(vault: Path) -> Iterator[Iterator[str]]:
    """Run `cairn sync --watch` and yield its output, a line of JSON for each change."""
    with Command(["sync", str(vault), *MARA, "--watch", "--json"], os.environ) as process:
        limit = Timer(90, process.kill)
        limit.start()
        try:
            yield process.lines()
            process.send_signal(signal.SIGINT)
            assert process.wait(30) == 0, process.err
        finally:
            limit.cancel()


def test_watch_syncs_changes_of_both_sides(run_in_acme: RunCommand, tmp_path: Path, dsn: str) -> None:
    vault = tmp_path / "vault"
    vault.mkdir()
    (vault / "Kiln.md").write_text("Hot.\n")

    def next_change(lines: Iterator[str]) -> tuple[str, str]:
        event = json.loads(next(lines))
        return event["action"], event["path"]

    with watching(vault) as lines:
        assert next_change(lines) == ("push", "Kiln.md")
        assert run_in_acme("append", "reference/kiln", "Hotter.", *MARA).code == 0
        assert next_change(lines) == ("pull", "Kiln.md")
        assert (vault / "Kiln.md").read_text() == "Hot.\n\nHotter.\n"
        probe = (
            vault / "4913"
        )  # as vim does: a file that tells whether it may write, a backup, another file in its place
        probe.touch()
        probe.unlink()
        (vault / "Kiln.md").rename(vault / "Kiln.md~")
        (vault / ".Kiln.md.swp").write_bytes(b"b0VIM")
        (vault / "Kiln.md").write_text("Hot.\n\nSaved by vim.\n")
        (vault / "Kiln.md~").unlink()
        assert next_change(lines) == ("push", "Kiln.md")
        with (vault / "Kiln.md").open("w") as slow:  # a write in parts
            slow.write("Hot.\n\nFirst ")
            slow.flush()
            asyncio.run(asyncio.sleep(0.6))
            slow.write("and second part.\n")
        assert next_change(lines) == ("push", "Kiln.md")
        assert "First and second part." in run_in_acme("page", "reference/kiln", *MARA).out
        asyncio.run(lose_connections(dsn))
        (vault / "Clay.md").write_text("Soft.\n")
        assert next_change(lines) == ("push", "Clay.md")
        assert run_in_acme("append", "reference/clay", "Softer.", *MARA).code == 0
        assert next_change(lines) == ("pull", "Clay.md")
        (vault / "Clay.md").rename(vault / "Earth.md")
        assert next_change(lines) == ("push", "Earth.md")
        (vault / "Earth.md").unlink()
        assert next_change(lines) == ("archive", "Earth.md")
    page = json.loads(run_in_acme("page", "reference/kiln", *MARA, "--json").out)
    assert page["version"] == 4, "nothing was taken of a file that was being written"


def test_watch_pushes_a_changed_file_after_its_proposal_was_declined(run_in_acme: RunCommand, tmp_path: Path) -> None:
    assert run_in_acme("owners", "policy", "mara", "admin=review", "--tenant", "acme").code == 0
    (tmp_path / "Kiln.md").write_text("Hot.\n")
    with watching(tmp_path) as lines:
        event = json.loads(next(lines))
        assert (event["action"], event["path"]) == ("propose", "Kiln.md")
        assert run_in_acme("owners", "policy", "mara", "admin=open", "--tenant", "acme").code == 0
        (proposal,) = json.loads(run_in_acme("wiki", "proposals", "--json", *MARA).out)["nodes"]
        assert (
            run_in_acme("wiki", "decide", proposal["id"], "--as", "decline", "--reason", "Which one?", *MARA).code == 0
        )
        (tmp_path / "Kiln.md").write_text("Hot, the gas one.\n")
        event = json.loads(next(lines))
        assert (event["action"], event["path"]) == ("push", "Kiln.md")
    assert run_in_acme("page", "reference/kiln", *MARA).code == 0


async def lose_connections(dsn: str) -> None:
    connection = await asyncpg.connect(dsn)
    await connection.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
        "WHERE datname = current_database() AND pid <> pg_backend_pid()"
    )
    await connection.close()


def test_a_second_sync_is_refused_while_one_runs(run_in_acme: RunCommand, tmp_path: Path) -> None:
    from resolvers.sync.folder import lock_folder

    with lock_folder(str(tmp_path)):
        refused = run_in_acme("sync", str(tmp_path), *MARA, "--json")
    assert (refused.code, refused.error["code"]) == (1, "CONFLICT")
    assert "Another sync works in" in refused.error["message"]


@pytest.mark.parametrize("name", ["CAIRN_TENANT", "CAIRN_OWNER"])
def test_the_tenant_and_owner_may_come_from_the_environment(
    run_in_acme: RunCommand, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    flags = dict(zip(MARA[::2], MARA[1::2], strict=True))
    flag = f"--{name.removeprefix('CAIRN_').lower()}"
    monkeypatch.setenv(name, flags.pop(flag))
    rest = [part for pair in flags.items() for part in pair]
    assert run_in_acme("sync", str(tmp_path), *rest).code == 0
