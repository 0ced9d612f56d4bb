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
from resolvers.proposals.decisions import Amendment, accept_proposal, decline_proposal, withdraw_proposal
from resolvers.proposals.gate import Policy, PolicyRule, WriterRole, checked_rules
from resolvers.sync.planning import Direction, SyncResult
from tests.resolvers.sync.folders import done, files, put, settled, sync
from tests.wiki import Wiki


@pytest.fixture
async def folder(wiki: Wiki) -> Wiki:
    """The credential of the folder: a member, whose writes are reviewed. The wiki's admin reviews."""
    await set_policy(wiki, Policy.REVIEW)
    return replace(wiki, scope=replace(wiki.acting(Role.MEMBER).scope, actor=Actor(ActorKind.SERVICE, "laptop")))


async def set_policy(wiki: Wiki, policy: Policy, page_type: str | None = None) -> None:
    rules = orjson.dumps(checked_rules([PolicyRule(WriterRole.MEMBER, policy, page_type)])).decode()
    await wiki.look.execute("UPDATE owners SET write_policy = $1", rules)


async def open_ones(wiki: Wiki) -> list[dict[str, Any]]:
    return await wiki.rows("proposals", status="open")


async def waits(folder: Wiki, root: Path, *paths: str) -> SyncResult:
    """Two more syncs propose nothing: these files wait, each with one proposal."""
    result = await sync(folder, root)
    for _ in range(2):
        before = {row["id"] for row in await folder.rows("proposals")}
        result = await sync(folder, root)
        assert (result.events, result.left, sorted(path for path, _ in result.proposed)) == ([], [], sorted(paths))
        assert {row["id"] for row in await folder.rows("proposals")} == before
        assert sorted(str(row["id"]) for row in await open_ones(folder)) == sorted(id for _, id in result.proposed)
    return result


async def accept(wiki: Wiki, **given: Any) -> None:
    for row in await open_ones(wiki):
        await accept_proposal(wiki.database, wiki.scope, row["id"], **given)


async def decline(wiki: Wiki, reason: str = "Not so.") -> None:
    for row in await open_ones(wiki):
        await decline_proposal(wiki.database, wiki.scope, row["id"], reason)


async def synced(wiki: Wiki, root: Path, text: str = "One.\n") -> dict[str, Any]:
    """A page and its file that are the same."""
    put(root, "A.md", text)
    await sync(wiki, root)
    return await wiki.row("pages", title="A")


async def test_new_files_are_proposed_once_and_are_pages_once_accepted(
    wiki: Wiki, folder: Wiki, tmp_path: Path
) -> None:
    put(tmp_path, "A.md", "See [[B]].\n")
    put(tmp_path, "B.md", "Two.\n")
    result = await sync(folder, tmp_path)
    assert sorted(done(result)) == [("propose", "A.md"), ("propose", "B.md")]
    assert (result.left, len(result.proposed)) == ([], 2)
    assert await wiki.rows("pages") == []
    await waits(folder, tmp_path, "A.md", "B.md")
    await accept(wiki)
    await settled(folder, tmp_path)
    assert files(tmp_path) == {"A.md": "See [[B]].\n", "B.md": "Two.\n"}
    assert {(page["title"], page["version"]) for page in await wiki.rows("pages")} == {("A", 1), ("B", 1)}
    put(tmp_path, "A.md", "More.\n")
    await waits(folder, tmp_path, "A.md")
    await accept(wiki)
    await settled(folder, tmp_path)
    assert (await wiki.row("pages", title="A"))["body_md"] == "More."


async def test_an_edit_that_a_reviewer_amends_comes_back(wiki: Wiki, folder: Wiki, tmp_path: Path) -> None:
    page = await synced(wiki, tmp_path, "---\nmood: calm  # mine\n---\nOne.\n")
    put(tmp_path, "A.md", "---\nmood: calm  # mine\n---\nTwo.\n")
    put(tmp_path, "New.md", "New.\n")
    await waits(folder, tmp_path, "A.md", "New.md")
    for row in await open_ones(wiki):
        text = f"{row['proposed_body']} Amended."
        await accept_proposal(wiki.database, wiki.scope, row["id"], Amendment(body=text))
    assert sorted(done(await sync(folder, tmp_path))) == [("pull", "A.md"), ("pull", "New.md")]
    assert files(tmp_path)["A.md"] == "---\nmood: calm  # mine\n---\nTwo. Amended.\n"
    assert files(tmp_path)["New.md"].endswith("New. Amended.\n")
    assert (await wiki.page(page["id"]))["version"] == 2
    await settled(folder, tmp_path)


