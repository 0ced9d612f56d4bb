"""A full disk is reported as such, by each form of an export."""

import gc
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from resolvers.errors import Unavailable
from resolvers.import_export.export_files import export_folder, export_lines, export_zip
from tests.connections import IDLE
from tests.resolvers.import_export.exports import create_full_wiki
from tests.wiki import Wiki

FULL = Path("/dev/full")
pytestmark = pytest.mark.skipif(not FULL.exists(), reason="needs /dev/full")


@pytest.fixture(autouse=True)
def connection_reuse() -> Iterator[None]:
    with IDLE.disabled():
        yield


@pytest.fixture
def unraised(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Any]]:
    """The exceptions that Python could report but not raise."""
    reports: list[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", reports.append)
    yield reports
    gc.collect()


async def test_a_full_disk_during_a_folder_export_is_reported(wiki: Wiki, tmp_path: Path) -> None:
    (tmp_path / ".cairn").mkdir()
    (tmp_path / ".cairn" / "files").touch()
    (tmp_path / ".cairn" / "draft").symlink_to(FULL)
    with pytest.raises(Unavailable, match="cannot be written: No space left"):
        await export_folder(wiki.database, wiki.scope, tmp_path)


async def test_a_full_disk_during_a_zip_export_leaves_no_unraised_exception(wiki: Wiki, unraised: list[Any]) -> None:
    await create_full_wiki(wiki)
    with pytest.raises(Unavailable, match="cannot be written: No space left"), FULL.open("wb", buffering=0) as file:
        await export_zip(wiki.database, wiki.scope, file)
    gc.collect()
    assert unraised == []


async def test_a_full_disk_during_a_json_lines_export_is_reported(wiki: Wiki) -> None:
    await create_full_wiki(wiki)
    with pytest.raises(Unavailable, match="cannot be written: No space left"), FULL.open("wb", buffering=0) as file:
        await export_lines(wiki.database, wiki.scope, file)
