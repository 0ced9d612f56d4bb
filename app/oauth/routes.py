"""The OAuth routes: metadata of the protected resource (RFC 9728), and the authorization server (RFC 8414)."""

from typing import Final

from mcp.server.auth.routes import create_auth_routes, create_protected_resource_routes
from mcp.server.auth.settings import ClientRegistrationOptions, RevocationOptions
from pydantic import AnyHttpUrl
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from db.database import Database
from resolvers.auth.api_keys import SCOPES
from resolvers.auth.credentials import Signing

from ..http.errors import error_body, send_json
from ..http.request import Bodies, Refused, replay_body
from ..settings import Settings, signing_secret
from .server import AuthorizationServer

BODY_MAX: Final = 64_000  # bytes
OFFERED_SCOPES: Final = [name for name in SCOPES if name != "wiki:admin"]
"""The scopes that a program may request. No program gets the rights of an admin."""


class BoundedBody:
    """Middleware that reads the body of a request before the request is handled: it must be small and come in time."""

    def __init__(self, app: ASGIApp) -> None:
        self.app, self.bodies = app, Bodies(BODY_MAX)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            body = await self.bodies.read(scope, receive)
        except Refused as refused:
            await send_json(send, refused.status, error_body(refused.message, refused.code))
        else:
            await self.app(scope, replay_body(body, receive), send)


def resource_of(settings: Settings) -> str | None:
    """Return the URL of the MCP endpoint, the resource of all OAuth tokens, or None if OAuth is off."""
    return None if settings.oauth == "off" else f"{settings.base_url}/mcp"


def metadata_url(settings: Settings) -> str | None:
    """Return the URL of the resource metadata, which names the authorization server, or None if OAuth is off.

    Responses with status 401 refer programs to it.
    """
    return None if settings.oauth == "off" else f"{settings.base_url}/.well-known/oauth-protected-resource/mcp"


def authorization_server(settings: Settings, database: Database) -> AuthorizationServer | None:
    """Return the authorization server of this service, or None unless CAIRN_OAUTH is `own`."""
    resource = resource_of(settings)
    if settings.oauth != "own" or resource is None:
        return None
    signing = Signing(signing_secret(settings), settings.jwt_issuer, None)
    return AuthorizationServer(database, signing, settings.base_url, resource)


def oauth_routes(settings: Settings, server: AuthorizationServer | None) -> list[Route]:
    """Return the routes of OAuth, which need no credential. There are none if OAuth is off."""
    resource = resource_of(settings)
    if resource is None:
        return []
    issuer = AnyHttpUrl(settings.base_url if server else settings.jwt_issuer or "")
    routes = create_protected_resource_routes(AnyHttpUrl(resource), [issuer], OFFERED_SCOPES, "Cairn")
    if server is not None:
        routes += create_auth_routes(
            server,
            issuer,
            client_registration_options=ClientRegistrationOptions(
                enabled=True, valid_scopes=OFFERED_SCOPES, default_scopes=OFFERED_SCOPES
            ),
            revocation_options=RevocationOptions(enabled=True),
        )
    return [Route(route.path, BoundedBody(route.app), methods=route.methods) for route in routes]
