"""Trajectories: pages that list superseded claims are kept in step with them."""

from datetime import UTC, datetime
from typing import Any

import orjson
import pytest

from benchmarks.compiler.contents import read_contents
from db.database import Database
from db.scope import Scope, Terms
from resolvers.context import Context
from resolvers.links.links import link_pages
from resolvers.model.drafts import PageDraft
from resolvers.model.lookup import PageAddress
from resolvers.pages.claims.claims import SourceRef, supersede_claim, withdraw_claim
from resolvers.pages.lifecycle import archive_page, create_page, delete_page, unarchive_page, update_page
from resolvers.pages.merging import merge_pages
from resolvers.pages.renaming import rename_page
from resolvers.pages.sections import patch_section
from resolvers.pages.upsert import upsert_page
from resolvers.proposals.proposals import propose_change
from resolvers.sources.compile_requests import rebuild_page
from resolvers.sources.sources import SourceDraft, add_source, forget_source
from schema.root import make_engine
from tests.compiler.forgotten.forgetting import found_in
from tests.compiler.scripted_compiler import compile_all, retain_texts
from tests.compiler.test_corrections import BEFORE, MOVED, keep, rules
from tests.wiki import Wiki

MOVES = ("Porto", "Lisbon", "Faro", "Madrid")


async def supersede(wiki: Wiki, page_id: Any, number: int, **given: Any) -> Any:
    done = await supersede_claim(
        wiki.database, wiki.scope, PageAddress(page_id), fact=f"lives in {MOVES[number]}",
        replacement=f"lives in {MOVES[number + 1]}", superseded_on=datetime(2026, 3, 2 + number, tzinfo=UTC), **given,
    )  # fmt: skip
    return done.claim_id


@pytest.fixture
async def page_id(wiki: Wiki) -> Any:
    return (
        await create_page(wiki.database, wiki.scope, PageDraft("entity", "Ana", body="Ana lives in Porto."))
    ).page_id


async def trajectories(wiki: Wiki) -> list[tuple[str, str, str]]:
    rows = await wiki.rows("pages", "slug")
    return [(row["slug"], row["status"], row["title"]) for row in rows if "trajectory_of" in row["metadata"]]


async def text(wiki: Wiki, slug: str) -> str:
    (row,) = [row for row in await wiki.rows("pages") if row["slug"] == slug]
    return str(row["body_md"])


async def test_two_corrections_create_a_linked_trajectory_listing_oldest_first(wiki: Wiki, page_id: Any) -> None:
    await wiki.add_source()
    await supersede(wiki, page_id, 0)
    assert await trajectories(wiki) == []
    await supersede(wiki, page_id, 1, overridden_by=SourceRef("document", "doc-1"))
    assert await trajectories(wiki) == [("ana-trajectory", "active", "Ana (trajectory)")]
    lines = (await text(wiki, "ana-trajectory")).splitlines()
    assert lines[0] == "How [**Ana**](/wiki/entity/ana) came to say what it says."
    assert lines[2:] == [
        "- 2026-03-02: “lives in Porto” became “lives in Lisbon”",
        "- 2026-03-03: “lives in Lisbon” became “lives in Faro” (document:doc-1)",
    ]
    (other,) = [row["id"] for row in await wiki.rows("pages") if row["slug"] == "ana-trajectory"]
    assert (await wiki.references())[page_id, other] == {"trajectory"}
    await supersede(wiki, page_id, 2)
    assert "Madrid" in await text(wiki, "ana-trajectory")


async def test_a_trajectory_is_archived_below_two_claims_and_gets_no_trajectory(wiki: Wiki, page_id: Any) -> None:
    claims = [await supersede(wiki, page_id, number) for number in range(2)]
    await withdraw_claim(wiki.database, wiki.scope, claims[0])
    assert [status for _, status, _ in await trajectories(wiki)] == ["archived"]
    await supersede(wiki, page_id, 2)
    assert [status for _, status, _ in await trajectories(wiki)] == ["active"]
    (other,) = [row["id"] for row in await wiki.rows("pages") if row["slug"] == "ana-trajectory"]
    for fact in ("How [", "say what"):
        await supersede_claim(wiki.database, wiki.scope, PageAddress(other), fact=fact, replacement=f"{fact} ever")
    assert len(await trajectories(wiki)) == 1


