"""Clients make, read, accept and decline proposals."""

from dataclasses import replace
from typing import Any

import orjson
import pytest

from db.scope import Actor, ActorKind, Role
from resolvers.context import Context
from resolvers.model.drafts import PageDraft
from resolvers.pages.lifecycle import create_page
from schema.root import make_engine
from tests.schema.mutations.test_claims import Ask
from tests.wiki import Wiki

POLICY = """mutation ($rules: [WikiWriteRuleInput!]!) { done: updateWikiSettings(input: {writePolicy: $rules}) {
    changed userErrors { code field } owner { writePolicy { role pageType policy } } } }"""
EDIT = """mutation ($input: EditWikiPageInput!) { done: editWikiPage(input: $input) {
    changed userErrors { code message proposalId } page { id } } }"""
PROPOSE = """mutation ($input: ProposeWikiChangeInput!) { done: proposeWikiChange(input: $input) {
    created userErrors { code field message } conflict { message }
    proposal { id status why evidence significance operation title page { title } } } }"""
LISTED = """query ($status: WikiProposalStatus, $author: String) {
    wikiProposals(status: $status, authorId: $author, first: 5) { totalCount nodes {
        id status operation wordDiff diff conflicts isStale baseVersion authorId deciderId reason
        page { slug backlinks { totalCount } } } } }"""
ACCEPT = """mutation ($input: AcceptWikiProposalInput!) { done: acceptWikiProposal(input: $input) {
    userErrors { code field message } conflict { message currentVersion }
    proposal { status acceptedVersion deciderId } page { version bodyMd } } }"""
DECLINE = """mutation ($input: DeclineWikiProposalInput!) { done: declineWikiProposal(input: $input) {
    userErrors { code field } proposal { status reason deciderName } } }"""
HISTORY = """query ($id: ID!) { node(id: $id) { ... on WikiPage { revisions { nodes {
    version authorId proposal { deciderId why } } } } } }"""
BODY = "Ada keeps the harbour.\n\n## Tides\n\nLow at six.\n\n## Boats\n\nThree of them."


@pytest.fixture
async def page_id(wiki: Wiki, ask: Ask) -> str:
    rules = [{"role": "MEMBER", "policy": "REVIEW"}]
    done = (await ask(POLICY, rules=rules))["data"]["done"]
    assert done["owner"]["writePolicy"] == [{"role": "MEMBER", "pageType": None, "policy": "REVIEW"}]
    return str((await create_page(wiki.database, wiki.scope, PageDraft("entity", "Harbour", body=BODY))).page_id)


@pytest.fixture
def ada(wiki: Wiki) -> Wiki:
    member = wiki.with_role(Role.MEMBER)
    return replace(member, scope=replace(member.scope, actor=Actor(ActorKind.AGENT, "ada")))


@pytest.fixture
def ask(wiki: Wiki) -> Ask:
    engine = make_engine()

    async def run(text: str, wiki: Wiki = wiki, **variables: Any) -> Any:
        return orjson.loads((await engine.execute(text, variables, None, Context(wiki.database, wiki.scope))).body)

    return run


async def test_a_reviewed_write_becomes_a_proposal_that_only_writers_see(
    wiki: Wiki, ada: Wiki, ask: Ask, page_id: str
) -> None:
    edit = {"pageId": page_id, "oldText": "Low at six.", "newText": "Low at seven."}
    done = (await ask(EDIT, ada, input=edit))["data"]["done"]
    (error,) = done["userErrors"]
    assert (done["changed"], done["page"], error["code"]) == (False, None, "REVIEW_REQUIRED")
    for seeing in (wiki, ada):
        (found,) = (await ask(LISTED, seeing, author="ada"))["data"]["wikiProposals"]["nodes"]
        assert (found["id"], found["status"], found["authorId"]) == (error["proposalId"], "OPEN", "ada")
        assert "-Low at [-six-].\n+Low at {+seven+}." in found["wordDiff"]
        assert "-Low at six.\n+Low at seven." in found["diff"]
        assert (found["conflicts"], found["isStale"], found["baseVersion"]) == ([], False, 1)
    for blind in (wiki.with_role(Role.READER), await wiki.neighbour(Role.MEMBER)):
        listed = (await ask(LISTED, blind))["data"]["wikiProposals"]
        assert listed == {"totalCount": 0, "nodes": []}
        answer = await ask("query ($id: ID!) { wikiProposal(proposalId: $id) { id } }", blind, id=error["proposalId"])
        assert answer["data"]["wikiProposal"] is None


async def test_an_accepted_proposal_records_author_and_decider_in_history(
    wiki: Wiki, ada: Wiki, ask: Ask, page_id: str
) -> None:
    given = {"why": "The almanac says so.", "evidence": ["document:almanac"], "significance": "HIGH"}
    edit = {"pageId": page_id, "oldText": "Low at six.", "newText": "Low at seven."}
    proposed = (await ask(PROPOSE, ada, input={**given, "edit": edit}))["data"]["done"]
    assert proposed["created"]
    assert proposed["proposal"] | given == proposed["proposal"]
    assert proposed["proposal"]["operation"] == "edit_page"
    id = proposed["proposal"]["id"]
    done = (await ask(ACCEPT, input={"proposalId": id, "bodyMd": BODY.replace("six", "half past six")}))["data"]["done"]
    assert done["userErrors"] == []
    assert "half past six" in done["page"]["bodyMd"]
    decider = wiki.scope.actor.id
    assert done["proposal"] == {"status": "ACCEPTED", "acceptedVersion": 2, "deciderId": decider}
    last, first = (await ask(HISTORY, id=page_id))["data"]["node"]["revisions"]["nodes"]
    assert (last["authorId"], last["proposal"]) == ("ada", {"deciderId": decider, "why": "The almanac says so."})
    assert first["proposal"] is None


