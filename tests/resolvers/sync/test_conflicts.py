"""Changes on both sides are merged where possible, else the text of the wiki is written beside the file."""

from pathlib import Path

from resolvers.model.drafts import PageDraft
from resolvers.pages.lifecycle import archive_page, create_page, delete_page, update_page
from resolvers.sync.planning import Action
from tests.resolvers.sync.folders import check_nothing_to_do, note_texts, page_named, sync, sync_actions, write_note
from tests.wiki import Wiki


async def test_sections_changed_on_one_side_are_merged(wiki: Wiki, tmp_path: Path) -> None:
    write_note(tmp_path, "A.md", "---\ntags: [x]  # mine\n---\n## One\n\nFirst.\n\n## Two\n\nSecond.\n")
    await sync(wiki, tmp_path)
    page = await page_named(wiki, "A")
    await update_page(wiki.database, wiki.scope, page["id"], body="## One\n\nFirst.\n\n## Two\n\nSecond, there.")
    write_note(tmp_path, "A.md", "---\ntags: [x]  # mine\n---\n## One\n\nFirst, here.\n\n## Two\n\nSecond.\n")
    assert sync_actions(await sync(wiki, tmp_path)) == [("merge", "A.md"), ("pull", "A.md")]
    merged = "## One\n\nFirst, here.\n\n## Two\n\nSecond, there."
    now = await wiki.page(page["id"])
    assert (now["body_md"], now["tags"], now["version"]) == (merged, ["x"], 3)
    assert (tmp_path / "A.md").read_text() == f"---\ntags: [x]  # mine\n---\n{merged}\n"
    await check_nothing_to_do(wiki, tmp_path)


async def test_headers_are_merged_field_by_field(wiki: Wiki, tmp_path: Path) -> None:
    write_note(tmp_path, "A.md", "---\nmood: calm\n---\nOne.\n")
    await sync(wiki, tmp_path)
    page = await page_named(wiki, "A")
    await update_page(wiki.database, wiki.scope, page["id"], summary="Theirs.", tags=["x"])
    write_note(tmp_path, "A.md", "---\nmood: bright\n---\nTwo.\n")
    assert sync_actions(await sync(wiki, tmp_path)) == [("merge", "A.md"), ("pull", "A.md")]
    now = await wiki.page(page["id"])
    assert (now["summary"], now["tags"], now["metadata"]["mood"], now["body_md"]) == (
        "Theirs.",
        ["x"],
        "bright",
        "Two.",
    )
    text = note_texts(tmp_path)["A.md"]
    assert "summary: Theirs." in text
    assert "mood: bright" in text
    await check_nothing_to_do(wiki, tmp_path)


async def test_a_conflict_file_stays_beside_the_note_until_it_is_resolved(wiki: Wiki, tmp_path: Path) -> None:
    write_note(tmp_path, "A.md", "One.\n")
    await sync(wiki, tmp_path)
    page = await page_named(wiki, "A")
    await update_page(wiki.database, wiki.scope, page["id"], body="Theirs.")
    write_note(tmp_path, "A.md", "Mine.\n")
    result = await sync(wiki, tmp_path)
    (event,) = result.events
    assert (event.action, result.conflicts) == (Action.CONFLICT, [event.detail])
    assert note_texts(tmp_path) == {"A.md": "Mine.\n", event.detail: "Theirs.\n"}
    assert (await wiki.page(page["id"]))["body_md"] == "Theirs.", "the wiki waits for the person"
    result = await sync(wiki, tmp_path)
    assert (result.events, result.conflicts) == ([], [event.detail]), "a conflict file is no page"
    write_note(tmp_path, "A.md", "Mine and theirs.\n")
    (tmp_path / event.detail).unlink()
    assert sync_actions(await sync(wiki, tmp_path)) == [("push", "A.md")]
    assert (await wiki.page(page["id"]))["body_md"] == "Mine and theirs."
    await check_nothing_to_do(wiki, tmp_path)


async def test_renaming_the_conflict_file_over_the_note_resolves_it(wiki: Wiki, tmp_path: Path) -> None:
    write_note(tmp_path, "A.md", "One.\n")
    await sync(wiki, tmp_path)
    page = await page_named(wiki, "A")
    await update_page(wiki.database, wiki.scope, page["id"], body="Theirs.")
    write_note(tmp_path, "A.md", "Mine.\n")
    (event,) = (await sync(wiki, tmp_path)).events
    (tmp_path / event.detail).rename(tmp_path / "A.md")
    assert (await sync(wiki, tmp_path)).events == []
    assert (await wiki.page(page["id"]))["version"] == 2
    await check_nothing_to_do(wiki, tmp_path)


async def test_a_change_wins_over_a_deletion(wiki: Wiki, tmp_path: Path) -> None:
    for name in "ABC":
        write_note(tmp_path, f"{name}.md", "Same.\n")
    await sync(wiki, tmp_path)
    a, b, c = [(await page_named(wiki, name))["id"] for name in "ABC"]
    (tmp_path / "A.md").unlink()
    await update_page(wiki.database, wiki.scope, a, body="Changed there.")
    write_note(tmp_path, "B.md", "Changed here.\n")
    await archive_page(wiki.database, wiki.scope, b)
    write_note(tmp_path, "C.md", "Changed here.\n")
    await delete_page(wiki.database, wiki.scope, c)
    assert sorted(sync_actions(await sync(wiki, tmp_path))) == [("pull", "A.md"), ("push", "B.md"), ("push", "C.md")]
    assert note_texts(tmp_path)["A.md"] == "Changed there.\n"
    assert {(page["title"], page["status"]) for page in await wiki.rows("pages")} == {
        (name, "active") for name in "ABC"
    }
    await check_nothing_to_do(wiki, tmp_path)


async def test_a_first_sync_of_a_full_folder_and_wiki_loses_nothing(wiki: Wiki, tmp_path: Path) -> None:
    here = wiki.database, wiki.scope
    await create_page(*here, PageDraft("reference", "Same", body="Same."))
    await create_page(*here, PageDraft("reference", "Differs", body="Theirs."))
    await create_page(*here, PageDraft("topic", "Only there", body="There."))
    write_note(tmp_path, "Same.md", "Same.\n")
    write_note(tmp_path, "Differs.md", "Mine.\n")
    write_note(tmp_path, "Only here.md", "Here.\n")
    result = await sync(wiki, tmp_path)
    assert sorted(sync_actions(result)) == [
        ("conflict", "Differs.md"),
        ("pull", "topic/only-there.md"),
        ("push", "Only here.md"),
    ]
    now = note_texts(tmp_path)
    assert (now["Same.md"], now["Differs.md"], now["Only here.md"]) == ("Same.\n", "Mine.\n", "Here.\n")
    assert now[result.conflicts[0]].endswith("Theirs.\n")
    assert len(await wiki.rows("pages")) == 4
    await check_nothing_to_do(wiki, tmp_path)
