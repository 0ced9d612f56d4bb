"""Keeping a folder and a wiki equal: edits, deletions and renames on either side."""

from pathlib import Path
from typing import Any

import pytest

from db.scope import Role
from resolvers.errors import Forbidden
from resolvers.import_export.export_files import export_path
from resolvers.import_export.importing import import_path
from resolvers.model.drafts import PageDraft
from resolvers.pages.lifecycle import archive_page, create_page, delete_page, update_page
from resolvers.pages.renaming import rename_page
from resolvers.sources.attachments import read_attachment
from resolvers.sync.planning import Action, Direction
from tests.resolvers.sync.folders import check_nothing_to_do, note_texts, page_named, sync, sync_actions, write_note
from tests.wiki import Wiki


async def test_a_vault_becomes_pages_and_no_file_is_touched(wiki: Wiki, tmp_path: Path) -> None:
    kiln = "---\ntags: [clay]   # as I like it\n---\n# Kiln\r\n\r\nHot. See [[Glaze]].\n\n\n"
    write_note(tmp_path, "Kiln.md", kiln)
    write_note(tmp_path, "topics/Glaze.md", "## Ash\n\nFrom [the kiln](../Kiln.md).")
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.md")}
    result = await sync(wiki, tmp_path)
    assert sorted(sync_actions(result)) == [("push", "Kiln.md"), ("push", "topics/Glaze.md")]
    page = await page_named(wiki, "Kiln")
    assert (page["type"], page["tags"], page["metadata"]) == ("reference", ["clay"], {"imported_from": "Kiln.md"})
    assert (await page_named(wiki, "Glaze"))["type"] == "topic"
    assert len(await wiki.references()) == 2, "links of both spellings are links of the wiki"
    await check_nothing_to_do(wiki, tmp_path)
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.md")} == before
    await export_path(wiki.database, wiki.scope, tmp_path / "export")
    assert (tmp_path / "export/Kiln.md").read_bytes() == kiln.encode(), "an export has the file as it is"


async def test_pages_become_files(wiki: Wiki, tmp_path: Path) -> None:
    await create_page(wiki.database, wiki.scope, PageDraft("topic", "Kiln", body="Hot."))
    result = await sync(wiki, tmp_path / "new")
    assert sync_actions(result) == [("pull", "topic/kiln.md")]
    assert (tmp_path / "new/topic/kiln.md").read_text().endswith("---\n\nHot.\n")
    await check_nothing_to_do(wiki, tmp_path / "new")


async def test_edits_are_synced_in_both_directions(wiki: Wiki, tmp_path: Path) -> None:
    write_note(tmp_path, "A.md", "---\nmood: calm  # mine\n---\nOne.\n")
    write_note(tmp_path, "B.md", "Two.\n")
    await sync(wiki, tmp_path)
    a, b = (await page_named(wiki, "A"))["id"], (await page_named(wiki, "B"))["id"]
    await update_page(wiki.database, wiki.scope, a, body="One from the wiki.")
    write_note(tmp_path, "B.md", "Two from the folder.\n")
    assert sorted(sync_actions(await sync(wiki, tmp_path))) == [("pull", "A.md"), ("push", "B.md")]
    assert (tmp_path / "A.md").read_text() == "---\nmood: calm  # mine\n---\nOne from the wiki.\n", "the header stays"
    page = await wiki.page(b)
    assert (page["body_md"], page["version"]) == ("Two from the folder.", 2)
    revision = await wiki.row("revisions", page_id=b, version=2)
    assert (revision["author_id"], revision["edit_summary"]) == ("marco", "Edited in a synced folder")
    await check_nothing_to_do(wiki, tmp_path)


async def test_header_fields_removed_in_a_file_are_removed_in_the_wiki(wiki: Wiki, tmp_path: Path) -> None:
    write_note(tmp_path, "A.md", "---\nsummary: Short\ntags: [x]\naliases: [Alpha]\nmood: calm\n---\nOne.\n")
    await sync(wiki, tmp_path)
    write_note(tmp_path, "A.md", "One.\n")
    await sync(wiki, tmp_path)
    page = await page_named(wiki, "A")
    assert (page["summary"], page["tags"], page["metadata"]) == (None, [], {"imported_from": "A.md"})
    assert {row["alias"] for row in await wiki.rows("aliases")} == {"a"}
    await check_nothing_to_do(wiki, tmp_path)


