"""API keys of programs: made for a wiki, listed and revoked, by admins of the tenant."""

from datetime import UTC, datetime, timedelta
from typing import Any

from starlette.responses import Response

from db.scope import Role
from resolvers.errors import BadInput, Forbidden
from schema.enums import WikiRole

from ..endpoint import Visit, path_to, redirect
from .write import refuse_errors

DAYS = (30, 90, 365)
ROLES = tuple(WikiRole.__members__)
ADMINS = "API keys are made by admins of the tenant, or with `cairn keys create` on the server's machine."


async def list_keys(visit: Visit) -> Response:
    return await keys_page(visit)


async def keys_page(visit: Visit, status: int = 200, **values: Any) -> Response:
    """Show the keys; the one that was just made is shown this once, and kept by no browser."""
    if visit.wiki.role is not Role.ADMIN:
        raise Forbidden(ADMINS)
    found = await visit.ask("keys", "Keys", after=visit.asked("after") or None)
    usual = {"made": None, "errors": (), "given": {"name": "", "role": Role.READER.name, "days": "90"}}
    response = await visit.show("keys.html", status, days=DAYS, roles=ROLES, **{**usual, **values}, **found)
    response.headers["cache-control"] = "no-store"
    return response


async def make_key(visit: Visit) -> Response:
    """Make a key for the wiki that the address names."""
    given = {name: visit.entered(name).strip() for name in ("name", "role", "days")}
    if given["role"] not in ROLES or given["days"] not in ("", *map(str, DAYS)):
        raise BadInput("Choose a role and a time of the lists.", "role")
    ends = datetime.now(UTC) + timedelta(days=int(given["days"])) if given["days"] else None
    wanted = {"name": given["name"], "role": given["role"], "owners": [visit.owner]}
    done = await visit.do("keys", "Create", input=wanted | {"expiresAt": ends and ends.isoformat()})
    if done["userErrors"]:
        return await keys_page(visit, 422, errors=done["userErrors"], given=given)
    return await keys_page(visit, made=done["key"])


async def revoke_key(visit: Visit) -> Response:
    refuse_errors(await visit.do("keys", "Revoke", id=visit.entered("id")))
    return redirect(path_to("keys", visit.owner or ""))
