"""A transaction at work in one wiki."""

from datetime import UTC, datetime
from typing import Any, NamedTuple
from uuid import UUID

from db.database import Connection
from db.scope import Scope

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
        super().__init__(connection.raw, connection.last)
        self.scope = scope
        self.now = datetime.now(UTC)
        self.known = {"tenant_id": scope.tenant_id, "owner_id": scope.owner_id, "now": self.now}
        self.changes = Changes(scope.tenant_id, scope.owner_id, self.now)
        self.gathered: dict[UUID, Any] | None = None
        """What can be found of pages by their ids, where `search.gathering` writes it later."""
        self.lines: list[Line] = []
        self.touched: set[UUID] = set()
        """Pages of which something changed that is not their content."""
        self.counted: set[UUID] = set()
        """Pages that may be more or less of a hub now."""
