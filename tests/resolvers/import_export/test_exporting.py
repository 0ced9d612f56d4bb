"""An export to a folder: which files it writes, which it leaves alone, and who may export."""

import gc
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from db.scope import Role
from resolvers.errors import BadInput, NotFound, Unavailable
from resolvers.import_export.export_files import export_folder, export_path, export_zip
from resolvers.model.drafts import PageDraft
from resolvers.pages.lifecycle import create_page, update_page
from tests.resolvers.import_export.exports import create_full_wiki, export_files, read_files
from tests.wiki import Wiki


@pytest.fixture
def umask() -> Iterator[Callable[[int], object]]:
    before = os.umask(0o022)
    yield os.umask
    os.umask(before)


async def test_a_second_export_writes_only_changed_files(wiki: Wiki, tmp_path: Path) -> None:
    await create_full_wiki(wiki)
    folder = tmp_path / "wiki"
    await export_files(wiki, folder)
    for path in folder.rglob("*"):
        os.utime(path, (0, 0))
    (folder / "mine.txt").write_text("not an export's")
    pages = {page["slug"]: page["id"] for page in await wiki.rows("pages")}
    await update_page(wiki.database, wiki.scope, pages["austin"], slug="austin-city")
    await export_files(wiki, folder)
    assert not (folder / "topic" / "austin.md").exists()
    assert (folder / "mine.txt").exists()
    fresh = {path.name for path in folder.rglob("*") if path.is_file() and path.stat().st_mtime > 1}
    assert fresh == {"austin-city.md", "files", "mine.txt"}


@pytest.mark.parametrize("instead", [None, "a file"])
async def test_an_export_tolerates_a_folder_that_was_already_removed(
    wiki: Wiki, tmp_path: Path, instead: str | None
) -> None:
    draft = PageDraft("topic", "Page", body="Text.", metadata={"imported_from": "a/b/page.md"})
    page = await create_page(wiki.database, wiki.scope, draft)
    await export_files(wiki, tmp_path)
    shutil.rmtree(tmp_path / "a" / "b")
    if instead:
        (tmp_path / "a" / "b").write_text(instead)
    await update_page(wiki.database, wiki.scope, page.page_id, metadata={})
    found = await export_files(wiki, tmp_path)
    assert "topic/page.md" in found
    assert (tmp_path / "a").exists() == bool(instead)


async def test_an_export_does_not_write_into_a_folder_with_other_files(wiki: Wiki, tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text("Mine.")
    with pytest.raises(BadInput, match="new or empty"):
        await export_folder(wiki.database, wiki.scope, tmp_path)
    with pytest.raises(BadInput, match="is a file"):
        await export_folder(wiki.database, wiki.scope, tmp_path / "notes.md")
    with pytest.raises(BadInput, match="cannot be written"):
        await export_path(wiki.database, wiki.scope, tmp_path / "gone" / "wiki.zip")
    assert read_files(tmp_path) == {"notes.md": b"Mine."}


async def test_a_path_in_the_metadata_never_leaves_the_folder(wiki: Wiki, tmp_path: Path) -> None:
    for n, origin in enumerate(["../out.md", "/etc/out.md", "a/../../out.md", ".git/hooks.md", "x.sh", "C:\\a.md", 5]):
        draft = PageDraft("topic", f"Page {n}", body="Text.", metadata={"imported_from": origin})
        await create_page(wiki.database, wiki.scope, draft)
    found = await export_files(wiki, tmp_path / "folder")
    assert {name for name in found if not name.startswith(".cairn")} == {f"topic/page-{n}.md" for n in range(7)}
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]


async def test_a_caller_who_may_not_read_gets_no_export(wiki: Wiki, tmp_path: Path) -> None:
    stranger = await wiki.neighbour(Role.MEMBER)
    with pytest.raises(NotFound):
        await export_folder(wiki.database, stranger.scope.in_owner(wiki.scope.owner_id), tmp_path / "out")


async def test_progress_is_reported(wiki: Wiki, tmp_path: Path) -> None:
    await create_full_wiki(wiki)
    steps = []
    await export_folder(wiki.database, wiki.scope, tmp_path / "x", report=lambda *step: steps.append(step))
    assert [(step, done, total) for step, done, total, _ in steps] == [("Writing", 3, 3)]


async def test_a_full_disk_is_reported_as_a_full_disk(wiki: Wiki, tmp_path: Path) -> None:
    await create_full_wiki(wiki)
    (tmp_path / ".cairn").mkdir()
    (tmp_path / ".cairn" / "files").touch()
    (tmp_path / ".cairn" / "draft").symlink_to("/dev/full")
    with pytest.raises(Unavailable, match="cannot be written: No space left"):
        await export_folder(wiki.database, wiki.scope, tmp_path)


async def test_an_interrupted_zip_export_is_not_finished_at_collection(
    wiki: Wiki, monkeypatch: pytest.MonkeyPatch
) -> None:
    await create_full_wiki(wiki)
    complaints: list[type[BaseException]] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda unraisable: complaints.append(unraisable.exc_type))
    with Path("/dev/full").open("wb", buffering=0) as full, pytest.raises(Unavailable, match="No space left"):
        await export_zip(wiki.database, wiki.scope, full)
    gc.collect()
    assert ValueError not in complaints


@pytest.mark.parametrize("name", ["wiki.zip", "wiki.jsonl"])
async def test_the_umask_decides_who_may_read_an_exported_file(
    wiki: Wiki, tmp_path: Path, name: str, umask: Callable[[int], object]
) -> None:
    """A file that is there keeps its permissions."""
    umask(0o027)
    found = []
    for mode in (None, 0o604):
        if mode:
            (tmp_path / name).chmod(mode)
        await export_path(wiki.database, wiki.scope, tmp_path / name)
        found.append((tmp_path / name).stat().st_mode & 0o777)
    assert found == [0o640, 0o604]
