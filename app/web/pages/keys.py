"""The page for API keys, by which admins of the tenant create, list, rotate and revoke them."""

from datetime import UTC, datetime, timedelta
from typing import Any

from starlette.responses import Response

from db.scope import Role
from resolvers.auth.api_keys import SCOPES
from resolvers.errors import BadInput, Forbidden
from schema.enums import WikiRole

from ..endpoint import Visit, path_to, redirect
from .write import refuse_errors

DAYS = (30, 90, 365)
OVERLAPS = {str(seconds): seconds for seconds in (0, 3_600, 86_400, 7 * 86_400, 90 * 86_400)}
ROLES = tuple(WikiRole.__members__)
ADMINS = "Only admins of the tenant can create API keys here. On the server, run `cairn keys create`."


async def list_keys(visit: Visit) -> Response:
    return await keys_page(visit)


async def keys_page(visit: Visit, status: int = 200, **values: Any) -> Response:
    """Show the keys. A new secret is shown once, and the response is not cached. Raises Forbidden for other roles."""
    if visit.wiki.role is not Role.ADMIN:
        raise Forbidden(ADMINS)
    found = await visit.ask("keys", "Keys", after=visit.parameter("after") or None)
    given = {"name": "", "role": Role.READER.name, "days": "90", "networks": "", "scopes": ()}
    usual = {"made": None, "former_until": None, "errors": (), "given": given}
    lists = {"days": DAYS, "roles": ROLES, "scopes": SCOPES, "overlaps": OVERLAPS}
    response = await visit.show("keys.html", status, **lists, **{**usual, **values}, **found)
    response.headers["cache-control"] = "no-store"
    return response


async def make_key(visit: Visit) -> Response:
    """Create a key for the wiki that the path names, and show its secret once."""
    given: dict[str, Any] = {name: visit.form_field(name).strip() for name in ("name", "role", "days", "networks")}
    given["scopes"] = [scope for scope in SCOPES if visit.form_field(scope)]
    if given["role"] not in ROLES or given["days"] not in ("", *map(str, DAYS)):
        raise BadInput("Choose a role and an expiry from the lists.", "role")
    ends = datetime.now(UTC) + timedelta(days=int(given["days"])) if given["days"] else None
    wanted = {
        "name": given["name"],
        "role": given["role"],
        "owners": [visit.owner],
        "scopes": given["scopes"] or None,
        "networks": given["networks"].replace(",", " ").split() or None,
        "expiresAt": ends and ends.isoformat(),
    }
    done = await visit.do("keys", "Create", input=wanted)
    if done["userErrors"]:
        return await keys_page(visit, 422, errors=done["userErrors"], given=given)
    return await keys_page(visit, made=done["key"])


async def rotate_key(visit: Visit) -> Response:
    """Replace the secret of a key and show the new one once. The former secret is valid until the overlap ends."""
    if visit.form_field("overlap") not in OVERLAPS:
        raise BadInput("Choose a time from the list.", "overlap")
    wanted = {"id": visit.form_field("id"), "overlapSeconds": OVERLAPS[visit.form_field("overlap")]}
    done = await visit.do("keys", "Rotate", input=wanted)
    if done["userErrors"]:
        return await keys_page(visit, 422, errors=done["userErrors"])
    return await keys_page(visit, made=done["key"], former_until=done["apiKey"]["formerUntil"])


async def revoke_key(visit: Visit) -> Response:
    refuse_errors(await visit.do("keys", "Revoke", id=visit.form_field("id")))
    return redirect(path_to("keys", visit.owner or ""))
