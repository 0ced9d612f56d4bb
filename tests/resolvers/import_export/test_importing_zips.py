"""Imports of malicious zips: faulty entries are reported, and valid ones become pages."""

from collections.abc import Mapping
from pathlib import Path
from zipfile import ZipFile

import pytest

from resolvers.errors import BadInput
from resolvers.import_export.disk import zips
from resolvers.import_export.notes import NOTE_MAX
from tests.resolvers.import_export.vaults import import_counts, run_import
from tests.wiki import Wiki


def zipped(path: Path, entries: Mapping[str, bytes]) -> Path:
    with ZipFile(path, "w") as zip:
        for name, data in entries.items():
            zip.writestr(name, data)
    return path


async def test_unsafe_entries_of_a_zip_are_reported_and_valid_ones_imported(wiki: Wiki, tmp_path: Path) -> None:
    path = zipped(
        tmp_path / "bad.zip",
        {"good.md": b"Good.", "../out.md": b"Out.", "/abs.md": b"Abs.", "a\\..\\b.md": b"B.", "c/../../d.md": b"D.",
         "huge.md": b"x" * (NOTE_MAX + 1), ".hidden.md": b"H", "picture.png": b"P"},
    )  # fmt: skip
    result = await run_import(wiki, path)
    assert import_counts(result)[0] == 1
    assert {problem.path for problem in result.errors} == {
        "../out.md", "/abs.md", "a\\..\\b.md", "c/../../d.md", "huge.md",
    }  # fmt: skip
    assert [page["title"] for page in await wiki.rows("pages")] == ["good"]


async def test_a_zip_that_unpacks_to_too_many_bytes_is_refused(
    wiki: Wiki, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(zips, "BYTES_MAX", 100_000)
    path = tmp_path / "bomb.zip"
    with ZipFile(path, "w", 8) as zip:
        for n in range(10):
            zip.writestr(f"{n}.md", b"x" * 50_000)
    with pytest.raises(Exception, match="unpacks to more than"):
        await run_import(wiki, path)
    assert await wiki.rows("pages") == []


async def test_a_file_that_is_not_a_zip_is_reported(wiki: Wiki, tmp_path: Path) -> None:
    (tmp_path / "no.zip").write_bytes(b"PK no")
    with pytest.raises(BadInput, match="no zip"):
        await run_import(wiki, tmp_path / "no.zip")
