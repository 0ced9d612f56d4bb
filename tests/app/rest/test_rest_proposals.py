"""Tests writes under review, and the decisions on their proposals, over REST and by agents."""

from dataclasses import replace
from uuid import UUID

import orjson
import pytest

from db.scope import Actor, ActorKind
from resolvers.proposals.gate import Policy, PolicyRule, WriterRole, checked_rules
from resolvers.proposals.proposals import decline_proposal
from tests.app.clients.agents import agent
from tests.app.clients.rest_client import RestClient
from tests.app.service import Service
from tests.wiki import Wiki


@pytest.fixture
def rest(service: Service, token: str) -> RestClient:
    return RestClient(service.http, token)


async def set_policy(wiki: Wiki, policy: Policy) -> None:
    rules = checked_rules([PolicyRule(role, policy) for role in WriterRole])
    await wiki.connection.execute("UPDATE owners SET write_policy = $1", orjson.dumps(rules).decode())


async def test_a_write_under_review_becomes_an_open_proposal(rest: RestClient, wiki: Wiki) -> None:
    await rest.create_page("Ledger", content="It runs on Postgres.")
    await set_policy(wiki, Policy.REVIEW)
    edit = {"old_text": "Postgres", "new_text": "MySQL"}
    key = {"Idempotency-Key": "once"}
    for _ in range(2):
        refusal = await rest.post("/pages/ledger/edit", edit, headers=key)
        assert (refusal.status_code, refusal.json()["code"]) == (409, "REVIEW_REQUIRED")
        (row,) = await wiki.rows("proposals")
        assert refusal.json()["proposal_id"] == str(row["id"])
    (proposal,) = (await rest.get("/proposals?status=open")).json()["items"]
    assert (proposal["id"], proposal["page"]["slug"], proposal["operation"]) == (str(row["id"]), "ledger", "edit_page")
    assert "[-Postgres-]" in proposal["word_diff"]
    assert (await rest.get("/pages/ledger")).json()["content"] == "It runs on Postgres."
    superseding = {"fact": "on Postgres", "replacement": "on MySQL"}
    assert (await rest.post("/pages/ledger/supersede", superseding)).json()["proposal_id"]


async def test_proposals_are_created_accepted_and_withdrawn(rest: RestClient, wiki: Wiki) -> None:
    await rest.create_page("Ledger", content="It runs on Postgres.")
    why = {"why": "The team moved.", "evidence": ["document:minutes"], "significance": "high"}
    assert (await rest.post("/proposals", why)).status_code == 422
    edit = {"slug": "ledger", "old_text": "Postgres", "new_text": "MySQL"}
    created = await rest.post("/proposals", why | {"edit": edit})
    assert (created.status_code, created.json()["evidence"]) == (201, ["document:minutes"])
    path = f"/proposals/{created.json()['id']}"
    accepted = await rest.post(f"{path}/accept", {"content": "It runs on MariaDB.", "reason": "To be exact."})
    assert (accepted.status_code, accepted.json()["status"], accepted.json()["accepted_version"]) == (
        200,
        "accepted",
        2,
    )
    assert (await rest.get("/pages/ledger")).json()["content"] == "It runs on MariaDB."
    assert (await rest.post(f"{path}/decline", {"reason": "Late."})).status_code == 409
    archive = (await rest.post("/proposals", why | {"archive": "ledger"})).json()["id"]
    withdrawn = await rest.post(f"/proposals/{archive}/withdraw", {})
    assert withdrawn.json()["status"] == "withdrawn"
    assert (await rest.get(f"/proposals/{UUID(int=1)}")).status_code == 404


async def test_an_agent_reads_why_its_proposal_was_declined(service: Service, token: str, wiki: Wiki) -> None:
    async with agent(service, token) as mcp_agent:
        await mcp_agent.call("wiki_create", title="Ledger", type="topic", content="It runs on Postgres.")
        await set_policy(wiki, Policy.REVIEW)
        _, text = await mcp_agent.expect_error("wiki_edit", page="ledger", old_text="Postgres", new_text="MySQL")
        assert "wiki_proposals" in text
        (row,) = await wiki.rows("proposals")
        reviewer = replace(wiki.scope, actor=Actor(ActorKind.USER, "ben"))
        await decline_proposal(wiki.database, reviewer, row["id"], "It is Postgres still.")
        listed = await mcp_agent.call("wiki_proposals", status="declined")
        assert [proposal["reason"] for proposal in listed["proposals"]] == ["It is Postgres still."]
        assert "It is Postgres still." in await mcp_agent.text("wiki_proposals")


@pytest.mark.parametrize("step", ["accept", "withdraw"])
async def test_a_proposal_is_accepted_or_withdrawn_without_a_body(rest: RestClient, step: str) -> None:
    await rest.create_page("Ledger", content="It runs on Postgres.")
    proposed = {"why": "It is old.", "archive": "ledger", "significance": "high"}
    id = (await rest.post("/proposals", proposed)).json()["id"]
    refused = await rest.ask("POST", f"/proposals/{id}/{step}", content=b"{}", headers={"Content-Type": "text/plain"})
    assert refused.status_code == 415
    answer = await rest.post(f"/proposals/{id}/{step}")
    assert (answer.status_code, answer.json()["status"]) == (200, {"accept": "accepted", "withdraw": "withdrawn"}[step])


async def test_a_proposal_is_not_declined_without_a_reason(rest: RestClient) -> None:
    await rest.create_page("Ledger")
    id = (await rest.post("/proposals", {"why": "It is old.", "archive": "ledger", "significance": "high"})).json()[
        "id"
    ]
    assert (await rest.post(f"/proposals/{id}/decline")).status_code == 415
