"""The audit log of a tenant, for its admins."""

from typing import Any

from sqlalchemy import Select, func, or_, select

from ...tables import audit_events


def listed(action: Any = None, outcome: Any = None, actor_id: Any = None, since: Any = None) -> Select[Any]:
    """Select the events, the newest first. `action` is an action, or the part of several actions before the dot."""
    event = audit_events.alias()
    query = select(event).order_by(event.c.id.desc())
    if action is not None:
        query = query.where(or_(event.c.action == action, func.starts_with(event.c.action, func.concat(action, "."))))
    if outcome is not None:
        query = query.where(event.c.outcome == outcome)
    if actor_id is not None:
        query = query.where(event.c.actor_id == actor_id)
    return query if since is None else query.where(event.c.at >= since)
