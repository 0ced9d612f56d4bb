"""Writes that wait for a reviewer change nothing before they are accepted, and can be declined or expire."""

import asyncio
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest

from db.connection import Connection
from db.one_transaction import OneTransaction
from db.scope import Actor, ActorKind, Role, Scope, Terms
from resolvers.auth.wiki_settings import WikiSettings, update_wiki_settings
from resolvers.errors import BadInput, Conflict, Forbidden, NotFound
from resolvers.knowledge.knowledge import TopicEntry, write_knowledge
from resolvers.model.drafts import PageDraft, SectionDraft
from resolvers.model.lookup import PageAddress
from resolvers.pages.edits import append_to_page, edit_page
from resolvers.pages.history import restore_state
from resolvers.pages.lifecycle import archive_page, create_page, update_page
from resolvers.pages.merging import merge_pages
from resolvers.pages.sections import patch_section
from resolvers.pages.stubs import write_stub
from resolvers.pages.transferring import transfer_page
from resolvers.proposals.amending import Amendment
from resolvers.proposals.gate import OPEN_MAX, Policy, PolicyRule, ReviewRequired, WriterRole
from resolvers.proposals.proposals import (
    Decision,
    accept_proposal,
    decide_proposals,
    decline_proposal,
    expire_proposals,
    propose_change,
    withdraw_proposal,
)
from tests.wiki import Wiki

BODY = "Ada keeps the harbour.\n\n## Tides\n\nLow at six.\n\n## Boats\n\nThree of them."
REVIEW = PolicyRule(WriterRole.MEMBER, Policy.REVIEW)
CLOSED = PolicyRule(WriterRole.MEMBER, Policy.CLOSED)


async def set_policy(wiki: Wiki, *rules: PolicyRule) -> None:
    await update_wiki_settings(wiki.database, wiki.scope, WikiSettings(write_policy=rules))


@pytest.fixture
async def page_id(wiki: Wiki) -> UUID:
    page = await create_page(wiki.database, wiki.scope, PageDraft("entity", "Harbour", body=BODY))
    await set_policy(wiki, REVIEW)
    return page.page_id


@pytest.fixture
def ada(wiki: Wiki) -> Scope:
    """A member of the wiki whose writes are reviewed."""
    return replace(wiki.with_role(Role.MEMBER).scope, actor=Actor(ActorKind.AGENT, "ada"))


async def proposal_id_of(write: object) -> UUID:
    with pytest.raises(ReviewRequired) as caught:
        await write  # type: ignore[misc]
    assert caught.value.proposal_id is not None
    return caught.value.proposal_id


async def propose_edit(wiki: Wiki, ada: Scope, page_id: UUID, old: str, new: str) -> UUID:
    return await proposal_id_of(edit_page(wiki.database, ada, PageAddress(page_id), old_text=old, new_text=new))


async def body(wiki: Wiki, page_id: UUID) -> str:
    return str((await wiki.page(page_id))["body_md"])


async def test_an_edit_under_review_changes_nothing_until_it_is_accepted(wiki: Wiki, ada: Scope, page_id: UUID) -> None:
    proposal_id = await propose_edit(wiki, ada, page_id, "Low at six.", "Low at seven.")
    assert await body(wiki, page_id) == BODY
    assert (await wiki.actions())[-2:] == ["wiki.settings_updated", "proposal.opened"]
    done = await accept_proposal(wiki.database, wiki.scope, proposal_id, reason="Seen at the pier.")
    assert (done.page_id, done.version) == (page_id, 2)
    assert "Low at seven." in await body(wiki, page_id)
    revision = (await wiki.rows("revisions", "version"))[-1]
    row = await wiki.row("proposals", id=proposal_id)
    assert (revision["author_id"], row["decider_id"], row["status"]) == ("ada", wiki.scope.actor.id, "accepted")
    assert (row["accepted_version"], row["reason"]) == (2, "Seen at the pier.")
    assert (await wiki.actions())[-2:] == ["proposal.accepted", "page.edited"]


