"""MCP agents: the client of the SDK, over HTTP with a credential or over stdio."""

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from tests.app.service import PLAIN, Service
from tests.forked import COMMAND, ROOT


class Agent:
    """An agent that calls tools and fails if a response is not of the expected kind."""

    def __init__(self, client: Client) -> None:
        self.client = client

    async def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Return the structured result, which the client has compared with the tool's output schema."""
        result = await self.client.call_tool(tool, arguments)
        assert not result.is_error, result.content
        answer: dict[str, Any] = result.structured_content
        return answer

    async def text(self, tool: str, **arguments: Any) -> str:
        """Return the text of the result."""
        result = await self.client.call_tool(tool, arguments)
        assert not result.is_error, result.content
        return str(result.content[0].text)  # type: ignore[union-attr]

    async def expect_error(self, tool: str, **arguments: Any) -> tuple[dict[str, Any], str]:
        """Return the error of a refused call as a program sees it, and the text that a model reads."""
        result = await self.client.call_tool(tool, arguments)
        assert result.is_error, result.content
        assert result.structured_content is None, "clients compare it with the schema of an answer"
        return result.meta["cairn/error"], str(result.content[0].text)  # type: ignore[union-attr,index]


@asynccontextmanager
async def agent(
    service: Service, token: str, mode: Any = "auto", on_response: Any = None, **headers: str
) -> AsyncIterator[Agent]:
    """Connect an agent over HTTP. `on_response` is called with each HTTP response, which the client does not show."""
    hooks = {"response": [on_response]} if on_response else {}
    sent = {"authorization": f"Bearer {token}", "X-MCP-Toolsets": "all,output-schemas", **headers}
    async with httpx2.AsyncClient(headers=sent, timeout=30, verify=PLAIN, event_hooks=hooks) as http:
        transport = streamable_http_client(f"{service.url}/mcp", http_client=http)
        async with Client(transport, mode=mode) as client:
            yield Agent(client)


@asynccontextmanager
async def local_agent(dsn: str, data_dir: Path, *arguments: str) -> AsyncIterator[Agent]:
    """Connect an agent to `cairn mcp` in its own process."""
    environment = {
        "CAIRN_TOOLSETS": "all,output-schemas",
        "PYTHONPATH": str(ROOT),
        "CAIRN_DATA_DIR": str(data_dir),
        "CAIRN_DATABASE_URL": dsn,
    }
    server = StdioServerParameters(
        command=sys.executable, args=[*COMMAND[1:], "mcp", *arguments], env=environment, cwd=ROOT
    )
    async with Client(server) as client:
        yield Agent(client)
