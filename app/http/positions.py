"""Positions in the log of the primary: a write is answered with one, and a read that brings it sees that write.

The header is `Cairn-Position`. Browsers keep the position in a cookie, and GraphQL has it in `extensions.position` too.
"""

from collections.abc import Callable

from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from db.database import Database
from db.replicas.routing import ROUTE, UNKNOWN, Route, format_position, parse_position
from selection.execute.engine import Answer, with_extension

from .request import FAULTY_POSITION, header

HEADER = b"cairn-position"
BY_OPERATION = ("/graphql", "/graphql/v0")
BY_CLIENT = "/mcp"
CookieOf = Callable[[Request], str | None]


class Positions:
    """Gives each request a route: reads may go to replicas, and the answer of a write has its position."""

    def __init__(self, app: ASGIApp, database: Database, cookie_of: CookieOf, seconds: float) -> None:
        """`cookie_of` names the cookie of a page's request, if it has one. It is kept for `seconds`, in which every
        replica that serves gets all that was written before."""
        self.app, self.database, self.cookie_of, self.seconds = app, database, cookie_of, seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or self.database.replicas is None:
            await self.app(scope, receive, send)
            return
        given = header(scope, HEADER)
        request = Request(scope)
        cookie = self.cookie_of(request)
        route = Route(is_open=may_read_replicas(scope, given))
        try:
            route.wanted = parse_position(given) if given else cookie_position(request, cookie)
        except ValueError:
            scope[FAULTY_POSITION] = True

        async def marking(message: Message) -> None:
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
            await self.app(scope, receive, marking)
        finally:
            ROUTE.reset(before)

    def set_cookie(self, scope: Scope, name: str, position: str) -> bytes:
        secure = "; Secure" if scope.get("scheme") == "https" else ""
        return f"{name}={position}; Max-Age={self.seconds:.0f}; Path=/; HttpOnly; SameSite=Lax{secure}".encode()


def may_read_replicas(scope: Scope, given: str | None) -> bool:
    """Return whether the request only reads, as far as its head says. Agents, whose clients know no positions, read
    what they have just written: they are answered by the primary."""
    path = scope["path"]
    if path in BY_OPERATION:
        return True
    return given is not None if path == BY_CLIENT else scope["method"] in ("GET", "HEAD")


def cookie_position(request: Request, cookie: str | None) -> int:
    """Return the position that a browser has kept. One that is none is of no use to its user: the primary answers."""
    found = request.cookies.get(cookie) if cookie else None
    try:
        return parse_position(found) if found else 0
    except ValueError:
        return UNKNOWN


async def position_of_writes(database: Database, route: Route) -> str | None:
    """Return a position behind all that the request has written, or None where it wrote nothing."""
    if database.replicas is None or not route.commits:
        return None
    if route.told_after != route.commits:
        commits = route.commits
        route.told, route.told_after = await database.replicas.position(), commits
    return format_position(route.told)


async def with_position(database: Database, answer: Answer) -> Answer:
    """Return the answer of an operation with the position of what it wrote."""
    route = ROUTE.get()
    if route is None or not answer.executed or (position := await position_of_writes(database, route)) is None:
        return answer
    return with_extension(answer, "position", position)