async def test_a_trajectory_follows_a_rename_a_merge_and_the_deletion_of_its_page(wiki: Wiki, page_id: Any) -> None:
    for number in range(2):
        await supersede(wiki, page_id, number)
    await rename_page(wiki.database, wiki.scope, page_id, title="Ana Ruiz", slug="ana-ruiz")
    assert await trajectories(wiki) == [("ana-ruiz-trajectory", "active", "Ana Ruiz (trajectory)")]
    assert "[**Ana Ruiz**](/wiki/entity/ana-ruiz)" in await text(wiki, "ana-ruiz-trajectory")
    into = (await create_page(wiki.database, wiki.scope, PageDraft("entity", "A. Ruiz", body="Herself."))).page_id
    await merge_pages(wiki.database, wiki.scope, page_id, into)
    assert {(slug, status) for slug, status, _ in await trajectories(wiki)} == {
        ("ana-ruiz-trajectory", "archived"), ("a-ruiz-trajectory", "active"),
    }  # fmt: skip
    await delete_page(wiki.database, wiki.scope, into)
    assert [(slug, status) for slug, status, _ in await trajectories(wiki)] == [("ana-ruiz-trajectory", "archived")]


async def test_a_trajectory_is_archived_and_unarchived_with_its_page(wiki: Wiki, page_id: Any) -> None:
    for number in range(2):
        await supersede(wiki, page_id, number)
    await archive_page(wiki.database, wiki.scope, page_id)
    assert [status for _, status, _ in await trajectories(wiki)] == ["archived"]
    await supersede(wiki, page_id, 2)
    assert [status for _, status, _ in await trajectories(wiki)] == ["archived"]
    await unarchive_page(wiki.database, wiki.scope, page_id)
    assert [status for _, status, _ in await trajectories(wiki)] == ["active"]
    assert "Madrid" in await text(wiki, "ana-trajectory")


async def test_a_page_merged_into_one_with_the_same_claims_leaves_no_trajectory(wiki: Wiki, page_id: Any) -> None:
    into = await create_page(wiki.database, wiki.scope, PageDraft("entity", "A. Ruiz", body="Ana lives in Porto."))
    for number in range(2):
        await supersede(wiki, page_id, number)
        await supersede(wiki, into.page_id, number)
    await merge_pages(wiki.database, wiki.scope, page_id, into.page_id)
    assert {(slug, status) for slug, status, _ in await trajectories(wiki)} == {
        ("ana-trajectory", "archived"), ("a-ruiz-trajectory", "active"),
    }  # fmt: skip


async def mark_page(wiki: Wiki, page_id: Any) -> None:
    await upsert_page(wiki.database, wiki.scope, PageDraft("entity", "Ana", fields={"sensitivity": "secret"}))


async def mark_section(wiki: Wiki, page_id: Any) -> None:
    heading = "Home {sensitivity=secret}"
    await patch_section(wiki.database, wiki.scope, page_id, section_slug="home", body="Far.", heading=heading)


@pytest.mark.parametrize("mark", [mark_page, mark_section])
async def test_a_trajectory_is_as_sensitive_as_its_page(wiki: Wiki, page_id: Any, mark: Any) -> None:
    for number in range(2):
        await supersede(wiki, page_id, number)
    await mark(wiki, page_id)
    assert (await wiki.row("pages", slug="ana-trajectory"))["metadata"]["sensitivity"] == "secret"


async def test_a_trajectory_is_as_sensitive_as_the_sources_of_its_claims(wiki: Wiki, page_id: Any) -> None:
    draft = SourceDraft("document", "doc-1", "She moved.", metadata={"sensitivity": "confidential"})
    await add_source(wiki.database, wiki.scope, draft)
    for number in range(2):
        await supersede(wiki, page_id, number, overridden_by=SourceRef("document", "doc-1"))
    assert (await wiki.row("pages", slug="ana-trajectory"))["metadata"]["sensitivity"] == "confidential"


async def retitle(database: Database, scope: Scope, page_id: Any) -> object:
    return await update_page(database, scope, page_id, title="Ana Silva")


@pytest.mark.parametrize("write", [retitle, delete_page])
async def test_a_proposal_that_changes_a_trajectory_too_is_of_its_page(wiki: Wiki, page_id: Any, write: Any) -> None:
    for number in range(2):
        await supersede(wiki, page_id, number)

    async def proposed(scope: Scope) -> object:
        return await write(wiki.database, scope, page_id)

    held = await propose_change(wiki.database, wiki.scope, Terms("She left."), proposed)
    proposal = await wiki.row("proposals", id=held.proposal_id)
    assert (proposal["page_id"], proposal["title"], proposal["base_version"]) == (page_id, "Ana", 3)


async def test_an_existing_page_with_the_slug_of_a_trajectory_stays_unchanged(wiki: Wiki, page_id: Any) -> None:
    await create_page(wiki.database, wiki.scope, PageDraft("entity", "Ana trajectory", body="Mine."))
    for number in range(2):
        await supersede(wiki, page_id, number)
    assert await trajectories(wiki) == []
    assert await text(wiki, "ana-trajectory") == "Mine."