async def test_a_proposed_page_does_not_exist_until_it_is_accepted(wiki: Wiki, ada: Scope, page_id: UUID) -> None:
    draft = PageDraft("entity", "Lighthouse", body="It blinks.", edit_summary="Seen at night")
    proposal_id = await proposal_id_of(create_page(wiki.database, ada, draft))
    assert [page["title"] for page in await wiki.rows("pages")] == ["Harbour"]
    row = await wiki.row("proposals", id=proposal_id)
    assert (row["page_id"], row["title"], row["proposed_body"], row["why"]) == (
        None, "Lighthouse", "It blinks.", "Seen at night",
    )  # fmt: skip
    done = await accept_proposal(wiki.database, wiki.scope, proposal_id, Amendment(body="It blinks twice."))
    assert done.page_id is not None
    page = await wiki.page(done.page_id)
    assert (page["title"], page["body_md"], page["version"]) == ("Lighthouse", "It blinks twice.", 1)


async def test_accepting_an_edit_keeps_later_changes_of_other_sections(wiki: Wiki, ada: Scope, page_id: UUID) -> None:
    proposal_id = await propose_edit(wiki, ada, page_id, "Low at six.", "Low at seven.")
    await patch_section(wiki.database, wiki.scope, page_id, section_slug="boats", body="Four of them.")
    await accept_proposal(wiki.database, wiki.scope, proposal_id)
    assert await body(wiki, page_id) == BODY.replace("six", "seven").replace("Three", "Four")


async def test_accepting_a_restoration_of_a_changed_page_restores_all_fields(
    wiki: Wiki, ada: Scope, page_id: UUID
) -> None:
    changed = {"title": "Port", "summary": "New.", "tags": ["new"], "metadata": {"sensitivity": "secret"}}
    await update_page(wiki.database, wiki.scope, page_id, body=BODY.replace("Ada", "Bo"), **changed)
    proposal_id = await proposal_id_of(restore_state(wiki.database, ada, page_id, 1))
    await patch_section(wiki.database, wiki.scope, page_id, section_slug="boats", body="Four of them.")
    await accept_proposal(wiki.database, wiki.scope, proposal_id)
    page = await wiki.page(page_id)
    assert (page["title"], page["summary"], page["tags"]) == ("Harbour", None, [])
    assert (page["metadata"], page["body_md"]) == ({"sensitivity": "secret"}, BODY.replace("Three", "Four"))
    assert (await wiki.rows("revisions", "version"))[-1]["edit_summary"] == "Restored to version 1"


async def test_a_section_changed_meanwhile_is_a_conflict_on_acceptance(wiki: Wiki, ada: Scope, page_id: UUID) -> None:
    proposal_id = await propose_edit(wiki, ada, page_id, "Low at six.", "Low at seven.")
    await patch_section(wiki.database, wiki.scope, page_id, section_slug="tides", body="Low at eight.")
    with pytest.raises(Conflict, match="tides"):
        await accept_proposal(wiki.database, wiki.scope, proposal_id)
    assert (await wiki.row("proposals", id=proposal_id))["status"] == "open"
    assert "Low at eight." in await body(wiki, page_id)


async def test_accepting_an_archive_of_a_changed_page_is_a_conflict(wiki: Wiki, ada: Scope, page_id: UUID) -> None:
    proposal_id = await proposal_id_of(archive_page(wiki.database, ada, page_id))
    await patch_section(wiki.database, wiki.scope, page_id, section_slug="tides", body="Low at eight.")
    with pytest.raises(Conflict):
        await accept_proposal(wiki.database, wiki.scope, proposal_id)
    assert (await wiki.page(page_id))["status"] == "active"


@pytest.mark.parametrize("is_author", [True, False])
async def test_a_merge_is_accepted_while_only_its_author_changes_the_page(
    wiki: Wiki, ada: Scope, page_id: UUID, is_author: bool
) -> None:
    other = await create_page(wiki.database, wiki.scope, PageDraft("entity", "Port", body="Small."))
    merging = await proposal_id_of(merge_pages(wiki.database, ada, other.page_id, page_id))
    if is_author:
        adding = await proposal_id_of(update_page(wiki.database, ada, page_id, summary="A harbour."))
        await accept_proposal(wiki.database, wiki.scope, adding)
        await accept_proposal(wiki.database, wiki.scope, merging)
    else:
        await update_page(wiki.database, wiki.scope, page_id, summary="A harbour.")
        with pytest.raises(Conflict):
            await accept_proposal(wiki.database, wiki.scope, merging)
    assert (await wiki.page(other.page_id))["status"] == ("archived" if is_author else "active")


