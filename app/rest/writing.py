"""Writes: once for each Idempotency-Key, and answered with what is there afterwards."""

from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

import orjson

from db.database import Database
from resolvers.errors import CairnError
from resolvers.idempotency import Attempt, once
from selection.engine import Answer

from ..idempotency import idempotency_key
from ..request import header
from .door import Call

Work = Callable[[Database], Awaitable[Any]]
NOT_DONE = Answer(orjson.dumps({"errors": [{"extensions": {"code": "UNAVAILABLE"}}]}))
"""What keeps a transaction from being committed."""


class Written(NamedTuple):
    """The body of the answer, and the headers that say whether it was given before."""

    body: bytes
    headers: tuple[tuple[str, str], ...] = ()


async def write(call: Call, work: Work) -> Written:
    """What `work` answers once it has written through the database that it is given."""
    key = idempotency_key(call.request.scope)
    if key is None:
        return Written(orjson.dumps(await work(call.door.database)))
    failed: list[CairnError] = []

    async def run(database: Database) -> Answer:
        try:
            return Answer(orjson.dumps(await work(database)))
        except CairnError as error:
            failed.append(error)
            return NOT_DONE

    answer, replayed = await once(call.door.database, attempt(call, key), run)
    if replayed:
        return Written(answer.body, (("Idempotency-Replayed", "true"),))
    if failed:
        raise failed[0]
    return Written(answer.body)


def attempt(call: Call, key: str) -> Attempt:
    """What must be the same again, for the answer to be."""
    scope = call.request.scope
    query, matched = scope["query_string"].decode("latin-1"), header(scope, b"if-match")
    return Attempt(call.wiki, key, [scope["method"], scope["path"], query, matched, call.request.document])
