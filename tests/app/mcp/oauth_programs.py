"""Authorises programs with OAuth for the tests: registration, consent in a browser, codes and tokens."""

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
from tests.app.clients.web_client import SAME_ORIGIN, signed_in
from tests.app.service import PLAIN, Service
from tests.wiki import Wiki

CALLBACK = "http://127.0.0.1:3030/callback"
VERIFIER = "v" * 64
REQUEST = re.compile(r'name="request" value="([^"]+)"')


class TokenStorage:
    """Stores the tokens and the registration of a program."""

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


async def answer_consent(browser: httpx.AsyncClient, url: str, decision: str = "allow", access: str = "write") -> str:
    """Answer the consent page, and return the address of the program to which the browser is redirected."""
    redirect = await browser.get(url)
    assert redirect.status_code == 302, redirect.text
    page = await browser.get(redirect.headers["location"])
    assert page.status_code == 200, page.text
    assert "Test program" in page.text
    assert "form-action 'self' http://127.0.0.1:3030" in page.headers["content-security-policy"]
    (request,) = REQUEST.findall(page.text)
    form = {"request": request, "decision": decision, "access": access}
    answer = await browser.post("/connect", data=form, headers=SAME_ORIGIN)
    assert answer.status_code == 303, answer.text
    return str(answer.headers["location"])


@asynccontextmanager
async def connect_program(
    service: Service, browser: httpx.AsyncClient, storage: TokenStorage, decision: str = "allow", access: str = "write"
) -> AsyncIterator[Agent]:
    """Connect an agent that authorises itself and knows only the address of the MCP endpoint."""
    callbacks: list[str] = []

    async def open_consent_page(url: str) -> None:
        callbacks.append(await answer_consent(browser, url, decision, access))

    async def read_callback() -> AuthorizationCodeResult:
        query = {name: values[0] for name, values in parse_qs(urlsplit(callbacks[-1]).query).items()}
        return AuthorizationCodeResult(code=query.get("code", ""), state=query.get("state"), iss=query.get("iss"))

    metadata = OAuthClientMetadata(redirect_uris=[AnyUrl(CALLBACK)], client_name="Test program")
    auth = OAuthClientProvider(f"{service.url}/mcp", metadata, storage, open_consent_page, read_callback)
    async with (
        httpx2.AsyncClient(auth=auth, timeout=30, verify=PLAIN) as http,
        Client(streamable_http_client(f"{service.url}/mcp", http_client=http)) as client,
    ):
        yield Agent(client)


async def register(service: Service) -> dict[str, Any]:
    metadata = {"redirect_uris": [CALLBACK], "client_name": "Test program"}
    answer = await service.http.post("/register", json=metadata)
    assert answer.status_code == 201, answer.text
    client: dict[str, Any] = answer.json()
    return client


def credentials(client: dict[str, Any]) -> dict[str, str]:
    return {"client_id": client["client_id"], "client_secret": client["client_secret"]}


def authorization_request(client: dict[str, Any]) -> dict[str, str]:
    return {
        "response_type": "code", "client_id": client["client_id"], "redirect_uri": CALLBACK, "state": "s",
        "code_challenge": challenge_of(VERIFIER), "code_challenge_method": "S256", "scope": "wiki:read wiki:write",
    }  # fmt: skip


def challenge_of(verifier: str) -> str:
    return urlsafe_b64encode(sha256(verifier.encode()).digest()).decode().rstrip("=")


async def request_code(service: Service, browser: httpx.AsyncClient, client: dict[str, Any]) -> str:
    url = str(httpx.URL(f"{service.url}/authorize", params=authorization_request(client)))
    return parse_qs(urlsplit(await answer_consent(browser, url)).query)["code"][0]


async def redeem_code(service: Service, client: dict[str, Any], code: str, verifier: str = VERIFIER) -> httpx.Response:
    sent = {"grant_type": "authorization_code", "code": code, "redirect_uri": CALLBACK, "code_verifier": verifier}
    return await service.http.post("/token", data=sent | credentials(client))


async def authorize_program(service: Service, wiki: Wiki) -> TokenStorage:
    """Return the tokens of a program that was authorised to read and write."""
    storage = TokenStorage()
    token = service.token(wiki.scope.tenant_id, wiki.scope.owner_id)
    async with signed_in(service, token) as browser, connect_program(service, browser, storage) as agent:
        await agent.call("wiki_list")
    return storage


def stored_credentials(storage: TokenStorage) -> dict[str, str]:
    assert storage.client is not None
    assert storage.client.client_secret is not None
    return {"client_id": storage.client.client_id, "client_secret": storage.client.client_secret}


async def refresh(service: Service, storage: TokenStorage, token: str | None) -> httpx.Response:
    sent = {"grant_type": "refresh_token", "refresh_token": token or ""} | stored_credentials(storage)
    return await service.http.post("/token", data=sent)