async def test_deleted_files_archive_pages_and_archived_pages_remove_files(wiki: Wiki, tmp_path: Path) -> None:
    write_note(tmp_path, "x/A.md", "One.\n")
    write_note(tmp_path, "x/B.md", "Two.\n")
    write_note(tmp_path, "x/y/C.md", "Three.\n")
    await sync(wiki, tmp_path)
    (tmp_path / "x/A.md").unlink()
    await archive_page(wiki.database, wiki.scope, (await page_named(wiki, "B"))["id"])
    await delete_page(wiki.database, wiki.scope, (await page_named(wiki, "C"))["id"])
    assert sorted(sync_actions(await sync(wiki, tmp_path))) == [
        ("archive", "x/A.md"), ("remove", "x/B.md"), ("remove", "x/y/C.md"),
    ]  # fmt: skip
    assert {page["status"] for page in await wiki.rows("pages")} == {"archived"}
    assert note_texts(tmp_path) == {}
    assert not (tmp_path / "x").exists(), "empty folders go, too"
    await check_nothing_to_do(wiki, tmp_path)
    write_note(tmp_path, "x/A.md", "One again.\n")
    await sync(wiki, tmp_path)
    page = await page_named(wiki, "A")
    assert (page["status"], page["body_md"]) == ("active", "One again."), "it is the same page"
    await check_nothing_to_do(wiki, tmp_path)


async def test_a_renamed_file_renames_its_page(wiki: Wiki, tmp_path: Path) -> None:
    write_note(tmp_path, "Kiln.md", "Hot.\n")
    write_note(tmp_path, "B.md", "See [[Kiln]].\n")
    await sync(wiki, tmp_path)
    page = await page_named(wiki, "Kiln")
    (tmp_path / "deep/er").mkdir(parents=True)
    (tmp_path / "Kiln.md").rename(tmp_path / "deep/er/Oven.md")
    assert sync_actions(await sync(wiki, tmp_path)) == [("push", "deep/er/Oven.md")]
    now = await wiki.page(page["id"])
    assert (now["title"], now["slug"], now["metadata"]) == ("Oven", "kiln", {"imported_from": "deep/er/Oven.md"})
    assert list((await wiki.targets((await page_named(wiki, "B"))["id"])).values()) == [page["id"]]
    assert len(await wiki.rows("pages")) == 2
    await check_nothing_to_do(wiki, tmp_path)
    await export_path(wiki.database, wiki.scope, tmp_path / "export")
    assert (tmp_path / "export/deep/er/Oven.md").read_text() == "Hot.\n"


async def test_a_renamed_page_moves_its_file_only_if_named_by_its_slug(wiki: Wiki, tmp_path: Path) -> None:
    write_note(tmp_path, "Kiln.md", "Hot.\n")
    clay = await create_page(wiki.database, wiki.scope, PageDraft("topic", "Clay", body="Soft."))
    await sync(wiki, tmp_path)
    await rename_page(wiki.database, wiki.scope, (await page_named(wiki, "Kiln"))["id"], title="Oven", slug="oven")
    await rename_page(wiki.database, wiki.scope, clay.page_id, title="Earth", slug="earth")
    assert sorted(sync_actions(await sync(wiki, tmp_path))) == [("pull", "Kiln.md"), ("pull", "topic/earth.md")]
    now = note_texts(tmp_path)
    assert now.keys() == {"Kiln.md", "topic/earth.md"}
    assert "title: Oven" in now["Kiln.md"]
    await check_nothing_to_do(wiki, tmp_path)


async def test_an_imported_folder_is_synced_without_changes(wiki: Wiki, tmp_path: Path) -> None:
    write_note(tmp_path, "a/Note.md", "First. See [[Note]] and [b](../b/Note.md).\n")
    write_note(tmp_path, "b/Note.md", "Second. #tag\n")
    await import_path(wiki.database, wiki.scope, tmp_path)
    result = await sync(wiki, tmp_path)
    assert result.events == []
    await check_nothing_to_do(wiki, tmp_path)
    page = next(page for page in await wiki.rows("pages") if page["body_md"].startswith("First"))
    await update_page(wiki.database, wiki.scope, page["id"], body=page["body_md"].replace("First", "Now"))
    await sync(wiki, tmp_path)
    assert note_texts(tmp_path)["a/Note.md"] == "Now. See [[Note]] and [b](../b/Note.md).\n", (
        "links are spelled as before"
    )


