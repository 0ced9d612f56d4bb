"""The folder of a sync: one wiki and one sync at a time, and unreadable files cause no loss."""

import unicodedata
from pathlib import Path

import orjson
import pytest

from resolvers.errors import BadInput
from resolvers.model.drafts import PageDraft
from resolvers.pages.lifecycle import create_page, update_page
from resolvers.sync.folder import Locked, lock_folder
from tests.resolvers.sync.folders import check_nothing_to_do, note_texts, page_named, sync, sync_actions, write_note
from tests.wiki import Wiki


async def test_a_second_sync_of_the_same_folder_is_refused(wiki: Wiki, tmp_path: Path) -> None:
    with lock_folder(str(tmp_path)), pytest.raises(Locked, match="Another sync"):
        await sync(wiki, tmp_path)
    await sync(wiki, tmp_path)


async def test_a_folder_belongs_to_one_wiki(wiki: Wiki, tmp_path: Path) -> None:
    await sync(wiki, tmp_path)
    with pytest.raises(BadInput, match="another wiki"):
        await sync(await wiki.neighbour(), tmp_path)


async def test_an_unreadable_sync_state_is_rebuilt(wiki: Wiki, tmp_path: Path) -> None:
    write_note(tmp_path, "A.md", "One.\n")
    await sync(wiki, tmp_path)
    (tmp_path / ".cairn/sync.json").write_text("{")
    await check_nothing_to_do(wiki, tmp_path)
    (entry,) = orjson.loads((tmp_path / ".cairn/sync.json").read_bytes())["pages"].values()
    assert entry["path"] == "A.md"


async def test_files_that_cannot_be_synced_are_reported_and_left(wiki: Wiki, tmp_path: Path) -> None:
    write_note(tmp_path, "Good.md", "Good.\n")
    write_note(tmp_path, "Bad.md", "---\ntags: [\n---\n")
    (tmp_path / "Latin.md").write_bytes(b"caf\xe9")
    write_note(tmp_path, "Long.md", "x" * 1_000_001)
    with (tmp_path / "Huge.md").open("wb") as file:
        file.truncate(16_000_001)
    write_note(tmp_path, "outside.txt", "secret")
    vault = tmp_path / "vault"
    vault.mkdir()
    for name in ("Good.md", "Bad.md", "Latin.md", "Long.md", "Huge.md"):
        (tmp_path / name).rename(vault / name)
    (vault / "Link.md").symlink_to(tmp_path / "outside.txt")
    (vault / "away").symlink_to(tmp_path)
    result = await sync(wiki, vault)
    assert sync_actions(result) == [("push", "Good.md")]
    assert sorted(path for path, _, _ in result.left) == ["Bad.md", "Huge.md", "Latin.md", "Link.md", "Long.md"]
    assert [page["title"] for page in await wiki.rows("pages")] == ["Good"]


async def test_a_file_that_becomes_unreadable_is_not_taken_for_deleted(wiki: Wiki, tmp_path: Path) -> None:
    file = write_note(tmp_path, "A.md", "One.\n")
    await sync(wiki, tmp_path)
    with file.open("wb") as huge:
        huge.truncate(16_000_001)
    await sync(wiki, tmp_path)
    assert (await page_named(wiki, "A"))["status"] == "active"


async def test_nothing_is_written_through_a_symlink(wiki: Wiki, tmp_path: Path) -> None:
    vault, outside = tmp_path / "vault", tmp_path / "outside"
    vault.mkdir()
    outside.mkdir()
    (vault / "topic").symlink_to(outside)
    await create_page(wiki.database, wiki.scope, PageDraft("topic", "Kiln", body="Hot."))
    result = await sync(wiki, vault)
    assert [path for path, _, _ in result.left] == ["topic/kiln.md"]
    assert list(outside.iterdir()) == []


async def test_names_that_differ_in_case_or_normalisation_are_one_file(wiki: Wiki, tmp_path: Path) -> None:
    name = "Caf\u00e9.md"
    write_note(tmp_path, unicodedata.normalize("NFD", name), "One.\n")
    await sync(wiki, tmp_path)
    (page,) = await wiki.rows("pages")
    assert page["metadata"] == {"imported_from": name}
    await update_page(wiki.database, wiki.scope, page["id"], body="Two.")
    await sync(wiki, tmp_path)
    assert note_texts(tmp_path) == {unicodedata.normalize("NFD", name): "Two.\n"}, "the name on the disk stays"
    write_note(tmp_path, "a.md", "One.\n")
    write_note(tmp_path, "A.md", "Two.\n")
    assert [path for path, _, _ in (await sync(wiki, tmp_path)).left] == ["a.md"]
