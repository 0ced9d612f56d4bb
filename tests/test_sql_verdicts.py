"""Verdicts on valid SQL are cached and shared between workers; invalid SQL is judged every time."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import sql_rules, sql_verdicts
from tests.sql_verdicts import Verdicts, digest_of_rules

SOUND = "SELECT title FROM pages WHERE tenant_id = $1 AND id = $2"
BROKEN = "SELECT title FROM pages WHERE id = $2"


@pytest.fixture
def judged(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The SQL texts that were judged, in order."""
    texts: list[str] = []

    def noting(sql: str) -> list[str]:
        texts.append(sql)
        return sql_rules.violations(sql)

    monkeypatch.setattr(sql_verdicts, "violations", noting)
    return texts


@pytest.mark.parametrize("has_folder", [False, True])
def test_valid_sql_is_judged_once_and_invalid_sql_every_time(
    judged: list[str], tmp_path: Path, has_folder: bool
) -> None:
    verdicts = Verdicts(tmp_path if has_folder else None)
    for _ in range(2):
        assert verdicts.violations(SOUND) == []
        assert "not bound" in verdicts.violations(BROKEN)[0]
    assert judged == [SOUND, BROKEN, BROKEN]


def test_workers_share_their_verdicts(judged: list[str], tmp_path: Path) -> None:
    first, second = Verdicts(tmp_path), Verdicts(tmp_path)
    for number in range(5):
        for verdicts in (first, second):
            assert verdicts.violations(f"{SOUND} AND version = ${number + 3}") == []
            assert verdicts.violations(f"{BROKEN} AND version = ${number + 3}") != []
    assert len([text for text in judged if SOUND in text]) == 5
    assert len([text for text in judged if BROKEN in text]) == 10


def test_a_partly_written_line_is_read_once_it_is_complete(judged: list[str], tmp_path: Path) -> None:
    reader, writer = Verdicts(tmp_path), Verdicts(tmp_path)
    assert writer.violations(SOUND) == []
    assert writer.file is not None
    line = writer.file.read_bytes()
    writer.file.write_bytes(line[:20])
    reader.catch_up()
    writer.file.write_bytes(line)
    assert reader.violations(SOUND) == []
    assert judged == [SOUND]


def test_sql_with_inline_values_is_not_stored_for_later_runs(tmp_path: Path) -> None:
    assert Verdicts(tmp_path).violations("SELECT pg_notify('changes', '2026-01-01T00:00:00Z')") == []
    assert list(tmp_path.iterdir()) == []


def test_changed_rules_invalidate_stored_verdicts(judged: list[str], tmp_path: Path) -> None:
    assert Verdicts(tmp_path, "before").violations(SOUND) == []
    assert Verdicts(tmp_path, "after").violations(SOUND) == []
    assert judged == [SOUND, SOUND]
    assert [path.name for path in tmp_path.iterdir()] == ["after"]


def test_a_file_above_the_size_limit_is_started_again(
    judged: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert Verdicts(tmp_path).violations(SOUND) == []
    monkeypatch.setattr(sql_verdicts, "SIZE_MAX", 32)
    assert Verdicts(tmp_path).violations(SOUND) == []
    assert judged == [SOUND, SOUND]


@pytest.mark.parametrize("changed", ["tests/sql_rules.py", "db/queries/pages/reading.sql", "db/tables/pages.py"])
def test_the_digest_changes_with_the_rules_statements_and_tables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, changed: str
) -> None:
    monkeypatch.setattr(sql_verdicts, "ROOT", tmp_path)
    file = tmp_path / changed
    file.parent.mkdir(parents=True)
    file.write_text("before")
    before = digest_of_rules()
    file.write_text("after")
    assert digest_of_rules() != before
