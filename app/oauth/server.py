"""The authorization server: programs register, people grant them access at /connect, and programs fetch their tokens.

The MCP SDK implements the protocol. Registrations are not stored, so that nobody can fill the database without a
credential: the id of a client is its signed registration, and its secret is derived from the id.
"""

import hmac
import time
from hashlib import sha256
from typing import Any, Final
from urllib.parse import urlsplit

import jwt
from mcp.server.auth.provider import (
    AccessToken,
    AuthorizationCode,
    AuthorizationParams,
    AuthorizeError,
    OAuthAuthorizationServerProvider,
    RefreshToken,
    RegistrationError,
    TokenError,
    construct_redirect_uri,
)
from mcp.shared.auth import OAuthClientInformationFull, OAuthToken
from pydantic import AnyHttpUrl, AnyUrl

from db.database import Database
from db.scope import Scope
from resolvers.auth import oauth
from resolvers.auth.api_keys import SCOPES
from resolvers.auth.credentials import Signing
from resolvers.auth.oauth import Authorization, AuthorizationRequest, Client, IssuedTokens
from resolvers.errors import BadInput

CONNECT: Final = "/connect"
"""The page that asks a person whether a program may use the wiki."""
REQUEST_TTL: Final = 600  # seconds that a person may take to answer
URIS_MAX: Final = 5
URI_LENGTH_MAX: Final = 400  # characters
NAME_LENGTH_MAX: Final = 80  # characters
SHOWN = ("http", "https")
REFUSED_SCHEMES = ("javascript", "data", "file", "vbscript", "blob", "about", "ftp", "ws", "wss")
LOOPBACK = ("127.0.0.1", "localhost", "[::1]", "::1")
EXPIRED = "This request has expired or is incomplete. Start again in the program that wants to connect."


class StoredCode(AuthorizationCode):
    """An authorization code, with the stored authorization that it belongs to."""

    authorization: Any


class StoredRefreshToken(RefreshToken):
    """A refresh token, with the stored authorization that it belongs to."""

    authorization: Any


