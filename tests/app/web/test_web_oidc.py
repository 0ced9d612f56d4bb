"""Signing in through an OpenID Connect provider: its tokens are verified, and a person gets their wiki."""

import asyncio
import json
import ssl
import time
from base64 import b64decode, urlsafe_b64encode
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import jwt
import pytest
import uvicorn
from cryptography.hazmat.primitives.asymmetric import rsa
from pydantic import ValidationError
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from app.server.serve import bind
from app.settings import Settings
from resolvers.auth.owners import OwnerKind, create_owner, find_owner
from tests.app.clients.web_client import SAME_ORIGIN
from tests.app.service import PLAIN, SECRET, serving
from tests.wiki import Wiki

KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)
OTHER = rsa.generate_private_key(public_exponent=65537, key_size=2048)
CLIENT, CLIENT_SECRET = "cairn", "a secret of the client: 1%"


@dataclass
class Issuer:
    """An OpenID Connect provider whose claims (`claims`) and discovery document (`about`) a test can change."""

    url: str = ""
    key: rsa.RSAPrivateKey = KEY
    claims: dict[str, Any] = field(default_factory=dict)
    userinfo: dict[str, Any] = field(default_factory=dict)
    about: dict[str, Any] = field(default_factory=dict)
    requested: dict[str, str] = field(default_factory=dict)
    redeemed: list[dict[str, str]] = field(default_factory=list)

    def authorise(self, address: str) -> dict[str, str]:
        """Accept the authorization request of a browser and return the parameters of the callback."""
        self.requested = {name: values[0] for name, values in parse_qs(urlsplit(address).query).items()}
        return {"code": "the code", "state": self.requested["state"], "iss": self.url}

    async def discovery(self, request: Request) -> JSONResponse:
        document = {"issuer": self.url, "jwks_uri": f"{self.url}/jwks", "userinfo_endpoint": f"{self.url}/me"}
        document |= {"authorization_endpoint": f"{self.url}/authorise", "token_endpoint": f"{self.url}/token"}
        return JSONResponse(document | self.about)

    async def jwks(self, request: Request) -> JSONResponse:
        public = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(KEY.public_key()))
        return JSONResponse({"keys": [public | {"kid": "1", "alg": "RS256", "use": "sig"}]})

    async def token(self, request: Request) -> JSONResponse:
        form = {name: str(value) for name, value in (await request.form()).items()}
        verifier = urlsafe_b64encode(sha256(form["code_verifier"].encode()).digest()).decode().rstrip("=")
        is_right = form["code"] == "the code" and verifier == self.requested["code_challenge"]
        self.redeemed.append(form | {"authorization": request.headers.get("authorization", "")})
        if not is_right or len(self.redeemed) > 1:
            return JSONResponse({"error": "invalid_grant"}, 400)
        now = int(time.time())
        standard = {
            "iss": self.url,
            "aud": CLIENT,
            "sub": "s-1",
            "iat": now,
            "exp": now + 60,
            "nonce": self.requested["nonce"],
        }
        claims = {name: value for name, value in (standard | self.claims).items() if value is not None}
        headers = {"kid": "1"}
        token = jwt.encode(claims, self.key, algorithm="RS256", headers=headers)
        return JSONResponse({"id_token": token, "access_token": "an access token", "token_type": "Bearer"})

    async def me(self, request: Request) -> JSONResponse:
        assert request.headers["authorization"] == "Bearer an access token"
        return JSONResponse({"sub": "s-1"} | self.userinfo)

    @asynccontextmanager
    async def running(self) -> AsyncIterator["Issuer"]:
        routes = [
            Route("/.well-known/openid-configuration", self.discovery),
            Route("/jwks", self.jwks),
            Route("/token", self.token, methods=["POST"]),
            Route("/me", self.me),
        ]
        listening = bind("127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        server = uvicorn.Server(uvicorn.Config(Starlette(routes=routes), log_level="error", lifespan="off"))
        serving = asyncio.create_task(server.serve(sockets=[listening]))
        try:
            yield self
        finally:
            server.should_exit = True
            await serving
            listening.close()


@pytest.fixture
async def issuer() -> AsyncIterator[Issuer]:
    async with Issuer(claims={"preferred_username": "mara"}).running() as running:
        yield running


@pytest.fixture
async def owner_mara(wiki: Wiki) -> str:
    await create_owner(wiki.database, wiki.scope.tenant_id, OwnerKind.USER, "mara", "Mara")
    return "mara"


@asynccontextmanager
async def browsing(
    dsn: str, tmp_path: Path, wiki: Wiki, issuer: str, **settings: Any
) -> AsyncIterator[httpx.AsyncClient]:
    """Yield a browser without a credential at a service whose people sign in at the issuer."""
    given = {"oidc_issuer": issuer, "oidc_client_id": CLIENT, "oidc_tenant": str(wiki.scope.tenant_id)} | settings
    async with serving(dsn, tmp_path, **given) as service:
        headers = {"accept": "text/html"}
        async with httpx.AsyncClient(base_url=service.url, headers=headers, timeout=30, verify=PLAIN) as browser:
            yield browser


async def sign_in(browser: httpx.AsyncClient, issuer: Issuer, **forged: str) -> httpx.Response:
    """Sign in at the provider; `forged` replaces parameters of the callback."""
    redirect = await browser.get("/sign-in/provider", params={"next": "/pages/mara"})
    assert redirect.status_code == 303, redirect.text
    parameters = issuer.authorise(redirect.headers["location"]) | forged
    return await browser.get("/sign-in/callback", params=parameters)


async def session_claims(browser: httpx.AsyncClient) -> dict[str, Any]:
    """Return the claims of the session in the browser's cookie."""
    others = ("-sign-in", "-id")
    [token] = [cookie.value for cookie in browser.cookies.jar if not cookie.name.endswith(others)]
    claims: dict[str, Any] = jwt.decode(str(token), SECRET, algorithms=["HS256"], options={"verify_aud": False})
    return claims


async def test_sign_in_uses_the_authorization_code_flow_with_pkce(
    dsn: str, tmp_path: Path, wiki: Wiki, issuer: Issuer, owner_mara: str
) -> None:
    async with browsing(dsn, tmp_path, wiki, issuer.url) as browser:
        assert 'href="/sign-in/provider?next=%2Fpages%2Fmara"' in (await browser.get("/sign-in?next=/pages/mara")).text
        done = await sign_in(browser, issuer)
        assert (done.status_code, done.headers["location"]) == (303, "/pages/mara")
        requested = issuer.requested
        assert (requested["response_type"], requested["code_challenge_method"], requested["client_id"]) == (
            "code",
            "S256",
            CLIENT,
        )
        assert requested["redirect_uri"] == f"{browser.base_url}/sign-in/callback".replace("//sign-in", "/sign-in")
        cookies = done.headers.get_list("set-cookie")
        assert all("HttpOnly" in cookie and "SameSite=lax" in cookie for cookie in cookies)
        claims = await session_claims(browser)
        assert (claims["role"], claims["actor_kind"]) == ("member", "user")
        assert 0 < claims["exp"] - time.time() <= 12 * 3_600
        assert (await browser.get("/pages/mara")).status_code == 200
        again = await browser.get("/sign-in/callback", params={"code": "the code", "state": requested["state"]})
        assert again.status_code == 401


async def test_missing_claims_are_read_from_userinfo_and_groups_give_roles(
    dsn: str, tmp_path: Path, wiki: Wiki, issuer: Issuer, owner_mara: str
) -> None:
    issuer.claims, issuer.userinfo = {}, {"preferred_username": "mara", "groups": ["staff", "wiki-admins", 7]}
    roles = {"oidc_role": "none", "oidc_role_claim": "groups", "oidc_roles": "staff=reader,wiki-admins=admin"}
    async with browsing(dsn, tmp_path, wiki, issuer.url, **roles) as browser:
        assert (await sign_in(browser, issuer)).status_code == 303
        assert (await session_claims(browser))["role"] == "admin"
    issuer.redeemed.clear()
    issuer.userinfo["groups"] = "others"
    async with browsing(dsn, tmp_path, wiki, issuer.url, **roles) as browser:
        refused = await sign_in(browser, issuer)
        assert (refused.status_code, "none of your groups" in refused.text) == (403, True)


@pytest.mark.parametrize("methods", [None, ["client_secret_post"]])
async def test_the_client_secret_is_sent_by_the_method_of_the_provider(
    dsn: str, tmp_path: Path, wiki: Wiki, issuer: Issuer, owner_mara: str, methods: list[str] | None
) -> None:
    issuer.about = {"token_endpoint_auth_methods_supported": methods} if methods else {}
    async with browsing(dsn, tmp_path, wiki, issuer.url, oidc_client_secret=CLIENT_SECRET) as browser:
        assert (await sign_in(browser, issuer)).status_code == 303
    [sent] = issuer.redeemed
    if methods:
        assert (sent["client_secret"], sent["authorization"]) == (CLIENT_SECRET, "")
    else:
        assert (
            b64decode(sent["authorization"].removeprefix("Basic ")).decode() == "cairn:a+secret+of+the+client%3A+1%25"
        )
        assert "client_secret" not in sent


@pytest.mark.parametrize(
    "claims",
    [
        {"nonce": "another"},
        {"nonce": None},
        {"aud": "another"},
        {"aud": ["cairn", "another"], "azp": "another"},
        {"iss": "https://elsewhere.example"},
        {"exp": 1},
        {"exp": None},
        {"sub": None},
    ],
    ids=str,
)
async def test_an_id_token_with_wrong_claims_is_refused(
    dsn: str, tmp_path: Path, wiki: Wiki, issuer: Issuer, owner_mara: str, claims: dict[str, Any]
) -> None:
    issuer.claims |= claims
    async with browsing(dsn, tmp_path, wiki, issuer.url) as browser:
        refused = await sign_in(browser, issuer)
        assert (refused.status_code, list(browser.cookies.jar)) == (401, [])


async def test_an_id_token_of_another_key_or_person_is_refused(
    dsn: str, tmp_path: Path, wiki: Wiki, issuer: Issuer, owner_mara: str
) -> None:
    issuer.key = OTHER
    async with browsing(dsn, tmp_path, wiki, issuer.url) as browser:
        assert (await sign_in(browser, issuer)).status_code == 401
        issuer.key, issuer.claims, issuer.userinfo = KEY, {}, {"preferred_username": "mara", "sub": "s-2"}
        issuer.redeemed.clear()
        assert (await sign_in(browser, issuer)).status_code == 401


@pytest.mark.parametrize(
    "forged", [{"state": "another"}, {"code": "another"}, {"iss": "https://elsewhere.example"}], ids=str
)
async def test_a_forged_callback_is_refused(
    dsn: str, tmp_path: Path, wiki: Wiki, issuer: Issuer, owner_mara: str, forged: dict[str, str]
) -> None:
    async with browsing(dsn, tmp_path, wiki, issuer.url) as browser:
        assert (await sign_in(browser, issuer, **forged)).status_code == 401
        assert list(browser.cookies.jar) == []


async def test_a_callback_from_another_browser_is_refused(
    dsn: str, tmp_path: Path, wiki: Wiki, issuer: Issuer, owner_mara: str
) -> None:
    async with browsing(dsn, tmp_path, wiki, issuer.url) as browser:
        redirect = await browser.get("/sign-in/provider")
        parameters = issuer.authorise(redirect.headers["location"])
        browser.cookies.clear()
        refused = await browser.get("/sign-in/callback", params=parameters)
        assert (refused.status_code, issuer.redeemed) == (401, [])
        session = jwt.encode({"state": parameters["state"], "exp": time.time() + 60}, SECRET, algorithm="HS256")
        name = f"cairn-{browser.base_url.port}-sign-in"
        refused = await browser.get("/sign-in/callback", params=parameters, headers={"cookie": f"{name}={session}"})
        assert (refused.status_code, issuer.redeemed) == (401, [])


@pytest.mark.parametrize("slug", ["nobody", "team", "Mara", " mara", "mara/../x", 7, None])
async def test_sign_in_without_an_existing_user_of_this_slug_is_refused(
    dsn: str, tmp_path: Path, wiki: Wiki, issuer: Issuer, owner_mara: str, slug: object
) -> None:
    await create_owner(wiki.database, wiki.scope.tenant_id, OwnerKind.SHARED, "team", "Team")
    issuer.claims["preferred_username"] = slug
    async with browsing(dsn, tmp_path, wiki, issuer.url, oidc_creates_owners=slug == "team") as browser:
        refused = await sign_in(browser, issuer)
        assert (refused.status_code, list(browser.cookies.jar)) == (403, [])


@pytest.mark.parametrize("creates_owners", [False, True])
async def test_the_id_of_an_owner_is_not_its_slug(
    dsn: str, tmp_path: Path, wiki: Wiki, issuer: Issuer, owner_mara: str, creates_owners: bool
) -> None:
    """Whoever may choose a name at the provider could choose the id of another person."""
    owner = await find_owner(wiki.database, wiki.scope.tenant_id, owner_mara)
    issuer.claims["preferred_username"] = str(owner.id)
    async with browsing(dsn, tmp_path, wiki, issuer.url, oidc_creates_owners=creates_owners) as browser:
        refused = await sign_in(browser, issuer)
        assert (refused.status_code, list(browser.cookies.jar)) == (403, [])


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("Wren Calloway", "Wren Calloway"),
        ("\u0639\u0644\u06cc\u200c\u0631\u0636\u0627", "\u0639\u0644\u06cc\u200c\u0631\u0636\u0627"),
        (" Wren\u00a0\x00\u202eCalloway\n", "Wren Calloway"),
        ("\u200c", "wren"),
        (None, "wren"),
    ],
)
async def test_the_first_sign_in_creates_an_owner_if_that_is_set(
    dsn: str, tmp_path: Path, wiki: Wiki, issuer: Issuer, name: str | None, shown: str
) -> None:
    issuer.claims |= {"preferred_username": "wren", "name": name}
    async with browsing(dsn, tmp_path, wiki, issuer.url, oidc_creates_owners=True) as browser:
        assert (await sign_in(browser, issuer)).status_code == 303
        assert (await browser.get("/wiki/wren")).status_code == 200
    assert (await find_owner(wiki.database, wiki.scope.tenant_id, "wren")).name == shown


