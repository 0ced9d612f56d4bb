"""A transaction at work in one wiki."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple
from uuid import UUID

from db.database import Connection, Row
from db.scope import Scope
from db.sql import Statement

from .changes import Changes


class Line(NamedTuple):
    """What the log will say of a write, besides who did it and when."""

    id: UUID
    action: str
    page_id: UUID | None
    detail: dict[str, Any]


class Writer(Connection):
    """Its statements know the tenant, the owner and the moment by themselves: `tenant_id`, `owner_id`, `now`."""

    def __init__(self, connection: Connection, scope: Scope) -> None:
        super().__init__(connection.raw)
        self.scope = scope
        self.now = datetime.now(UTC)
        self.known = {"tenant_id": scope.tenant_id, "owner_id": scope.owner_id, "now": self.now}
        self.changes = Changes(scope.tenant_id, scope.owner_id, self.now)
        self.gathered: dict[UUID, Any] | None = None
        """What can be found of pages by their ids, where `search.gathering` writes it later."""
        self.lines: list[Line] = []

    async def all(self, statement: Statement, **values: Any) -> list[Row]:
        return await super().all(statement, **self.completed(values))

    async def one(self, statement: Statement, **values: Any) -> Row | None:
        return await super().one(statement, **self.completed(values))

    async def value(self, statement: Statement, **values: Any) -> Any:
        return await super().value(statement, **self.completed(values))

    async def run(self, statement: Statement, **values: Any) -> int:
        return await super().run(statement, **self.completed(values))

    async def each(self, statement: Statement, rows: Iterable[Mapping[str, Any]]) -> None:
        await super().each(statement, [self.completed(row) for row in rows])

    def completed(self, values: Mapping[str, Any]) -> dict[str, Any]:
        return {**self.known, **values}
