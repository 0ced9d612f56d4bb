"""Recording decisions: as pages that are never edited, or only in the log."""

import asyncio
from dataclasses import replace
from uuid import UUID

import pytest

from db.scope import Actor, ActorKind, Role
from resolvers.auth.wiki_settings import WikiSettings, update_wiki_settings
from resolvers.errors import BadInput, Forbidden, NotFound
from resolvers.model.drafts import PageDraft
from resolvers.model.lookup import PageAddress
from resolvers.pages.claims.decisions import (
    DecisionDraft,
    QuestionDraft,
    ask_decision,
    record_decision,
    withdraw_question,
)
from resolvers.pages.edits import append_to_page, edit_page
from resolvers.pages.lifecycle import create_page, update_page
from resolvers.pages.merging import merge_pages
from resolvers.pages.renaming import rename_page
from resolvers.pages.sections import patch_section
from resolvers.proposals.gate import Policy, PolicyRule, ReviewRequired, WriterRole
from resolvers.proposals.proposals import accept_proposal
from tests.wiki import Wiki

QUESTION = QuestionDraft("Which database?", "Writes are slow.", ("Postgres", "MySQL"), "high")


async def recorded(wiki: Wiki, draft: DecisionDraft) -> UUID:
    done = await record_decision(wiki.database, wiki.scope, draft)
    assert done.page_id is not None
    return done.page_id


async def test_a_decision_page_has_context_rationale_consequences_and_options(wiki: Wiki) -> None:
    page_id = await recorded(wiki, DecisionDraft("MySQL it is.", "Move in May.", QUESTION))
    page = await wiki.page(page_id)
    assert (page["type"], page["title"], page["summary"]) == ("decision", "Which database?", "MySQL it is.")
    assert page["body_md"] == (
        "## Context\n\nWhich database?\n\n## Decision\n\nMySQL it is.\n\n## Rationale\n\nWrites are slow.\n\n"
        "## Consequences\n\nMove in May.\n\n## Options considered\n\n- Postgres\n- MySQL"
    )


async def test_a_question_stays_open_until_decided_and_is_decided_once(wiki: Wiki) -> None:
    question_id = await ask_decision(wiki.database, wiki.scope, QUESTION)
    assert (await wiki.row("decision_questions"))["status"] == "open"
    page_id = await recorded(wiki, DecisionDraft("MySQL.", question_id=question_id))
    row = await wiki.row("decision_questions")
    assert (row["status"], row["decision"], row["page_id"]) == ("decided", "MySQL.", page_id)
    with pytest.raises(BadInput, match="decided already"):
        await record_decision(wiki.database, wiki.scope, DecisionDraft("Postgres.", question_id=question_id))
    assert len(await wiki.rows("pages")) == 1
    with pytest.raises(NotFound):
        await record_decision(wiki.database, wiki.scope, DecisionDraft("x", question_id=UUID(int=1)))


async def test_concurrent_decisions_of_one_question_succeed_once(wiki: Wiki) -> None:
    question_id = await ask_decision(wiki.database, wiki.scope, QUESTION)
    draft = DecisionDraft("MySQL.", question_id=question_id)
    deciding = (record_decision(wiki.database, wiki.scope, draft) for _ in range(6))
    results = await asyncio.gather(*deciding, return_exceptions=True)
    assert sum(isinstance(result, BadInput) for result in results) == 5
    assert len(await wiki.rows("pages")) == 1


async def test_a_decision_below_the_threshold_is_logged_without_a_page(wiki: Wiki) -> None:
    small = DecisionDraft("Blue.", question=replace(QUESTION, significance="low"))
    assert (await record_decision(wiki.database, wiki.scope, small)).page_id is None
    assert (await wiki.rows("pages"), (await wiki.actions())[-1]) == ([], "decision.logged")
    question_id = await ask_decision(wiki.database, wiki.scope, replace(QUESTION, significance="low"))
    await record_decision(wiki.database, wiki.scope, DecisionDraft("Blue.", question_id=question_id))
    assert (await wiki.row("decision_questions"))["status"] == "decided"
    await update_wiki_settings(wiki.database, wiki.scope, WikiSettings(decision_threshold="low"))
    await recorded(wiki, small)


async def test_a_decision_is_superseded_by_a_later_one_and_cannot_be_edited(wiki: Wiki) -> None:
    first = await recorded(wiki, DecisionDraft("MySQL.", question=QUESTION))
    low = replace(QUESTION, significance="low")
    second = await recorded(wiki, DecisionDraft("Postgres.", question=low, supersedes_id=first))
    assert (await wiki.references())[(second, first)] == {"supersedes"}
    other = (await create_page(wiki.database, wiki.scope, PageDraft("topic", "Other", body="Text."))).page_id
    edits = [
        edit_page(wiki.database, wiki.scope, PageAddress(first), old_text="MySQL.", new_text="x"),
        append_to_page(wiki.database, wiki.scope, PageAddress(first), text="And."),
        patch_section(wiki.database, wiki.scope, first, section_slug="decision", body="x"),
        update_page(wiki.database, wiki.scope, first, body="x"),
        update_page(wiki.database, wiki.scope, first, metadata={}),
    ]
    for edit in edits:
        with pytest.raises(BadInput, match="is not edited"):
            await edit
    assert (await wiki.page(first))["version"] == 1
    with pytest.raises(BadInput, match="not a decision"):
        await record_decision(wiki.database, wiki.scope, DecisionDraft("x", question=QUESTION, supersedes_id=other))
    metadata = (await wiki.page(first))["metadata"]
    await update_page(wiki.database, wiki.scope, first, metadata=metadata | {"sensitivity": "secret"})
    with pytest.raises(BadInput):
        await merge_pages(wiki.database, wiki.scope, second, first)
    assert len(await wiki.rows("pages", status="active")) == 3


