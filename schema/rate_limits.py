"""Rate limits: what the caller may still ask for."""

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


@strawberry.type(description="What the caller may ask for, in rows: of its own limit, or its tenant's if less is left.")
class WikiRateLimit:
    limit: int | None = strawberry.field(description="The most that can be left; null where there is no limit.")
    cost: int = strawberry.field(description="Of this operation, as `extensions.cost.requested` says it too.")
    remaining: int | None = strawberry.field(description="What is left after this operation.")
    used: int | None = strawberry.field(description="What is missing to the limit.")
    reset_at: datetime | None = strawberry.field(description="When nothing is missing, if nothing is asked until then.")


@strawberry.type
class RateLimitQueries:
    rate_limit: WikiRateLimit = known_object(
        Step(facts, FACTS), "What may the caller still ask for? It costs no statement."
    )
