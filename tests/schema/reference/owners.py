"""Reference resolvers of owners, and of the caller among them."""

from datetime import UTC, datetime
from typing import Any

from tests.schema.reference.lists import Paged
from tests.schema.reference.rows import Row, Rows


def author_name(rows: Rows, author_id: str) -> str:
    """Return the name of an owner or an API key, or else the id itself."""
    for table in ("owners", "api_keys"):
        for row in rows.tables[table]:
            if str(row["id"]) == author_id:
                return str(row["name"])
    return author_id


class Owners:
    def __init__(self, rows: Rows) -> None:
        self.rows = rows

    def role(self, owner: Row) -> str | None:
        """Return the credential's role in its own wikis, and elsewhere at most the role that was granted."""
        role = self.rows.scope.role.value
        if role in ("service", "admin", "reader") or owner["id"] in self.rows.scope.owners:
            return role
        return self.rows.granted(owner["id"])


class ApiKeys:
    def __init__(self, rows: Rows) -> None:
        self.rows = rows

    def owners(self, key: Row) -> list[Row]:
        """Return the owners that the key may act for, in the key's order."""
        found = (self.rows.one("owners", id=id) for id in key["owner_ids"])
        return [owner for owner in found if owner]

    def actor(self, key: Row) -> str:
        return str(key["actor_kind"])

    def state(self, key: Row) -> str:
        if key["revoked_at"]:
            return "revoked"
        return "expired" if key["expires_at"] and key["expires_at"] <= datetime.now(UTC) else "active"


class Viewers:
    """A viewer; its row is that of the caller's owner."""

    def __init__(self, rows: Rows) -> None:
        self.rows = rows

    def tenant(self, owner: Row) -> Row | None:
        return self.rows.one("tenants", tenant_id=owner["tenant_id"])

    def owner(self, owner: Row) -> Row:
        return owner

    def role(self, owner: Row) -> str:
        return self.rows.scope.role.value

    def actor_kind(self, owner: Row) -> str:
        return self.rows.scope.actor.kind.value

    def actor_id(self, owner: Row) -> str:
        return self.rows.scope.actor.id

    def actor_name(self, owner: Row) -> str:
        return author_name(self.rows, self.rows.scope.actor.id)

    def scopes(self, owner: Row, **paging: Any) -> Row:
        found = [row for row in self.rows.tables["owners"] if self.rows.readable(row["id"])]
        return Paged(self.rows, found, "slug", "id").part(**paging)


class Tenants:
    def __init__(self, rows: Rows) -> None:
        self.rows = rows

    def id(self, tenant: Row) -> Any:
        return tenant["tenant_id"]
