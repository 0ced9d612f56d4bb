"""The caller of a tool. Tools read the wiki with stored GraphQL queries, and write with resolvers."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar
from uuid import UUID

import structlog

from db.database import Database
from db.scope import Scope
from db.sensitivity import restricted
from resolvers.errors import Forbidden, NotFound
from resolvers.knowledge.tool_calls import count_call
from resolvers.permissions import Action, is_allowed_in_own_wiki
from resolvers.transactions.transaction import check_may_write

from ..http.limits import Bounds
from ..http.request import GraphQLRequest
from ..stored_queries import data_of, stored_query, stored_query_engine

log = structlog.get_logger()
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ToolBackend:
    """The database, the limits and the defaults that all calls of a process share."""

    database: Database
    bounds: Bounds
    url: str
    """The base URL of the service, for links that people open."""
    toolsets: frozenset[str] = frozenset({"default"})
    """The toolsets that are listed to callers that request none."""

    def caller(self, scope: Scope, toolsets: frozenset[str] | None = None) -> "Caller":
        return Caller(self, scope, toolsets or self.toolsets)


@dataclass(frozen=True, slots=True)
class Caller:
    """A credential with the wiki that its tools work in. No argument of a tool can select another wiki."""

    backend: ToolBackend
    scope: Scope
    toolsets: frozenset[str]

    def with_database(self, database: Database) -> "Caller":
        """Return the same caller with another database, such as the database within a transaction."""
        return replace(self, backend=replace(self.backend, database=database))

    @property
    def database(self) -> Database:
        """Return the database restricted to the rows that the caller may read."""
        return restricted(self.backend.database, self.scope)

    async def read(self, document: str, **variables: Any) -> dict[str, Any]:
        """Run the stored query `queries/<document>.graphql` and return its data. Raises QueryFailed."""
        wiki = {"tenantId": str(self.scope.tenant_id), "ownerId": str(self.scope.owner_id)}
        request = GraphQLRequest(stored_query("mcp", document), wiki | variables, None)
        bounds, database = self.backend.bounds, self.database
        return data_of(await bounds.execute(stored_query_engine(), database, self.scope, request))

    async def write(self, work: Callable[[Database, Scope], Awaitable[T]]) -> T:
        """Run a resolver within the same rate limits and timeout as a GraphQL operation."""
        return await self.backend.bounds.admit(self.scope, lambda account: work(self.database, self.scope))

    async def may_write(self) -> bool:
        """Return whether the credential may write in this wiki. For its own wiki this needs no SQL statement."""
        if is_allowed_in_own_wiki(self.scope, self.scope.owner_id, Action.WRITE):
            return True
        try:
            await check_may_write(self.database, self.scope)
        except (Forbidden, NotFound):
            return False
        return True

    async def count(self, tool: str, page_ids: Sequence[str]) -> None:
        """Count a call for the hot index. An error is logged and not raised, so that the call itself succeeds."""
        try:
            await count_call(self.database, self.scope, tool, [UUID(page_id) for page_id in page_ids])
        except Exception as error:
            log.warning("a tool call was not counted", tool=tool, reason=type(error).__name__)
