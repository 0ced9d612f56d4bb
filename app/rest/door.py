"""What every request under /api/wiki comes through: who asks, how much at once, for how long, and what is answered."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from fastapi.routing import APIRoute
from starlette.requests import Request
from starlette.responses import Response

from db.database import Database
from db.scope import Scope as Wiki
from resolvers.credentials import Credentials
from resolvers.errors import Unavailable
from resolvers.throttling import Account
from selection import Engine
from selection.trail import note_path

from .. import large_bodies
from ..bounds import Bounds
from ..request import Bodies, check_kind, header, parsed
from ..server.shutdown import DRAINING
from .problems import problem_of

PATH = "/api/wiki"
STOPPED = "The service stopped before this was done. Read what is there before you send a write again."


@dataclass(frozen=True)
class Door:
    """What requests share. `compress_over` and `max_import` in bytes; 0 never compresses."""

    engine: Engine
    database: Database
    credentials: Credentials
    bounds: Bounds
    bodies: Bodies
    compress_over: int
    max_import: int


@dataclass(frozen=True)
class Call:
    """A request whose caller is known, at work in a wiki."""

    door: Door
    request: "Sent"
    wiki: Wiki
    account: Account


class Sent(Request):
    """A request whose body has come, within its bounds, and is JSON where one is wanted."""

    content: bytes = b""
    document: Any = None

    async def body(self) -> bytes:
        return self.content

    async def json(self) -> Any:
        return self.document

    async def take(self, bodies: Bodies) -> None:
        check_kind(header(self.scope, b"content-type") or "")
        self.content = content = await bodies.read(self.scope, self.receive)
        self.document = await large_bodies.read(len(content), lambda: parsed(content, "The body"))


Handle = Callable[[Request], Coroutine[Any, Any, Response]]


class WikiRoute(APIRoute):
    """A path that needs a credential."""

    is_moving = False

    def get_route_handler(self) -> Handle:
        handle, wants_body = super().get_route_handler(), self.body_field is not None

        async def answer(request: Request) -> Response:
            note_path(PATH + self.path)
            try:
                return await admitted(request, handle, wants_body, self.is_moving)
            except asyncio.CancelledError:
                if not DRAINING.is_on:
                    raise
                return problem_of(Unavailable(STOPPED))
            except Exception as error:
                return problem_of(error)

        return answer


class MovingRoute(WikiRoute):
    """One that moves a whole wiki, and is given the time for it."""

    is_moving = True


async def admitted(request: Request, handle: Handle, wants_body: bool, is_moving: bool) -> Response:
    door: Door = request.app.state.door
    shown, owner = header(request.scope, b"authorization"), header(request.scope, b"x-cairn-owner")
    wiki = await door.credentials.scope(shown, owner)
    sent = Sent(request.scope, request.receive)
    if wants_body:
        await sent.take(door.bodies)

    def work(account: Account) -> Awaitable[Response]:
        request.state.call = Call(door, sent, wiki, account)
        return handle(sent)

    return await door.bounds.admit(wiki, work, is_moving=is_moving)


async def call_of(request: Request) -> Call:
    """The call that a request is. Not a plain function: those FastAPI runs in threads."""
    call: Call = request.state.call
    return call
