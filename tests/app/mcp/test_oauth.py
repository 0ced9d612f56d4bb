"""Tests the authorisation of programs with OAuth: the client of the SDK, the consent page, tokens and refusals."""

import re
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import httpx2
import jwt
import pytest
from mcp import Client
from mcp.client.auth import OAuthFlowError
from mcp.client.streamable_http import streamable_http_client

from db.scope import Role
from tests.app.clients.agents import Agent
from tests.app.clients.bytes_client import connect
from tests.app.clients.web_client import SAME_ORIGIN, add_page, signed_in
from tests.app.mcp.oauth_programs import (
    CALLBACK,
    VERIFIER,
    TokenStorage,
    authorization_request,
    authorize_program,
    connect_program,
    credentials,
    redeem_code,
    refresh,
    register,
    request_code,
    stored_credentials,
)
from tests.app.service import PLAIN, SECRET, Service, serving
from tests.wiki import Wiki


@pytest.fixture
async def service(dsn: str, tmp_path: Path) -> AsyncIterator[Service]:
    async with serving(dsn, tmp_path, oauth="own") as service:
        yield service


async def test_the_client_of_the_sdk_connects_without_a_token(service: Service, wiki: Wiki) -> None:
    storage = TokenStorage()
    token = service.token(wiki.scope.tenant_id, wiki.scope.owner_id)
    async with signed_in(service, token) as browser:
        async with connect_program(service, browser, storage) as agent:
            assert (await agent.call("wiki_create", title="Kilns", type="topic", content="Hot."))[
                "page"
            ] == "topic/kilns"
        page = await browser.get("/programs", follow_redirects=True)
        assert "Test program" in page.text
        assert "can read and write" in page.text
    (revision,) = await wiki.rows("revisions", "id")
    assert (revision["author_kind"], revision["author_id"]) == ("agent", "Test program for O")


async def test_the_name_of_a_person_may_contain_a_joiner(service: Service, wiki: Wiki) -> None:
    """Persian names and emoji have joiners, which are not printable characters."""
    name = {"with": "\u0639\u0644\u06cc\u200c\u0631\u0636\u0627", "without": "\u0639\u0644\u06cc\u0631\u0636\u0627"}
    await wiki.connection.execute("UPDATE owners SET name = $2 WHERE id = $1", wiki.scope.owner_id, name["with"])
    token = service.token(wiki.scope.tenant_id, wiki.scope.owner_id)
    async with signed_in(service, token) as browser, connect_program(service, browser, TokenStorage()) as agent:
        await agent.call("wiki_create", title="Kilns", type="topic", content="Hot.")
    (revision,) = await wiki.rows("revisions", "id")
    assert revision["author_id"] == f"Test program for {name['without']}"


async def test_a_person_can_limit_a_program_to_reading(service: Service, wiki: Wiki) -> None:
    storage = TokenStorage()
    token = service.token(wiki.scope.tenant_id, wiki.scope.owner_id)
    async with signed_in(service, token) as browser, connect_program(service, browser, storage, access="read") as agent:
        error, _ = await agent.expect_error("wiki_create", title="Kilns", type="topic", content="Hot.")
        assert error["code"] == "FORBIDDEN"
        assert "wiki_create" not in {tool.name for tool in (await agent.client.list_tools()).tools}
    assert storage.tokens is not None
    assert storage.tokens.scope == "wiki:read"


async def test_a_reader_cannot_let_a_program_write(service: Service, wiki: Wiki) -> None:
    storage = TokenStorage()
    token = service.token(wiki.scope.tenant_id, wiki.scope.owner_id, Role.READER)
    async with (
        signed_in(service, token) as browser,
        connect_program(service, browser, storage, access="write") as agent,
    ):
        error, _ = await agent.expect_error("wiki_create", title="Kilns", type="topic", content="Hot.")
        assert error["code"] == "FORBIDDEN"
    assert storage.tokens is not None
    assert storage.tokens.scope == "wiki:read"


async def test_a_person_can_deny_access_to_a_program(service: Service, wiki: Wiki) -> None:
    token = service.token(wiki.scope.tenant_id, wiki.scope.owner_id)
    async with signed_in(service, token) as browser:
        with pytest.raises(BaseExceptionGroup) as failed:
            async with connect_program(service, browser, TokenStorage(), decision="deny"):
                pass
        assert failed.group_contains(OAuthFlowError)
        assert "No program is connected." in (await browser.get("/programs", follow_redirects=True)).text


