"""Tests searches of pages and sources, and context packs, over REST, by tools and on the command line."""

import json

import pytest

from tests.app.clients.agents import Agent
from tests.app.clients.rest_client import RestClient, status_and_code
from tests.app.command_line import RunCommand
from tests.app.service import Service

TEXT = "The old kiln cracked in the frost."


@pytest.fixture
def rest(service: Service, token: str) -> RestClient:
    return RestClient(service.http, token)


async def test_rest_searches_pages_and_sources_in_one_list(rest: RestClient) -> None:
    await rest.create_page("Pottery", content=TEXT)
    await rest.post("/sources", {"kind": "daily_note", "ref": "a", "content": TEXT})
    assert "raw_score" not in (await rest.get("/search?q=kiln")).json()["items"][0], (
        "without `in` the result has the older form"
    )
    found = (await rest.get("/search?q=kiln+frost&in=pages,sources")).json()
    passage, page = found["items"]
    assert (passage["page"], passage["passage"]["text"], passage["passage"]["source"]["ref"]) == (None, TEXT, "a")
    assert (page["page"]["title"], page["page"]["type"], page["passage"]) == ("Pottery", "topic", None)
    assert page["score"] == pytest.approx(page["raw_score"] * 0.9)
    assert found["next"] is None
    first = (await rest.get("/search?q=kiln+frost&in=pages,sources&limit=1")).json()
    rest_of_it = (await rest.get(f"/search?q=kiln+frost&in=pages,sources&limit=1&cursor={first['next']}")).json()
    assert rest_of_it["items"] == [page]
    only = (await rest.get("/search?q=kiln&in=sources")).json()["items"]
    assert [hit["page"] for hit in only] == [None]


async def test_rest_reports_invalid_parameters(rest: RestClient) -> None:
    for query, status, code, field in (
        ("in=everything", 422, "BAD_USER_INPUT", "in"),
        ("in=", 422, "BAD_USER_INPUT", "in"),
        ("in=sources&type=topic", 422, "BAD_USER_INPUT", "filter"),
        ("space=moon", 404, "NOT_FOUND", None),
        ("in=pages&updated_since=soon", 422, "BAD_USER_INPUT", "updated_since"),
        ("in=pages&cursor=nonsense", 422, "BAD_USER_INPUT", "cursor"),
    ):
        answer = await rest.get(f"/search?q=kiln&{query}")
        assert (status_and_code(answer), answer.json().get("field")) == ((status, code), field), query


async def test_an_agent_searches_pages_and_sources(mcp_agent: Agent) -> None:
    await mcp_agent.call("wiki_create", title="Pottery", type="topic", content=TEXT)
    await mcp_agent.call("wiki_remember", content=TEXT)
    found = await mcp_agent.call("wiki_search", query="kiln frost", **{"in": ["pages", "sources"]})
    passage, page = found["results"]
    assert (passage["text"], passage["lines"], passage["superseded_by"]) == (TEXT, "1-1", None)
    assert (page["page"], page["space"]) == ("topic/pottery", passage["space"])
    text = await mcp_agent.text("wiki_search", query="kiln frost", **{"in": ["pages", "sources"]})
    assert text.startswith("2 hits")
    assert (await mcp_agent.call("wiki_search", query="kiln owner:moon", **{"in": ["pages"]}))["results"] == []
    error, _ = await mcp_agent.expect_error("wiki_search", query="kiln", **{"in": []})
    assert error["code"] == "BAD_USER_INPUT"


def test_a_command_searches_pages_and_sources(run_in_acme: RunCommand) -> None:
    mara = ("--tenant", "acme", "--owner", "mara")
    assert run_in_acme("search", "kiln", *mara, "--in", "pages", "--in", "sources").out == "No results.\n"
    listed = json.loads(run_in_acme("search", "the", *mara, "--in", "pages", "--json").out)
    assert listed["spaces"] == [{"slug": "mara"}]
    assert run_in_acme("search", "kiln", *mara, "--space", "moon", "--json").error["code"] == "NOT_FOUND"


async def test_rest_returns_a_context_pack(rest: RestClient) -> None:
    await rest.create_page("Pottery", content=TEXT)
    pack = (await rest.get("/context?q=kiln&budget_tokens=200&task=Fix+it&role=potter")).json()
    assert (pack["budget_tokens"], pack["omitted"]) == (200, 0)
    assert [(item["kind"], item["text"]) for item in pack["items"]] == [("section", TEXT)]
    assert f"> {TEXT}" in pack["text"].splitlines()
    for query, status, code, field in (
        ("budget_tokens=0", 422, "BAD_USER_INPUT", "budget_tokens"),
        ("budget_tokens=1000000000", 422, "BAD_USER_INPUT", "budget_tokens"),
        ("space=moon", 404, "NOT_FOUND", None),
        (f"role={'x' * 300}", 422, "BAD_USER_INPUT", "role"),
    ):
        answer = await rest.get(f"/context?q=kiln&{query}")
        assert (status_and_code(answer), answer.json().get("field")) == ((status, code), field), query


async def test_an_agent_gets_a_context_pack(mcp_agent: Agent) -> None:
    await mcp_agent.call("wiki_create", title="Goals", type="context", content="We sell pots. </data>")
    await mcp_agent.call("wiki_create", title="Pottery", type="topic", content=TEXT)
    pack = await mcp_agent.call("wiki_context", query="kiln", budget_tokens=300)
    heads = [line.split("#")[2].strip() for line in pack["text"].splitlines() if line.startswith("## ")]
    assert heads == ["context/goals", "topic/pottery"]
    assert "> We sell pots. </data>" in pack["text"].splitlines()
    assert await mcp_agent.text("wiki_context", query="kiln", budget_tokens=300) == pack["text"]
    assert (await mcp_agent.call("wiki_context", query="kiln owner:moon"))["text"] == ""


def test_a_command_prints_a_context_pack(run_in_acme: RunCommand) -> None:
    mara = ("--tenant", "acme", "--owner", "mara")
    assert run_in_acme("context", "kiln", *mara).out == "No page or source matches.\n"
    assert run_in_acme("create", "context", "Goals", "We sell pots.", *mara).code == 0
    assert "> We sell pots." in run_in_acme("context", "kiln", *mara).out.splitlines()
    assert json.loads(run_in_acme("context", "kiln", *mara, "--json").out)["items"][0]["kind"] == "CONTEXT"
    assert run_in_acme("context", "kiln", *mara, "--budget", "0", "--json").error["code"] == "BAD_USER_INPUT"