async def test_pages_are_merged_when_the_proposal_is_accepted(wiki: Wiki, ada: Scope, page_id: UUID) -> None:
    other = await create_page(wiki.database, wiki.scope, PageDraft("entity", "Port", body="Ships."))
    proposal_id = await proposal_id_of(merge_pages(wiki.database, ada, other.page_id, page_id))
    assert (await wiki.page(other.page_id))["status"] == "active"
    await accept_proposal(wiki.database, wiki.scope, proposal_id)
    assert (await wiki.page(other.page_id))["status"] == "archived"
    assert "Ships." in await body(wiki, page_id)


async def test_an_accepted_transfer_stores_the_version_in_the_other_wiki(wiki: Wiki, ada: Scope, page_id: UUID) -> None:
    await set_policy(wiki, PolicyRule(WriterRole.SERVICE, Policy.REVIEW))
    other = await wiki.neighbour()
    transfer = transfer_page(wiki.database, replace(ada, role=Role.SERVICE), page_id, str(other.scope.owner_id))
    done = await accept_proposal(wiki.database, wiki.scope, await proposal_id_of(transfer))
    row = await other.row("proposals")
    assert (row["page_id"], row["accepted_version"], row["status"]) == (done.page_id, done.version, "accepted")


async def test_proposing_the_same_change_twice_returns_the_open_proposal(wiki: Wiki, ada: Scope, page_id: UUID) -> None:
    first = await propose_edit(wiki, ada, page_id, "six", "seven")
    assert await propose_edit(wiki, ada, page_id, "six", "seven") == first
    await withdraw_proposal(wiki.database, ada, first)
    assert await propose_edit(wiki, ada, page_id, "six", "seven") != first


async def test_a_change_can_be_proposed_under_an_open_policy(wiki: Wiki, ada: Scope, page_id: UUID) -> None:
    await set_policy(wiki)
    terms = Terms("The almanac says so.", ("document:almanac",), "high")

    async def write(scope: Scope) -> object:
        return await update_page(wiki.database, scope, page_id, title="Old harbour")

    proposed = await propose_change(wiki.database, ada, terms, write)
    assert (await wiki.page(page_id))["title"] == "Harbour"
    row = await wiki.row("proposals", id=proposed.proposal_id)
    assert (row["why"], row["evidence"], row["significance"]) == (
        "The almanac says so.", ["document:almanac"], "high",
    )  # fmt: skip
    with pytest.raises(BadInput, match="would not change the page"):
        await propose_change(
            wiki.database, ada, terms, lambda scope: update_page(wiki.database, scope, page_id, title="Harbour")
        )


async def test_only_admins_of_the_wiki_accept_and_only_authors_withdraw(wiki: Wiki, ada: Scope, page_id: UUID) -> None:
    proposal_id = await propose_edit(wiki, ada, page_id, "six", "seven")
    with pytest.raises(Forbidden):
        await accept_proposal(wiki.database, ada, proposal_id)
    with pytest.raises(BadInput, match="Only its author"):
        await withdraw_proposal(wiki.database, wiki.scope, proposal_id)
    with pytest.raises(Forbidden):
        await accept_proposal(wiki.database, wiki.with_role(Role.READER).scope, proposal_id)
    with pytest.raises(NotFound):
        await accept_proposal(wiki.database, (await wiki.neighbour(Role.MEMBER)).scope, proposal_id)
    await decline_proposal(wiki.database, wiki.scope, proposal_id, "No.")
    with pytest.raises(Conflict):
        await accept_proposal(wiki.database, wiki.scope, proposal_id)


