"""Positions in the write-ahead log of the primary, by which a client reads its own writes from replicas.

The response to a write has a position, and a read that sends it sees that write. The header is `Cairn-Position`;
browsers keep the position in a cookie, and GraphQL has it in `extensions.position` too.
"""

from collections.abc import Callable

from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from db.database import Database
from db.replicas.routing import ROUTE, UNKNOWN, Route, format_position, parse_position
from selection.execute.engine import Answer, with_extension

from .request import FAULTY_POSITION, header

HEADER = b"cairn-position"
GRAPHQL_PATHS = ("/graphql", "/graphql/v0")
MCP_PATH = "/mcp"
CookieName = Callable[[Request], str | None]


class Positions:
    """Middleware that routes reads to replicas where possible, and adds the position to the response of a write."""

    def __init__(self, app: ASGIApp, database: Database, cookie_name: CookieName, max_age: float) -> None:
        """Create the middleware.

        `cookie_name` returns the name of the position's cookie for a request of the reader, else None. The cookie lasts
        `max_age` seconds, after which every replica in use has received the write.
        """
        self.app, self.database, self.cookie_name, self.max_age = app, database, cookie_name, max_age

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or self.database.replicas is None:
            await self.app(scope, receive, send)
            return
        position = header(scope, HEADER)
        request = Request(scope)
        cookie = self.cookie_name(request)
        route = Route(is_open=may_read_replicas(scope, position))
        try:
            route.wanted = parse_position(position) if position else cookie_position(request, cookie)
        except ValueError:
            scope[FAULTY_POSITION] = True

        async def send_with_position(message: Message) -> None:
            if (
                route.commits
                and message["type"] == "http.response.start"
                and (position := await position_of_writes(self.database, route))
            ):
                message["headers"] = [*message.get("headers", ()), (HEADER, position.encode())]
                if cookie:
                    message["headers"].append((b"set-cookie", self.set_cookie(scope, cookie, position)))
            await send(message)

        before = ROUTE.set(route)
        try:
            await self.app(scope, receive, send_with_position)
        finally:
            ROUTE.reset(before)

    def set_cookie(self, scope: Scope, name: str, position: str) -> bytes:
        secure = "; Secure" if scope.get("scheme") == "https" else ""
        return f"{name}={position}; Max-Age={self.max_age:.0f}; Path=/; HttpOnly; SameSite=Lax{secure}".encode()


def may_read_replicas(scope: Scope, position: str | None) -> bool:
    """Return whether replicas may serve the request, as far as its head shows.

    MCP clients without a position use the primary, since their agents expect to read their own writes.
    """
    path = scope["path"]
    if path in GRAPHQL_PATHS:
        return True
    return position is not None if path == MCP_PATH else scope["method"] in ("GET", "HEAD")


def cookie_position(request: Request, cookie: str | None) -> int:
    """Return the position in the browser's cookie, or 0 without a cookie.

    An invalid position is no error, because the user cannot correct it: UNKNOWN makes the primary answer.
    """
    value = request.cookies.get(cookie) if cookie else None
    try:
        return parse_position(value) if value else 0
    except ValueError:
        return UNKNOWN


async def position_of_writes(database: Database, route: Route) -> str | None:
    """Return a position after all writes of the request so far, or None if it wrote nothing."""
    if database.replicas is None or not route.commits:
        return None
    if route.told_after != route.commits:
        commits = route.commits
        route.told, route.told_after = await database.replicas.position(), commits
    return format_position(route.told)


async def with_position(database: Database, answer: Answer) -> Answer:
    """Return the answer of an operation, with the position of its writes in `extensions.position` if it wrote."""
    route = ROUTE.get()
    if route is None or not answer.executed or (position := await position_of_writes(database, route)) is None:
        return answer
    return with_extension(answer, "position", position)