async def test_a_token_for_mcp_is_refused_by_graphql_and_rest(service: Service, wiki: Wiki) -> None:
    storage = await authorize_program(service, wiki)
    assert storage.tokens is not None
    token = storage.tokens.access_token
    claims = jwt.decode(token, SECRET, algorithms=["HS256"], audience=f"{service.url}/mcp")
    assert (claims["role"], claims["actor_kind"]) == ("member", "agent")
    assert claims["exp"] - claims["iat"] == 900
    refused = await service.post("{ viewer { role } }", token)
    assert refused.status_code == 401
    assert "another audience" in refused.headers["www-authenticate"]
    rest = await service.http.get("/api/wiki/pages", headers={"authorization": f"Bearer {token}"})
    assert rest.status_code == 401


async def test_a_reused_refresh_token_revokes_its_replacement(service: Service, wiki: Wiki) -> None:
    storage = await authorize_program(service, wiki)
    assert storage.tokens is not None
    first = storage.tokens.refresh_token
    answer = await refresh(service, storage, first)
    assert answer.status_code == 200, answer.text
    second = answer.json()["refresh_token"]
    assert second != first
    assert answer.json()["scope"] == "wiki:read wiki:write"
    assert (await refresh(service, storage, first)).json()["error"] == "invalid_grant"
    assert (await refresh(service, storage, second)).json()["error"] == "invalid_grant", (
        "a reused token may have been stolen"
    )


async def test_a_program_that_is_disconnected_gets_no_more_tokens(service: Service, wiki: Wiki) -> None:
    storage = await authorize_program(service, wiki)
    assert storage.tokens is not None
    async with signed_in(service, service.token(wiki.scope.tenant_id, wiki.scope.owner_id)) as browser:
        page = await browser.get("/programs", follow_redirects=True)
        (program,) = re.findall(r'name="program" value="([^"]+)"', page.text)
        assert ("never used" in page.text, "last used" in page.text) == (False, True)
        path = page.url.path
        assert f'href="{path}"' in (await browser.get("/", follow_redirects=True)).text
        assert (await browser.post(path, data={"program": program}, headers=SAME_ORIGIN)).status_code == 303
        assert (await browser.post(path, data={"program": program}, headers=SAME_ORIGIN)).status_code == 404
        assert "No program is connected." in (await browser.get(path)).text
    assert (await refresh(service, storage, storage.tokens.refresh_token)).json()["error"] == "invalid_grant"


PROGRAMS = """query($owner: String) { wikiConnectedPrograms(owner: $owner) {
    nodes { id name redirectUri role usedAt } } }"""
DISCONNECT = """mutation($input: DisconnectWikiProgramInput!) { disconnectWikiProgram(input: $input) {
    disconnectedId userErrors { code } } }"""


async def test_only_the_owner_lists_and_disconnects_programs_over_graphql(service: Service, wiki: Wiki) -> None:
    storage = await authorize_program(service, wiki)
    own = service.token(wiki.scope.tenant_id, wiki.scope.owner_id)
    (program,) = (await service.ask(PROGRAMS, own))["data"]["wikiConnectedPrograms"]["nodes"]
    assert (program["name"], program["redirectUri"], program["role"]) == ("Test program", CALLBACK, "MEMBER")
    assert program["usedAt"] is not None
    neighbour = await wiki.neighbour()
    other = service.token(wiki.scope.tenant_id, neighbour.scope.owner_id)
    assert (await service.ask(PROGRAMS, other))["data"]["wikiConnectedPrograms"]["nodes"] == []
    refused = await service.ask(DISCONNECT, other, input={"id": program["id"]})
    assert [error["extensions"]["code"] for error in refused["errors"]] == ["NOT_FOUND"]
    reader = service.token(wiki.scope.tenant_id, wiki.scope.owner_id, Role.READER)
    refused = await service.ask(DISCONNECT, reader, input={"id": program["id"]})
    assert [error["extensions"]["code"] for error in refused["errors"]] == ["FORBIDDEN"]
    done = (await service.ask(DISCONNECT, own, input={"id": program["id"]}))["data"]["disconnectWikiProgram"]
    assert done == {"disconnectedId": program["id"], "userErrors": []}
    assert (await service.ask(PROGRAMS, own))["data"]["wikiConnectedPrograms"]["nodes"] == []
    assert storage.tokens is not None
    assert (await refresh(service, storage, storage.tokens.refresh_token)).status_code == 400


