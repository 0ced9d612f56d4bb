"""Letting programs into the wiki by OAuth: what one asks for, and those that were let in."""

from urllib.parse import urlsplit
from uuid import UUID

from starlette.responses import RedirectResponse, Response

from resolvers.auth.oauth import connected_programs, disconnect_program
from resolvers.errors import BadInput, NotFound

from ...oauth.server import AuthorizationServer
from ..endpoint import Visit, redirect

OFF = "Programs are not let in by OAuth here. Whoever runs this service turns it on with CAIRN_OAUTH=own."


async def ask(visit: Visit) -> Response:
    """Show who asks to use the wiki, and for what."""
    request, _ = await server_of(visit).request_of(visit.asked("request"))
    found = await visit.ask("connect")
    return await visit.show(
        "connect.html",
        leads_to=origin_of(request.redirect_uri),
        program=request.client.name,
        host=host_of(request.redirect_uri),
        may_write="wiki:write" in request.scopes and found["viewer"]["role"] != "READER",
        signed=visit.asked("request"),
        **found,
    )


async def decide(visit: Visit) -> Response:
    """Send the browser back to the program, with a code or with a refusal."""
    server = server_of(visit)
    request, state = await server.request_of(visit.entered("request"))
    decision = visit.entered("decision")
    if decision == "deny":
        return away(server.deny(request, state))
    if decision != "allow" or visit.entered("access") not in ("read", "write"):
        raise BadInput("Choose what the program may do.", "access")
    if visit.entered("access") == "read":
        request = request.reading()
    viewer = (await visit.ask("connect"))["viewer"]
    person = viewer["actorName"] or viewer["owner"]["name"]
    return away(await server.allow(visit.wiki, request, state, person))


async def programs(visit: Visit) -> Response:
    """List the programs that may use the wiki."""
    connected = await connected_programs(visit.web.database, visit.wiki)
    shown = [{"id": one.id, "name": one.client_name, "host": host_of(one.redirect_uri), "role": one.role.value,
              "since": one.created_at.isoformat(), "used": one.used_at and one.used_at.isoformat(),
              "until": one.expires_at.isoformat()} for one in connected]  # fmt: skip
    return await visit.show("programs.html", programs=shown, **await visit.ask("connect"))


async def disconnect(visit: Visit) -> Response:
    try:
        id = UUID(visit.entered("program"))
    except ValueError:
        raise BadInput("Choose a program of the list.", "program") from None
    await disconnect_program(visit.web.database, visit.wiki, id)
    return redirect("/programs")


def server_of(visit: Visit) -> AuthorizationServer:
    if visit.web.oauth is None:
        raise NotFound(OFF)
    return visit.web.oauth


def host_of(uri: str) -> str:
    """Return the part of a redirect URI that tells a person where the program is."""
    parts = urlsplit(uri)
    return parts.hostname if parts.hostname and parts.scheme in ("http", "https") else f"{parts.scheme}:"


def origin_of(uri: str) -> str:
    """Return the source expression for a policy that lets a form lead there."""
    parts = urlsplit(uri)
    return f"{parts.scheme}://{parts.netloc}" if parts.scheme in ("http", "https") else f"{parts.scheme}:"


def away(uri: str) -> Response:
    return RedirectResponse(uri, status_code=303, headers={"cache-control": "no-store"})
