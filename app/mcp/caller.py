"""The caller of a tool, which reads the wiki by fixed GraphQL documents and writes by the resolvers."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar
from uuid import UUID

import structlog

from db.database import Database
from db.restricted import restricted
from db.scope import Scope
from resolvers.errors import Forbidden, NotFound
from resolvers.knowledge.tool_calls import count_call
from resolvers.permissions import Action, is_at_home
from resolvers.transactions.transaction import check_may_write

from ..http.limits import Bounds
from ..http.request import GraphQLRequest
from ..stored_queries import data_of, stored_query, stored_query_engine

log = structlog.get_logger()
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ToolBackend:
    """The database and the limits that all calls of a process share."""

    database: Database
    bounds: Bounds
    url: str
    """The address of the service, for links that people open."""
    toolsets: frozenset[str] = frozenset({"default"})
    """What is listed to who does not ask for other toolsets."""

    def caller(self, scope: Scope, toolsets: frozenset[str] | None = None) -> "Caller":
        return Caller(self, scope, toolsets or self.toolsets)


@dataclass(frozen=True, slots=True)
class Caller:
    """One credential at work in one wiki. No argument of a tool leads anywhere else."""

    reach: ToolBackend
    scope: Scope
    toolsets: frozenset[str]

    def within(self, database: Database) -> "Caller":
        """Return the same caller at work in another database, such as one transaction."""
        return replace(self, reach=replace(self.reach, database=database))

    @property
    def database(self) -> Database:
        """Return the database as the caller may read it."""
        return restricted(self.reach.database, self.scope)

    async def read(self, document: str, **variables: Any) -> dict[str, Any]:
        """Return the data of queries/<document>.graphql. Raises QueryFailed for its first error."""
        where = {"tenantId": str(self.scope.tenant_id), "ownerId": str(self.scope.owner_id)}
        asked = GraphQLRequest(stored_query("mcp", document), where | variables, None)
        bounds, database = self.reach.bounds, self.database
        return data_of(await bounds.execute(stored_query_engine(), database, self.scope, asked))

    async def write(self, work: Callable[[Database, Scope], Awaitable[T]]) -> T:
        """Run a resolver, charged and limited in time like any operation."""
        return await self.reach.bounds.admit(self.scope, lambda account: work(self.database, self.scope))

    async def may_write(self) -> bool:
        """Return whether the credential may write in this wiki; its own one takes no statement to know."""
        if is_at_home(self.scope, self.scope.owner_id, Action.WRITE):
            return True
        try:
            await check_may_write(self.database, self.scope)
        except (Forbidden, NotFound):
            return False
        return True

    async def count(self, tool: str, page_ids: Sequence[str]) -> None:
        """Count a call for the hot index. A call that was answered does not fail if it cannot be counted."""
        try:
            await count_call(self.database, self.scope, tool, [UUID(page_id) for page_id in page_ids])
        except Exception as error:
            log.warning("a tool call was not counted", tool=tool, reason=type(error).__name__)
