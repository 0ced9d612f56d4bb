"""API keys, for admins, without the secrets."""

from typing import Any

from sqlalchemy import ColumnElement, Select, any_, case, func, select

from selection.declare.mapping import OuterRow

from ...tables import api_keys, owners
from ..references import rows_by_id

by_ids = rows_by_id(api_keys)


def listed() -> Select[Any]:
    """Select the keys, the oldest first, because ids grow with time."""
    key = api_keys.alias()
    return select(key).order_by(key.c.id)


def owners_of(key: OuterRow) -> Select[Any]:
    """Select the owners of a key in order. By default the key works in the wiki of the first one."""
    owner = owners.alias()
    place = func.array_position(key.c.owner_ids, owner.c.id)
    return select(owner).where(owner.c.id == any_(key.c.owner_ids)).order_by(place, owner.c.id)


def former_until(key: OuterRow) -> ColumnElement[Any]:
    """Return the time until which the secret before the last rotation is accepted, or null if it is not any more."""
    return case((key.c.former_until > func.now(), key.c.former_until), else_=None)


def state(key: OuterRow) -> ColumnElement[Any]:
    """Return the state of a key, like resolvers.auth.api_keys.ApiKey.state."""
    return case(
        (key.c.revoked_at.is_not(None), "revoked"),
        (key.c.expires_at <= func.now(), "expired"),
        else_="active",
    )
