"""Sets the headers that every answer has for browsers, and checks the host and the origin of requests."""

from collections.abc import Callable, Iterable
from functools import lru_cache

from starlette.datastructures import Headers as StarletteHeaders
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from ..settings import Settings
from .errors import answer, error_body
from .request import header

Headers = list[tuple[bytes, bytes]]

FIXED: Headers = [
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"),
    (b"cross-origin-resource-policy", b"same-origin"),
]
SENT = [
    "authorization", "cairn-position", "content-type", "idempotency-key", "if-match", "if-none-match", "last-event-id",
    "mcp-method", "mcp-name", "mcp-protocol-version", "mcp-session-id", "traceparent", "tracestate", "x-cairn-owner",
    "x-mcp-toolsets", "x-request-id",
]  # fmt: skip
SHOWN = ["cairn-position", "etag", "idempotency-replayed", "location", "retry-after", "x-request-id"]
PROBES = ("/healthz", "/readyz")


def security_headers(settings: Settings) -> Headers:
    """Return the headers of every answer; HSTS only if the operator has said that all of this host is HTTPS."""
    if not settings.hsts_seconds:
        return FIXED
    return [*FIXED, (b"strict-transport-security", f"max-age={settings.hsts_seconds}".encode())]


def completing(fixed: Headers) -> Callable[[Iterable[tuple[bytes, bytes]]], Headers]:
    """The answer's own headers, and those of `fixed` for which it has none: GraphiQL's page has its own policy."""

    @lru_cache(256)
    def lacking(*names: bytes) -> Headers:
        known = {name.lower() for name in names}
        return [pair for pair in fixed if pair[0] not in known]

    def completed(given: Iterable[tuple[bytes, bytes]]) -> Headers:
        own = list(given)
        return own + lacking(*[name for name, _ in own])

    return completed


def browser_rules(settings: Settings) -> list[Middleware]:
    """Return the middleware that stands between a browser and everything that is served."""
    rules = []
    if settings.allowed_hosts:
        rules.append(Middleware(AllowedHosts, hosts=settings.allowed_hosts))
    rules.append(Middleware(
        Cors, allow_origins=settings.cors_origins or (), allow_methods=["DELETE", "GET", "PATCH", "POST"],
        allow_headers=SENT, expose_headers=SHOWN, max_age=3600,
    ))  # fmt: skip
    return rules


class Cors(CORSMiddleware):
    """CORS for the origins that are set. A preflight request of any other is refused with the setting's name."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_from_a_page = scope["type"] == "http" and header(scope, b"origin") is not None
        if is_from_a_page and (self.allow_origins or scope["method"] == "OPTIONS"):
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
    """Answers for these names alone, `*.example.org` being all below that one; probes ask by address."""

    def __init__(self, app: ASGIApp, hosts: Iterable[str]) -> None:
        self.app = app
        self.exact = {host for host in hosts if not host.startswith("*.")}
        self.below = tuple(host[1:] for host in hosts if host.startswith("*."))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan" or scope["path"] in PROBES or self.answers_for(header(scope, b"host") or ""):
            await self.app(scope, receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 4403, "reason": "This host is not served here."})
        else:
            await answer(send, 400, error_body("This host is not served here.", "BAD_HOST"))

    def answers_for(self, given: str) -> bool:
        name = without_port(given).lower()
        return name in self.exact or name.endswith(self.below)


def without_port(host: str) -> str:
    """Return the host without its port: `[::1]:8000` is `[::1]`."""
    name, colon, port = host.rpartition(":")
    return name if colon and port.isdecimal() and not name.endswith(":") else host
