"""Programs that users have authorized by OAuth, for these users and the tenant's admins."""

from typing import Any

from sqlalchemy import Select, any_, func, or_, select

from ...access import OWNERS
from ...tables import oauth_authorizations
from .owners import ROLE


def listed() -> Select[Any]:
    """Select the active authorizations, by which programs get tokens for a wiki, the newest first."""
    program = oauth_authorizations.alias()
    return (
        select(program)
        .where(or_(ROLE == "admin", program.c.owner_id == any_(OWNERS)))
        .where(program.c.withdrawn_at.is_(None), program.c.redeemed_at.is_not(None), program.c.expires_at > func.now())
        .order_by(program.c.id.desc())
    )
