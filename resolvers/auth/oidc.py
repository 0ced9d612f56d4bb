"""Sign-in and sign-out through an OpenID Connect provider, by the authorization code flow with PKCE.

The state of a sign-in is in a signed cookie of the browser. This service redeems the code itself, and uses a claim of
the provider only after it has verified the signature, issuer, audience, times and nonce of the ID token.
"""

import ssl
import time
from base64 import urlsafe_b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from hmac import compare_digest
from secrets import token_urlsafe
from typing import Any
from urllib.parse import quote_plus, urlencode, urlsplit

import httpx
import jwt
import structlog

from content.limits import DISPLAY_NAME
from content.names import is_slug
from db.database import Database
from db.scope import Actor, ActorKind, Role

from ..errors import Conflict, Forbidden, NotFound, Unauthenticated, Unavailable
from ..tenants.tenants import as_id, find_tenant
from ..transactions.audit import Event, audit_in_own_transaction
from .credentials import LEEWAY, Signing, issue_token, reason, secret_key
from .jwks import ALGORITHMS, Jwks
from .owners import OwnerKind, ensure_owner, find_owner

DISCOVERY = "/.well-known/openid-configuration"
KNOWN_FOR = 3_600.0  # seconds for which the provider's configuration is cached
ATTEMPT = 600  # seconds within which a sign-in has to be finished
TIMEOUT = 10.0
USE = "sign-in"
JOINERS = "\u200c\u200d"
STRENGTH = {Role.READER: 1, Role.MEMBER: 2, Role.ADMIN: 3}
BEGIN_AGAIN = "This sign-in was not begun in this browser, or took longer than ten minutes. Begin it again."
REFUSED = "The provider did not let you in. Try again, or ask whoever runs it."
UNREACHABLE = "The OpenID provider cannot be reached. Try again in a moment."
NOT_KNOWN = "You have signed in, but nobody has given you a wiki here. Ask an admin of the service for one."
NO_ROLE = "You have signed in, but none of your groups may use this service. Ask an admin of the service."

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class ClaimRules:
    """The rules by which the claims of the provider determine the owner and the role of a person."""

    owner: str = "preferred_username"
    creates_owners: bool = False
    role: Role | None = Role.MEMBER
    role_claim: str | None = None
    roles: Mapping[str, Role] = field(default_factory=dict)

    def slug_of(self, claims: Mapping[str, Any]) -> str:
        """Return the slug of the person's owner. The claim is not normalised, so that two people never get one owner.

        Raises Forbidden if the claim is no slug. An id is none, although `find_owner` takes it, so that nobody can name
        another person by it.
        """
        slug = claims.get(self.owner)
        if not isinstance(slug, str) or not is_slug(slug) or as_id(slug):
            raise Forbidden(f"{NOT_KNOWN} The claim `{self.owner}` of the provider is not the slug of one.")
        return slug

    def role_of(self, claims: Mapping[str, Any]) -> Role:
        """Return the strongest role that the claims give, else the default role. Raises Forbidden for none."""
        claim = claims.get(self.role_claim) if self.role_claim else None
        values = [claim] if isinstance(claim, str) else claim if isinstance(claim, list) else []
        found = [self.roles[value] for value in values if isinstance(value, str) and value in self.roles]
        role = max(found, key=lambda candidate: STRENGTH[candidate], default=self.role)
        if role is None:
            raise Forbidden(NO_ROLE)
        return role


@dataclass(frozen=True, slots=True)
class Attempt:
    """A sign-in that has begun: the address that the browser is sent to, and the cookie with its state."""

    address: str
    cookie: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class SignedIn:
    """A finished sign-in: the token of the session, its lifetime in seconds, and the path to go on to.

    `id_token` is the provider's ID token, by which the provider identifies the session at sign-out.
    """

    token: str = field(repr=False)
    seconds: int
    next: str
    id_token: str = field(repr=False)