async def test_pages_that_a_decision_links_to_may_be_renamed(wiki: Wiki) -> None:
    database = (await create_page(wiki.database, wiki.scope, PageDraft("entity", "MySQL", body="One."))).page_id
    page_id = await recorded(wiki, DecisionDraft("[[MySQL]] it is.", question=QUESTION))
    await rename_page(wiki.database, wiki.scope, database, title="MariaDB", slug="mariadb")
    assert "mariadb" in (await wiki.page(page_id))["body_md"].lower()


async def test_under_review_a_decision_is_proposed_and_accepted(wiki: Wiki) -> None:
    rule = PolicyRule(WriterRole.MEMBER, Policy.REVIEW)
    await update_wiki_settings(wiki.database, wiki.scope, WikiSettings(write_policy=[rule]))
    agent = replace(wiki.with_role(Role.MEMBER).scope, actor=Actor(ActorKind.AGENT, "ada"))
    question_id = await ask_decision(wiki.database, agent, QUESTION)
    with pytest.raises(ReviewRequired) as review:
        await record_decision(wiki.database, agent, DecisionDraft("MySQL.", question_id=question_id))
    assert (await wiki.row("decision_questions"))["status"] == "open"
    assert review.value.proposal_id is not None
    await accept_proposal(wiki.database, wiki.scope, review.value.proposal_id)
    assert (await wiki.row("decision_questions"))["status"] == "decided"
    assert (await wiki.row("pages"))["type"] == "decision"


@pytest.mark.parametrize(
    ("field", "draft"),
    [
        ("question", DecisionDraft("x")),
        ("question", DecisionDraft("x", question=QUESTION, question_id=UUID(int=1))),
        ("decision", DecisionDraft(" ", question=QUESTION)),
        ("why", DecisionDraft("x", question=replace(QUESTION, why=""))),
        ("significance", DecisionDraft("x", question=replace(QUESTION, significance="huge"))),
        ("options", DecisionDraft("x", question=replace(QUESTION, options=("a",) * 21))),
    ],
)
async def test_a_decision_without_a_required_part_is_refused(wiki: Wiki, field: str, draft: DecisionDraft) -> None:
    with pytest.raises(BadInput) as caught:
        await record_decision(wiki.database, wiki.scope, draft)
    assert (caught.value.field, await wiki.rows("pages")) == (field, [])


async def test_a_withdrawn_question_cannot_be_withdrawn_again_or_decided(wiki: Wiki) -> None:
    question_id = await ask_decision(wiki.database, wiki.scope, QUESTION)
    with pytest.raises(Forbidden):
        await withdraw_question(wiki.database, replace(wiki.scope, role=Role.READER), question_id)
    await withdraw_question(wiki.database, wiki.scope, question_id, " The team is gone. ")
    row = await wiki.row("decision_questions")
    assert (row["status"], row["reason"], row["decision"]) == ("withdrawn", "The team is gone.", None)
    assert row["decided_at"] is not None
    assert (await wiki.actions())[-1] == "decision.withdrawn"
    with pytest.raises(BadInput, match="does not wait"):
        await withdraw_question(wiki.database, wiki.scope, question_id)
    with pytest.raises(BadInput, match="withdrawn"):
        await record_decision(wiki.database, wiki.scope, DecisionDraft("Postgres.", question_id=question_id))
    assert await wiki.rows("pages") == []
    with pytest.raises(NotFound):
        await withdraw_question(wiki.database, wiki.scope, UUID(int=1))


async def test_concurrent_decisions_and_withdrawals_of_a_question_succeed_once(wiki: Wiki) -> None:
    question_id = await ask_decision(wiki.database, wiki.scope, QUESTION)
    draft = DecisionDraft("MySQL.", question_id=question_id)
    ending = [withdraw_question(wiki.database, wiki.scope, question_id) for _ in range(3)]
    deciding = [record_decision(wiki.database, wiki.scope, draft) for _ in range(3)]
    results = await asyncio.gather(*ending, *deciding, return_exceptions=True)
    assert sum(isinstance(result, BadInput) for result in results) == 5
    is_decided = (await wiki.row("decision_questions"))["status"] == "decided"
    assert len(await wiki.rows("pages")) == is_decided