async def test_a_file_that_is_edited_again_replaces_its_proposal(wiki: Wiki, folder: Wiki, tmp_path: Path) -> None:
    page = await synced(wiki, tmp_path)
    put(tmp_path, "A.md", "Two.\n")
    put(tmp_path, "New.md", "New.\n")
    await waits(folder, tmp_path, "A.md", "New.md")
    put(tmp_path, "A.md", "Three.\n")
    put(tmp_path, "New.md", "Newer.\n")
    await waits(folder, tmp_path, "A.md", "New.md")
    assert {row["proposed_body"] for row in await open_ones(wiki)} == {"Three.", "Newer."}
    assert len(await wiki.rows("proposals", status="withdrawn")) == 2
    put(tmp_path, "A.md", "One.\n")
    (tmp_path / "New.md").unlink()
    await waits(folder, tmp_path)
    assert await open_ones(wiki) == []
    assert (await wiki.page(page["id"]))["version"] == 1
    await settled(folder, tmp_path)


async def test_an_edit_after_the_acceptance_is_based_on_it(wiki: Wiki, folder: Wiki, tmp_path: Path) -> None:
    page = await synced(wiki, tmp_path)
    put(tmp_path, "A.md", "Two.\n")
    put(tmp_path, "New.md", "New.\n")
    await waits(folder, tmp_path, "A.md", "New.md")
    await accept(wiki)
    put(tmp_path, "A.md", "Three.\n")
    put(tmp_path, "New.md", "Newer.\n")
    result = await waits(folder, tmp_path, "A.md", "New.md")
    assert result.conflicts == []
    await accept(wiki)
    await settled(folder, tmp_path)
    assert files(tmp_path) == {"A.md": "Three.\n", "New.md": "Newer.\n"}
    assert (await wiki.page(page["id"]))["body_md"] == "Three."
    assert (await wiki.row("pages", title="New"))["body_md"] == "Newer."


async def test_what_was_declined_is_not_proposed_again_and_nothing_is_lost(
    wiki: Wiki, folder: Wiki, tmp_path: Path
) -> None:
    page = await synced(wiki, tmp_path)
    put(tmp_path, "A.md", "Two.\n")
    put(tmp_path, "New.md", "New.\n")
    await waits(folder, tmp_path, "A.md", "New.md")
    await decline(wiki, "Say where you have it from.")
    result = await sync(folder, tmp_path)
    (conflict,) = result.conflicts
    assert files(tmp_path) == {"A.md": "Two.\n", conflict: "One.\n", "New.md": "New.\n"}
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
    assert await open_ones(wiki) == [], "the same text is not proposed again"
    await update_page(wiki.database, wiki.scope, page["id"], body="Others.")
    (conflict,) = (await sync(folder, tmp_path)).conflicts
    assert files(tmp_path)[conflict] == "Others.\n", "a text that was declined is not merged into what others write"
    (tmp_path / conflict).unlink()
    put(tmp_path, "A.md", "Two, as the book says.\n")
    put(tmp_path, "New.md", "New, as the book says.\n")
    await waits(folder, tmp_path, "A.md", "New.md")
    await accept(wiki)
    await settled(folder, tmp_path)
    assert (await wiki.page(page["id"]))["body_md"] == "Two, as the book says."


async def test_after_a_decline_renaming_the_conflict_over_the_file_resolves_it(
    wiki: Wiki, folder: Wiki, tmp_path: Path
) -> None:
    await synced(wiki, tmp_path)
    put(tmp_path, "A.md", "Two.\n")
    await sync(folder, tmp_path)
    await decline(wiki)
    (conflict,) = (await sync(folder, tmp_path)).conflicts
    (tmp_path / conflict).rename(tmp_path / "A.md")
    await settled(folder, tmp_path)
    assert files(tmp_path) == {"A.md": "One.\n"}