class Provider:
    """An OpenID Connect provider, with this service as its client."""

    def __init__(
        self,
        database: Database,
        signing: Signing,
        *,
        issuer: str,
        client_id: str,
        client_secret: str | None,
        tenant: str,
        scopes: str,
        rules: ClaimRules,
        seconds: float,
    ) -> None:
        assert signing.secret is not None
        self.database, self.signing, self.key = database, signing, secret_key(signing.secret)
        self.issuer, self.client_id, self.client_secret = issuer, client_id, client_secret
        self.tenant, self.scopes, self.rules, self.seconds = tenant, scopes, rules, seconds
        self.about: Mapping[str, Any] = {}
        self.asked_at = -KNOWN_FOR
        self.jwks: Jwks | None = None

    async def begin(self, redirect: str, next: str) -> Attempt:
        """Begin a sign-in. The provider redirects to the address `redirect`, and that goes on to the path `next`."""
        about = await self.discover()
        state, nonce, verifier = token_urlsafe(24), token_urlsafe(24), token_urlsafe(48)
        attempt = {"use": USE, "state": state, "nonce": nonce, "verifier": verifier, "next": next, "redirect": redirect}
        cookie = jwt.encode(attempt | {"exp": int(time.time()) + ATTEMPT}, self.key.key, algorithm="HS256")
        parameters = {
            "response_type": "code",
            "client_id": self.client_id,
            "redirect_uri": redirect,
            "scope": self.scopes,
            "state": state,
            "nonce": nonce,
            "code_challenge": urlsafe_b64encode(sha256(verifier.encode()).digest()).decode().rstrip("="),
            "code_challenge_method": "S256",
        }
        address = str(about["authorization_endpoint"])
        return Attempt(f"{address}{'&' if '?' in address else '?'}{urlencode(parameters)}", cookie)

    async def finish(self, answer: Mapping[str, str], cookie: str | None) -> SignedIn:
        """Finish a sign-in with the parameters of the provider's redirect. Raises Unauthenticated or Forbidden."""
        attempt = self.read_cookie(cookie)
        if not compare_digest(answer.get("state", "").encode(), str(attempt["state"]).encode()):
            raise Unauthenticated(BEGIN_AGAIN)
        if answer.get("iss", self.issuer) != self.issuer or "code" not in answer:
            log.info("sign_in_refused", reason=answer.get("error", "")[:100])
            raise Unauthenticated(REFUSED)
        claims, id_token = await self.redeem(answer["code"], attempt)
        return SignedIn(await self.session(claims), int(self.seconds), str(attempt["next"]), id_token)

    async def end_session(self, id_token: str | None, back: str) -> str | None:
        """Return the provider's address for sign-out, which redirects to the address `back` (RP-initiated logout).

        Return None if the provider has no such address or cannot be reached.
        """
        try:
            address = (await self.discover()).get("end_session_endpoint")
        except (Unauthenticated, Unavailable):
            return None
        if not isinstance(address, str) or urlsplit(address).scheme not in ("http", "https"):
            return None
        parameters = {"client_id": self.client_id, "post_logout_redirect_uri": back}
        parameters |= {"id_token_hint": id_token} if id_token else {}
        return f"{address}{'&' if '?' in address else '?'}{urlencode(parameters)}"

    def read_cookie(self, cookie: str | None) -> Mapping[str, Any]:
        """Return the state of a sign-in from its cookie. Raises Unauthenticated for an invalid or expired cookie."""
        try:
            attempt: dict[str, Any] = jwt.decode(
                cookie or "", self.key, algorithms=["HS256"], options={"require": ["exp"], "verify_aud": False}
            )
        except jwt.PyJWTError:
            raise Unauthenticated(BEGIN_AGAIN) from None
        if attempt.get("use") != USE:
            raise Unauthenticated(BEGIN_AGAIN)
        return attempt

    # -- requests to the provider

    async def discover(self) -> Mapping[str, Any]:
        """Return the provider's configuration, which is fetched once an hour."""
        if time.monotonic() - self.asked_at > KNOWN_FOR:
            about = await self.fetch_json("GET", self.issuer.rstrip("/") + DISCOVERY)
            wanted = ("authorization_endpoint", "token_endpoint", "jwks_uri")
            if about.get("issuer") != self.issuer or not all(isinstance(about.get(name), str) for name in wanted):
                log.error("oidc_discovery", issuer=self.issuer, said=str(about.get("issuer"))[:200])
                raise Unavailable(
                    "The OpenID provider is not the one in CAIRN_OIDC_ISSUER, or its configuration is incomplete."
                )
            self.about, self.asked_at, self.jwks = about, time.monotonic(), Jwks(about["jwks_uri"])
        return self.about

    async def redeem(self, code: str, attempt: Mapping[str, Any]) -> tuple[Mapping[str, Any], str]:
        """Redeem the code at the provider. Return the verified claims and the ID token.

        Claims that the ID token lacks are read from the userinfo endpoint.
        """
        about = await self.discover()
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": str(attempt["redirect"]),
            "code_verifier": str(attempt["verifier"]),
            "client_id": self.client_id,
        }
        response = await self.fetch_json(
            "POST", about["token_endpoint"], data=form | self.in_form(), auth=self.in_header()
        )
        if not isinstance(response.get("id_token"), str):
            raise Unauthenticated(REFUSED)
        claims = await self.verify_token(response["id_token"], str(attempt["nonce"]))
        wanted = {self.rules.owner, self.rules.role_claim or self.rules.owner}
        if wanted <= claims.keys() or "userinfo_endpoint" not in about or "access_token" not in response:
            return claims, response["id_token"]
        bearer = {"authorization": f"Bearer {response['access_token']}"}
        more = await self.fetch_json("GET", about["userinfo_endpoint"], headers=bearer)
        if more.get("sub") != claims["sub"]:
            raise Unauthenticated(REFUSED)
        return {**more, **claims}, response["id_token"]

    def in_form(self) -> dict[str, str]:
        """Return the client secret as form fields, if the provider does not accept it in the header."""
        ways = self.about.get("token_endpoint_auth_methods_supported", ["client_secret_basic"])
        is_there = self.client_secret is not None and "client_secret_basic" not in ways
        return {"client_secret": self.client_secret or ""} if is_there else {}

    def in_header(self) -> httpx.BasicAuth | None:
        """Return the client's id and secret for the Authorization header, escaped as in RFC 6749, section 2.3.1."""
        secret = None if self.in_form() else self.client_secret
        return httpx.BasicAuth(quote_plus(self.client_id), quote_plus(secret)) if secret else None

    async def verify_token(self, token: str, nonce: str) -> dict[str, Any]:
        """Verify an ID token and return its claims. Raises Unauthenticated."""
        assert self.jwks is not None
        try:
            header = jwt.get_unverified_header(token)
            algorithm = header.get("alg")
            if algorithm not in ALGORITHMS:
                raise jwt.InvalidAlgorithmError
            key = await self.jwks.key(header.get("kid"), algorithm)
            claims: dict[str, Any] = jwt.decode(
                token,
                key,
                algorithms=[algorithm],
                issuer=self.issuer,
                audience=self.client_id,
                leeway=LEEWAY,
                options={"require": ["exp", "iat", "iss", "aud", "sub"], "enforce_minimum_key_length": True},
            )
        except jwt.PyJWTError as error:
            log.warning("id_token_refused", reason=reason(error))
            raise Unauthenticated(REFUSED) from None
        is_ours = claims.get("azp", self.client_id) == self.client_id
        if not is_ours or not compare_digest(str(claims.get("nonce", "")).encode(), nonce.encode()):
            raise Unauthenticated(REFUSED)
        return claims

    async def fetch_json(self, method: str, url: str, **more: Any) -> Mapping[str, Any]:
        """Send a request to the provider and return the JSON object of its response.

        Raises Unauthenticated if the provider refuses the request, and Unavailable if it cannot be reached.
        """
        try:
            async with httpx.AsyncClient(timeout=TIMEOUT) as client:
                response = await client.request(method, url, **more)
            if 400 <= response.status_code < 500:
                log.warning("oidc_refused", url=url, status=response.status_code)
                raise Unauthenticated(REFUSED)
            document = response.raise_for_status().json()
        except (httpx.HTTPError, ssl.SSLError, ValueError, RecursionError) as error:
            log.warning("oidc_not_reached", url=url, reason=str(error)[:200] or type(error).__name__)
            raise Unavailable(UNREACHABLE) from None
        return document if isinstance(document, dict) else {}

    # -- the session

    async def session(self, claims: Mapping[str, Any]) -> str:
        """Return a token for the person of these claims, who must be an owner of the kind user. Raises Forbidden."""
        slug, role = self.rules.slug_of(claims), self.rules.role_of(claims)
        tenant = await find_tenant(self.database, self.tenant)
        try:
            if self.rules.creates_owners:
                name = display_name(claims.get("name")) or slug
                owner = await ensure_owner(self.database, tenant.id, OwnerKind.USER, slug, name)
            else:
                owner = await find_owner(self.database, tenant.id, slug)
        except (NotFound, Conflict):
            raise Forbidden(NOT_KNOWN) from None
        if owner.kind is not OwnerKind.USER:
            raise Forbidden(NOT_KNOWN)
        by = Actor(ActorKind.USER, str(owner.id))
        await audit_in_own_transaction(self.database, tenant.id, by, Event.SIGN_IN, owner.id, role=role, way="oidc")
        return issue_token(self.signing, owner, role, self.seconds, ActorKind.USER)


def display_name(name: object) -> str:
    """Return the name that a provider gives, without characters that cannot be seen; an empty text if none are left.

    Joiners between letters stay, as Persian and Indic names and emoji have them.
    """
    if not isinstance(name, str):
        return ""
    seen = "".join(letter if letter.isprintable() or letter in JOINERS else " " for letter in name)
    return " ".join(seen.split())[: DISPLAY_NAME.maximum].strip(f" {JOINERS}")
