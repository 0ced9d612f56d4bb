"""Access of programs by OAuth: the consent page, and the list of connected programs."""

from urllib.parse import urlsplit

from starlette.responses import RedirectResponse, Response

from resolvers.errors import BadInput, NotFound

from ...oauth.server import AuthorizationServer
from ..endpoint import Visit
from ..paths import path_to, redirect
from .write import raise_first_error

OFF = "OAuth is not enabled. The operator of this service can enable it with CAIRN_OAUTH=own."


async def show_consent(visit: Visit) -> Response:
    """Show the consent page: which program requests access to the wiki, and with which scopes."""
    request, _ = await require_server(visit).request_of(visit.parameter("request"))
    found = await visit.query("connect", "Connect")
    return await visit.show(
        "connect.html",
        allowed_form_origin=origin_of(request.redirect_uri),
        program=request.client.name,
        host=host_of(request.redirect_uri),
        may_write="wiki:write" in request.scopes and found["viewer"]["role"] != "READER",
        signed=visit.parameter("request"),
        **found,
    )


async def decide(visit: Visit) -> Response:
    """Redirect the browser back to the program, with an authorization code or with an error."""
    server = require_server(visit)
    request, state = await server.request_of(visit.form_field("request"))
    decision = visit.form_field("decision")
    if decision == "deny":
        return redirect_to_program(server.deny(request, state))
    if decision != "allow" or visit.form_field("access") not in ("read", "write"):
        raise BadInput("Choose the access of the program.", "access")
    if visit.form_field("access") == "read":
        request = request.reading()
    viewer = (await visit.query("connect", "Connect"))["viewer"]
    person = viewer["actorName"] or viewer["owner"]["name"]
    return redirect_to_program(await server.allow(visit.wiki, request, state, person))


async def own_programs(visit: Visit) -> Response:
    return redirect(path_to("programs", (await visit.query("connect", "Connect"))["viewer"]["owner"]["slug"]))


async def programs(visit: Visit) -> Response:
    """List the programs that have access to the wiki."""
    found = await visit.query("connect", "Programs", after=visit.parameter("after") or None)
    for program in found["programs"]["nodes"]:
        program["host"] = host_of(program["redirectUri"])
    return await visit.show("programs.html", **found)


async def disconnect(visit: Visit) -> Response:
    disconnect_input = {"owner": visit.owner, "id": visit.form_field("program")}
    raise_first_error(await visit.mutate("connect", "Disconnect", input=disconnect_input))
    return redirect(path_to("programs", visit.owner or ""))


def require_server(visit: Visit) -> AuthorizationServer:
    if visit.web.oauth is None:
        raise NotFound(OFF)
    return visit.web.oauth


def host_of(uri: str) -> str:
    """Return the host of a redirect URI, or its scheme for a program with a scheme of its own, to show to a person."""
    parts = urlsplit(uri)
    return parts.hostname if parts.hostname and parts.scheme in ("http", "https") else f"{parts.scheme}:"


def origin_of(uri: str) -> str:
    """Return the source expression of a redirect URI for the directive `form-action` of a policy."""
    parts = urlsplit(uri)
    return f"{parts.scheme}://{parts.netloc}" if parts.scheme in ("http", "https") else f"{parts.scheme}:"


def redirect_to_program(uri: str) -> Response:
    return RedirectResponse(uri, status_code=303, headers={"cache-control": "no-store"})
