"""The context that resolvers get for one request: the database, the scope and the budget."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any
from uuid import UUID

import asyncpg

from content.limits import SLUG
from db.database import Database
from db.scope import Scope
from db.sensitivity import restricted
from selection.compile.parameters import NOBODY, identifier
from selection.errors import FieldError, OperationError, TooExpensive
from selection.limits import OPERATION

from .auth.owners import find_owner
from .errors import CairnError, LimitExceeded, NotFound, Unavailable
from .knowledge.tool_calls import hot_index
from .pages.history import Comparison, compare_states
from .rate_limits import Account, Allowance
from .search.context_pack import ContextPack, ContextRequest, context_pack
from .search.related import find_related
from .search.request import SearchRequest, SearchResult
from .search.search import ranking_values, search
from .search.search_all import SearchAllRequest, SearchAllResult, search_all
from .search.source_search import SourceSearchRequest, SourceSearchResult, matching_refs, search_sources
from .sources.held_names import HeldName, find_held_names
from .subscriptions.changes import ChangeEvent
from .subscriptions.feed import Feed
from .tenants.tenants import as_id
from .transactions.db_errors import translated_db_errors


class Context:
    """The database, the caller's scope and the budget of one request."""

    feed: Feed | None = None
    """The change feed, if the request may subscribe to it."""
    event: ChangeEvent | None = None
    """The change for which a subscription is executed."""

    def __init__(
        self,
        database: Database,
        scope: Scope,
        budget: int = 20_000,
        *,
        account: Account | None = None,
        may_introspect: bool = True,
    ) -> None:
        """`budget` is the maximum cost of one operation, in rows. The actual cost is charged to `account`."""
        self.database = restricted(database, scope)
        self.scope, self.budget = scope, budget
        self.account, self.may_introspect = account, may_introspect
        self.spent = OPERATION
        """The cost of the operation so far."""
        self.paid = 0
        """The part of the cost that was charged to the account."""
        self.is_begun = False

    async def begin(self, cost: int) -> None:
        """Charge the cost of an operation before it runs, or raise Throttled.

        Costs that the operation causes later are charged even if the account has nothing left, because a part of the
        answer may exist already.
        """
        self.spent = OPERATION
        await self.spend(cost)
        self.is_begun = True

    async def spend(self, cost: int) -> None:
        self.spent += cost
        if self.spent > self.budget:
            raise TooExpensive(self.spent, self.budget)
        if self.account is not None and self.spent > self.paid:
            due, self.paid = self.spent - self.paid, self.spent
            if self.is_begun:
                self.account.charge(due)
            else:
                await self.account.take(due)

    async def fetch(self, sql: str, arguments: Sequence[Any], anew: bool = False) -> bytes | None:
        try:
            return await self.database.json(sql, arguments, anew=anew)
        except Exception:
            with final_errors():
                raise

    @property
    def allowance(self) -> Allowance | None:
        """Return the caller's rate limit and what is left of it, or None if there is no limit."""
        return self.account.allowance() if self.account else None

    async def scope_in(self, where: Mapping[str, str | None]) -> Scope:
        """Return the scope in the wiki of the owner that the arguments of a field name, or else in the caller's own."""
        owner_id = await self.owner_named(where)
        return self.scope if owner_id is None else self.scope.in_owner(owner_id)

    async def owner_named(self, where: Mapping[str, str | None]) -> UUID | None:
        """Return the id of the owner that the arguments of a field name by slug or id; None if they name none."""
        if (name := where.get("owner")) is not None:
            return await self.find_owner_id(name)
        named = (where.get(argument) for argument in ("owner_id", "user_id", "agent_id"))
        return next((identifier(text) for text in named if text is not None), None)

    async def find_owner_id(self, name: str) -> UUID:
        """Return the id of the owner with this slug or id, or NOBODY if the tenant has no such owner."""
        if as_id(name) or len(name) > SLUG.maximum:
            return identifier(name)
        try:
            with translated_db_errors():
                return (await find_owner(self.database, self.scope.tenant_id, name)).id
        except NotFound:
            return NOBODY

    async def search(self, request: SearchRequest) -> SearchResult:
        """Search pages, for a step whose compiled statement then reads the hits."""
        with final_errors():
            return await search(self.database, self.scope, request)

    async def find_held_names(self, request: SearchRequest) -> list[HeldName]:
        """Return names in the query that the wiki knows only from mentions, for a search that finds no page."""
        with final_errors():
            return await find_held_names(self.database, self.scope, request)

    async def search_within(self, request: SearchRequest, is_stale: bool) -> Mapping[str, Any] | None:
        """Return the parameters for a compiled statement that searches by itself, or None if `search` has to run.

        `is_stale` means that the cached interpretation of the query is out of date.
        """
        with final_errors():
            return await ranking_values(self.database, self.scope, request, is_stale)

    async def search_sources(self, request: SourceSearchRequest) -> SourceSearchResult:
        """Search passages of sources, for a step whose compiled statement then reads them."""
        with final_errors():
            return await search_sources(self.database, self.scope, request)

    async def search_all(self, request: SearchAllRequest) -> SearchAllResult:
        """Search pages and passages, for a step whose compiled statement then reads them."""
        with final_errors():
            return await search_all(self.database, self.scope, request)

    async def context_pack(self, request: ContextRequest) -> ContextPack:
        """Choose the items of a context pack for a task."""
        with final_errors():
            return await context_pack(self.database, self.scope, request)

    async def matching_refs(self, request: SearchRequest, page_ids: Sequence[UUID]) -> Mapping[UUID, list[str]]:
        """Return the refs of the sources that match the query, by the page that cites them."""
        with final_errors():
            return await matching_refs(self.database, self.scope, request, page_ids)

    async def find_related(self, page_id: UUID, limit: int) -> list[tuple[UUID, float]]:
        """Return (page id, similarity) pairs, the most similar first."""
        with final_errors():
            return await find_related(self.database, self.scope, page_id, limit)

    async def hot_index(self, owner_id: UUID | None, limit: int) -> list[tuple[UUID, float]]:
        """Return (page id, score) pairs of the hot index of the owner's wiki; without an owner, of the scope's wiki."""
        with final_errors():
            return list(await hot_index(self.database, self.scope, owner_id or self.scope.owner_id, limit))

    async def compare(self, page_id: UUID, old: int, new: int) -> Comparison | None:
        """Compare two versions of a page. Return None if they do not exist or the caller may not read them."""
        try:
            with translated_db_errors():
                return await compare_states(self.database, self.scope, page_id, old, new)
        except NotFound:
            return None


@contextmanager
def final_errors() -> Iterator[None]:
    """Turn Unavailable and LimitExceeded into OperationError, which ends the whole operation without a retry by field.

    Any other error concerns a single field: it is raised as FieldError, and graphql-core reports the field.
    """
    try:
        with translated_db_errors():
            yield
    except Unavailable as error:
        slow = isinstance(error.__cause__, asyncpg.QueryCanceledError)
        message = "This operation took too long and was stopped. Ask for less at once." if slow else error.message
        raise OperationError(message, extensions={"code": "TIMEOUT"} if slow else error.extensions) from error
    except LimitExceeded as error:
        raise OperationError(error.message, extensions=error.extensions) from error
    except CairnError as error:
        raise FieldError(error.message, **error.extensions) from error
