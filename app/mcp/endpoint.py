"""POST /mcp: MCP over streamable HTTP, without sessions, with JSON responses."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import parse_qs

import orjson
from graphql import GraphQLError
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.types import Message, Receive, Scope, Send

from resolvers.auth.credentials import Credentials
from resolvers.errors import CairnError, Unavailable
from selection import Limits
from selection.limits import measure_variables

from ..http.errors import error_body, fault_response
from ..http.graphql import HEADERS_BY_STATUS, error_headers, retry_headers, status_of_error
from ..http.headers import AllowedHosts
from ..http.request import (
    INLINE_MAX,
    JSON,
    Bodies,
    Refused,
    credential_of,
    header,
    parse_in_thread,
    parse_json,
    replay_body,
)
from ..http.responses import NO_STORE, Headers
from ..oauth.routes import metadata_url, resource_of
from ..settings import Settings
from ..subscriptions.routes import is_same_site
from .caller import Caller, ToolBackend
from .catalogue import parse_toolsets
from .server import RequestContext, make_server, reads_errors_at_any_status

DEPTH_MAX = 32


async def check_size(body: bytes, max_values: int) -> None:
    """Raise Refused if a message has more than `max_values` values. Only such a message takes long to parse.

    A short body cannot have that many, and the SDK refuses a body that is not JSON.
    """
    if len(body) > INLINE_MAX:
        await parse_in_thread(len(body), lambda: check_parsed_size(body, max_values))


def check_parsed_size(body: bytes, max_values: int) -> None:
    try:
        message = parse_json(body, "The message")
    except Refused:
        return
    try:
        measure_variables({"message": message}, Limits(variable_values=max_values, variable_depth=DEPTH_MAX))
    except GraphQLError:
        detail = f"A message holds {max_values} values at most, {DEPTH_MAX} levels deep."
        raise Refused(413, detail, "LIMIT_EXCEEDED") from None


TOOLSETS = b"x-mcp-toolsets"
CALLER_KEY = "cairn.caller"  # the key of the ASGI scope for the Caller
LOCAL = ("127.0.0.1", "localhost", "[::1]")


class ToolsEndpoint:
    """The MCP endpoint. Credentials, body sizes and origins are checked as at the GraphQL endpoint."""

    def __init__(self, backend: ToolBackend, credentials: Credentials, settings: Settings) -> None:
        self.backend, self.credentials, self.bodies = backend, credentials, Bodies(settings.max_body)
        self.max_values = settings.max_variables
        self.resource, self.metadata = resource_of(settings), metadata_url(settings)
        self.origins = frozenset(settings.cors_origins or ())
        self.manager = StreamableHTTPSessionManager(
            make_server(caller_of), json_response=True, stateless=True, max_request_body_size=settings.max_body
        )
        is_local = settings.allowed_hosts is None and settings.host in ("127.0.0.1", "localhost", "::1")
        self.hosts = AllowedHosts(self.serve, LOCAL) if is_local else None

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        async with self.manager.run():
            yield

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve MCP.

        A service that listens only on this machine accepts only local host names, because a web page can make another
        name resolve to this machine (DNS rebinding).
        """
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 4404, "reason": "This path takes POST alone."})
        else:
            await (self.hosts or self.serve)(scope, receive, send)

    async def serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        more: Headers = NO_STORE
        try:
            if scope["method"] != "POST":
                raise Refused(405, "Send a POST: each request is answered by itself.", "METHOD_NOT_ALLOWED")
            if not is_same_site(scope, self.origins):
                raise Refused(
                    403, "This origin is not allowed. The operator allows origins with CAIRN_CORS_ORIGINS.", "FORBIDDEN"
                )
            wiki = await self.credentials.scope(*credential_of(scope), resource=self.resource)
            toolsets = parse_toolsets(requested) if (requested := requested_toolsets(scope)) else None
            body = await self.bodies.read(scope, receive)
            await check_size(body, self.max_values)
        except Refused as refused:
            status, response = refused.status, error_body(refused.message, refused.code)
        except CairnError as error:
            status, response = status_of_error(error), error_body(error.message, **error.extensions)
            more += error_headers(error, self.metadata)
        except Exception as error:
            status, response = fault_response(error)
        else:
            scope[CALLER_KEY] = self.backend.caller(wiki, toolsets)
            await self.manager.handle_request(scope, replay_body(body, receive), with_response_headers(scope, send))
            return
        await refuse(send, status, response, more)


def requested_toolsets(scope: Scope) -> str:
    """Return the toolsets of the request's header, or else of its query string, for clients that set no headers."""
    value = header(scope, TOOLSETS)
    return value or ",".join(parse_qs(scope["query_string"].decode("latin-1")).get("toolsets", ()))


def caller_of(context: RequestContext) -> Caller:
    request: Any = context.request
    caller: Caller = request.scope[CALLER_KEY]
    return caller


def with_response_headers(scope: Scope, send: Send) -> Send:
    """Return a `send` that forbids caching, and adds Retry-After if the call failed only temporarily.

    If the database is unavailable, a JSON-RPC error gets status 503, but only for clients that read errors at any
    status: other clients would end their session. The start of such a response is held until its body shows the error.
    """
    held: Message | None = None
    reads_errors = reads_errors_at_any_status((header(scope, b"mcp-protocol-version") or "").strip())

    async def send_with_headers(message: Message) -> None:
        nonlocal held
        if message["type"] == "http.response.start":
            message["headers"] = [*message.get("headers", ()), *NO_STORE, *retry_headers()]
            if reads_errors and retry_headers():
                held = message
                return
        elif held is not None:
            if is_outage(message.get("body", b"")):
                held["status"] = 503
            await send(held)
            held = None
        await send(message)

    return send_with_headers


def is_outage(body: bytes) -> bool:
    """Return whether the body is a JSON-RPC error about an unavailable database, after which a retry may succeed."""
    try:
        answer = orjson.loads(body)
    except orjson.JSONDecodeError:
        return False
    error = answer.get("error") if isinstance(answer, dict) else None
    return error is not None and (error.get("data") or {}).get("code") == Unavailable.code


async def refuse(send: Send, status: int, body: bytes, more: Headers) -> None:
    extra = [(b"allow", b"POST")] if status == 405 else HEADERS_BY_STATUS.get(status, [])
    content_type, length = (b"content-type", JSON.encode()), (b"content-length", b"%d" % len(body))
    await send({"type": "http.response.start", "status": status, "headers": [content_type, length, *more, *extra]})
    await send({"type": "http.response.body", "body": body})