async def test_links_lead_to_the_page_that_had_the_slug_of_a_trajectory(wiki: Wiki, page_id: Any) -> None:
    mine = (await create_page(wiki.database, wiki.scope, PageDraft("entity", "Ana trajectory"))).page_id
    draft = PageDraft("entity", "Links", body="[[ana-trajectory]]")
    links = (await create_page(wiki.database, wiki.scope, draft)).page_id
    await update_page(wiki.database, wiki.scope, mine, title="Mine", slug="mine")
    for number in range(2):
        await supersede(wiki, page_id, number)
    assert (await trajectories(wiki), await wiki.targets(links)) == ([], {"ana-trajectory": mine})


async def test_the_trajectory_of_a_page_whose_long_slug_begins_alike_stays_unchanged(wiki: Wiki) -> None:
    """Both slugs are cut for the suffix, behind 109 characters."""
    for year in ("2025", "2026"):
        draft = PageDraft("entity", f"{'Harbour ' * 14}{year}", body=f"In {year} Ana lives in Porto.")
        page_id = (await create_page(wiki.database, wiki.scope, draft)).page_id
        for number in range(2):
            await supersede(wiki, page_id, number)
        assert [title[-17:] for *_, title in await trajectories(wiki)] == ["2025 (trajectory)"]


async def test_a_trajectory_survives_compiles_until_its_sources_are_forgotten(wiki: Wiki) -> None:
    await keep(wiki, *BEFORE, MOVED, "Ana Ruiz moved from Lisbon to Faro.")
    await compile_all(wiki, rules())
    assert [status for _, status, _ in await trajectories(wiki)] == ["active"]
    assert "Porto" in await text(wiki, "ana-ruiz-trajectory")
    (page,) = [row for row in await wiki.rows("pages") if row["title"] == "Ana Ruiz"]
    await rebuild_page(wiki.database, wiki.scope, page["id"])
    await compile_all(wiki, rules())
    assert "Porto" in await text(wiki, "ana-ruiz-trajectory")
    for row in await wiki.rows("sources"):
        if row["ref"] in ("day-0", "day-3"):
            await forget_source(wiki.database, wiki.scope, row["id"])
    await compile_all(wiki, rules())
    assert await trajectories(wiki) == []
    assert await found_in(wiki, "Porto") == set()


async def test_a_compile_that_unarchives_a_page_unarchives_its_trajectory(wiki: Wiki, page_id: Any) -> None:
    for number in range(2):
        await supersede(wiki, page_id, number)
    await archive_page(wiki.database, wiki.scope, page_id)
    await retain_texts(wiki, "page entity Ana\nShe likes figs.")
    await compile_all(wiki)
    assert (await wiki.page(page_id))["status"] == "active"
    assert [status for _, status, _ in await trajectories(wiki)] == ["active"]


REPLACED = """query ($id: ID!) { node(id: $id) { ... on WikiPage {
    supersedes { slug } supersededBy { slug } } } }"""


async def test_a_page_lists_the_pages_that_it_supersedes_and_is_superseded_by(wiki: Wiki, page_id: Any) -> None:
    async def replaced(id: Any) -> tuple[list[str], list[str]]:
        answer = await make_engine().execute(REPLACED, {"id": str(id)}, None, Context(wiki.database, wiki.scope))
        found = orjson.loads(answer.body)["data"]["node"]
        return tuple([page["slug"] for page in found[name]] for name in ("supersedes", "supersededBy"))

    newer, other = [
        (await create_page(wiki.database, wiki.scope, PageDraft("entity", title, body="So."))).page_id
        for title in ("Decision two", "Other")
    ]
    await link_pages(wiki.database, wiki.scope, newer, page_id, reason="supersedes")
    await link_pages(wiki.database, wiki.scope, other, page_id, reason="manual")
    await merge_pages(wiki.database, wiki.scope, other, newer)
    assert await replaced(newer) == (["ana", "other-merged"], [])
    assert await replaced(page_id) == ([], ["decision-two"])
    assert await replaced(other) == ([], ["decision-two"])


async def test_the_benchmark_counts_the_claim_sources_of_a_trajectory(wiki: Wiki, page_id: Any, dsn: str) -> None:
    """The benchmark of whole wikis requires sources of sections, and of the claims that a trajectory lists."""
    await wiki.add_source()
    for number in range(2):
        await supersede(wiki, page_id, number, overridden_by=SourceRef("document", "doc-1"))
    found = await read_contents(dsn, wiki.scope)
    assert (found.figures["sections"], found.figures["sourced_claims"]) == (1, 2)
    assert found.faults == []
    await supersede(wiki, page_id, 2)
    assert "1 superseded claims have no source" in (await read_contents(dsn, wiki.scope)).faults
