"""The page for API keys, by which admins of the tenant create, list, rotate and revoke them."""

from datetime import UTC, datetime, timedelta
from typing import Any

from starlette.responses import Response

from db.scope import Role
from resolvers.auth.api_keys import SCOPES
from resolvers.errors import BadInput, Forbidden
from schema.enums import WikiRole

from ..endpoint import Visit
from ..paths import path_to, redirect
from .write import raise_first_error

DAYS = (30, 90, 365)
OVERLAPS = {str(seconds): seconds for seconds in (0, 3_600, 86_400, 7 * 86_400, 90 * 86_400)}
ROLES = tuple(WikiRole.__members__)
ADMINS = "Only admins of the tenant can create API keys here. On the server, run `cairn keys create`."


async def keys_page(visit: Visit, status: int = 200, **values: Any) -> Response:
    """Show the keys. A new secret is shown once, and the response is not cached. Raises Forbidden for non-admins."""
    if visit.wiki.role is not Role.ADMIN:
        raise Forbidden(ADMINS)
    found = await visit.query("keys", "Keys", after=visit.parameter("after") or None)
    fields = {"name": "", "role": Role.READER.name, "days": "90", "networks": "", "scopes": ()}
    defaults = {"new_key": None, "former_until": None, "errors": (), "fields": fields}
    lists = {"days": DAYS, "roles": ROLES, "scopes": SCOPES, "overlaps": OVERLAPS}
    response = await visit.show("keys.html", status, **lists, **{**defaults, **values}, **found)
    response.headers["cache-control"] = "no-store"
    return response


async def make_key(visit: Visit) -> Response:
    """Create a key for the wiki that the path names, and show its secret once."""
    fields: dict[str, Any] = {name: visit.form_field(name).strip() for name in ("name", "role", "days", "networks")}
    fields["scopes"] = [scope for scope in SCOPES if visit.form_field(scope)]
    if fields["role"] not in ROLES or fields["days"] not in ("", *map(str, DAYS)):
        raise BadInput("Choose a role and an expiry from the lists.", "role")
    expires_at = datetime.now(UTC) + timedelta(days=int(fields["days"])) if fields["days"] else None
    key_input = {
        "name": fields["name"],
        "role": fields["role"],
        "owners": [visit.owner],
        "scopes": fields["scopes"] or None,
        "networks": fields["networks"].replace(",", " ").split() or None,
        "expiresAt": expires_at and expires_at.isoformat(),
    }
    payload = await visit.mutate("keys", "Create", input=key_input)
    if payload["userErrors"]:
        return await keys_page(visit, 422, errors=payload["userErrors"], fields=fields)
    return await keys_page(visit, new_key=payload["key"])


async def rotate_key(visit: Visit) -> Response:
    """Replace the secret of a key and show the new one once. The former secret is valid until the overlap ends."""
    if visit.form_field("overlap") not in OVERLAPS:
        raise BadInput("Choose a time from the list.", "overlap")
    rotation_input = {"id": visit.form_field("id"), "overlapSeconds": OVERLAPS[visit.form_field("overlap")]}
    payload = await visit.mutate("keys", "Rotate", input=rotation_input)
    if payload["userErrors"]:
        return await keys_page(visit, 422, errors=payload["userErrors"])
    return await keys_page(visit, new_key=payload["key"], former_until=payload["apiKey"]["formerUntil"])


async def revoke_key(visit: Visit) -> Response:
    raise_first_error(await visit.mutate("keys", "Revoke", id=visit.form_field("id")))
    return redirect(path_to("keys", visit.owner or ""))