async def test_a_conflicting_proposal_lists_its_conflicts_and_is_refused(
    wiki: Wiki, ada: Wiki, ask: Ask, page_id: str
) -> None:
    edit = {"pageId": page_id, "oldText": "Low at six.", "newText": "Low at seven."}
    await ask(EDIT, ada, input=edit)
    await ask(EDIT, input={**edit, "newText": "Low at eight."})
    (found,) = (await ask(LISTED, status="OPEN"))["data"]["wikiProposals"]["nodes"]
    assert (found["conflicts"], found["isStale"]) == (["tides"], True)
    done = (await ask(ACCEPT, input={"proposalId": found["id"]}))["data"]["done"]
    assert done["conflict"]["currentVersion"] == 2
    assert "tides" in done["conflict"]["message"]
    amended = BODY.replace("six", "eight, or so")
    done = (await ask(ACCEPT, input={"proposalId": found["id"], "bodyMd": amended}))["data"]["done"]
    assert done["conflict"] is not None, "the words of the reviewer were made of the older text, too"
    whole = {"proposalId": found["id"], "bodyMd": amended, "bodyVersion": 2}
    assert (await ask(ACCEPT, input=whole))["data"]["done"]["page"] == {"version": 3, "bodyMd": amended}


async def test_a_declined_proposal_shows_the_reason_to_its_author(
    wiki: Wiki, ada: Wiki, ask: Ask, page_id: str
) -> None:
    await ask(EDIT, ada, input={"pageId": page_id, "oldText": "six", "newText": "seven"})
    (found,) = (await ask(LISTED, ada))["data"]["wikiProposals"]["nodes"]
    refused = (await ask(DECLINE, input={"proposalId": found["id"], "reason": " "}))["data"]["done"]
    assert refused["userErrors"] == [{"code": "BAD_USER_INPUT", "field": ["reason"]}]
    await ask(DECLINE, input={"proposalId": found["id"], "reason": "It is six in winter."})
    (found,) = (await ask(LISTED, ada, status="DECLINED"))["data"]["wikiProposals"]["nodes"]
    assert found["reason"] == "It is six in winter."


async def test_a_proposal_has_exactly_one_operation(ask: Ask, page_id: str) -> None:
    for given in ({}, {"archive": {"pageId": page_id}, "update": {"pageId": page_id, "title": "Port"}}):
        done = (await ask(PROPOSE, input={"why": "So.", **given}))["data"]["done"]
        assert "one operation" in done["userErrors"][0]["message"]


async def test_another_type_of_a_page_cannot_be_proposed(ask: Ask, page_id: str) -> None:
    update = {"pageId": page_id, "type": "TOPIC", "summary": "By the sea."}
    done = (await ask(PROPOSE, input={"why": "W.", "update": update}))["data"]["done"]
    assert [(error["code"], error["field"]) for error in done["userErrors"]] == [("BAD_USER_INPUT", ["type"])]
    update["type"] = "ENTITY"
    assert (await ask(PROPOSE, input={"why": "W.", "update": update}))["data"]["done"]["created"]


async def test_a_batch_decision_reports_an_outcome_for_each_proposal(
    wiki: Wiki, ada: Wiki, ask: Ask, page_id: str
) -> None:
    ids = []
    for word in ("seven", "eight"):
        done = await ask(EDIT, ada, input={"pageId": page_id, "oldText": "six", "newText": word})
        ids.append(done["data"]["done"]["userErrors"][0]["proposalId"])
    text = """mutation ($ids: [ID!]!) { done: decideWikiProposals(input: {proposalIds: $ids, decision: ACCEPT}) {
        outcomes { position ok error { code field } } } }"""
    outcomes = (await ask(text, ids=ids))["data"]["done"]["outcomes"]
    assert outcomes == [
        {"position": 0, "ok": True, "error": None},
        {"position": 1, "ok": False, "error": {"code": "CONFLICT", "field": ["proposalIds", "1"]}},
    ]


async def test_the_diff_of_a_proposal_uses_the_text_of_its_base_version(
    wiki: Wiki, ada: Wiki, ask: Ask, page_id: str
) -> None:
    """Most versions of a long text are stored as a difference from another version."""
    lines = "\n".join(f"- On day {n} a ship of {n} tons came." for n in range(60))
    await ask(EDIT, input={"pageId": page_id, "oldText": "Three of them.", "newText": lines})
    for n in range(3):
        edit = {"pageId": page_id, "oldText": f"day {n} a ship", "newText": f"day {n} a hulk"}
        assert (await ask(EDIT, input=edit))["data"]["done"]["changed"]
    rows = await wiki.rows("revisions", "version")
    assert rows[-1]["base_version"] is not None
    await ask(EDIT, ada, input={"pageId": page_id, "oldText": "day 2 a hulk", "newText": "day 2 a boat"})
    (found,) = (await ask(LISTED))["data"]["wikiProposals"]["nodes"]
    changed = [line for line in found["wordDiff"].splitlines() if line.startswith(("-", "+"))]
    assert changed == ["-- On day 2 a [-hulk-] of 2 tons came.", "+- On day 2 a {+boat+} of 2 tons came."]