async def test_a_reviewed_caller_may_not_accept_their_own_proposal(wiki: Wiki, page_id: UUID) -> None:
    await set_policy(wiki, PolicyRule(WriterRole.ADMIN, Policy.REVIEW))
    proposal_id = await propose_edit(wiki, wiki.scope, page_id, "six", "seven")
    with pytest.raises(Forbidden):
        await accept_proposal(wiki.database, wiki.scope, proposal_id)
    other = replace(wiki.scope, actor=Actor(ActorKind.USER, "ben"))
    await accept_proposal(wiki.database, other, proposal_id)
    assert "seven" in await body(wiki, page_id)


async def test_only_one_of_many_concurrent_acceptances_succeeds(wiki: Wiki, ada: Scope, page_id: UUID) -> None:
    proposal_id = await proposal_id_of(append_to_page(wiki.database, ada, PageAddress(page_id), text="One line more."))
    accepting = (accept_proposal(wiki.database, wiki.scope, proposal_id) for _ in range(8))
    results = await asyncio.gather(*accepting, return_exceptions=True)
    assert sorted(type(result).__name__ for result in results) == [*["Conflict"] * 7, "Decided"]
    assert (await body(wiki, page_id)).count("One line more.") == 1
    assert (await wiki.page(page_id))["version"] == 2


