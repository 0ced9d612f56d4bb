"""The rows of the caller's tenant, and which of its wikis the caller may read."""

from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any
from uuid import UUID

from db.scope import Scope
from tests.schema.world import World

Row = dict[str, Any]
RANKS = ["reader", "member", "admin"]


class Rows:
    """Plain lists of rows, with an index for each column that is looked up."""

    def __init__(self, world: World, scope: Scope) -> None:
        self.scope = scope
        self.tables = world.of_tenant(scope.tenant_id)
        self.places = world.places
        self.indexes: dict[tuple[str, str], dict[Any, list[Row]]] = {}

    def where(self, table: str, **wanted: Any) -> list[Row]:
        (column, value), *more = wanted.items()
        if (table, column) not in self.indexes:
            index = self.indexes[table, column] = defaultdict(list)
            for row in self.tables[table]:
                index[row[column]].append(row)
        found = self.indexes[table, column].get(value, [])
        return [row for row in found if all(row[name] == other for name, other in more)]

    def one(self, table: str, **wanted: Any) -> Row | None:
        return next(iter(self.where(table, **wanted)), None)

    def page(self, id: UUID | None) -> Row | None:
        return self.one("pages", id=id)

    def active_page(self, id: UUID | None) -> Row | None:
        page = self.page(id)
        return page if page and page["status"] == "active" else None

    def active_pages(self, ids: Iterable[UUID]) -> list[Row]:
        """Return the active pages among the ids, each once."""
        found = (self.active_page(id) for id in set(ids))
        return [page for page in found if page]

    def children(self, page: Row) -> list[Row]:
        return [child for child in self.where("pages", parent_page_id=page["id"]) if child["status"] == "active"]

    # -- access

    def granted(self, owner: UUID | None) -> str | None:
        """Return the strongest role that was granted to the caller in the owner's wiki."""
        roles = [row["role"] for row in self.where("grants", owner_id=owner) if row["grantee_id"] in self.scope.owners]
        return max(roles, key=RANKS.index, default=None)

    def readable(self, owner: UUID | None) -> bool:
        spans = self.scope.role in ("service", "admin")
        return spans or owner in self.scope.owners or self.granted(owner) is not None

    def writable(self, owner: UUID | None) -> bool:
        role = self.scope.role
        granted = self.granted(owner) in ("member", "admin")
        return role != "reader" and (role in ("service", "admin") or owner in self.scope.owners or granted)

    def sorted(self, rows: Iterable[Row], *keys: str) -> list[Row]:
        """Sort by these columns, `-` for descending; texts in the order of the database."""
        found = list(rows)
        for key in reversed(keys):
            found.sort(key=self.reading(key.strip("-")), reverse=key.startswith("-"))
        return found

    def reading(self, column: str) -> Callable[[Row], Any]:
        return lambda row: self.place(row[column])

    def place(self, value: Any) -> Any:
        return self.places[value] if isinstance(value, str) else value