class AuthorizationServer(OAuthAuthorizationServerProvider[StoredCode, StoredRefreshToken, AccessToken]):
    """The provider behind the SDK's endpoints. Its tokens are valid for `resource` only."""

    def __init__(self, database: Database, signing: Signing, base_url: str, resource: str) -> None:
        assert signing.secret is not None
        self.database = database
        self.signing = signing
        self.base_url = base_url
        self.resource = resource
        self.issuer = str(AnyHttpUrl(base_url))  # exactly as in the metadata, with a slash at the end
        self.client_key = derive_key(signing.secret, "clients")
        self.request_key = derive_key(signing.secret, "requests")

    # -- clients

    async def register_client(self, client_info: OAuthClientInformationFull) -> None:
        """Check a registration, and set the client's id and secret. Raises RegistrationError."""
        uris = [str(uri) for uri in client_info.redirect_uris or ()]
        if len(uris) > URIS_MAX or any(len(uri) > URI_LENGTH_MAX or not may_redirect_to(uri) for uri in uris):
            raise RegistrationError(
                "invalid_redirect_uri",
                f"Give at most {URIS_MAX} URIs of up to {URI_LENGTH_MAX} characters each: https, http on the loopback, "
                "or a scheme of the program's own.",
            )
        name = "".join(filter(str.isprintable, client_info.client_name or ""))[:NAME_LENGTH_MAX].strip()
        registered = {
            "id": client_info.client_id,  # random, from the SDK: it makes the secret of each client unique
            "uris": uris,
            "name": name or (urlsplit(uris[0]).hostname if uris else None) or "A program",
            "scope": client_info.scope,
            "grants": client_info.grant_types,
            "method": client_info.token_endpoint_auth_method,
            "at": client_info.client_id_issued_at,
        }
        client_info.client_id = jwt.encode(registered, self.client_key, algorithm="HS256")
        if client_info.client_secret is not None:
            client_info.client_secret = self.secret_of(client_info.client_id)

    async def get_client(self, client_id: str) -> OAuthClientInformationFull | None:
        """Return the registration that a client id contains, or None if this server did not sign the id."""
        try:
            registered = jwt.decode(client_id, self.client_key, algorithms=["HS256"])
        except jwt.PyJWTError:
            return None
        is_public = registered["method"] == "none"
        return OAuthClientInformationFull(
            client_id=client_id,
            client_secret=None if is_public else self.secret_of(client_id),
            client_name=registered["name"],
            redirect_uris=[AnyUrl(uri) for uri in registered["uris"]],
            scope=registered["scope"],
            grant_types=registered["grants"],
            token_endpoint_auth_method=registered["method"],
        )

    def secret_of(self, client_id: str) -> str:
        return hmac.new(self.client_key, client_id.encode(), sha256).hexdigest()

    # -- consent

    async def authorize(self, client: OAuthClientInformationFull, params: AuthorizationParams) -> str:
        """Return the URL of the consent page, with the signed request. Raises AuthorizeError for another resource."""
        if params.resource is not None and params.resource.rstrip("/") != self.resource:
            raise AuthorizeError("invalid_target", f"Tokens of this server are for {self.resource} alone.")
        claims = {
            "client": client.client_id,
            "scopes": params.scopes or [],
            "state": params.state,
            "challenge": params.code_challenge,
            "uri": str(params.redirect_uri),
            "is_given": params.redirect_uri_provided_explicitly,
            "exp": int(time.time()) + REQUEST_TTL,
        }
        return construct_redirect_uri(
            self.base_url + CONNECT, request=jwt.encode(claims, self.request_key, algorithm="HS256")
        )

    async def request_of(self, signed: str) -> tuple[AuthorizationRequest, str | None]:
        """Verify a signed authorization request and return it with its `state`. Raises BadInput if it is not valid."""
        try:
            claims = jwt.decode(signed, self.request_key, algorithms=["HS256"])
        except jwt.PyJWTError:
            raise BadInput(EXPIRED, "request") from None
        client = await self.get_client(claims["client"])
        if client is None:
            raise BadInput(EXPIRED, "request")
        request = AuthorizationRequest(
            Client(client.client_id, client.client_name or ""),
            tuple(name for name in claims["scopes"] or SCOPES if name in SCOPES and name != "wiki:admin"),
            self.resource,
            claims["uri"],
            claims["is_given"],
            claims["challenge"],
        )
        return request, claims["state"]

    async def allow(self, scope: Scope, request: AuthorizationRequest, state: str | None, person: str) -> str:
        """Store the authorization and return the redirect URI with the program's authorization code."""
        code = await oauth.authorize(self.database, scope, request, person)
        return construct_redirect_uri(request.redirect_uri, code=code, state=state, iss=self.issuer)

    def deny(self, request: AuthorizationRequest, state: str | None) -> str:
        """Return the redirect URI that tells the program that the person denied access."""
        return construct_redirect_uri(request.redirect_uri, error="access_denied", state=state, iss=self.issuer)

    # -- tokens

    async def load_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: str
    ) -> StoredCode | None:
        authorization = await oauth.find_by_code(self.database, authorization_code)
        if authorization is None or not authorization.is_of(client.client_id):
            return None
        return StoredCode(
            code=authorization_code,
            scopes=list(authorization.scopes),
            expires_at=time.time() + authorization.code_expires_in.total_seconds(),
            client_id=client.client_id,
            code_challenge=authorization.code_challenge,
            redirect_uri=AnyUrl(authorization.redirect_uri),
            redirect_uri_provided_explicitly=authorization.redirect_is_given,
            resource=authorization.resource,
            authorization=authorization,
        )

    async def exchange_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: StoredCode
    ) -> OAuthToken:
        return token_response(await oauth.redeem_code(self.database, self.signing, authorization_code.authorization))

    async def load_refresh_token(
        self, client: OAuthClientInformationFull, refresh_token: str
    ) -> StoredRefreshToken | None:
        authorization = await oauth.find_by_refresh_token(self.database, refresh_token)
        if authorization is None or not authorization.is_of(client.client_id):
            return None
        return StoredRefreshToken(
            token=refresh_token,
            client_id=client.client_id,
            scopes=list(authorization.scopes),
            expires_at=int(time.time() + authorization.expires_in.total_seconds()),
            resource=authorization.resource,
            authorization=authorization,
        )

    async def exchange_refresh_token(
        self, client: OAuthClientInformationFull, refresh_token: StoredRefreshToken, scopes: list[str]
    ) -> OAuthToken:
        authorization: Authorization = refresh_token.authorization
        return token_response(
            await oauth.refresh(self.database, self.signing, authorization, refresh_token.token, scopes)
        )

    async def load_access_token(self, token: str) -> AccessToken | None:
        """Return None: access tokens are short-lived and signed, and cannot be revoked individually."""
        return None

    async def revoke_token(self, token: AccessToken | StoredRefreshToken) -> None:
        """End the authorization of a refresh token. An access token is ignored: it expires soon."""
        if isinstance(token, StoredRefreshToken):
            await oauth.end(self.database, token.authorization)


def token_response(issued: IssuedTokens | None) -> OAuthToken:
    """Return issued tokens in the form of an OAuth response. Raises TokenError if none were issued."""
    if issued is None:
        raise TokenError("invalid_grant", "It was already used, or has expired. Ask the user again.")
    return OAuthToken(
        access_token=issued.access_token,
        expires_in=issued.expires_in,
        scope=" ".join(issued.scopes),
        refresh_token=issued.refresh_token,
    )


def may_redirect_to(uri: str) -> bool:
    """Return whether a redirect URI is safe for codes: https, http on the loopback, or a program's own scheme."""
    try:
        parts = urlsplit(uri)
        host = parts.hostname or ""
    except ValueError:
        return False
    if parts.fragment or not uri.isascii() or not uri.isprintable() or parts.scheme in REFUSED_SCHEMES:
        return False
    if parts.scheme == "http":
        return host in LOOPBACK
    return bool(host) if parts.scheme == "https" else bool(parts.scheme)


def derive_key(secret: str, purpose: str) -> bytes:
    """Derive a key for one purpose from the secret, so that what it signs cannot be used as an access token."""
    return hmac.new(secret.encode(errors="surrogateescape"), f"cairn oauth {purpose}".encode(), sha256).digest()
