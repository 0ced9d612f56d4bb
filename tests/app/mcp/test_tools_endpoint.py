"""Tests POST /mcp over HTTP: authentication, malformed requests, limits and outages."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import asyncpg
import httpx
import httpx2
import pytest
from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from app.mcp.catalogue import TOOLSETS
from tests.app.clients.agents import agent
from tests.app.service import Service, serving
from tests.wiki import Wiki

LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
ACCEPT = {"accept": "application/json, text/event-stream"}


async def post(service: Service, token: str | None, body: Any = LIST, **headers: str) -> httpx.Response:
    sent = ACCEPT | headers | ({"authorization": f"Bearer {token}"} if token else {})
    return await service.http.post("/mcp", json=body, headers=sent)


async def test_a_request_is_answered_with_json_that_must_not_be_cached(service: Service, token: str) -> None:
    response = await post(service, token)
    assert response.status_code == 200
    assert response.headers["content-type"] == "application/json"
    assert response.headers["cache-control"] == "no-store"
    tools = response.json()["result"]["tools"]
    assert [tool["name"] for tool in tools] == [tool.name for tool in TOOLSETS["default"]]
    assert not any("outputSchema" in tool for tool in tools)


async def test_a_request_without_a_valid_credential_is_unauthorized(service: Service) -> None:
    for shown in (None, "nonsense"):
        response = await post(service, shown)
        assert response.status_code == 401
        challenge = response.headers["www-authenticate"]
        assert (challenge == 'Bearer realm="cairn"', "invalid_token" in challenge) == (shown is None, shown is not None)
        assert response.json()["errors"][0]["extensions"]["code"] == "UNAUTHENTICATED"


async def test_an_inaccessible_owner_is_forbidden(service: Service, token: str) -> None:
    response = await post(service, token, **{"x-cairn-owner": "00000000-0000-0000-0000-000000000000"})
    assert (response.status_code, response.json()["errors"][0]["extensions"]["code"]) == (403, "FORBIDDEN")


async def test_there_are_no_streams_and_no_sessions(service: Service, token: str) -> None:
    for method in ("GET", "DELETE", "PUT"):
        response = await service.http.request(method, "/mcp", headers={"authorization": f"Bearer {token}"})
        assert (response.status_code, response.headers["allow"]) == (405, "POST")
    with pytest.raises(InvalidStatus, match="403"):
        await connect(f"{service.url.replace('http', 'ws')}/mcp")
    assert "mcp-session-id" not in (await post(service, token)).headers


async def test_other_origins_and_host_names_are_refused(service: Service, token: str) -> None:
    assert (await post(service, token, origin="https://evil.example")).status_code == 403
    assert (await post(service, token, origin=service.url)).status_code == 200
    assert (await post(service, token, host="evil.example")).status_code == 400
    assert (await post(service, token, host="localhost:8000")).status_code == 200


async def test_the_setting_allowed_hosts_applies_to_mcp(dsn: str, tmp_path: Path, wiki: Wiki) -> None:
    async with serving(dsn, tmp_path, allowed_hosts=["wiki.example.org"]) as service:
        token = service.token(wiki.scope.tenant_id, wiki.scope.owner_id)
        assert (await post(service, token, host="wiki.example.org")).status_code == 200
        assert (await post(service, token)).status_code == 400


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"null", b"[" * 100_000, b"\xff", b'{"jsonrpc":"2.0","id":1}'])
async def test_a_malformed_request_is_refused_and_the_next_is_answered(
    service: Service, token: str, body: bytes
) -> None:
    headers = {**ACCEPT, "authorization": f"Bearer {token}", "content-type": "application/json"}
    for version in ({}, {"mcp-protocol-version": "2026-07-28"}):
        response = await service.http.post("/mcp", content=body, headers=headers | version)
        assert response.status_code == 400
    assert (await post(service, token)).status_code == 200


async def test_a_message_with_too_many_values_is_refused(service: Service, token: str) -> None:
    many: list[Any] = [
        LIST | {"params": {"x": [0] * 200_000}},
        [LIST] * 20_000,
        LIST | {"params": {"x": nested(60_000)}},
    ]
    for body in many:
        response = await post(service, token, body)
        assert (response.status_code, response.json()["errors"][0]["extensions"]["code"]) == (413, "LIMIT_EXCEEDED")
    assert (await post(service, token, LIST | {"params": {"cursor": "x" * 200_000}})).status_code != 413


def nested(length: int) -> Any:
    """Return a text of that length in a hundred nested lists: JSON parsers refuse more than a thousand levels."""
    inner: Any = ["x" * length]
    for _ in range(100):
        inner = [inner]
    return inner


async def test_body_size_and_request_rate_are_limited(dsn: str, tmp_path: Path, wiki: Wiki) -> None:
    limits = {"max_body": 2000, "credential_rate": 1, "credential_burst": 300}
    async with serving(dsn, tmp_path, **limits) as service:
        token = service.token(wiki.scope.tenant_id, wiki.scope.owner_id)
        assert (await post(service, token, LIST | {"params": {"x": "y" * 3000}})).status_code == 413
        async with agent(service, token) as hasty:
            assert (await hasty.call("wiki_list", limit=100))["total"] == 0
            error, text = await hasty.expect_error("wiki_graph", limit=100)
            assert error["code"] == "THROTTLED"
            assert "Try again in" in text
            assert error["retryAfter"] > 0


async def test_limits_on_client_documents_do_not_apply_to_tools(dsn: str, tmp_path: Path, wiki: Wiki) -> None:
    tight = {"max_tokens": 1, "max_depth": 1, "max_fields": 1, "max_aliases": 0, "max_variables": 1}
    async with serving(dsn, tmp_path, introspection="nobody", **tight) as service:
        token = service.token(wiki.scope.tenant_id, wiki.scope.owner_id)
        async with agent(service, token) as caller:
            await caller.call("wiki_create", title="Harbour Coffee", type="entity", content="Open since 2019.")
            assert "Harbour Coffee" in await caller.text("wiki_search", query="harbour")
            assert "Open since 2019." in await caller.text("wiki_read", page="entity/harbour-coffee")


@asynccontextmanager
async def outage(server_dsn: str, dsn: str) -> AsyncIterator[None]:
    """Refuse new connections to the database and end the existing ones while the block runs."""
    name = urlsplit(dsn).path.strip("/")
    operator = await asyncpg.connect(server_dsn)
    await operator.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS false")
    await operator.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1", name)
    try:
        yield
    finally:
        await operator.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS true")
        await operator.close()


async def test_in_an_outage_a_client_gets_a_503_and_its_session_continues(
    server_dsn: str, dsn: str, service: Service, token: str
) -> None:
    seen = list[tuple[int, str | None]]()

    async def note(response: httpx2.Response) -> None:
        seen.append((response.status_code, response.headers.get("retry-after")))

    async with agent(service, token, on_response=note) as caller:
        assert (await caller.call("wiki_list"))["total"] == 0
        async with outage(server_dsn, dsn):
            make: dict[str, Any] = {"title": "Ash", "type": "topic", "content": "A tree."}
            for tool, arguments in (("wiki_list", {}), ("wiki_create", make)):
                seen.clear()
                with pytest.raises(MCPError) as raised:
                    await caller.client.call_tool(tool, arguments)
                assert (raised.value.error.code, raised.value.error.data) == (
                    INTERNAL_ERROR,
                    {"code": "UNAVAILABLE", "retryAfter": 1},
                )
                assert seen == [(503, "1")]
            with pytest.raises(MCPError):
                await caller.client.list_resources()
            assert seen[-1] == (503, "1")
        assert (await caller.call("wiki_list"))["total"] == 0


async def test_in_an_outage_a_legacy_client_gets_a_tool_error(
    server_dsn: str, dsn: str, service: Service, token: str
) -> None:
    seen = list[tuple[int, str | None]]()

    async def note(response: httpx2.Response) -> None:
        seen.append((response.status_code, response.headers.get("retry-after")))

    async with agent(service, token, mode="legacy", on_response=note) as caller:
        async with outage(server_dsn, dsn):
            error, text = await caller.expect_error("wiki_list")
            assert (error["code"], error["retryAfter"]) == ("UNAVAILABLE", 1)
            assert "in a few seconds" in text
            assert seen[-1] == (200, "1")
        assert (await caller.call("wiki_list"))["total"] == 0
