"""Tests stubs in every API: the sections of a type, the source, and the required fields of a concept."""

from typing import Any

import orjson
import pytest

from resolvers.proposals.gate import Policy, PolicyRule, WriterRole, checked_rules
from resolvers.sources.sources import SourceDraft, add_source
from tests.app.clients.agents import Agent
from tests.app.clients.rest_client import RestClient
from tests.app.service import Service
from tests.wiki import Wiki

WHOLE = {"title": "Small batches", "text": "- five kilos", "why": "Fresh.", "how_to_apply": "In every roast."}
BODY = "## Summary\n\n- five kilos\n\n## Why\n\nFresh.\n\n## How to apply\n\nIn every roast."
STUB = """mutation ($input: CreateWikiStubInput!) { createWikiStub(input: $input) {
  created page { bodyMd isStub sources(first: 5) { nodes { ref } } } userErrors { code field message } } }"""


@pytest.fixture
async def source(wiki: Wiki) -> str:
    return str(
        (await add_source(wiki.database, wiki.scope, SourceDraft("daily_note", "day-0", "Roast 5 kg."))).source_id
    )


async def graphql(service: Service, token: str, **given: Any) -> dict[str, Any]:
    sent = {"query": STUB, "variables": {"input": given}}
    answer = await service.http.post("/graphql", json=sent, headers={"authorization": f"Bearer {token}"})
    assert "errors" not in answer.json(), answer.text
    found: dict[str, Any] = answer.json()["data"]["createWikiStub"]
    return found


async def test_graphql_makes_a_stub_with_its_source_or_nothing(
    service: Service, token: str, wiki: Wiki, source: str
) -> None:
    given = {"type": "CONCEPT", "title": "Small batches", "text": "- five kilos", "why": "Fresh."}
    refused = await graphql(service, token, **given)
    assert refused["userErrors"] == [
        {
            "code": "BAD_USER_INPUT",
            "field": ["howToApply"],
            "message": 'A stub of the type concept needs the section "How to apply".',
        }
    ]
    assert (await graphql(service, token, type="ENTITY", title="Mill", why="So."))["userErrors"][0]["field"] == ["why"]
    given |= {"howToApply": "In every roast."}
    sent = {"query": STUB, "variables": {"input": given | {"source": "daily_note/day-9"}}}
    lost = await service.http.post("/graphql", json=sent, headers={"authorization": f"Bearer {token}"})
    assert lost.json()["errors"][0]["extensions"]["code"] == "NOT_FOUND"
    assert await wiki.rows("pages") == []
    created = await graphql(service, token, **given, source="daily_note/day-0")
    assert (created["created"], created["page"]["isStub"]) == (True, True)
    assert created["page"]["bodyMd"].startswith(BODY)
    assert [node["ref"] for node in created["page"]["sources"]["nodes"]] == ["day-0"]
    again = await graphql(service, token, **given)
    assert (again["page"], again["userErrors"][0]["code"]) == (None, "PAGE_EXISTS")


async def test_rest_makes_a_stub_with_its_source_or_nothing(
    service: Service, token: str, wiki: Wiki, source: str
) -> None:
    rest = RestClient(service.http, token)
    refused = await rest.post("/stubs", {"type": "concept"} | WHOLE | {"why": " "})
    assert (refused.status_code, refused.json()["field"]) == (422, "why")
    assert (await rest.post("/stubs", {"type": "concept"} | WHOLE | {"source": "daily_note/x"})).status_code == 404
    assert await wiki.rows("pages") == []
    created = await rest.post("/stubs", {"type": "concept"} | WHOLE | {"source": source})
    assert created.status_code == 201, created.text
    assert created.json()["content"].startswith(BODY)
    assert [str(row["source_id"]) for row in await wiki.rows("section_sources")] == [source]
    again = await rest.post("/stubs", {"type": "concept"} | WHOLE)
    assert (again.status_code, again.json()["code"]) == (409, "PAGE_EXISTS")


async def test_an_agent_creates_a_stub_from_a_remembered_source(mcp_agent: Agent, wiki: Wiki) -> None:
    source = await mcp_agent.call("wiki_remember", content="Roast 5 kg.")
    error, _ = await mcp_agent.expect_error("wiki_stub", type="concept", **WHOLE | {"how_to_apply": ""})
    assert error["field"] == "howToApply"
    created = await mcp_agent.call("wiki_stub", type="concept", source=source["source_id"], **WHOLE)
    assert created == {"page": "concept/small-batches", "version": 1, "changed": True}
    assert (await wiki.row("pages"))["body_md"].startswith(BODY)
    assert [str(row["source_id"]) for row in await wiki.rows("section_sources")] == [source["source_id"]]
    error, _ = await mcp_agent.expect_error("wiki_stub", type="concept", **WHOLE)
    assert error["code"] == "PAGE_EXISTS"


async def test_a_stub_under_review_becomes_one_proposal(service: Service, token: str, wiki: Wiki, source: str) -> None:
    rules = orjson.dumps(checked_rules([PolicyRule(WriterRole.ADMIN, Policy.REVIEW)])).decode()
    await wiki.connection.execute("UPDATE owners SET write_policy = $1", rules)
    waiting = await RestClient(service.http, token).post("/stubs", {"type": "concept"} | WHOLE | {"source": source})
    assert (waiting.status_code, waiting.json()["code"]) == (409, "REVIEW_REQUIRED")
    assert await wiki.rows("pages") == []
    (row,) = await wiki.rows("proposals")
    assert (row["operation"], row["title"], row["proposed_body"].startswith(BODY)) == (
        "write_stub",
        WHOLE["title"],
        True,
    )


async def test_a_concept_page_without_its_sections_is_created_and_found_by_lint(service: Service, token: str) -> None:
    """Clients of the released contract create concepts without these sections, so lint reports them."""
    rest = RestClient(service.http, token)
    created = await rest.post("/pages", {"type": "concept", "title": "Rest", "content": "## Why\n\nGas."})
    assert created.status_code == 201
    assert (await rest.post("/pages", {"type": "topic", "title": "Kiln", "content": "x"})).status_code == 201
    found = {check["name"]: check for check in (await rest.get("/lint")).json()["checks"]}["concept_reasons"]
    assert (found["total"], found["findings"][0]["detail"]) == (1, "how to apply")
    assert found["findings"][0]["fix"] == "cairn append concept/rest TEXT --section how_to_apply"
