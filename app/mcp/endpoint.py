"""POST /mcp: MCP over streamable HTTP, each request by itself and answered with JSON."""

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
from ..http.request import INLINE_MAX, JSON, Bodies, Refused, credential_of, header, parse_in_thread, parse_json
from ..http.responses import NO_STORE, Headers
from ..oauth.routes import metadata_url, resource_of
from ..settings import Settings
from ..subscriptions.routes import is_same_site
from .caller import Caller, ToolBackend
from .catalogue import parse_toolsets
from .server import Asked, make_server, reads_errors_at_any_status

DEPTH = 32


async def check_extent(body: bytes, most: int) -> None:
    """Refuse more than so many values in a message: what is left is long texts, which are read quickly.

    A short body cannot hold many, and one that is no JSON is for the SDK to refuse.
    """
    if len(body) > INLINE_MAX:
        await parse_in_thread(len(body), lambda: check(body, most))


def check(body: bytes, most: int) -> None:
    try:
        message = parse_json(body, "The message")
    except Refused:
        return
    try:
        measure_variables({"message": message}, Limits(variable_values=most, variable_depth=DEPTH))
    except GraphQLError:
        raise Refused(413, f"A message holds {most} values at most, {DEPTH} levels deep.", "LIMIT_EXCEEDED") from None


TOOLSETS = b"x-mcp-toolsets"
CALLER = "cairn.caller"  # where a request keeps who calls
LOCAL = ("127.0.0.1", "localhost", "[::1]")


class ToolsEndpoint:
    """The endpoint of the tools: the same credentials, sizes and origins as that of GraphQL."""

    def __init__(self, reach: ToolBackend, credentials: Credentials, settings: Settings) -> None:
        self.reach, self.credentials, self.bodies = reach, credentials, Bodies(settings.max_body)
        self.most_values = settings.max_variables
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
        """Serve MCP. A service of this machine alone has only its own names: a web page can make others lead here."""
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
            toolsets = parse_toolsets(asked) if (asked := toolsets_asked(scope)) else None
            body = await self.bodies.read(scope, receive)
            await check_extent(body, self.most_values)
        except Refused as refused:
            status, told = refused.status, error_body(refused.message, refused.code)
        except CairnError as error:
            status, told = status_of_error(error), error_body(error.message, **error.extensions)
            more += error_headers(error, self.metadata)
        except Exception as error:
            status, told = fault_response(error)
        else:
            scope[CALLER] = self.reach.caller(wiki, toolsets)
            await self.manager.handle_request(scope, replay_body(body, receive), private(scope, send))
            return
        await refuse(send, status, told, more)


def toolsets_asked(scope: Scope) -> str:
    """Return the toolsets that a client asks for: by a header, or in the address, where it takes nothing else."""
    given = header(scope, TOOLSETS)
    return given or ",".join(parse_qs(scope["query_string"].decode("latin-1")).get("toolsets", ()))


def caller_of(asked: Asked) -> Caller:
    request: Any = asked.request
    caller: Caller = request.scope[CALLER]
    return caller


def replay_body(body: bytes, receive: Receive) -> Receive:
    """Return a `receive` that gives the body in one piece, and then whatever the client does next."""
    message: Message | None = {"type": "http.request", "body": body, "more_body": False}

    async def replayed() -> Message:
        nonlocal message
        if message is None:
            return await receive()
        first, message = message, None
        return first

    return replayed


def private(scope: Scope, send: Send) -> Send:
    """Return a `send` that forbids caching, and adds Retry-After if the answer failed only for now.

    A JSON-RPC error for want of the database has status 503 for clients that read errors at any status: the others
    end their session. Such an answer is begun with its body, which says what it is.
    """
    begun: Message | None = None
    reads_errors = reads_errors_at_any_status((header(scope, b"mcp-protocol-version") or "").strip())

    async def marked(message: Message) -> None:
        nonlocal begun
        if message["type"] == "http.response.start":
            message["headers"] = [*message.get("headers", ()), *NO_STORE, *retry_headers()]
            if reads_errors and retry_headers():
                begun = message
                return
        elif begun is not None:
            if is_outage(message.get("body", b"")):
                begun["status"] = 503
            await send(begun)
            begun = None
        await send(message)

    return marked


def is_outage(body: bytes) -> bool:
    """Return whether this is the whole of a JSON-RPC error whose call may work in a moment."""
    try:
        answer = orjson.loads(body)
    except orjson.JSONDecodeError:
        return False
    error = answer.get("error") if isinstance(answer, dict) else None
    return error is not None and (error.get("data") or {}).get("code") == Unavailable.code


async def refuse(send: Send, status: int, body: bytes, more: Headers) -> None:
    extra = [(b"allow", b"POST")] if status == 405 else HEADERS_BY_STATUS.get(status, [])
    kind, length = (b"content-type", JSON.encode()), (b"content-length", b"%d" % len(body))
    await send({"type": "http.response.start", "status": status, "headers": [kind, length, *more, *extra]})
    await send({"type": "http.response.body", "body": body})
