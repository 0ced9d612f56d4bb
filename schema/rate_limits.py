"""The rate limit of the caller, and how much of it is left."""

from datetime import datetime
from typing import Any

import strawberry
from sqlalchemy import DateTime, Integer
from sqlalchemy.types import TypeEngine

from selection import Step

from .fields import known_object

FACTS: dict[str, TypeEngine[Any]] = {
    "limit": Integer(),
    "cost": Integer(),
    "remaining": Integer(),
    "used": Integer(),
    "reset_at": DateTime(timezone=True),
}


async def facts(context: Any, parent: Any, wanted: frozenset[str]) -> list[tuple[Any, ...]]:
    left = context.allowance
    if left is None:
        return [(None, context.spent, None, None, None)]
    return [(left.limit, context.spent, left.remaining, left.limit - left.remaining, left.resets_at)]


@strawberry.type(
    description="Rate limit, in rows. It is the limit of the caller, or that of its tenant if fewer rows remain there."
)
class WikiRateLimit:
    limit: int | None = strawberry.field(description="Maximum number of rows. Null if there is no limit.")
    cost: int = strawberry.field(description="Cost of this operation, the same as `extensions.cost.requested`.")
    remaining: int | None = strawberry.field(description="Remaining rows after this operation.")
    used: int | None = strawberry.field(description="Used rows.")
    reset_at: datetime | None = strawberry.field(description="Time at which the full limit is available again.")


@strawberry.type
class RateLimitQueries:
    rate_limit: WikiRateLimit = known_object(
        Step(facts, FACTS), "The rate limit of the caller. It needs no SQL statement."
    )