async def test_a_program_ends_its_own_authorization(service: Service, wiki: Wiki) -> None:
    storage = await authorize_program(service, wiki)
    assert storage.tokens is not None
    sent = {"token": storage.tokens.refresh_token, "token_type_hint": "refresh_token"} | stored_credentials(storage)
    assert (await service.http.post("/revoke", data=sent)).status_code == 200
    assert (await refresh(service, storage, storage.tokens.refresh_token)).json()["error"] == "invalid_grant"


async def test_a_code_is_redeemed_once_by_its_client_with_its_verifier(service: Service, wiki: Wiki) -> None:
    ours, other = await register(service), await register(service)
    async with signed_in(service, service.token(wiki.scope.tenant_id, wiki.scope.owner_id)) as browser:
        code = await request_code(service, browser, ours)
        for client, verifier in ((other, VERIFIER), (ours, "x" * 50)):
            refused = await redeem_code(service, client, code, verifier)
            assert (refused.status_code, refused.json()["error"]) == (400, "invalid_grant")
        good = await redeem_code(service, ours, code)
        assert good.status_code == 200, good.text
        assert (await redeem_code(service, ours, code)).json()["error"] == "invalid_grant"
        form = {"grant_type": "refresh_token", "refresh_token": good.json()["refresh_token"]}
        answer = await service.http.post("/token", data=form | credentials(ours))
        assert answer.json()["error"] == "invalid_grant", "a code that is redeemed twice may have been stolen"


@pytest.mark.parametrize(
    "uri",
    ["http://evil.example/cb", "javascript:alert(1)", "data:text/html,x", "https://ok.example/#part", "file:///etc/x"],
)
async def test_unsafe_redirect_uris_are_refused(service: Service, uri: str) -> None:
    answer = await service.http.post("/register", json={"redirect_uris": [uri], "client_name": "x"})
    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_redirect_uri")


@pytest.mark.parametrize(
    "changed",
    [
        lambda request: request | {"redirect_uri": "https://evil.example/cb"},
        lambda request: request | {"client_id": "nobody"},
        lambda request: request | {"client_id": request["client_id"][:-2] + "xx"},
    ],
)
async def test_a_tampered_authorization_request_is_not_redirected(
    service: Service, changed: Callable[[dict[str, str]], dict[str, str]]
) -> None:
    request = changed(authorization_request(await register(service)))
    answer = await service.http.get("/authorize", params=request)
    assert answer.status_code == 400
    assert "location" not in answer.headers


async def test_a_request_for_another_resource_is_an_invalid_target(service: Service) -> None:
    request = authorization_request(await register(service)) | {"resource": "https://other.example/mcp"}
    answer = await service.http.get("/authorize", params=request)
    assert answer.status_code == 302
    assert answer.headers["location"].startswith(f"{CALLBACK}?error=invalid_target")


async def test_a_consent_request_without_a_valid_signature_is_refused(service: Service, wiki: Wiki) -> None:
    forged = jwt.encode({"client": "x"}, SECRET, algorithm="HS256")
    async with signed_in(service, service.token(wiki.scope.tenant_id, wiki.scope.owner_id)) as browser:
        for given in ("", "nonsense", forged):
            page = await browser.get("/connect", params={"request": given})
            assert page.status_code == 422
            assert "Start again in the program" in page.text
        stranger = await browser.post("/connect", data={"request": forged}, headers={"sec-fetch-site": "cross-site"})
        assert stranger.status_code == 403


async def test_a_person_who_is_not_signed_in_is_redirected_to_sign_in(service: Service) -> None:
    redirect = await service.http.get("/authorize", params=authorization_request(await register(service)))
    answer = await service.http.get(redirect.headers["location"])
    assert answer.status_code == 303
    assert answer.headers["location"].startswith("/sign-in?next=%2Fconnect%3Frequest%3D")


