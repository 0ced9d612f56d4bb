"""The context of one request: its database, its scope and its budget."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any
from uuid import UUID

import asyncpg

from content.limits import SLUG
from db.database import Database
from db.restricted import restricted
from db.scope import Scope
from selection.compile.parameters import NOBODY, identifier
from selection.errors import Final, Refused, TooExpensive
from selection.limits import OPERATION

from .auth.owners import find_owner
from .errors import CairnError, LimitExceeded, NotFound, Unavailable
from .knowledge.tool_calls import hot_index
from .pages.history import Comparison, compare_states
from .rate_limits import Account, Allowance
from .search.context_pack import ContextPack, ContextRequest, context_pack
from .search.related import find_related
from .search.request import SearchRequest, SearchResult
from .search.search import cached_values, search
from .search.search_all import SearchAllRequest, SearchAllResult, search_all
from .search.source_search import SourceSearchRequest, SourceSearchResult, matching_refs, search_sources
from .sources.held_names import HeldName, find_held_names
from .subscriptions.changes import ChangeEvent
from .subscriptions.feed import Feed
from .tenants.tenants import as_id
from .transactions.db_errors import translated_db_errors


class Context:
    """The database, the caller's scope and the request's budget."""

    feed: Feed | None = None
    """What tells of changes, where there is somebody to follow them."""
    event: ChangeEvent | None = None
    """The change that a subscription is being shown."""

    def __init__(
        self,
        database: Database,
        scope: Scope,
        budget: int = 20_000,
        *,
        account: Account | None = None,
        may_introspect: bool = True,
    ) -> None:
        """`budget` is what one operation may cost at most, in rows; the account pays for what it does cost."""
        self.database, self.scope, self.budget = restricted(database, scope), scope, budget
        self.account, self.may_introspect = account, may_introspect
        self.spent, self.paid, self.is_begun = OPERATION, 0, False

    async def begin(self, cost: int) -> None:
        """Begin the operation. What it spends later is owed, because a part of the answer may be there already."""
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
                self.account.owe(due)
            else:
                await self.account.take(due)

    async def fetch(self, sql: str, arguments: Sequence[Any], anew: bool = False) -> bytes | None:
        try:
            return await self.database.json(sql, arguments, anew=anew)
        except Exception:
            with once_only():
                raise

    @property
    def allowance(self) -> Allowance | None:
        """Return what the caller has left, or None where there is no limit."""
        return self.account.allowance() if self.account else None

    async def owner_named(self, name: str) -> UUID:
        """The id of the owner of that slug or id; the id of nobody where the tenant has no such owner."""
        if as_id(name) or len(name) > SLUG.most:
            return identifier(name)
        try:
            with translated_db_errors():
                return (await find_owner(self.database, self.scope.tenant_id, name)).id
        except NotFound:
            return NOBODY

    async def search(self, asked: SearchRequest) -> SearchResult:
        """Run the search that a step needs before the statement that shows its hits."""
        with once_only():
            return await search(self.database, self.scope, asked)

    async def find_held_names(self, asked: SearchRequest) -> list[HeldName]:
        """Return the names without a page that a question says, for a search that finds none."""
        with once_only():
            return await find_held_names(self.database, self.scope, asked)

    async def search_within(self, asked: SearchRequest, again: bool) -> Mapping[str, Any] | None:
        """Return the parameters with which that statement searches by itself, or None where `search` has to run."""
        with once_only():
            return await cached_values(self.database, self.scope, asked, again)

    async def search_sources(self, asked: SourceSearchRequest) -> SourceSearchResult:
        """Find the passages that a step needs before the statement that shows them."""
        with once_only():
            return await search_sources(self.database, self.scope, asked)

    async def search_all(self, asked: SearchAllRequest) -> SearchAllResult:
        """Find the pages and passages that a step needs before the statement that shows them."""
        with once_only():
            return await search_all(self.database, self.scope, asked)

    async def context_pack(self, asked: ContextRequest) -> ContextPack:
        """Choose what a step shows of all that is known for a task."""
        with once_only():
            return await context_pack(self.database, self.scope, asked)

    async def matching_refs(self, asked: SearchRequest, page_ids: Sequence[UUID]) -> Mapping[UUID, list[str]]:
        """Return the refs of the sources that match the question, by the page that cites them."""
        with once_only():
            return await matching_refs(self.database, self.scope, asked, page_ids)

    async def find_related(self, page_id: UUID, limit: int) -> list[tuple[UUID, float]]:
        """Return (page id, similarity) pairs, the most similar first."""
        with once_only():
            return await find_related(self.database, self.scope, page_id, limit)

    async def hot_index(self, owner_id: UUID | None, limit: int) -> list[tuple[UUID, float]]:
        """Return (page id, score) pairs of the hot index of that wiki, or of the scope's own."""
        with once_only():
            return list(await hot_index(self.database, self.scope, owner_id or self.scope.owner_id, limit))

    async def compare(self, page_id: UUID, old: int, new: int) -> Comparison | None:
        """Compare two states of a page; None where the caller may not read them, or there are none."""
        try:
            with translated_db_errors():
                return await compare_states(self.database, self.scope, page_id, old, new)
        except NotFound:
            return None


@contextmanager
def once_only() -> Iterator[None]:
    """End the operation on a limit or a lost database: run again as values it would only meet the same.

    Any other error is of one field, and graphql-core says of which.
    """
    try:
        with translated_db_errors():
            yield
    except Unavailable as error:
        slow = isinstance(error.__cause__, asyncpg.QueryCanceledError)
        message = "This operation took too long and was stopped. Ask for less at once." if slow else error.message
        raise Final(message, extensions={"code": "TIMEOUT"} if slow else error.extensions) from error
    except LimitExceeded as error:
        raise Final(error.message, extensions=error.extensions) from error
    except CairnError as error:
        raise Refused(error.message, **error.extensions) from error