async def test_a_deletion_is_proposed_and_comes_back_when_it_is_declined(
    wiki: Wiki, folder: Wiki, tmp_path: Path
) -> None:
    page = await synced(wiki, tmp_path)
    (tmp_path / "A.md").unlink()
    await waits(folder, tmp_path, "A.md")
    await decline(wiki)
    assert done(await sync(folder, tmp_path)) == [("pull", "A.md")]
    assert files(tmp_path) == {"A.md": "One.\n"}
    await settled(folder, tmp_path)
    (tmp_path / "A.md").unlink()
    await waits(folder, tmp_path, "A.md")
    await accept(wiki)
    await settled(folder, tmp_path)
    assert files(tmp_path) == {}
    assert (await wiki.page(page["id"]))["status"] == "archived"


async def test_a_deletion_that_is_undone_is_withdrawn(wiki: Wiki, folder: Wiki, tmp_path: Path) -> None:
    await synced(wiki, tmp_path)
    (tmp_path / "A.md").unlink()
    await waits(folder, tmp_path, "A.md")
    put(tmp_path, "A.md", "One.\n")
    await waits(folder, tmp_path)
    assert await open_ones(wiki) == []


async def test_a_move_is_proposed_once(wiki: Wiki, folder: Wiki, tmp_path: Path) -> None:
    page = await synced(wiki, tmp_path)
    (tmp_path / "x").mkdir()
    (tmp_path / "A.md").rename(tmp_path / "x/B.md")
    await waits(folder, tmp_path, "x/B.md")
    await accept(wiki)
    await settled(folder, tmp_path)
    now = await wiki.page(page["id"])
    assert (now["title"], now["metadata"], now["version"]) == ("B", {"imported_from": "x/B.md"}, 2)
    assert files(tmp_path) == {"x/B.md": "One.\n"}


async def test_a_merge_is_proposed_once(wiki: Wiki, folder: Wiki, tmp_path: Path) -> None:
    page = await synced(wiki, tmp_path, "## One\n\nFirst.\n\n## Two\n\nSecond.\n")
    await update_page(wiki.database, wiki.scope, page["id"], body="## One\n\nFirst.\n\n## Two\n\nTheirs.")
    put(tmp_path, "A.md", "## One\n\nMine.\n\n## Two\n\nSecond.\n")
    await waits(folder, tmp_path, "A.md")
    await accept(wiki)
    assert done(await sync(folder, tmp_path)) == [("pull", "A.md")]
    assert files(tmp_path) == {"A.md": "## One\n\nMine.\n\n## Two\n\nTheirs.\n"}
    await settled(folder, tmp_path)


async def test_the_page_changes_while_an_edit_waits(wiki: Wiki, folder: Wiki, tmp_path: Path) -> None:
    page = await synced(wiki, tmp_path, "## One\n\nFirst.\n\n## Two\n\nSecond.\n")
    put(tmp_path, "A.md", "## One\n\nMine.\n\n## Two\n\nSecond.\n")
    await waits(folder, tmp_path, "A.md")
    await update_page(wiki.database, wiki.scope, page["id"], body="## One\n\nFirst.\n\n## Two\n\nTheirs.")
    await waits(folder, tmp_path, "A.md")
    await accept(wiki)
    await sync(folder, tmp_path)
    assert files(tmp_path) == {"A.md": "## One\n\nMine.\n\n## Two\n\nTheirs.\n"}
    await settled(folder, tmp_path)


async def test_an_edit_of_an_archived_page_is_not_lost(wiki: Wiki, folder: Wiki, tmp_path: Path) -> None:
    page = await synced(wiki, tmp_path)
    await archive_page(wiki.database, wiki.scope, page["id"])
    put(tmp_path, "A.md", "Two.\n")
    for _ in range(3):
        await waits(folder, tmp_path, "A.md")
        await accept(wiki)
        await sync(folder, tmp_path)
        assert files(tmp_path) == {"A.md": "Two.\n"}
        if await open_ones(wiki) == []:
            break
    await settled(folder, tmp_path)
    now = await wiki.page(page["id"])
    assert (now["status"], now["body_md"]) == ("active", "Two.")


