"""Syncing a folder with a wiki whose writes are reviewed: each edit becomes one proposal."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest

from db.scope import Actor, ActorKind, Role
from resolvers.model.drafts import PageDraft
from resolvers.pages.lifecycle import archive_page, create_page, update_page
from resolvers.proposals import gate
from resolvers.proposals.amending import Amendment
from resolvers.proposals.gate import Policy, PolicyRule, WriterRole, checked_rules
from resolvers.proposals.proposals import accept_proposal, decline_proposal, withdraw_proposal
from resolvers.sync.planning import Direction, SyncResult
from tests.resolvers.sync.folders import check_nothing_to_do, note_texts, sync, sync_actions, write_note
from tests.wiki import Wiki


@pytest.fixture
async def folder(wiki: Wiki) -> Wiki:
    """The wiki as seen by the credential of the folder: a member whose writes are reviewed by the admin."""
    await set_policy(wiki, Policy.REVIEW)
    return replace(wiki, scope=replace(wiki.with_role(Role.MEMBER).scope, actor=Actor(ActorKind.SERVICE, "laptop")))


async def set_policy(wiki: Wiki, policy: Policy, page_type: str | None = None) -> None:
    rules = orjson.dumps(checked_rules([PolicyRule(WriterRole.MEMBER, policy, page_type)])).decode()
    await wiki.connection.execute("UPDATE owners SET write_policy = $1", rules)


async def open_proposals(wiki: Wiki) -> list[dict[str, Any]]:
    return await wiki.rows("proposals", status="open")


async def check_waiting(folder: Wiki, root: Path, *paths: str) -> SyncResult:
    """Check that two more syncs propose nothing, and that each of these files waits with one proposal."""
    result = await sync(folder, root)
    for _ in range(2):
        before = {row["id"] for row in await folder.rows("proposals")}
        result = await sync(folder, root)
        assert (result.events, result.left, sorted(path for path, _ in result.proposed)) == ([], [], sorted(paths))
        assert {row["id"] for row in await folder.rows("proposals")} == before
        assert sorted(str(row["id"]) for row in await open_proposals(folder)) == sorted(id for _, id in result.proposed)
    return result


async def accept(wiki: Wiki, **given: Any) -> None:
    for row in await open_proposals(wiki):
        await accept_proposal(wiki.database, wiki.scope, row["id"], **given)


async def decline(wiki: Wiki, reason: str = "Not so.") -> None:
    for row in await open_proposals(wiki):
        await decline_proposal(wiki.database, wiki.scope, row["id"], reason)


async def synced_page(wiki: Wiki, root: Path, text: str = "One.\n") -> dict[str, Any]:
    """Sync a new file, and return its page."""
    write_note(root, "A.md", text)
    await sync(wiki, root)
    return await wiki.row("pages", title="A")


async def test_new_files_are_proposed_once_and_become_pages_when_accepted(
    wiki: Wiki, folder: Wiki, tmp_path: Path
) -> None:
    write_note(tmp_path, "A.md", "See [[B]].\n")
    write_note(tmp_path, "B.md", "Two.\n")
    result = await sync(folder, tmp_path)
    assert sorted(sync_actions(result)) == [("propose", "A.md"), ("propose", "B.md")]
    assert (result.left, len(result.proposed)) == ([], 2)
    assert await wiki.rows("pages") == []
    await check_waiting(folder, tmp_path, "A.md", "B.md")
    await accept(wiki)
    await check_nothing_to_do(folder, tmp_path)
    assert note_texts(tmp_path) == {"A.md": "See [[B]].\n", "B.md": "Two.\n"}
    assert {(page["title"], page["version"]) for page in await wiki.rows("pages")} == {("A", 1), ("B", 1)}
    write_note(tmp_path, "A.md", "More.\n")
    await check_waiting(folder, tmp_path, "A.md")
    await accept(wiki)
    await check_nothing_to_do(folder, tmp_path)
    assert (await wiki.row("pages", title="A"))["body_md"] == "More."


async def test_an_amended_edit_is_written_back_to_the_file(wiki: Wiki, folder: Wiki, tmp_path: Path) -> None:
    page = await synced_page(wiki, tmp_path, "---\nmood: calm  # mine\n---\nOne.\n")
    write_note(tmp_path, "A.md", "---\nmood: calm  # mine\n---\nTwo.\n")
    write_note(tmp_path, "New.md", "New.\n")
    await check_waiting(folder, tmp_path, "A.md", "New.md")
    for row in await open_proposals(wiki):
        text = f"{row['proposed_body']} Amended."
        await accept_proposal(wiki.database, wiki.scope, row["id"], Amendment(body=text))
    assert sorted(sync_actions(await sync(folder, tmp_path))) == [("pull", "A.md"), ("pull", "New.md")]
    assert note_texts(tmp_path)["A.md"] == "---\nmood: calm  # mine\n---\nTwo. Amended.\n"
    assert note_texts(tmp_path)["New.md"].endswith("New. Amended.\n")
    assert (await wiki.page(page["id"]))["version"] == 2
    await check_nothing_to_do(folder, tmp_path)


async def test_editing_a_file_again_replaces_its_proposal(wiki: Wiki, folder: Wiki, tmp_path: Path) -> None:
    page = await synced_page(wiki, tmp_path)
    write_note(tmp_path, "A.md", "Two.\n")
    write_note(tmp_path, "New.md", "New.\n")
    await check_waiting(folder, tmp_path, "A.md", "New.md")
    write_note(tmp_path, "A.md", "Three.\n")
    write_note(tmp_path, "New.md", "Newer.\n")
    await check_waiting(folder, tmp_path, "A.md", "New.md")
    assert {row["proposed_body"] for row in await open_proposals(wiki)} == {"Three.", "Newer."}
    assert len(await wiki.rows("proposals", status="withdrawn")) == 2
    write_note(tmp_path, "A.md", "One.\n")
    (tmp_path / "New.md").unlink()
    await check_waiting(folder, tmp_path)
    assert await open_proposals(wiki) == []
    assert (await wiki.page(page["id"]))["version"] == 1
    await check_nothing_to_do(folder, tmp_path)


async def test_an_edit_after_acceptance_is_based_on_the_accepted_text(wiki: Wiki, folder: Wiki, tmp_path: Path) -> None:
    page = await synced_page(wiki, tmp_path)
    write_note(tmp_path, "A.md", "Two.\n")
    write_note(tmp_path, "New.md", "New.\n")
    await check_waiting(folder, tmp_path, "A.md", "New.md")
    await accept(wiki)
    write_note(tmp_path, "A.md", "Three.\n")
    write_note(tmp_path, "New.md", "Newer.\n")
    result = await check_waiting(folder, tmp_path, "A.md", "New.md")
    assert result.conflicts == []
    await accept(wiki)
    await check_nothing_to_do(folder, tmp_path)
    assert note_texts(tmp_path) == {"A.md": "Three.\n", "New.md": "Newer.\n"}
    assert (await wiki.page(page["id"]))["body_md"] == "Three."
    assert (await wiki.row("pages", title="New"))["body_md"] == "Newer."


async def test_declined_edits_are_not_proposed_again_and_not_lost(wiki: Wiki, folder: Wiki, tmp_path: Path) -> None:
    page = await synced_page(wiki, tmp_path)
    write_note(tmp_path, "A.md", "Two.\n")
    write_note(tmp_path, "New.md", "New.\n")
    await check_waiting(folder, tmp_path, "A.md", "New.md")
    await decline(wiki, "Say where you have it from.")
    result = await sync(folder, tmp_path)
    (conflict,) = result.conflicts
    assert note_texts(tmp_path) == {"A.md": "Two.\n", conflict: "One.\n", "New.md": "New.\n"}
    for _ in range(3):
        result = await sync(folder, tmp_path)
        assert (result.events, result.proposed) == ([], [])
        ((path, code, message),) = result.left
        assert (path, code) == ("New.md", "DECLINED")
        assert "Say where you have it from." in message
    (tmp_path / conflict).unlink()
    for _ in range(3):
        result = await sync(folder, tmp_path)
        assert (result.events, [path for path, _, _ in result.left]) == ([], ["A.md", "New.md"])
    assert await open_proposals(wiki) == [], "the same text is not proposed again"
    await update_page(wiki.database, wiki.scope, page["id"], body="Others.")
    (conflict,) = (await sync(folder, tmp_path)).conflicts
    assert note_texts(tmp_path)[conflict] == "Others.\n", (
        "a text that was declined is not merged into what others write"
    )
    (tmp_path / conflict).unlink()
    write_note(tmp_path, "A.md", "Two, as the book says.\n")
    write_note(tmp_path, "New.md", "New, as the book says.\n")
    await check_waiting(folder, tmp_path, "A.md", "New.md")
    await accept(wiki)
    await check_nothing_to_do(folder, tmp_path)
    assert (await wiki.page(page["id"]))["body_md"] == "Two, as the book says."


async def test_renaming_the_conflict_file_over_a_declined_note_resolves_it(
    wiki: Wiki, folder: Wiki, tmp_path: Path
) -> None:
    await synced_page(wiki, tmp_path)
    write_note(tmp_path, "A.md", "Two.\n")
    await sync(folder, tmp_path)
    await decline(wiki)
    (conflict,) = (await sync(folder, tmp_path)).conflicts
    (tmp_path / conflict).rename(tmp_path / "A.md")
    await check_nothing_to_do(folder, tmp_path)
    assert note_texts(tmp_path) == {"A.md": "One.\n"}


async def test_a_deletion_is_proposed_and_a_declined_one_restores_the_file(
    wiki: Wiki, folder: Wiki, tmp_path: Path
) -> None:
    page = await synced_page(wiki, tmp_path)
    (tmp_path / "A.md").unlink()
    await check_waiting(folder, tmp_path, "A.md")
    await decline(wiki)
    assert sync_actions(await sync(folder, tmp_path)) == [("pull", "A.md")]
    assert note_texts(tmp_path) == {"A.md": "One.\n"}
    await check_nothing_to_do(folder, tmp_path)
    (tmp_path / "A.md").unlink()
    await check_waiting(folder, tmp_path, "A.md")
    await accept(wiki)
    await check_nothing_to_do(folder, tmp_path)
    assert note_texts(tmp_path) == {}
    assert (await wiki.page(page["id"]))["status"] == "archived"


async def test_undoing_a_deletion_withdraws_its_proposal(wiki: Wiki, folder: Wiki, tmp_path: Path) -> None:
    await synced_page(wiki, tmp_path)
    (tmp_path / "A.md").unlink()
    await check_waiting(folder, tmp_path, "A.md")
    write_note(tmp_path, "A.md", "One.\n")
    await check_waiting(folder, tmp_path)
    assert await open_proposals(wiki) == []


async def test_a_move_is_proposed_once(wiki: Wiki, folder: Wiki, tmp_path: Path) -> None:
    page = await synced_page(wiki, tmp_path)
    (tmp_path / "x").mkdir()
    (tmp_path / "A.md").rename(tmp_path / "x/B.md")
    await check_waiting(folder, tmp_path, "x/B.md")
    await accept(wiki)
    await check_nothing_to_do(folder, tmp_path)
    now = await wiki.page(page["id"])
    assert (now["title"], now["metadata"], now["version"]) == ("B", {"imported_from": "x/B.md"}, 2)
    assert note_texts(tmp_path) == {"x/B.md": "One.\n"}


async def test_a_merge_is_proposed_once(wiki: Wiki, folder: Wiki, tmp_path: Path) -> None:
    page = await synced_page(wiki, tmp_path, "## One\n\nFirst.\n\n## Two\n\nSecond.\n")
    await update_page(wiki.database, wiki.scope, page["id"], body="## One\n\nFirst.\n\n## Two\n\nTheirs.")
    write_note(tmp_path, "A.md", "## One\n\nMine.\n\n## Two\n\nSecond.\n")
    await check_waiting(folder, tmp_path, "A.md")
    await accept(wiki)
    assert sync_actions(await sync(folder, tmp_path)) == [("pull", "A.md")]
    assert note_texts(tmp_path) == {"A.md": "## One\n\nMine.\n\n## Two\n\nTheirs.\n"}
    await check_nothing_to_do(folder, tmp_path)


async def test_a_proposed_edit_is_merged_with_later_changes_of_its_page(
    wiki: Wiki, folder: Wiki, tmp_path: Path
) -> None:
    page = await synced_page(wiki, tmp_path, "## One\n\nFirst.\n\n## Two\n\nSecond.\n")
    write_note(tmp_path, "A.md", "## One\n\nMine.\n\n## Two\n\nSecond.\n")
    await check_waiting(folder, tmp_path, "A.md")
    await update_page(wiki.database, wiki.scope, page["id"], body="## One\n\nFirst.\n\n## Two\n\nTheirs.")
    await check_waiting(folder, tmp_path, "A.md")
    await accept(wiki)
    await sync(folder, tmp_path)
    assert note_texts(tmp_path) == {"A.md": "## One\n\nMine.\n\n## Two\n\nTheirs.\n"}
    await check_nothing_to_do(folder, tmp_path)


async def test_an_edit_of_an_archived_page_is_not_lost(wiki: Wiki, folder: Wiki, tmp_path: Path) -> None:
    page = await synced_page(wiki, tmp_path)
    await archive_page(wiki.database, wiki.scope, page["id"])
    write_note(tmp_path, "A.md", "Two.\n")
    for _ in range(3):
        await check_waiting(folder, tmp_path, "A.md")
        await accept(wiki)
        await sync(folder, tmp_path)
        assert note_texts(tmp_path) == {"A.md": "Two.\n"}
        if await open_proposals(wiki) == []:
            break
    await check_nothing_to_do(folder, tmp_path)
    now = await wiki.page(page["id"])
    assert (now["status"], now["body_md"]) == ("active", "Two.")


async def test_parents_and_relations_in_headers_are_synced_once_accepted(
    wiki: Wiki, folder: Wiki, tmp_path: Path
) -> None:
    await create_page(wiki.database, wiki.scope, PageDraft("topic", "Above", body="Up."))
    write_note(tmp_path, "A.md", "---\nparent: topic/above\nrelated: [topic/above]\n---\nOne.\n")
    await sync(folder, tmp_path)
    for _ in range(3):
        await accept(wiki)
        await sync(folder, tmp_path)
    await check_waiting(folder, tmp_path)
    above, page = await wiki.row("pages", title="Above"), await wiki.row("pages", title="A")
    assert page["parent_page_id"] == above["id"], "the reviewer was asked for the parent, too"
    assert (page["id"], above["id"]) in await wiki.references()


async def test_an_expired_proposal_is_made_again(wiki: Wiki, folder: Wiki, tmp_path: Path) -> None:
    await synced_page(wiki, tmp_path)
    write_note(tmp_path, "A.md", "Two.\n")
    await check_waiting(folder, tmp_path, "A.md")
    await wiki.connection.execute("UPDATE proposals SET status = 'expired'")
    await check_waiting(folder, tmp_path, "A.md")
    assert sorted(row["status"] for row in await wiki.rows("proposals")) == ["expired", "open"]


async def test_a_withdrawn_proposal_is_not_made_again(wiki: Wiki, folder: Wiki, tmp_path: Path) -> None:
    write_note(tmp_path, "New.md", "New.\n")
    await sync(folder, tmp_path)
    (row,) = await open_proposals(wiki)
    await withdraw_proposal(folder.database, folder.scope, row["id"])
    result = await sync(folder, tmp_path)
    assert [(path, code) for path, code, _ in result.left] == [("New.md", "DECLINED")]
    assert await open_proposals(wiki) == []


async def test_pulls_and_dry_runs_leave_proposals_alone(wiki: Wiki, folder: Wiki, tmp_path: Path) -> None:
    await synced_page(wiki, tmp_path)
    write_note(tmp_path, "A.md", "Two.\n")
    await check_waiting(folder, tmp_path, "A.md")
    write_note(tmp_path, "A.md", "Three.\n")
    for given in ({"direction": Direction.PULL}, {"dry_run": True}):
        await sync(folder, tmp_path, **given)
        assert [row["proposed_body"] for row in await open_proposals(wiki)] == ["Two."]
        assert note_texts(tmp_path) == {"A.md": "Three.\n"}


async def test_unreviewed_types_are_synced_when_too_many_proposals_wait(
    wiki: Wiki, folder: Wiki, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from resolvers.proposals import operations

    monkeypatch.setattr(operations, "OPEN_MAX", 2)
    await set_policy(wiki, Policy.REVIEW, "topic")
    for name in "ABCDE":
        write_note(tmp_path, f"topics/{name}.md", "One.\n")
    write_note(tmp_path, "Z.md", "Open.\n")
    result = await sync(folder, tmp_path)
    assert len(result.proposed) == 2
    assert {code for _, code, _ in result.left} == {"LIMIT_EXCEEDED"}
    assert len(result.left) == 3
    assert ("push", "Z.md") in sync_actions(result)
    await accept(wiki)
    result = await sync(folder, tmp_path)
    assert (len(result.proposed), len(result.left)) == (2, 1)
    assert gate.OPEN_MAX == 1000


async def test_a_closed_wiki_refuses_edits_until_it_is_opened(wiki: Wiki, folder: Wiki, tmp_path: Path) -> None:
    await synced_page(wiki, tmp_path)
    await set_policy(wiki, Policy.CLOSED)
    write_note(tmp_path, "A.md", "Two.\n")
    for _ in range(2):
        result = await sync(folder, tmp_path)
        assert [(path, code) for path, code, _ in result.left] == [("A.md", "FORBIDDEN")]
    await set_policy(wiki, Policy.OPEN)
    assert sync_actions(await sync(folder, tmp_path)) == [("push", "A.md")]
