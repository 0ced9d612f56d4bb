"""The caller of a tool, which reads the wiki by fixed GraphQL documents and writes by the resolvers."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any, TypeVar
from uuid import UUID

import orjson
import structlog

from db.database import Database
from db.scope import Scope
from resolvers.errors import CairnError, Forbidden, NotFound
from resolvers.knowledge.tool_calls import count_call
from resolvers.permissions import Action, is_at_home
from resolvers.transactions.transaction import check_may_write
from schema.root import make_engine
from selection import Engine

from ..http.limits import Bounds
from ..http.request import GraphQLRequest

log = structlog.get_logger()
T = TypeVar("T")


class CallRefused(CairnError):
    """An error that GraphQL returned, with its own code."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True, slots=True)
class Reach:
    """The database, the limits and the engine that all calls of a process share."""

    database: Database
    bounds: Bounds
    engine: Engine = field(default_factory=make_engine)
    """Of the tools' own documents: what an operator allows those of clients is not theirs."""
    lists_older_names: bool = False
    """Are `search_wiki` and `read_wiki_page` listed too?"""

    def caller(self, scope: Scope) -> "Caller":
        return Caller(self, scope)


@dataclass(frozen=True, slots=True)
class Caller:
    """One credential at work in one wiki. No argument of a tool leads anywhere else."""

    reach: Reach
    scope: Scope

    async def read(self, document: str, **variables: Any) -> dict[str, Any]:
        """The data of queries/<document>.graphql; Refused with its first error where there is one."""
        where = {"tenantId": str(self.scope.tenant_id), "ownerId": str(self.scope.owner_id)}
        asked = GraphQLRequest(query(document), where | variables, None)
        reach = self.reach
        answer = orjson.loads((await reach.bounds.execute(reach.engine, reach.database, self.scope, asked)).body)
        for error in answer.get("errors", ()):
            raise CallRefused(error["extensions"]["code"], error["message"])
        data: dict[str, Any] = answer["data"]
        return data

    async def write(self, work: Callable[[Database, Scope], Awaitable[T]]) -> T:
        """Run a resolver, charged and limited in time like any operation."""
        return await self.reach.bounds.admit(self.scope, lambda account: work(self.reach.database, self.scope))

    async def may_write(self) -> bool:
        """Return whether the credential may write in this wiki; its own one takes no statement to know."""
        if is_at_home(self.scope, self.scope.owner_id, Action.WRITE):
            return True
        try:
            await check_may_write(self.reach.database, self.scope)
        except (Forbidden, NotFound):
            return False
        return True

    async def count(self, tool: str, page_ids: Sequence[str]) -> None:
        """Count a call for the hot index. A call that was answered does not fail if it cannot be counted."""
        try:
            await count_call(self.reach.database, self.scope, tool, [UUID(page_id) for page_id in page_ids])
        except Exception as error:
            log.warning("a tool call was not counted", tool=tool, reason=type(error).__name__)


@cache
def query(document: str) -> str:
    return files("app.mcp").joinpath(f"queries/{document}.graphql").read_text(encoding="utf-8")