async def test_a_failed_acceptance_leaves_the_proposal_open(
    wiki: Wiki, ada: Scope, page_id: UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    proposal_id = await propose_edit(wiki, ada, page_id, "six", "seven")

    def broken(*_: object) -> object:
        raise RuntimeError("the power is gone")

    with monkeypatch.context() as patch:
        patch.setattr("resolvers.proposals.proposals.written_version", broken)
        with pytest.raises(RuntimeError):
            await accept_proposal(wiki.database, wiki.scope, proposal_id)
    assert await body(wiki, page_id) == BODY
    assert (await wiki.row("proposals", id=proposal_id))["status"] == "open"
    await accept_proposal(wiki.database, wiki.scope, proposal_id)
    assert "seven" in await body(wiki, page_id)


async def test_a_rule_for_a_type_overrides_the_general_rule(wiki: Wiki, ada: Scope, page_id: UUID) -> None:
    await set_policy(
        wiki,
        REVIEW,
        PolicyRule(WriterRole.MEMBER, Policy.OPEN, "topic"),
        PolicyRule(WriterRole.MEMBER, Policy.CLOSED, "decision"),
    )
    await create_page(wiki.database, ada, PageDraft("topic", "Tides"))
    await proposal_id_of(create_page(wiki.database, ada, PageDraft("entity", "Pier")))
    with pytest.raises(Forbidden):
        await create_page(wiki.database, ada, PageDraft("decision", "Dredge"))


async def test_expired_proposals_are_closed_and_logged(wiki: Wiki, ada: Scope, page_id: UUID) -> None:
    proposal_id = await propose_edit(wiki, ada, page_id, "six", "seven")
    await expire_proposals(wiki.database)
    assert (await wiki.row("proposals", id=proposal_id))["status"] == "open"
    await wiki.connection.execute("UPDATE proposals SET expires_at = now() - interval '1 s' WHERE id = $1", proposal_id)
    with pytest.raises(Conflict):
        await accept_proposal(wiki.database, wiki.scope, proposal_id)
    assert await expire_proposals(wiki.database) == 1
    assert (await wiki.row("proposals", id=proposal_id))["status"] == "expired"
    assert (await wiki.actions())[-1] == "proposal.expired"


async def test_a_batch_decides_each_proposal_separately(wiki: Wiki, ada: Scope, page_id: UUID) -> None:
    first = await propose_edit(wiki, ada, page_id, "six", "seven")
    second = await propose_edit(wiki, ada, page_id, "six", "eight")
    outcomes = await decide_proposals(wiki.database, wiki.scope, [first, second], Decision.ACCEPT)
    assert [outcome.error is None for outcome in outcomes] == [True, False]
    assert "seven" in await body(wiki, page_id)


async def test_open_proposals_per_author_are_limited(
    wiki: Wiki, ada: Scope, page_id: UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert OPEN_MAX == 1000
    monkeypatch.setattr("resolvers.proposals.operations.OPEN_MAX", 1)
    await propose_edit(wiki, ada, page_id, "six", "seven")
    with pytest.raises(Exception, match="Withdraw some"):
        await edit_page(wiki.database, ada, PageAddress(page_id), old_text="six", new_text="eight")


async def test_an_operation_of_several_writes_is_proposed_as_a_whole(wiki: Wiki, ada: Scope, page_id: UUID) -> None:
    await wiki.add_source("document", "chart", "Sand at the mole.")
    draft = PageDraft("entity", "Mole", sections=[SectionDraft("It is old.", heading="Overview")])
    proposal_id = await proposal_id_of(write_stub(wiki.database, ada, draft, "document/chart"))
    assert (await wiki.row("proposals", id=proposal_id))["operation"] == "write_stub"
    done = await accept_proposal(wiki.database, wiki.scope, proposal_id)
    (cited,) = await wiki.rows("section_sources")
    assert cited["page_id"] == done.page_id
    entry = TopicEntry("claude_models", "Three of them.", ["models"])
    knowledge_id = await proposal_id_of(write_knowledge(wiki.database, ada, entry))
    await accept_proposal(wiki.database, wiki.scope, knowledge_id)
    assert "claude_models" in [page["title"] for page in await wiki.rows("pages")]


@pytest.mark.parametrize("is_committed", [True, False])
async def test_an_acceptance_is_committed_only_with_its_transaction(
    wiki: Wiki, ada: Scope, page_id: UUID, is_committed: bool
) -> None:
    """The same holds under an Idempotency-Key, whose response is committed together with the write."""
    proposal_id = await propose_edit(wiki, ada, page_id, "six", "seven")

    async def nothing(_: Connection) -> None: ...

    async with OneTransaction(wiki.database, nothing) as whole:
        await accept_proposal(whole, wiki.scope, proposal_id)
        assert await body(wiki, page_id) == BODY
        if is_committed:
            await whole.commit()
    assert ("seven" in await body(wiki, page_id)) == is_committed
    status = (await wiki.row("proposals", id=proposal_id))["status"]
    assert status == ("accepted" if is_committed else "open")


async def test_accepting_knowledge_keeps_what_others_have_written_of_the_topic_since(
    wiki: Wiki, ada: Scope, page_id: UUID
) -> None:
    here, topic = (wiki.database, wiki.scope), "Deploys"
    new = TopicEntry(topic, "On Mondays.\n\n## Who\n\nAda.")
    created_id = await proposal_id_of(write_knowledge(wiki.database, ada, new))
    saved = await write_knowledge(*here, TopicEntry(topic, "## How\n\nBy hand."))
    changed_id = await proposal_id_of(
        write_knowledge(wiki.database, ada, TopicEntry(topic, "## How\n\nBy hand.\n\n## Who\n\nAda."))
    )
    await write_knowledge(*here, TopicEntry(topic, "## How\n\nBy a script."))
    await accept_proposal(*here, changed_id)
    assert await body(wiki, saved.page_id) == "## How\n\nBy a script.\n\n## Who\n\nAda."
    await accept_proposal(*here, created_id)
    assert await body(wiki, saved.page_id) == "On Mondays.\n\n## How\n\nBy a script.\n\n## Who\n\nAda."


async def test_accepting_an_update_keeps_fields_that_others_have_changed_since(
    wiki: Wiki, ada: Scope, page_id: UUID
) -> None:
    here, text = (wiki.database, wiki.scope, page_id), BODY.replace("six", "seven")
    same: dict[str, Any] = {"title": "Harbour", "summary": None, "tags": [], "metadata": {}}
    proposal_id = await proposal_id_of(update_page(wiki.database, ada, page_id, body=text, **{**same, "tags": ["sea"]}))
    given = {"title": "The harbour", "summary": "For boats.", "metadata": {"depth": 4}}
    await update_page(*here, tags=["port"], **given)
    await accept_proposal(wiki.database, wiki.scope, proposal_id)
    page = await wiki.page(page_id)
    assert ({name: page[name] for name in given}, page["body_md"]) == (given, text)
    assert page["tags"] == ["port", "sea"]
