"""GraphQL answers inside a command."""

from typing import Any

import orjson

from db.database import Database
from db.scope import Role
from resolvers.context import Context
from resolvers.errors import CairnError
from resolvers.subscriptions.changes import ChangeEvent
from schema.root import make_engine

from .session import Wiki


class QueryRefused(CairnError):
    """An error that GraphQL returned, with its own code."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


async def answered(
    database: Database, wiki: Wiki, document: str, variables: dict[str, Any], event: ChangeEvent | None = None
) -> dict[str, Any]:
    """The data, read with the rights of a reader of that wiki; of a subscription for one event."""
    where = {"tenantId": str(wiki.tenant.id), "ownerId": str(wiki.owner.id)}
    context = Context(database, wiki.scope(Role.READER))
    context.event = event
    answer = orjson.loads((await make_engine().execute(document, where | variables, None, context)).body)
    for error in answer.get("errors", ()):
        raise QueryRefused(error["extensions"]["code"], error["message"])
    data: dict[str, Any] = answer["data"]
    return data