async def test_an_unreachable_or_mismatched_provider_is_reported(
    dsn: str, tmp_path: Path, wiki: Wiki, issuer: Issuer
) -> None:
    issuer.about = {"issuer": "https://elsewhere.example"}
    for url in (issuer.url, "http://127.0.0.1:9"):
        async with browsing(dsn, tmp_path, wiki, url) as browser:
            answer = await browser.get("/sign-in/provider")
            assert (answer.status_code, 'role="alert"' in answer.text) == (503, True)


async def test_a_provider_that_breaks_tls_is_reported_as_unreachable(
    dsn: str, tmp_path: Path, wiki: Wiki, monkeypatch: pytest.MonkeyPatch
) -> None:
    send = httpx.AsyncHTTPTransport.handle_async_request

    async def break_off(transport: httpx.AsyncHTTPTransport, request: httpx.Request) -> httpx.Response:
        if request.url.port == 9:
            raise ssl.SSLError(1, "[SSL: DECRYPTION_FAILED_OR_BAD_RECORD_MAC] decryption failed or bad record mac")
        return await send(transport, request)

    monkeypatch.setattr(httpx.AsyncHTTPTransport, "handle_async_request", break_off)
    async with browsing(dsn, tmp_path, wiki, "http://127.0.0.1:9") as browser:
        assert (await browser.get("/sign-in/provider")).status_code == 503


