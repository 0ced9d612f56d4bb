"""Security headers of responses, allowed hosts, and cross-origin requests."""

from pathlib import Path
from typing import Any

import httpx
import pytest
from pydantic import ValidationError

from app.http.headers import AllowedHosts, without_port
from app.settings import Settings
from tests.app.service import Service, serving
from tests.wiki import Wiki

VIEWER = "{ viewer { role } }"
APP = "https://app.example.org"
POLICY = "content-security-policy"
PREFLIGHT = {
    "origin": APP,
    "access-control-request-method": "POST",
    "access-control-request-headers": "authorization,content-type,idempotency-key,x-cairn-owner,x-request-id",
}


@pytest.mark.parametrize("path", ["/graphql", "/healthz", "/readyz", "/", "/nothing", "/graphiql", "/metrics"])
async def test_every_response_has_the_security_headers(service: Service, path: str) -> None:
    headers = (await service.http.get(path)).headers
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cross-origin-resource-policy"] == "same-origin"
    assert "frame-ancestors 'none'" in headers[POLICY]
    assert headers["x-request-id"]
    for name in ("server", "strict-transport-security", "access-control-allow-origin", "x-powered-by"):
        assert name not in headers


async def test_only_graphiql_may_load_scripts_and_only_its_own(service: Service) -> None:
    api = (await service.http.get("/graphql")).headers.get_list(POLICY)
    page = (await service.http.get("/graphiql")).headers.get_list(POLICY)
    assert (len(api), len(page)) == (1, 1)  # two of them would both hold
    assert "script-src" not in api[0]
    assert "script-src 'self'" in page[0]


async def test_hsts_is_sent_if_it_is_set(dsn: str, tmp_path: Path) -> None:
    async with serving(dsn, tmp_path, hsts_seconds=31536000) as service:
        assert (await service.http.get("/healthz")).headers["strict-transport-security"] == "max-age=31536000"


async def test_cross_origin_requests_are_allowed_only_from_configured_origins(
    dsn: str, tmp_path: Path, wiki: Wiki
) -> None:
    async with serving(dsn, tmp_path, cors_origins=f"{APP}, https://b.example.org") as service:
        token = service.token(wiki.scope.tenant_id, wiki.scope.owner_id)
        preflight = await service.http.options("/graphql", headers=PREFLIGHT)
        assert preflight.status_code == 200
        assert preflight.headers["access-control-allow-origin"] == APP
        assert "access-control-allow-credentials" not in preflight.headers
        answer = await service.post(VIEWER, token, origin=APP)
        assert answer.headers["access-control-allow-origin"] == APP
        assert answer.headers["vary"] == "Origin"
        assert "x-request-id" in answer.headers["access-control-expose-headers"].lower()
        foreign = PREFLIGHT | {"origin": "https://evil.example.org"}
        refused = await service.http.options("/graphql", headers=foreign)
        assert (refused.status_code, "access-control-allow-origin" in refused.headers) == (403, False)
        assert "CAIRN_CORS_ORIGINS" in refused.json()["errors"][0]["message"]
        odd = PREFLIGHT | {"access-control-request-headers": "x-of-mine"}
        refused = await service.http.options("/graphql", headers=odd)
        assert (refused.status_code, "headers" in refused.json()["errors"][0]["message"]) == (403, True)
        answer = await service.post(VIEWER, token, origin="https://evil.example.org")
        assert "access-control-allow-origin" not in answer.headers
        refused = await service.http.post("/graphql", json={"query": VIEWER}, headers={"origin": APP})
        assert (refused.status_code, refused.headers["access-control-allow-origin"]) == (401, APP)


@pytest.mark.parametrize("name", ["mcp-protocol-version", "mcp-session-id", "mcp-method", "mcp-name"])
async def test_cors_preflights_allow_the_mcp_headers(dsn: str, tmp_path: Path, name: str) -> None:
    preflight = PREFLIGHT | {"access-control-request-headers": f"authorization,content-type,{name}"}
    async with serving(dsn, tmp_path, cors_origins=APP) as service:
        assert (await service.http.options("/mcp", headers=preflight)).status_code == 200


async def test_cross_origin_requests_are_refused_by_default(service: Service) -> None:
    refused = await service.http.options("/graphql", headers=PREFLIGHT)
    assert (refused.status_code, refused.json()["errors"][0]["extensions"]) == (403, {"code": "CORS_NOT_ALLOWED"})
    assert "CAIRN_CORS_ORIGINS" in refused.json()["errors"][0]["message"]
    assert "access-control-allow-origin" not in refused.headers
    answer = await service.http.get("/healthz", headers={"origin": PREFLIGHT["origin"]})
    assert not [name for name in answer.headers if name.startswith("access-control")]


@pytest.mark.parametrize(
    "origins", ["https://a.example.org/", "a.example.org", "https://a.example.org/path", "https://*.example.org/x"]
)
def test_an_invalid_allowed_origin_is_refused_at_the_start(origins: str) -> None:
    with pytest.raises(ValidationError):
        Settings.model_validate({"cors_origins": origins})


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", None])
async def test_cross_site_requests_without_a_preflight_are_not_executed(
    service: Service, token: str, wiki: Wiki, kind: str | None
) -> None:
    """A form or a simple request of another site could forge such a request."""
    text = '{"query": "mutation { createWikiPage(input: {type: TOPIC, title: \\"T\\"}) { created } }"}'
    headers = {"authorization": f"Bearer {token}"} | ({"content-type": kind} if kind else {})
    response = await service.http.post("/graphql", content=text, headers=headers)
    assert response.status_code == 415
    assert await wiki.rows("pages") == []


async def test_requests_to_hosts_that_are_not_allowed_are_refused(dsn: str, tmp_path: Path) -> None:
    async with serving(dsn, tmp_path, allowed_hosts="wiki.example.org,*.internal.example.org") as service:

        async def response_of(host: str, path: str = "/nothing") -> httpx.Response:
            return await service.http.get(path, headers={"host": host})

        for host in ("wiki.example.org", "WIKI.example.org:8000", "a.b.internal.example.org"):
            assert (await response_of(host)).status_code == 404
        for host in ("evil.example.org", "internal.example.org", "wiki.example.org.evil.org", "127.0.0.1", "", ":"):
            refused = await response_of(host)
            assert (refused.status_code, refused.json()["errors"][0]["extensions"]["code"]) == (400, "BAD_HOST")
            assert refused.headers["x-content-type-options"] == "nosniff"
        assert (await response_of("10.0.0.7:8000", "/readyz")).status_code == 200


@pytest.mark.parametrize(
    ("host", "name"), [("a:80", "a"), ("a", "a"), ("[::1]:80", "[::1]"), ("[::1]", "[::1]"), ("::1", "::1"), ("", "")]
)
def test_a_host_is_read_without_its_port(host: str, name: str) -> None:
    assert without_port(host) == name


async def test_a_websocket_to_another_host_is_closed() -> None:
    sent: list[Any] = []

    async def record(message: Any) -> None:
        sent.append(message)

    scope = {"type": "websocket", "path": "/graphql", "headers": [(b"host", b"evil.example.org")]}
    await AllowedHosts(None, ["wiki.example.org"])(scope, None, record)  # type: ignore[arg-type]
    assert sent[0]["type"] == "websocket.close"
