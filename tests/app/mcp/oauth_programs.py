"""Programs that are authorised with OAuth, the person in the browser, and the requests between them."""

import re
from base64 import urlsafe_b64encode
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from hashlib import sha256
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import httpx2
from mcp import Client
from mcp.client.auth import OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientInformationFull, OAuthClientMetadata, OAuthToken
from pydantic import AnyUrl

from tests.app.clients.agents import Agent
from tests.app.clients.web_client import SAME, signed_in
from tests.app.service import PLAIN, Service
from tests.wiki import Wiki

CALLBACK = "http://127.0.0.1:3030/callback"
VERIFIER = "v" * 64
REQUEST = re.compile(r'name="request" value="([^"]+)"')


class Kept:
    """The tokens and registration that a program stores between its runs."""

    def __init__(self) -> None:
        self.tokens: OAuthToken | None = None
        self.client: OAuthClientInformationFull | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info


async def answered(browser: httpx.AsyncClient, url: str, decision: str = "allow", access: str = "write") -> str:
    """Answer the consent page, and return the address in the program to which the browser is redirected."""
    asked = await browser.get(url)
    assert asked.status_code == 302, asked.text
    page = await browser.get(asked.headers["location"])
    assert page.status_code == 200, page.text
    assert "Test program" in page.text
    assert "form-action 'self' http://127.0.0.1:3030" in page.headers["content-security-policy"]
    (request,) = REQUEST.findall(page.text)
    given = {"request": request, "decision": decision, "access": access}
    sent = await browser.post("/connect", data=given, headers=SAME)
    assert sent.status_code == 303, sent.text
    return str(sent.headers["location"])


@asynccontextmanager
async def connected(
    service: Service, browser: httpx.AsyncClient, kept: Kept, decision: str = "allow", access: str = "write"
) -> AsyncIterator[Agent]:
    """Connect an agent whose program knows only the address of the tools."""
    came: list[str] = []

    async def shown(url: str) -> None:
        came.append(await answered(browser, url, decision, access))

    async def taken() -> AuthorizationCodeResult:
        asked = {name: values[0] for name, values in parse_qs(urlsplit(came[-1]).query).items()}
        return AuthorizationCodeResult(code=asked.get("code", ""), state=asked.get("state"), iss=asked.get("iss"))

    about = OAuthClientMetadata(redirect_uris=[AnyUrl(CALLBACK)], client_name="Test program")
    auth = OAuthClientProvider(f"{service.url}/mcp", about, kept, shown, taken)
    async with (
        httpx2.AsyncClient(auth=auth, timeout=30, verify=PLAIN) as http,
        Client(streamable_http_client(f"{service.url}/mcp", http_client=http)) as client,
    ):
        yield Agent(client)


async def registered(service: Service) -> dict[str, Any]:
    about = {"redirect_uris": [CALLBACK], "client_name": "Test program"}
    answer = await service.http.post("/register", json=about)
    assert answer.status_code == 201, answer.text
    found: dict[str, Any] = answer.json()
    return found


def credentials(client: dict[str, Any]) -> dict[str, str]:
    return {"client_id": client["client_id"], "client_secret": client["client_secret"]}


def request_of(client: dict[str, Any]) -> dict[str, str]:
    return {
        "response_type": "code", "client_id": client["client_id"], "redirect_uri": CALLBACK, "state": "s",
        "code_challenge": challenge_of(VERIFIER), "code_challenge_method": "S256", "scope": "wiki:read wiki:write",
    }  # fmt: skip


def challenge_of(verifier: str) -> str:
    return urlsafe_b64encode(sha256(verifier.encode()).digest()).decode().rstrip("=")


async def code_for(service: Service, browser: httpx.AsyncClient, client: dict[str, Any]) -> str:
    url = str(httpx.URL(f"{service.url}/authorize", params=request_of(client)))
    return parse_qs(urlsplit(await answered(browser, url)).query)["code"][0]


async def redeemed(service: Service, client: dict[str, Any], code: str, verifier: str = VERIFIER) -> httpx.Response:
    sent = {"grant_type": "authorization_code", "code": code, "redirect_uri": CALLBACK, "code_verifier": verifier}
    return await service.http.post("/token", data=sent | credentials(client))


async def tokens_of(service: Service, wiki: Wiki) -> Kept:
    """Return the tokens of a program that was authorised to read and write."""
    kept = Kept()
    token = service.token(wiki.scope.tenant_id, wiki.scope.owner_id)
    async with signed_in(service, token) as browser, connected(service, browser, kept) as agent:
        await agent.call("wiki_list")
    return kept


def secret_of(kept: Kept) -> dict[str, str]:
    assert kept.client is not None
    assert kept.client.client_secret is not None
    return {"client_id": kept.client.client_id, "client_secret": kept.client.client_secret}


async def refreshed(service: Service, kept: Kept, token: str | None) -> httpx.Response:
    sent = {"grant_type": "refresh_token", "refresh_token": token or ""} | secret_of(kept)
    return await service.http.post("/token", data=sent)
