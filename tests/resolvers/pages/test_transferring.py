"""Transferring a page to another wiki moves everything that belongs to the page."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from content.markdown.links import find_links, readdress_links
from db.scope import Role, Scope, Terms
from db.tables import metadata
from resolvers.auth.owners import Grant, grant
from resolvers.errors import BadInput, CairnError, Conflict, Forbidden, NotFound, SlugTaken
from resolvers.links.links import link_pages
from resolvers.links.targets import PrivateLink
from resolvers.model.drafts import PageDraft
from resolvers.model.lookup import PageAddress
from resolvers.pages.aliases import add_alias
from resolvers.pages.claims.claims import SourceRef, supersede_claim
from resolvers.pages.claims.contradictions import Claimed, record_contradiction
from resolvers.pages.hierarchy import set_parent
from resolvers.pages.lifecycle import create_page, update_page
from resolvers.pages.merging import merge_pages
from resolvers.pages.renaming import rename_page
from resolvers.pages.transferring import AliasTaken, SourceTaken, transfer_page
from resolvers.proposals.gate import Policy, PolicyRule, ReviewRequired, WriterRole, checked_rules
from resolvers.proposals.proposals import accept_proposal, propose_change
from resolvers.sources.mentions import record_mention
from resolvers.sources.sources import SourceForgotten, cite_source, forget_source
from tests.wiki import Wiki, check_derived_rows

STAYING = {
    "activity": "the log records where the page went",
    "page_positions": "clients that follow the wiki learn that the page is gone",
    "sources": "evidence stays in the wiki to which it was given",
    "search_passages": "the words of the evidence",
}


async def create(wiki: Wiki, title: str, body: str = "", type: str = "topic", **more: Any) -> UUID:
    return (await create_page(wiki.database, wiki.scope, PageDraft(type, title, body=body, **more))).page_id


async def transfer(wiki: Wiki, page_id: UUID, to: Wiki, **more: Any) -> UUID:
    return (await transfer_page(wiki.database, wiki.scope, page_id, str(to.scope.owner_id), **more)).page_id


@pytest.fixture
async def team(wiki: Wiki) -> Wiki:
    return await space(wiki, "team")


@pytest.fixture
async def mine(wiki: Wiki) -> Wiki:
    await wiki.connection.execute("UPDATE owners SET slug = 'mine', kind = 'shared' WHERE id = $1", wiki.scope.owner_id)
    return wiki


async def space(wiki: Wiki, slug: str, kind: str = "shared") -> Wiki:
    other = await wiki.neighbour()
    await wiki.connection.execute(
        "UPDATE owners SET slug = $2, kind = $3 WHERE id = $1", other.scope.owner_id, slug, kind
    )
    return other


async def contents(wiki: Wiki) -> dict[str, list[str]]:
    """Return the rows of the tenant in each table of wikis."""
    return {
        name: sorted(
            row["row"]
            for row in await wiki.connection.fetch(
                f"SELECT CAST(t AS text) AS row FROM {name} AS t WHERE tenant_id = $1", wiki.scope.tenant_id
            )
        )
        for name, table in metadata.tables.items()
        if "tenant_id" in table.c and "owner_id" in table.c
    }


async def full_page(wiki: Wiki) -> UUID:
    """Create a page with rows in every table that refers to pages."""
    page_id = await create(
        wiki, "Zanzibarium", "Zanzibarium began.\n\n## Food\n\nHot.", aliases=["Zanzibaria"], tags=["far"],
        metadata={"rank": 1}, former_slugs=["zanzibarium-old"], summary="Zanzibarium.",
    )  # fmt: skip
    first, second = await wiki.add_source(ref="one", content="It was cold."), await wiki.add_source(ref="two")
    for source in (first, second):
        await cite_source(wiki.database, wiki.scope, page_id=page_id, section_slug="food", source_id=source)
    await supersede_claim(
        wiki.database, wiki.scope, PageAddress(page_id=page_id), fact="Hot.", replacement="Cold.",
        overridden_by=SourceRef("document", "one"),
    )  # fmt: skip
    await supersede_claim(
        wiki.database, wiki.scope, PageAddress(page_id=page_id), fact="Cold.", replacement="Mild.",
        stated_by=SourceRef("document", "one"),
    )  # fmt: skip
    await record_contradiction(
        wiki.database, wiki.scope, PageAddress(page_id=page_id),
        Claimed("It was hot.", on=datetime(2026, 1, 1, tzinfo=UTC)),
        Claimed("It was cold.", source=SourceRef("document", "one")),
    )  # fmt: skip
    mention = await record_mention(wiki.database, wiki.scope, name="Zanzibaria", source_id=first)
    sql = "UPDATE mentions SET promoted_page_id = $1, status = 'promoted' WHERE id = $2"
    await wiki.connection.execute(sql, page_id, mention.mention_id)
    return page_id


async def test_a_transfer_moves_the_history_names_and_evidence_of_a_page(mine: Wiki, team: Wiki) -> None:
    page_id = await full_page(mine)
    before, revisions = await mine.page(page_id), await mine.rows("revisions", "version", page_id=page_id)
    moved = await transfer(mine, page_id, team)
    page = await team.page(moved)
    for field in ("type", "slug", "title", "summary", "body_md", "tags", "metadata", "status", "created_at"):
        assert page[field] == before[field], field
    history = await team.rows("revisions", "version", page_id=moved)
    assert [row["id"] for row in history[:-1]] == [row["id"] for row in revisions]
    assert (history[-1]["version"], history[-1]["edit_summary"]) == (before["version"] + 1, "Transferred from mine")
    assert {row["alias"] for row in await team.rows("aliases", page_id=moved)} == {"zanzibarium", "zanzibaria"}
    assert [row["slug"] for row in await team.rows("old_slugs", "slug")] == ["zanzibarium-old"]
    copies = {row["id"]: row["ref"] for row in await team.rows("sources")}
    cited = await team.rows("section_sources", page_id=moved)
    assert {copies[row["source_id"]] for row in cited} == set(copies.values()) == {"one", "two"}
    claims = await team.rows("superseded_claims", page_id=moved)
    assert {row["fact"] for row in claims} == {"Hot.", "Cold."}
    assert {copies.get(row["overridden_by_id"] or row["stated_by_id"]) for row in claims} == {"one"}
    (contradiction,) = await team.rows("contradictions", page_id=moved)
    assert copies[contradiction["newer_source_id"]] == "one"
    trajectory = await team.row("pages", slug="zanzibarium-trajectory")
    assert trajectory["status"] == "active"
    for wiki in (mine, team):
        await check_derived_rows(wiki)


async def test_a_proposed_transfer_of_a_page_with_a_trajectory_is_of_the_page(mine: Wiki, team: Wiki) -> None:
    page_id = await create(mine, "Zanzibarium", "Hot.")
    for fact, replacement in (("Hot.", "Cold."), ("Cold.", "Mild.")):
        await supersede_claim(mine.database, mine.scope, PageAddress(page_id), fact=fact, replacement=replacement)

    async def proposed(scope: Scope) -> object:
        return await transfer_page(mine.database, scope, page_id, str(team.scope.owner_id))

    held = await propose_change(mine.database, mine.scope, Terms("It is theirs."), proposed)
    proposal = await mine.row("proposals", id=held.proposal_id)
    assert (proposal["page_id"], proposal["title"], proposal["base_version"]) == (page_id, "Zanzibarium", 3)


async def test_a_transferred_page_leaves_no_rows_in_the_old_wiki(mine: Wiki, team: Wiki) -> None:
    page_id = await full_page(mine)
    friend = await create(mine, "Friend", "See [[Zanzibarium]].")
    child, parent = await create(mine, "Child"), await create(mine, "Parent")
    await set_parent(mine.database, mine.scope, child, parent_id=page_id)
    await set_parent(mine.database, mine.scope, page_id, parent_id=parent)
    await link_pages(mine.database, mine.scope, friend, page_id, reason="manual")
    await link_pages(mine.database, mine.scope, page_id, friend, reason="manual")
    await transfer(mine, page_id, team)
    for name, table in metadata.tables.items():
        if "owner_id" not in table.c or "tenant_id" not in table.c or name in STAYING:
            continue
        sql = f"SELECT CAST(t AS text) AS row FROM {name} AS t WHERE tenant_id = $1 AND owner_id = $2"
        for row in await mine.connection.fetch(sql, mine.scope.tenant_id, mine.scope.owner_id):
            assert str(page_id) not in row["row"], name
    assert [row["slug"] for row in await mine.rows("pages", "slug")] == ["child", "friend", "parent"]
    assert (await mine.page(child))["parent_page_id"] is None
    assert [row["promoted_page_id"] for row in await mine.rows("mentions")] == [None]
    for wiki in (mine, team):
        await check_derived_rows(wiki)


async def test_links_to_and_from_a_transferred_page_name_the_other_wiki(mine: Wiki, team: Wiki) -> None:
    barton = await create(mine, "Barton Springs")
    page_id = await create(
        mine, "Austin", "[[Barton Springs]], [b](/wiki/topic/barton-springs#h), [[Austin]], [[Gone]]"
    )
    linking = await create(
        mine, "Linking", "[[Austin]] [[austin|x]] [y](wiki:austin) [z](/wiki/topic/austin#a) `[[austin]]`"
    )
    moved = await transfer(mine, page_id, team)
    assert (await mine.page(linking))["body_md"] == (
        "[[team:austin|Austin]] [[team:austin|x]] [y](wiki:team:austin) [z](wiki:team:austin#a) `[[austin]]`"
    )
    last = (await mine.rows("revisions", "version", page_id=linking))[-1]
    assert last["edit_summary"] == "Transferred link: Austin → team:austin"
    page = await team.page(moved)
    assert page["body_md"] == (
        "[[mine:barton-springs|Barton Springs]], [b](wiki:mine:barton-springs#h), [[Austin]], [[Gone]]"
    )
    assert (await team.targets(moved))["austin"] == moved
    assert (await mine.page(barton))["hubness_score"] == 0
    for wiki in (mine, team):
        await check_derived_rows(wiki)


async def test_a_transfer_tells_the_name_of_a_secret_page_to_no_open_page(mine: Wiki, team: Wiki) -> None:
    plan = await create(mine, "Plan", fields={"sensitivity": "secret"})
    texts = "[[Plan]] [p](/wiki/topic/plan#a)"
    open_page = await create(mine, "Open", texts)
    closed = await create(mine, "Closed", texts, fields={"sensitivity": "secret"})
    await rename_page(mine.database, mine.scope, plan, title="Layoffs", slug="layoffs")
    await transfer(mine, plan, team)
    for page_id, body, summary in (
        (open_page, "[[team:plan|Plan]] [p](wiki:team:plan#a)", "Transferred link → team"),
        (closed, "[[team:layoffs|Layoffs]] [p](wiki:team:layoffs#a)", "Transferred link: Layoffs → team:layoffs"),
    ):
        assert (await mine.page(page_id))["body_md"] == body
        assert (await mine.rows("revisions", "version", page_id=page_id))[-1]["edit_summary"] == summary
    assert [row["slug"] for row in await team.rows("old_slugs", "slug")] == ["plan"]  # to which the link leads


async def test_the_log_does_not_name_the_trajectory_of_a_transferred_secret_page(mine: Wiki, team: Wiki) -> None:
    page_id = await full_page(mine)
    await update_page(mine.database, mine.scope, page_id, fields={"sensitivity": "secret"})
    await transfer(mine, page_id, team)
    assert (await mine.row("activity", action="page.deleted"))["detail"] == {}


@given(st.text("[]()|:#\\`! abwiki/topc\n-", max_size=60), st.sampled_from(["team:new", "new"]))
def test_links_are_readdressed_whatever_text_surrounds_them(around: str, address: str) -> None:
    text = f"{around} [[Old name]] [t](/wiki/topic/old-name#h) {around}"
    changed = readdress_links(text, lambda link: address if link.slug == "old-name" else None)
    before, after = find_links(text), find_links(changed)
    assert len(before) == len(after)
    for old, new in zip(before, after, strict=True):
        wanted = (address.rpartition(":")[2], old.anchor, old.text) if old.slug == "old-name" else None
        if wanted and not old.text.endswith("\\"):
            assert (new.slug, new.anchor) == wanted[:2]
    assert readdress_links(text, lambda _: None) == text


async def test_transfers_that_would_link_a_shared_and_a_private_wiki_are_refused(mine: Wiki, wiki: Wiki) -> None:
    private = await space(wiki, "private", "user")
    alone = await create(private, "Alone", "[[Other]]")
    await create(private, "Other")
    linked = await create(mine, "Linked")
    await create(mine, "Linking", "[[Linked]]")
    before = await contents(mine)
    for source, page_id, target in ((private, alone, mine), (mine, linked, private)):
        with pytest.raises(PrivateLink):
            await transfer(source, page_id, target)
        assert await contents(mine) == before
    await update_page(private.database, private.scope, alone, body="[[Nobody]]")
    await transfer(private, alone, mine)


async def test_a_transfer_moves_a_former_slug_of_another_type(mine: Wiki, team: Wiki) -> None:
    topic, entity = await create(mine, "ATX", "Hot."), await create(mine, "Austin", type="entity")
    await merge_pages(mine.database, mine.scope, topic, entity)
    await transfer(mine, entity, team)
    (page,) = await team.rows("pages", title="Austin")
    assert await team.rows("old_slugs", "slug", type="topic", slug="atx", page_id=page["id"])


async def test_a_transfer_with_a_name_or_source_conflict_writes_nothing(mine: Wiki, team: Wiki) -> None:
    page_id = await create(mine, "Austin", "Hot.", former_slugs=["atx"], aliases=["Capital"])
    source = await mine.add_source(ref="r", content="Ours.")
    await cite_source(mine.database, mine.scope, page_id=page_id, section_slug="overview", source_id=source)
    await create(team, "Anything", slug="atx")
    await assert_refused(mine, page_id, team, SlugTaken, "atx")
    await team.connection.execute("DELETE FROM pages WHERE owner_id = $1", team.scope.owner_id)
    other = await create(team, "Else", type="entity", slug="elsewhere")
    await add_alias(team.database, team.scope, other, name="capital")
    await assert_refused(mine, page_id, team, AliasTaken, "capital")
    await team.connection.execute("DELETE FROM pages WHERE owner_id = $1", team.scope.owner_id)
    theirs = await team.add_source(ref="r", content="Theirs.")
    await assert_refused(mine, page_id, team, SourceTaken, "another text")
    await team.connection.execute("DELETE FROM sources WHERE id = $1", theirs)
    same = await team.add_source(ref="r", content="Ours.")
    await forget_source(team.database, team.scope, same)
    await assert_refused(mine, page_id, team, SourceForgotten, "forgotten")


async def assert_refused(
    source: Wiki, page_id: UUID, target: Wiki, error: type[CairnError], match: str, **more: Any
) -> None:
    before = await contents(source)
    with pytest.raises(error, match=match):
        await transfer(source, page_id, target, **more)
    assert await contents(source) == before


async def test_a_transfer_to_a_name_of_a_hidden_page_does_not_name_the_page(mine: Wiki, team: Wiki) -> None:
    """The caller has a wiki of its own, and may write in the other one up to the level internal."""
    await create(team, "Layoffs", aliases=["Plan B"], former_slugs=["plan"], fields={"sensitivity": "secret"})
    colleague = await team.colleague()
    own = Wiki(mine.database, replace(colleague.scope, owner_id=colleague.scope.owners[0]), mine.connection)
    await mine.connection.execute("UPDATE owners SET kind = 'shared' WHERE id = $1", own.scope.owner_id)
    for title, name in (("Plan", 'slug "plan"'), ("Plan B", 'name "plan b"')):
        with pytest.raises(NotFound, match=f"^The {name} is taken in the other wiki.$"):
            await transfer(own, await create(own, title), team)


async def test_a_transfer_reuses_equal_sources_and_keeps_version_chains(mine: Wiki, team: Wiki) -> None:
    page_id = await create(mine, "Austin", "Hot.")
    first, second = [await mine.add_source(ref="r", content=text) for text in ("One.", "Two.")]
    same = await mine.add_source(ref="same", content="Same.")
    for source in (first, second, same):
        await cite_source(mine.database, mine.scope, page_id=page_id, section_slug="overview", source_id=source)
    known = await team.add_source(ref="same", content="Same.")
    older = await team.add_source(ref="r", content="One.")
    moved = await transfer(mine, page_id, team)
    rows = {row["id"]: row for row in await team.rows("sources")}
    cited = {row["source_id"] for row in await team.rows("section_sources", page_id=moved)}
    assert {known, older} < cited
    assert len(rows) == len(cited) == 3
    (copy,) = cited - {known, older}
    assert (rows[copy]["version"], rows[copy]["supersedes_id"], rows[copy]["content"]) == (2, older, "Two.")
    await check_derived_rows(team)


async def test_source_versions_transferred_by_several_pages_form_one_chain(mine: Wiki, team: Wiki) -> None:
    newer, older = await create(mine, "Newer", "Hot."), await create(mine, "Older", "Cold.")
    versions = [await mine.add_source(ref="r", content=text) for text in ("One.", "Two.", "Three.")]
    for page_id, source in ((newer, versions[2]), (older, versions[0]), (older, versions[1])):
        await cite_source(mine.database, mine.scope, page_id=page_id, section_slug="overview", source_id=source)
    for page_id in (newer, older):
        await transfer(mine, page_id, team)
    first, second, third = await team.rows("sources", "version")
    assert [row["supersedes_id"] for row in (first, second, third)] == [None, first["id"], second["id"]]
    assert [row["content"] for row in (first, second, third)] == ["One.", "Two.", "Three."]
    await check_derived_rows(team)


async def test_a_transfer_requires_write_permission_in_both_wikis(mine: Wiki, team: Wiki) -> None:
    ada, page_id = mine.with_role(Role.MEMBER), await create(mine, "Austin")
    await assert_refused(ada, page_id, team, NotFound, "no space")
    own = {"owner_id": team.scope.owner_id, "grantee_id": mine.scope.owner_id}
    await grant(mine.database, mine.scope.tenant_id, **own, role=Grant.READER)
    await assert_refused(ada, page_id, team, Forbidden, "may read this wiki")
    theirs = await create(team, "Theirs")
    with pytest.raises(Forbidden):
        await transfer_page(ada.database, ada.scope, theirs, "mine")
    await grant(mine.database, mine.scope.tenant_id, **own, role=Grant.MEMBER)
    await transfer(ada, page_id, team)
    await assert_refused(mine, theirs, team, BadInput, "already")
    await assert_refused(mine, theirs, mine, Conflict, "version", expected_version=9)
    await assert_refused(mine, page_id, team, NotFound, "no such page")


async def set_policy(wiki: Wiki, policy: Policy) -> None:
    rules = checked_rules([PolicyRule(WriterRole.MEMBER, policy)])
    sql = "UPDATE owners SET write_policy = $1 WHERE id = $2"
    await wiki.connection.execute(sql, orjson.dumps(rules).decode(), wiki.scope.owner_id)


async def test_review_in_the_old_wiki_proposes_a_transfer_and_in_the_new_refuses(mine: Wiki, team: Wiki) -> None:
    ada, page_id = mine.with_role(Role.MEMBER), await create(mine, "Austin")
    own = {"owner_id": team.scope.owner_id, "grantee_id": mine.scope.owner_id}
    await grant(mine.database, mine.scope.tenant_id, **own, role=Grant.MEMBER)
    await set_policy(team, Policy.REVIEW)
    await assert_refused(ada, page_id, team, ReviewRequired, "reviewed in the wiki that the page would go to")
    await set_policy(team, Policy.CLOSED)
    await assert_refused(ada, page_id, team, Forbidden, "closed")
    await set_policy(team, Policy.OPEN)
    await set_policy(mine, Policy.REVIEW)
    with pytest.raises(ReviewRequired) as review:
        await transfer(ada, page_id, team)
    assert review.value.proposal_id is not None
    assert not await team.rows("pages")
    accepted = await accept_proposal(mine.database, mine.scope, review.value.proposal_id)
    assert accepted.page_id is not None
    page = await team.page(accepted.page_id)
    assert (page["slug"], page["version"], accepted.version) == ("austin", 2, 2)
    assert not await mine.rows("pages")
    (row,) = await team.rows("proposals")
    assert (row["status"], row["page_id"]) == ("accepted", page["id"])


async def test_concurrent_transfers_of_one_page_succeed_once(mine: Wiki, team: Wiki) -> None:
    other = await space(mine, "other")
    page_id, back = await create(mine, "Austin"), await create(team, "Dallas")
    results = await asyncio.gather(
        transfer(mine, page_id, team),
        transfer(mine, page_id, other),
        transfer(team, back, mine),
        transfer(mine, page_id, team),
        return_exceptions=True,
    )
    assert sum(isinstance(result, UUID) for result in results) == 2
    assert {type(result) for result in results if not isinstance(result, UUID)} == {NotFound}
    titles = [row["title"] for wiki in (mine, team, other) for row in await wiki.rows("pages")]
    assert sorted(titles) == ["Austin", "Dallas"]
    for wiki in (mine, team, other):
        await check_derived_rows(wiki)


async def test_a_transfer_is_recorded_in_the_activity_of_both_wikis(mine: Wiki, team: Wiki) -> None:
    page_id = await create(mine, "Austin")
    moved = await transfer(mine, page_id, team)
    (sent,), (received,) = [await wiki.rows("activity", action="page.transferred") for wiki in (mine, team)]
    places = {"fromOwner": "mine", "toOwner": "team"}
    assert (sent["page_id"], sent["detail"]) == (page_id, places | {"toPageId": str(moved), "version": 1, "texts": 0})
    assert (received["page_id"], received["detail"]) == (moved, places | {"fromPageId": str(page_id), "version": 2})
    assert [row["page_id"] for row in await mine.rows("page_positions", "position")] == [page_id], "it is gone there"
    assert [row["page_id"] for row in await team.rows("page_positions", "position")] == [moved]
