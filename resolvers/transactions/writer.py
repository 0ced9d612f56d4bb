"""A transaction at work in one wiki, and the log of what it did: one line for each write."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import UUID

from db.connection import Connection, Row
from db.ids import new_id
from db.scope import Scope
from db.sql import Statement, combine, is_independent, tables_of

from ..subscriptions.changes import ChangeLog

if TYPE_CHECKING:
    from ..model.pages import Page, Saved
    from .outbox import ProposalEvent


class LogLine(NamedTuple):
    """A line that the log will have of a write, besides who did it and when."""

    id: UUID
    action: str
    page_id: UUID | None
    detail: dict[str, Any]


NAMES = frozenset({"aliases", "old_slugs"})
SHARED = frozenset({"tenant_id", "owner_id", "now"})


class Queued(NamedTuple):
    """A statement that has yet to be sent."""

    statement: Statement
    values: Mapping[str, Any]


class Writer(Connection):
    """A connection whose statements know the tenant, the owner and the moment: `tenant_id`, `owner_id`, `now`.

    A statement given to `later` is sent with the next one, in one round trip: as a CTE of it where that does not touch
    the tables that they write, else before it.
    """

    def __init__(self, connection: Connection, scope: Scope) -> None:
        super().__init__(connection.raw, connection.last)
        self.restrict = connection.restrict
        self.scope = scope
        self.now = datetime.now(UTC)
        self.known = {"tenant_id": scope.tenant_id, "owner_id": scope.owner_id, "now": self.now}
        self.queue: list[Queued] = []
        self.named: dict[UUID, Any] = {}
        """What pages answer to, where that was read already and nothing was written of it since."""
        self.editions: tuple[str, list[tuple[int, str]]] | None = None
        """The language of the wiki, and the analysers that index it with their states, where that was read already."""
        self.changes = ChangeLog(scope.tenant_id, scope.owner_id, self.now)
        self.proposals: list[ProposalEvent] = []
        """What became of proposals, for the webhooks that are told of it."""
        self.gathered: dict[UUID, Any] | None = None
        """What can be found of pages by their ids, where `search.gathering` writes it later."""
        self.lines: list[LogLine] = []
        self.states: dict[UUID, tuple[Page | None, Page]] = {}
        """Pages as they were before, if they were there, and as they are to be."""
        self.removed: dict[UUID, Page] = {}
        """Pages that are removed for good, as they were."""
        self.touched: set[UUID] = set()
        """Pages of which something changed that is not their content."""
        self.counted: set[UUID] = set()
        """Pages that may be more or less of a hub now."""

    def note_state(self, before: "Page | None", after: "Page") -> None:
        """Note how a page was and is to be; of several changes of one page, the first and the last count."""
        first = self.states.get(after.id)
        self.states[after.id] = first[0] if first else before, after

    # -- statements in few round trips

    async def later(self, statement: Statement, **values: Any) -> None:
        """Queue a write that has no CTE of its own and whose answer nobody needs."""
        if not self.may_join(statement):
            await self.flush()
        self.forget_names(statement)
        self.queue.append(Queued(statement, values))

    async def flush(self) -> None:
        """Send the statements that wait."""
        if self.queue:
            *before, last = self.queue
            self.queue = before
            joined, values = self.combine_last(last.statement, last.values)
            await super().run(joined, **values)

    def may_join(self, statement: Statement) -> bool:
        return is_independent(statement.sql, tuple(one.statement.sql for one in self.queue))

    async def ready(self, statement: Statement, values: Mapping[str, Any]) -> tuple[Statement, Mapping[str, Any]]:
        """Return the statement joined with those that wait, which are sent before it where they cannot go along."""
        if self.queue and not self.may_join(statement):
            await self.flush()
        self.forget_names(statement)
        return self.combine_last(statement, values)

    def forget_names(self, statement: Statement) -> None:
        if self.named and not NAMES.isdisjoint(table for table, _ in tables_of(statement.sql).written):
            self.named.clear()

    def combine_last(self, statement: Statement, values: Mapping[str, Any]) -> tuple[Statement, Mapping[str, Any]]:
        if not self.queue:
            return statement, values
        before, self.queue = self.queue, []
        every = [*before, Queued(statement, values)]
        given = {f"{number}.{name}": value for number, one in enumerate(every) for name, value in one.values.items()}
        return combine(tuple(one.statement for one in before), statement, SHARED), given

    async def all(self, statement: Statement, **values: Any) -> list[Row]:
        statement, given = await self.ready(statement, values)
        return await super().all(statement, **given)

    async def one(self, statement: Statement, **values: Any) -> Row | None:
        statement, given = await self.ready(statement, values)
        return await super().one(statement, **given)

    async def value(self, statement: Statement, **values: Any) -> Any:
        statement, given = await self.ready(statement, values)
        return await super().value(statement, **given)

    async def run(self, statement: Statement, **values: Any) -> int:
        statement, given = await self.ready(statement, values)
        return await super().run(statement, **given)

    async def all_of_each(self, statement: Statement, each: Iterable[Mapping[str, Any]]) -> list[Row]:
        await self.flush()
        return await super().all_of_each(statement, each)

    async def each(self, statement: Statement, rows: Iterable[Mapping[str, Any]]) -> None:
        """Run one statement for many rows; a single one may wait for the next statement."""
        rows = list(rows)
        if len(rows) == 1:
            await self.later(statement, **rows[0])
        else:
            await self.flush()
            await super().each(statement, rows)


async def record(writer: Writer, action: str, page_id: UUID | None = None, **detail: Any) -> None:
    """Add to the log who did what, now. `action` is a noun and a verb in the past: `page.created`."""
    writer.lines.append(LogLine(new_id(), action, page_id, detail))
    writer.changes.add_action(action, page_id, detail.get("version") if page_id else None)


async def record_each(writer: Writer, action: str, saved: "Iterable[Saved]") -> None:
    """Add a line to the log for each of many pages."""
    for one in saved:
        await record(writer, action, one.page_id, version=one.version)