async def test_large_registration_bodies_are_refused(service: Service) -> None:
    many = {"redirect_uris": [CALLBACK] * 10_000, "client_name": "x"}
    assert (await service.http.post("/register", json=many)).status_code == 413


async def test_a_401_of_mcp_names_the_resource_metadata(service: Service) -> None:
    answer = await service.http.post("/mcp", json={})
    assert answer.status_code == 401
    url = f"{service.url}/.well-known/oauth-protected-resource/mcp"
    assert answer.headers["www-authenticate"] == f'Bearer realm="cairn", resource_metadata="{url}"'
    metadata = (await service.http.get(url)).json()
    assert metadata["resource"] == f"{service.url}/mcp"
    assert metadata["scopes_supported"] == ["wiki:read", "wiki:write"]
    server = (await service.http.get("/.well-known/oauth-authorization-server")).json()
    assert [issuer.rstrip("/") for issuer in metadata["authorization_servers"]] == [server["issuer"].rstrip("/")]
    assert server["code_challenge_methods_supported"] == ["S256"]


async def test_without_the_oauth_setting_its_endpoints_are_not_found(dsn: str, tmp_path: Path, wiki: Wiki) -> None:
    async with serving(dsn, tmp_path) as service:
        for path in ("/.well-known/oauth-protected-resource/mcp", "/authorize"):
            assert (await service.http.get(path)).status_code == 404
        assert (await service.http.post("/mcp", json={})).headers["www-authenticate"] == 'Bearer realm="cairn"'
        token = service.token(wiki.scope.tenant_id, wiki.scope.owner_id)
        async with signed_in(service, token) as browser:
            assert (await browser.get("/connect", params={"request": "x"})).status_code == 404


async def test_scopes_of_another_issuer_limit_the_role(dsn: str, tmp_path: Path, wiki: Wiki) -> None:
    async with serving(dsn, tmp_path) as service:
        claims = {"tenant": str(wiki.scope.tenant_id), "owner": str(wiki.scope.owner_id), "exp": 4_000_000_000}
        expected = {
            ("admin", "wiki:read"): "READER", ("admin", "openid wiki:write"): "MEMBER", ("member", "openid"): "MEMBER",
            (None, "wiki:write"): "MEMBER", ("reader", "wiki:admin"): "READER", ("service", "wiki:write"): "MEMBER",
        }  # fmt: skip
        for (role, scope), shown in expected.items():
            given: dict[str, Any] = claims | {"scope": scope} | ({"role": role} if role else {})
            answer = await service.ask("{ viewer { role } }", jwt.encode(given, SECRET, algorithm="HS256"))
            assert answer == {"data": {"viewer": {"role": shown}}}, (role, scope)


async def test_chat_products_search_and_fetch(service: Service, wiki: Wiki) -> None:
    await add_page(wiki, "Kilns", "A kiln is hot.")
    token = service.token(wiki.scope.tenant_id, wiki.scope.owner_id)
    headers = {"authorization": f"Bearer {token}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=30, verify=PLAIN) as http,
        Client(streamable_http_client(f"{service.url}/mcp?toolsets=chat", http_client=http)) as client,
    ):
        assert [tool.name for tool in (await client.list_tools()).tools] == ["search", "fetch"]
        agent = Agent(client)
        (found,) = (await agent.call("search", query="kiln"))["results"]
        assert found["title"] == "Kilns"
        document = await agent.call("fetch", id=found["id"])
        assert document["text"] == "A kiln is hot."
        assert document["metadata"]["name"] == "topic/kilns"
        assert document["url"] == found["url"]
        error, _ = await agent.expect_error("fetch", id="nothing")
        assert error["code"] in ("NOT_FOUND", "BAD_USER_INPUT")
    async with signed_in(service, token) as browser:
        page = await browser.get(found["url"])
        assert (page.status_code, "A kiln is hot." in page.text) == (200, True)


@pytest.mark.parametrize("path", ["/token", "/register", "/revoke"])
async def test_an_incomplete_request_of_a_program_times_out(
    service: Service, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    monkeypatch.setattr("app.http.request.READ_TIMEOUT", 0.1)
    async with connect(service) as client:
        await client.send(f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{{".encode())
        assert (await client.read_response())[0] == b"HTTP/1.1 408 Request Timeout"