async def test_a_one_way_sync_leaves_the_other_side_alone(wiki: Wiki, tmp_path: Path) -> None:
    write_note(tmp_path, "A.md", "One.\n")
    write_note(tmp_path, "B.md", "Two.\n")
    await sync(wiki, tmp_path)
    a, b = [(await page_named(wiki, name))["id"] for name in "AB"]
    await update_page(wiki.database, wiki.scope, a, body="There.")
    write_note(tmp_path, "B.md", "Here.\n")
    pushed = await sync(wiki, tmp_path, direction=Direction.PUSH)
    assert (sync_actions(pushed), pushed.waiting) == ([("push", "B.md")], 1)
    write_note(tmp_path, "B.md", "Here again.\n")
    reader = wiki.with_role(Role.READER)
    with pytest.raises(Forbidden):
        await sync(reader, tmp_path)
    pulled = await sync(reader, tmp_path, direction=Direction.PULL)
    assert (sync_actions(pulled), pulled.waiting) == ([("pull", "A.md")], 1)
    assert (await wiki.page(b))["body_md"] == "Here."
    assert sync_actions(await sync(wiki, tmp_path)) == [("push", "B.md")]
    await check_nothing_to_do(wiki, tmp_path)


async def test_a_dry_run_writes_nothing(wiki: Wiki, tmp_path: Path) -> None:
    write_note(tmp_path, "A.md", "One.\n")
    await create_page(wiki.database, wiki.scope, PageDraft("topic", "B", body="Two."))
    result = await sync(wiki, tmp_path, dry_run=True)
    assert sorted(sync_actions(result)) == [("pull", "topic/b.md"), ("push", "A.md")]
    assert note_texts(tmp_path) == {"A.md": "One.\n"}
    assert len(await wiki.rows("pages")) == 1
    assert not (tmp_path / ".cairn/sync.json").exists()


async def test_attachments_are_synced_in_both_directions(wiki: Wiki, tmp_path: Path) -> None:
    here = wiki.database, wiki.scope
    vault, other = tmp_path / "vault", tmp_path / "other"
    picture = vault / "p/a.png"
    picture.parent.mkdir(parents=True)
    picture.write_bytes(b"first")
    assert sync_actions(await sync(wiki, vault)) == [("push", "p/a.png")]
    assert (await read_attachment(*here, "p/a.png")).data == b"first"
    await sync(wiki, other)
    assert (other / "p/a.png").read_bytes() == b"first"
    (other / "p/a.png").write_bytes(b"second")
    assert sync_actions(await sync(wiki, other)) == [("push", "p/a.png")]
    picture.write_bytes(b"third")
    result = await sync(wiki, vault)
    assert [event.action for event in result.events] == [Action.CONFLICT]
    assert (vault / result.conflicts[0]).read_bytes() == b"second"
    (vault / result.conflicts[0]).unlink()
    assert sync_actions(await sync(wiki, vault)) == [("push", "p/a.png")]
    picture.unlink()
    assert sync_actions(await sync(wiki, vault)) == [("archive", "p/a.png")]
    assert await wiki.rows("attachments", "path") == []
    assert sync_actions(await sync(wiki, other)) == [("remove", "p/a.png")]
    await check_nothing_to_do(wiki, other)


async def test_an_idle_sync_runs_as_many_statements_in_a_large_wiki_as_in_a_small(wiki: Wiki, tmp_path: Path) -> None:
    async def statements(root: Path) -> int:
        await sync(wiki, root)
        await sync(wiki, root)
        before = counted
        await sync(wiki, root)
        return counted - before

    counted = 0

    def count(*_: Any) -> None:
        nonlocal counted
        counted += 1

    async with wiki.database.connection() as one, wiki.database.connection() as two:
        for connection in (one, two):
            connection.raw.add_query_logger(count)
    small, large = tmp_path / "small", tmp_path / "large"
    write_note(small, "One.md", "One.\n")
    few = await statements(small)
    for n in range(60):
        write_note(large, f"N{n}.md", f"Note {n}.\n")
    assert await statements(large) == few > 0


async def test_the_file_of_a_page_that_becomes_too_sensitive_is_removed(wiki: Wiki, tmp_path: Path) -> None:
    """A file with an edit stays, and the page is unchanged."""
    here, guest = (wiki.database, wiki.scope), await wiki.colleague()
    ids = [(await create_page(*here, PageDraft("topic", title, body="Words."))).page_id for title in ("Pay", "Plan")]
    await sync(guest, tmp_path)
    write_note(tmp_path, "topic/plan.md", (tmp_path / "topic/plan.md").read_text() + "\nMine.\n")
    for page_id in ids:
        await update_page(*here, page_id, fields={"sensitivity": "secret"})
    result = await sync(guest, tmp_path)
    assert sync_actions(result) == [("remove", "topic/pay.md")]
    assert note_texts(tmp_path).keys() == {"topic/plan.md"}
    assert note_texts(tmp_path)["topic/plan.md"].endswith("Mine.\n")
    assert [page["body_md"] for page in await wiki.rows("pages")] == ["Words.", "Words."]