async def test_sign_out_continues_at_the_end_session_endpoint_of_the_provider(
    dsn: str, tmp_path: Path, wiki: Wiki, issuer: Issuer, owner_mara: str
) -> None:
    issuer.about = {"end_session_endpoint": f"{issuer.url}/end?a=1"}
    async with browsing(dsn, tmp_path, wiki, issuer.url) as browser:
        assert (await sign_in(browser, issuer)).status_code == 303
        foreign = await browser.post("/sign-out", headers={"sec-fetch-site": "cross-site"})
        assert (foreign.status_code, (await browser.get("/pages/mara")).status_code) == (403, 200)
        left = await browser.post("/sign-out", headers=SAME_ORIGIN)
        assert (left.status_code, list(browser.cookies.jar)) == (200, [])
        address = urlsplit(left.headers["refresh"].removeprefix("0;url="))
        requested = {name: values[0] for name, values in parse_qs(address.query).items()}
        back = f"{str(browser.base_url).rstrip('/')}/sign-in"
        hint = jwt.decode(requested.pop("id_token_hint"), options={"verify_signature": False})
        assert requested == {"a": "1", "client_id": CLIENT, "post_logout_redirect_uri": back}
        assert (hint["sub"], hint["iss"], address.path) == ("s-1", issuer.url, "/end")
        assert (await browser.get("/pages/mara")).status_code == 303
        again = await browser.post("/sign-out", headers=SAME_ORIGIN)
        assert (again.status_code, again.headers["location"]) == (303, "/sign-in")


