"""How much there is: for operators."""

from dataclasses import dataclass

from db.database import Database
from db.sql import statements

from .tenants import list_tenants

INVENTORY = statements("inventory")


@dataclass(frozen=True, slots=True)
class Inventory:
    """Counts over all tenants; archived pages count too."""

    tenants: int
    owners: int
    pages: int


async def inventory(database: Database) -> Inventory:
    """One small statement a tenant: none reads across two of them."""
    tenants = await list_tenants(database)
    async with database.connection() as connection:
        rows = [await connection.one(INVENTORY["count_tenant"], tenant_id=tenant.id) for tenant in tenants]
    return Inventory(len(tenants), *(sum(row[name] for row in rows if row) for name in ("owners", "pages")))
