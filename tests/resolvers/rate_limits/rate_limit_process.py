"""A program that takes rows from a rate limit for some seconds and prints their number.

Run it as `python -m tests.resolvers.rate_limits.rate_limit_process JSON`.
"""

import asyncio
import json
import sys
import time
from typing import Any
from uuid import UUID

from db.database import Database
from db.scope import Actor, ActorKind, Role, Scope
from resolvers.rate_limits import Rate, Throttle, Throttled


async def take_rows(dsn: str, place: list[str], seconds: float, **rates: list[float]) -> int:
    tenant, owner = map(UUID, place)
    scope = Scope(tenant, owner, Role.MEMBER, Actor(ActorKind.USER, "marco"), (owner,))
    database = Database(dsn, size=2)
    await database.open()
    limits: dict[str, Any] = {name: Rate(*rates.get(name, (0, 1))) for name in ("credential", "tenant")}
    throttle = Throttle(database, max_concurrent=0, **limits)
    taken = await take_until(time.monotonic() + seconds, throttle, scope)
    await database.close()
    return taken


async def take_until(end: float, throttle: Throttle, scope: Scope) -> int:
    taken = 0
    while time.monotonic() < end:
        try:
            await throttle.account(scope).take(7)
            taken += 7
        except Throttled:
            await asyncio.sleep(0.005)
        await asyncio.sleep(0)
    return taken


if __name__ == "__main__":
    print(asyncio.run(take_rows(**json.loads(sys.argv[1]))))
