"""Tests an older release on a database that a newer release has migrated, in and beyond the compatibility window."""

import json
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from app.worker import open_when_ready
from db.database import Database
from db.migrate import MigrationRefused, revisions
from tests.app.command_line import CommandResult, ServingCommand, environment
from tests.app.service import SECRET
from tests.forked import COMMAND, ROOT

HEAD = revisions()[-1]
EXPANDED, CONTRACTED = "9001", "9002"
EXPANDS = """
import sqlalchemy as sa
from alembic import op

revision, down_revision, runs_beside = "{revision}", "{before}", "{beside}"


def upgrade() -> None:
    op.add_column("pages", sa.Column("mood", sa.Text, nullable=True))
    op.create_table("moods", sa.Column("tenant_id", sa.Uuid, nullable=False), sa.Column("mood", sa.Text))
"""
CONTRACTS = """
from alembic import op

revision, down_revision, runs_beside = "{revision}", "{before}", "{beside}"


def upgrade() -> None:
    op.drop_column("pages", "mood")
"""


class Release:
    """A release whose migrations are those of this one, with some added or left out.

    The program finds the folder `migrations` in its working directory before that of this release.
    """

    def __init__(self, folder: Path, dsn: str, *newer: tuple[str, str, str, str], last: str = HEAD) -> None:
        self.folder, self.dsn = folder, dsn
        versions = folder / "migrations" / "versions"
        ignored = shutil.ignore_patterns("__pycache__", *(f"*_{known}_*" for known in revisions() if known > last))
        shutil.copytree(ROOT / "migrations", folder / "migrations", ignore=ignored)
        for text, revision, before, beside in newer:
            filled = text.format(revision=revision, before=before, beside=beside)
            (versions / f"2099_01_01_{revision}_newer.py").write_text(filled, encoding="utf-8")

    @property
    def environment(self) -> dict[str, str]:
        return environment(self.folder) | {"CAIRN_DATABASE_URL": self.dsn, "CAIRN_JWT_SECRET": SECRET}

    def run(self, *arguments: str) -> CommandResult:
        result = subprocess.run(
            [*COMMAND, *arguments], cwd=self.folder, env=self.environment, capture_output=True, text=True, timeout=60
        )
        assert "Traceback" not in result.stderr, result.stderr
        return CommandResult(result.returncode, result.stdout, result.stderr)


EXPANSION = (EXPANDS, EXPANDED, HEAD, HEAD)
CONTRACTION = (CONTRACTS, CONTRACTED, EXPANDED, EXPANDED)


def test_an_older_release_reads_and_writes_beside_a_newer_schema(dsn: str, tmp_path: Path) -> None:
    newer, older = Release(tmp_path / "newer", dsn, EXPANSION), Release(tmp_path / "older", dsn)
    assert json.loads(newer.run("migrate", "--json").out)["applied"] == [EXPANDED]
    migrated = older.run("migrate", "--json")
    assert (migrated.code, json.loads(migrated.out)["applied"]) == (0, [])
    assert f"at revision {EXPANDED} of a newer Cairn" in migrated.err
    status = json.loads(older.run("status", "--json").out)
    assert f"at revision {EXPANDED} of a newer Cairn" in status["warning"]
    assert "problem" not in status
    wiki = ("--tenant", "acme", "--owner", "ada")
    assert older.run("tenants", "create", "acme").code == 0
    assert older.run("owners", "create", "ada", "--tenant", "acme", "--kind", "agent").code == 0
    token = older.run("token", *wiki).out.strip()
    with ServingCommand(
        older.folder, "serve", "--port", "0", cwd=older.folder, is_fresh=True, database_url=dsn, jwt_secret=SECRET
    ) as service:
        service.ask('mutation { createWikiPage(input: {type: TOPIC, title: "Kiln", bodyMd: "Hot."}) '
                    "{ userErrors { message } } }", token)  # fmt: skip
        found = service.ask("{ wikiChanges(first: 5) { nodes { page { title } } } }", token)
        service.process.send_signal(signal.SIGTERM)
        logged = service.process.communicate(timeout=30)[1]
    assert found["wikiChanges"]["nodes"] == [{"page": {"title": "Kiln"}}]
    warned = [json.loads(line) for line in logged.splitlines() if line.startswith("{")]
    assert any(EXPANDED in line["event"] and line["level"] == "warning" for line in warned)
    assert "topic/kiln" in newer.run("search", "hot", *wiki).out


def test_outside_of_the_window_an_older_release_names_the_release_to_install(dsn: str, tmp_path: Path) -> None:
    newer = Release(tmp_path / "newer", dsn, EXPANSION, CONTRACTION)
    older = Release(tmp_path / "older", dsn)
    assert newer.run("migrate").code == 0
    for command in (["migrate"], ["serve", "--port", "0"], ["tenants", "list"]):
        result = older.run(*command)
        assert result.code == 1
        assert f"needs a Cairn that knows {EXPANDED}, but this Cairn knows revisions up to {HEAD} only" in result.err
    assert "install the one that migrated it" in json.loads(older.run("status", "--json").out)["problem"]
    between = Release(tmp_path / "between", dsn, EXPANSION)
    assert between.run("tenants", "list").code == 0


def test_a_release_without_the_last_migration_works_on_the_new_schema(dsn: str, tmp_path: Path) -> None:
    older = Release(tmp_path / "older", dsn, last=revisions()[-2])
    assert older.run("import", str(written(tmp_path)), "--tenant", "acme", "--owner", "ada", "--create").code == 0
    assert "topic/kiln" in older.run("search", "hot", "--tenant", "acme", "--owner", "ada").out


def written(folder: Path) -> Path:
    path = folder / "kiln.jsonl"
    path.write_text('{"title": "Kiln", "type": "topic", "body": "Hot."}', encoding="utf-8")
    return path


async def test_a_worker_waits_for_a_database_that_a_newer_release_has_migrated(
    dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It goes on when the newer migrations were taken back, as by a restore."""
    answers = iter([MigrationRefused("the database is at revision 9002"), OSError("refused"), None])

    async def pending(dsn: str) -> list[str]:
        if error := next(answers):
            raise error
        return []

    monkeypatch.setattr("app.worker.pending", pending)
    monkeypatch.setattr("app.worker.PAUSES", (0.01,))
    database = Database(dsn, size=1)
    try:
        await open_when_ready(database)
        await database.ping()
    finally:
        await database.close()