@pytest.mark.parametrize("offered", [None, 7, "javascript:alert(1)"])
async def test_sign_out_stays_local_without_a_valid_end_session_endpoint(
    dsn: str, tmp_path: Path, wiki: Wiki, issuer: Issuer, owner_mara: str, offered: object
) -> None:
    issuer.about = {"end_session_endpoint": offered}
    async with browsing(dsn, tmp_path, wiki, issuer.url) as browser:
        assert (await sign_in(browser, issuer)).status_code == 303
        left = await browser.post("/sign-out", headers=SAME_ORIGIN)
        assert (left.status_code, left.headers["location"], list(browser.cookies.jar)) == (303, "/sign-in", [])


async def test_an_id_token_too_large_for_a_cookie_is_not_sent_as_a_hint(
    dsn: str, tmp_path: Path, wiki: Wiki, issuer: Issuer, owner_mara: str
) -> None:
    issuer.about = {"end_session_endpoint": f"{issuer.url}/end"}
    issuer.claims["groups"] = ["g" * 50] * 100
    async with browsing(dsn, tmp_path, wiki, issuer.url) as browser:
        assert (await sign_in(browser, issuer)).status_code == 303
        left = await browser.post("/sign-out", headers=SAME_ORIGIN)
        assert (left.status_code, "id_token_hint" in left.headers["refresh"]) == (200, False)


async def test_sign_in_offers_no_provider_if_none_is_set(dsn: str, tmp_path: Path, wiki: Wiki) -> None:
    async with serving(dsn, tmp_path) as service:
        assert "/sign-in/provider" not in (await service.http.get("/sign-in")).text
        for path in ("/sign-in/provider", "/sign-in/callback"):
            assert (await service.http.get(path)).status_code == 404


@pytest.mark.parametrize(
    "given",
    [
        {"oidc_issuer": "http://login.example.org"},
        {"oidc_issuer": "https://login.example.org", "oidc_client_id": ""},
        {"oidc_roles": "staff=owner"},
        {"oidc_issuer": "https://login.example.org", "jwks_url": "https://x.example/jwks", "jwt_secret": None},
    ],
    ids=str,
)
def test_unsafe_oidc_settings_are_refused(tmp_path: Path, given: dict[str, Any]) -> None:
    usual = {"data_dir": tmp_path, "oidc_client_id": CLIENT, "oidc_tenant": "acme"}
    with pytest.raises(ValidationError):
        Settings(**usual | given)
