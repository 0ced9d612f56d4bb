"""Programs that people have let into a wiki by OAuth, as they and the tenant's admins see them."""

from typing import Any

from sqlalchemy import Select, any_, func, or_, select

from ...access import OWNERS
from ...tables import oauth_authorizations
from .owners import ROLE


def listed() -> Select[Any]:
    """Select the programs that may get tokens for a wiki now, the newest first."""
    one = oauth_authorizations.alias()
    return (
        select(one)
        .where(or_(ROLE == "admin", one.c.owner_id == any_(OWNERS)))
        .where(one.c.withdrawn_at.is_(None), one.c.redeemed_at.is_not(None), one.c.expires_at > func.now())
        .order_by(one.c.id.desc())
    )
