"""Adds security headers for browsers to every response, and checks the host and the origin of requests."""

from collections.abc import Callable, Iterable
from functools import lru_cache

from starlette.datastructures import Headers as StarletteHeaders
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from ..settings import Settings
from .errors import error_body, send_json
from .request import header

Headers = list[tuple[bytes, bytes]]

SECURITY_HEADERS: Headers = [
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"),
    (b"cross-origin-resource-policy", b"same-origin"),
]
ALLOWED_HEADERS = [
    "authorization", "cairn-position", "content-type", "idempotency-key", "if-match", "if-none-match", "last-event-id",
    "mcp-method", "mcp-name", "mcp-protocol-version", "mcp-session-id", "traceparent", "tracestate", "x-cairn-owner",
    "x-mcp-toolsets", "x-request-id",
]  # fmt: skip
EXPOSED_HEADERS = ["cairn-position", "etag", "idempotency-replayed", "location", "retry-after", "x-request-id"]
PROBES = ("/healthz", "/readyz")


def security_headers(settings: Settings) -> Headers:
    """Return the security headers of every response, with HSTS only if the operator has set its duration."""
    if not settings.hsts_seconds:
        return SECURITY_HEADERS
    return [*SECURITY_HEADERS, (b"strict-transport-security", f"max-age={settings.hsts_seconds}".encode())]


def defaults_adder(defaults: Headers) -> Callable[[Iterable[tuple[bytes, bytes]]], Headers]:
    """Return a function that adds the default headers that a response lacks.

    A header that the response sets itself takes precedence: GraphiQL's page has its own policy, for example.
    """

    @lru_cache(256)
    def missing_defaults(*names: bytes) -> Headers:
        present = {name.lower() for name in names}
        return [pair for pair in defaults if pair[0] not in present]

    def with_defaults(headers: Iterable[tuple[bytes, bytes]]) -> Headers:
        own = list(headers)
        return own + missing_defaults(*[name for name, _ in own])

    return with_defaults


def browser_rules(settings: Settings) -> list[Middleware]:
    """Return the middleware that checks the Host header and applies CORS, for all paths."""
    rules = []
    if settings.allowed_hosts:
        rules.append(Middleware(AllowedHosts, hosts=settings.allowed_hosts))
    rules.append(Middleware(
        Cors, allow_origins=settings.cors_origins or (), allow_methods=["DELETE", "GET", "PATCH", "POST"],
        allow_headers=ALLOWED_HEADERS, expose_headers=EXPOSED_HEADERS, max_age=3600,
    ))  # fmt: skip
    return rules


class Cors(CORSMiddleware):
    """CORS middleware for the configured origins. The refusal of a preflight from another origin names the setting."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        has_origin = scope["type"] == "http" and header(scope, b"origin") is not None
        if has_origin and (self.allow_origins or scope["method"] == "OPTIONS"):
            await super().__call__(scope, receive, send)
        else:
            await self.app(scope, receive, send)

    def preflight_response(self, request_headers: StarletteHeaders) -> Response:
        response = super().preflight_response(request_headers)
        if response.status_code == 200:
            return response
        origin = request_headers["origin"]
        message = "Pages of this origin may not call this service. The operator allows origins with CAIRN_CORS_ORIGINS."
        if self.is_allowed_origin(origin):
            message = f"The browser asks for a method or header that is not allowed: {bytes(response.body).decode()}."
        return Response(error_body(message, "CORS_NOT_ALLOWED"), 403, media_type="application/json")


class AllowedHosts:
    """Middleware that refuses requests for other host names. `*.example.org` allows all subdomains of that name.

    Health probes are exempt, because they use the IP address.
    """

    def __init__(self, app: ASGIApp, hosts: Iterable[str]) -> None:
        self.app = app
        self.exact = {host for host in hosts if not host.startswith("*.")}
        self.suffixes = tuple(host[1:] for host in hosts if host.startswith("*."))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan" or scope["path"] in PROBES or self.is_allowed(header(scope, b"host") or ""):
            await self.app(scope, receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 4403, "reason": "This host is not served here."})
        else:
            await send_json(send, 400, error_body("This host is not served here.", "BAD_HOST"))

    def is_allowed(self, host: str) -> bool:
        name = without_port(host).lower()
        return name in self.exact or name.endswith(self.suffixes)


def without_port(host: str) -> str:
    """Return the host without its port: `[::1]:8000` is `[::1]`."""
    name, colon, port = host.rpartition(":")
    return name if colon and port.isdecimal() and not name.endswith(":") else host