async def test_headers_that_relate_pages_do_not_end_a_sync(wiki: Wiki, folder: Wiki, tmp_path: Path) -> None:
    await create_page(wiki.database, wiki.scope, PageDraft("topic", "Above", body="Up."))
    put(tmp_path, "A.md", "---\nparent: topic/above\nrelated: [topic/above]\n---\nOne.\n")
    await sync(folder, tmp_path)
    for _ in range(3):
        await accept(wiki)
        await sync(folder, tmp_path)
    await waits(folder, tmp_path)
    above, page = await wiki.row("pages", title="Above"), await wiki.row("pages", title="A")
    assert page["parent_page_id"] == above["id"], "the reviewer was asked for the parent, too"
    assert (page["id"], above["id"]) in await wiki.references()


async def test_a_proposal_whose_time_is_over_is_made_again(wiki: Wiki, folder: Wiki, tmp_path: Path) -> None:
    await synced(wiki, tmp_path)
    put(tmp_path, "A.md", "Two.\n")
    await waits(folder, tmp_path, "A.md")
    await wiki.look.execute("UPDATE proposals SET status = 'expired'")
    await waits(folder, tmp_path, "A.md")
    assert sorted(row["status"] for row in await wiki.rows("proposals")) == ["expired", "open"]


async def test_a_proposal_that_is_withdrawn_is_not_made_again(wiki: Wiki, folder: Wiki, tmp_path: Path) -> None:
    put(tmp_path, "New.md", "New.\n")
    await sync(folder, tmp_path)
    (row,) = await open_ones(wiki)
    await withdraw_proposal(folder.database, folder.scope, row["id"])
    result = await sync(folder, tmp_path)
    assert [(path, code) for path, code, _ in result.left] == [("New.md", "DECLINED")]
    assert await open_ones(wiki) == []


async def test_other_ways_of_a_sync_leave_proposals_alone(wiki: Wiki, folder: Wiki, tmp_path: Path) -> None:
    await synced(wiki, tmp_path)
    put(tmp_path, "A.md", "Two.\n")
    await waits(folder, tmp_path, "A.md")
    put(tmp_path, "A.md", "Three.\n")
    for given in ({"direction": Direction.PULL}, {"dry_run": True}):
        await sync(folder, tmp_path, **given)
        assert [row["proposed_body"] for row in await open_ones(wiki)] == ["Two."]
        assert files(tmp_path) == {"A.md": "Three.\n"}


async def test_types_that_need_no_review_go_on_when_too_many_proposals_wait(
    wiki: Wiki, folder: Wiki, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from resolvers.proposals import operations

    monkeypatch.setattr(operations, "OPEN_MAX", 2)
    await set_policy(wiki, Policy.REVIEW, "topic")
    for name in "ABCDE":
        put(tmp_path, f"topics/{name}.md", "One.\n")
    put(tmp_path, "Z.md", "Open.\n")
    result = await sync(folder, tmp_path)
    assert len(result.proposed) == 2
    assert {code for _, code, _ in result.left} == {"LIMIT_EXCEEDED"}
    assert len(result.left) == 3
    assert ("push", "Z.md") in done(result)
    await accept(wiki)
    result = await sync(folder, tmp_path)
    assert (len(result.proposed), len(result.left)) == (2, 1)
    assert gate.OPEN_MAX == 1000


async def test_a_wiki_that_is_closed_refuses_and_nothing_is_lost(wiki: Wiki, folder: Wiki, tmp_path: Path) -> None:
    await synced(wiki, tmp_path)
    await set_policy(wiki, Policy.CLOSED)
    put(tmp_path, "A.md", "Two.\n")
    for _ in range(2):
        result = await sync(folder, tmp_path)
        assert [(path, code) for path, code, _ in result.left] == [("A.md", "FORBIDDEN")]
    await set_policy(wiki, Policy.OPEN)
    assert done(await sync(folder, tmp_path)) == [("push", "A.md")]
