"""The connection of a write: it queues statements, and collects what the end of the transaction logs and announces."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import UUID

import orjson

from db.connection import Connection, Row
from db.ids import new_id
from db.scope import Scope
from db.sql import Statement, combine, is_independent, tables_of

from ..subscriptions.changes import ChangeLog

if TYPE_CHECKING:
    from ..model.pages import Page, Saved
    from .outbox import ProposalEvent


class LogLine(NamedTuple):
    """A line for the activity log. The actor and the time are added when it is written."""

    id: UUID
    action: str
    page_id: UUID | None
    detail: dict[str, Any]
    is_consequence: bool = False
    """Whether the page changed because another page did. The author of that change need not see this page."""


NAME_TABLES = frozenset({"aliases", "old_slugs"})
SHARED_PARAMETERS = frozenset({"tenant_id", "owner_id", "now"})


class Queued(NamedTuple):
    """A statement that waits to be sent, with its parameters."""

    statement: Statement
    values: Mapping[str, Any]


class Writer(Connection):
    """A connection to one wiki, whose statements get the parameters `tenant_id`, `owner_id` and `now` by themselves.

    A statement given to `later` is sent in one round trip with the next statement, as a CTE of it. If the next
    statement touches a table that a queued statement writes, the queue is sent before it instead (`is_independent`).
    """

    def __init__(self, connection: Connection, scope: Scope) -> None:
        super().__init__(connection.raw, connection.last)
        self.restrict = connection.restrict
        self.scope = scope
        self.now = datetime.now(UTC)
        self.known = {**scope.wiki_values, "now": self.now}
        self.queue: list[Queued] = []
        self.read_names: dict[UUID, Any] = {}
        """The aliases and former slugs of pages, as read in this transaction. Cleared when either is written."""
        self.editions: tuple[str, list[tuple[int, str]]] | None = None
        """The language of the wiki, and its search analysers with their states, once they were read."""
        self.changes = ChangeLog(scope.tenant_id, scope.owner_id, self.now)
        self.proposals: list[ProposalEvent] = []
        """Events of proposals, to be sent to webhooks."""
        self.gathered: dict[UUID, Any] | None = None
        """Search entries by page id, while resolvers/search/index.py collects them to write them together."""
        self.lines: list[LogLine] = []
        self.states: dict[UUID, tuple[Page | None, Page]] = {}
        """The state of each page before the write (None for a new page) and after it."""
        self.removed: dict[UUID, Page] = {}
        """Pages that the write deletes for good, in their last state."""
        self.touched: set[UUID] = set()
        """Pages of which something other than the content changed."""
        self.stale_hubness: set[UUID] = set()
        """Pages whose hubness score has to be computed again."""

    def note_state(self, before: "Page | None", after: "Page") -> None:
        """Record a page's states before and after a change. Of several changes, the first and the last state count."""
        first = self.states.get(after.id)
        self.states[after.id] = first[0] if first else before, after

    def note_editions(self, row: Row) -> None:
        """Record the language and the search analysers of the wiki, which a statement has read with its own rows.

        They cannot change while the transaction holds the lock of the wiki.
        """
        self.editions = row["language"], [(number, state) for number, state in orjson.loads(row["editions"] or b"[]")]

    # -- statements in few round trips

    async def later(self, statement: Statement, **values: Any) -> None:
        """Queue a write whose result is not needed. The statement must not have a CTE."""
        if not self.may_join(statement):
            await self.flush()
        self.forget_names(statement)
        self.queue.append(Queued(statement, values))

    async def flush(self) -> None:
        """Send the queued statements."""
        if self.queue:
            *before, last = self.queue
            self.queue = before
            joined, values = self.combine_last(last.statement, last.values)
            await super().run(joined, **values)

    def may_join(self, statement: Statement) -> bool:
        return is_independent(statement.sql, tuple(queued.statement.sql for queued in self.queue))

    async def ready(self, statement: Statement, values: Mapping[str, Any]) -> tuple[Statement, Mapping[str, Any]]:
        """Return the statement joined with the queued ones. Queued ones that cannot be joined are sent first."""
        if self.queue and not self.may_join(statement):
            await self.flush()
        self.forget_names(statement)
        return self.combine_last(statement, values)

    def forget_names(self, statement: Statement) -> None:
        if self.read_names and not NAME_TABLES.isdisjoint(table for table, _ in tables_of(statement.sql).written):
            self.read_names.clear()

    def combine_last(self, statement: Statement, values: Mapping[str, Any]) -> tuple[Statement, Mapping[str, Any]]:
        if not self.queue:
            return statement, values
        before, self.queue = self.queue, []
        numbered = enumerate([*before, Queued(statement, values)])
        joined = {f"{number}.{name}": value for number, queued in numbered for name, value in queued.values.items()}
        return combine(tuple(queued.statement for queued in before), statement, SHARED_PARAMETERS), joined

    async def all(self, statement: Statement, **values: Any) -> list[Row]:
        joined, joined_values = await self.ready(statement, values)
        return await super().all(joined, **joined_values)

    async def one(self, statement: Statement, **values: Any) -> Row | None:
        joined, joined_values = await self.ready(statement, values)
        return await super().one(joined, **joined_values)

    async def value(self, statement: Statement, **values: Any) -> Any:
        joined, joined_values = await self.ready(statement, values)
        return await super().value(joined, **joined_values)

    async def run(self, statement: Statement, **values: Any) -> int:
        joined, joined_values = await self.ready(statement, values)
        return await super().run(joined, **joined_values)

    async def all_of_each(self, statement: Statement, each: Iterable[Mapping[str, Any]]) -> list[Row]:
        await self.flush()
        return await super().all_of_each(statement, each)

    async def each(self, statement: Statement, rows: Iterable[Mapping[str, Any]]) -> None:
        """Run a statement once for each row. For a single row the statement is queued instead."""
        rows = list(rows)
        if len(rows) == 1:
            await self.later(statement, **rows[0])
        else:
            await self.flush()
            await super().each(statement, rows)


async def record(writer: Writer, action: str, page_id: UUID | None = None, **detail: Any) -> None:
    """Add a line to the activity log, and the change to the change feed. `action` is like `page.created`."""
    writer.lines.append(LogLine(new_id(), action, page_id, detail))
    writer.changes.add_action(action, page_id, detail.get("version") if page_id else None)


async def record_consequence(writer: Writer, action: str, page_id: UUID, **detail: Any) -> None:
    """Record a change of a page that follows from the change of another page, as `record` does."""
    await record(writer, action, page_id, **detail)
    writer.lines[-1] = writer.lines[-1]._replace(is_consequence=True)


async def record_each(writer: Writer, action: str, saved: "Iterable[Saved]") -> None:
    """Add a line to the activity log for each of the saved pages, as `record` does."""
    for page in saved:
        await record(writer, action, page.page_id, version=page.version)
