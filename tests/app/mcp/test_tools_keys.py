"""Tests repeated tool calls with and without an idempotency key."""

import asyncio
import json
from typing import Any

import httpx
import pytest

from tests.app.clients.agents import Agent
from tests.app.service import Service
from tests.wiki import Wiki

KEY = "cairn/idempotency_key"


async def call_with_key(mcp_agent: Agent, tool: str, key: Any, **arguments: Any) -> Any:
    return await mcp_agent.client.call_tool(tool, arguments, meta={KEY: key})


async def body(wiki: Wiki) -> str:
    (page,) = await wiki.rows("pages")
    return str(page["body_md"])


@pytest.fixture
async def kiln(mcp_agent: Agent) -> str:
    return str((await mcp_agent.call("wiki_create", title="Kiln", type="topic", content="Hot."))["page"])


async def test_a_repeated_call_with_a_key_is_executed_once(mcp_agent: Agent, kiln: str, wiki: Wiki) -> None:
    arguments = {"page": kiln, "text": "Fired at dawn."}
    first, again = [await call_with_key(mcp_agent, "wiki_append", "k-1", **arguments) for _ in range(2)]
    assert not first.is_error
    assert (again.structured_content, again.content) == (first.structured_content, first.content)
    assert (first.meta or {}).get("cairn/replayed") is None
    assert again.meta["cairn/replayed"] is True
    assert (await body(wiki)).count("Fired at dawn.") == 1
    assert (await mcp_agent.call("wiki_append", idempotency_key="k-1", **arguments)) == first.structured_content
    other = await call_with_key(mcp_agent, "wiki_append", "k-1", page=kiln, text="Fired at noon.")
    assert other.is_error
    assert other.meta["cairn/error"]["code"] == "IDEMPOTENCY_KEY_REUSED"


async def test_a_repeated_call_without_a_key_is_executed_again(mcp_agent: Agent, kiln: str, wiki: Wiki) -> None:
    for _ in range(2):
        await mcp_agent.call("wiki_append", page=kiln, text="Once more.")
    assert (await body(wiki)).count("Once more.") == 2


async def test_concurrent_calls_with_the_same_key_are_executed_once(mcp_agent: Agent, kiln: str, wiki: Wiki) -> None:
    calls = [call_with_key(mcp_agent, "wiki_append", "k-2", page=kiln, text="Together.") for _ in range(5)]
    answers = await asyncio.gather(*calls)
    assert (await body(wiki)).count("Together.") == 1
    codes = {answer.meta["cairn/error"]["code"] for answer in answers if answer.is_error}
    assert codes <= {"IDEMPOTENCY_IN_PROGRESS"}


async def test_a_failed_call_with_a_key_can_be_retried(mcp_agent: Agent, kiln: str, wiki: Wiki) -> None:
    arguments = {"page": kiln, "old_text": "Cold.", "new_text": "Colder."}
    failed = await call_with_key(mcp_agent, "wiki_edit", "k-3", **arguments)
    assert failed.meta["cairn/error"]["code"] == "EDIT_FAILED"
    await mcp_agent.call("wiki_append", page=kiln, text="Cold.")
    assert not (await call_with_key(mcp_agent, "wiki_edit", "k-3", **arguments)).is_error
    assert not (await call_with_key(mcp_agent, "wiki_edit", "k-3", **arguments)).is_error
    assert (await body(wiki)).count("Colder.") == 1


async def test_a_tool_of_several_steps_is_executed_once_per_key(mcp_agent: Agent, kiln: str, wiki: Wiki) -> None:
    arguments = {"content": "It cracked.", "page": kiln, "section": "overview"}
    first, again = [await call_with_key(mcp_agent, "wiki_remember", "k-4", **arguments) for _ in range(2)]
    assert first.structured_content["created"] is True
    assert again.structured_content == first.structured_content, "the first answer is replayed, not `known already`"
    assert len(await wiki.rows("section_sources")) == 1


@pytest.mark.parametrize("key", ["é", "a b", "x" * 256, 7, ["k"]])
async def test_an_invalid_idempotency_key_is_refused(mcp_agent: Agent, kiln: str, key: Any) -> None:
    refused = await call_with_key(mcp_agent, "wiki_append", key, page=kiln, text="Never.")
    assert refused.meta["cairn/error"]["code"] == "BAD_USER_INPUT"


async def test_a_call_whose_answer_was_lost_can_be_retried_with_its_key(
    service: Service, token: str, mcp_agent: Agent, kiln: str, wiki: Wiki
) -> None:
    """A client disconnects at various moments of a call and repeats the call until it succeeds."""
    headers = {"authorization": f"Bearer {token}", "accept": "application/json, text/event-stream"}
    for number in range(8):
        call = {
            "name": "wiki_append",
            "arguments": {"page": kiln, "text": f"Line {number}.", "idempotency_key": f"n-{number}"},
        }
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
        async with httpx.AsyncClient(base_url=service.url, headers=headers) as hasty:
            for patience in (0.002 * number, 0.005 * number):
                try:
                    await asyncio.wait_for(hasty.post("/mcp", json=message), max(patience, 0.001))
                except (TimeoutError, httpx.HTTPError):
                    continue
        while True:
            answer = await call_with_key(mcp_agent, "wiki_append", f"n-{number}", page=kiln, text=f"Line {number}.")
            if not answer.is_error:
                break
            assert answer.meta["cairn/error"]["code"] == "IDEMPOTENCY_IN_PROGRESS", json.dumps(answer.meta)
            await asyncio.sleep(0.05)
        assert (await body(wiki)).count(f"Line {number}.") == 1
