"""Tenants, the customers of a server. Nothing is ever shared between two tenants."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from content.limits import DISPLAY_NAME
from content.names import is_slug
from db.connection import Connection, Row
from db.database import Database
from db.ids import new_id
from db.scope import Actor
from db.sql import statements

from .. import validation
from ..errors import BadInput, NotFound, SlugTaken
from ..transactions.audit import MACHINE, Event, audit
from ..transactions.transaction import transaction

TENANTS = statements("access/tenants")


@dataclass(frozen=True, slots=True)
class Tenant:
    id: UUID
    slug: str
    name: str
    created_at: datetime


async def create_tenant(database: Database, slug: str, name: str, *, by: Actor = MACHINE) -> Tenant:
    """Create an empty tenant. Raises SlugTaken."""
    async with transaction(database) as connection:
        row = await add_tenant(connection, slug, name, by)
    if row is None:
        raise SlugTaken(f"There is a tenant `{slug}` already. Choose another slug.", "slug")
    return tenant_from(row)


async def ensure_tenant(database: Database, slug: str, name: str) -> Tenant:
    """Return the tenant with this slug, which is created if there is none. An existing tenant keeps its name."""
    async with transaction(database) as connection:
        row = await add_tenant(connection, slug, name, MACHINE)
    return await find_tenant(database, slug) if row is None else tenant_from(row)


async def list_tenants(database: Database, *, after: str | None = None, limit: int | None = None) -> list[Tenant]:
    """Return the tenants by slug, by default all: those after the slug `after`, `limit` at most."""
    async with database.connection() as connection:
        rows = await connection.all(TENANTS["list_tenants"], after=after, limit=limit)
    return [tenant_from(row) for row in rows]


async def find_tenant(database: Database, name: str | UUID) -> Tenant:
    """Return the tenant with this id or slug. Raises NotFound."""
    row = None
    async with database.connection() as connection:
        if tenant_id := as_id(name):
            row = await connection.one(TENANTS["find_tenant"], tenant_id=tenant_id)
        elif is_slug(str(name)):
            row = await connection.one(TENANTS["find_tenant_by_slug"], slug=name)
    if row is None:
        raise NotFound(f"There is no tenant `{name}`. See which there are with: cairn tenants list")
    return tenant_from(row)


async def is_compiling(connection: Connection, tenant_id: UUID) -> bool:
    """Return whether a compile job is enqueued whenever a source is retained."""
    return bool(await connection.value(TENANTS["find_compiling"], tenant_id=tenant_id))


async def set_compiling(database: Database, tenant_id: UUID, compiling: bool) -> None:
    """Set whether a compile job is enqueued whenever a source is retained; otherwise admins start the jobs."""
    async with transaction(database) as connection:
        await connection.run(TENANTS["set_compiling"], tenant_id=tenant_id, compiling=compiling)
        await audit(connection, tenant_id, MACHINE, Event.TENANT_COMPILING, compiling=compiling)


async def add_tenant(connection: Connection, slug: str, name: str, by: Actor) -> Row | None:
    row = await connection.one(
        TENANTS["add_tenant"],
        tenant_id=new_id(),
        slug=new_slug(slug),
        name=validation.line(name, "name", DISPLAY_NAME.maximum),
    )
    if row is not None:
        await audit(connection, row["tenant_id"], by, Event.TENANT_CREATED, slug=row["slug"])
    return row


async def check_tenant(connection: Connection, tenant_id: UUID) -> None:
    """Raise NotFound if the tenant does not exist."""
    if await connection.one(TENANTS["find_tenant"], tenant_id=tenant_id) is None:
        raise NotFound(f"There is no tenant `{tenant_id}`.")


def new_slug(slug: str) -> str:
    """Return a valid slug. Raises BadInput for a slug that looks like an id, because a name may be either."""
    if as_id(validation.slug(slug)):
        raise BadInput("A slug must not look like an id.", "slug")
    return slug


def as_id(name: str | UUID) -> UUID | None:
    """Return the id in a name, or None if the name is not an id."""
    try:
        return UUID(str(name))
    except ValueError:
        return None


def tenant_from(row: Row) -> Tenant:
    return Tenant(row["tenant_id"], row["slug"], row["name"], row["created_at"])


INVENTORY = statements("operations/inventory")


@dataclass(frozen=True, slots=True)
class Inventory:
    """Counts over all tenants, including archived pages, and the size and connections of the database server."""

    tenants: int
    owners: int
    pages: int
    failed_jobs: int
    bytes: int
    connections: int
    max_connections: int


async def inventory(database: Database) -> Inventory:
    """Measure the server, and count the contents of each tenant by a statement that reads no other tenant."""
    tenants = await list_tenants(database)
    async with database.connection() as connection:
        server = await connection.one(INVENTORY["measure_server"])
        rows = await connection.all_of_each(INVENTORY["count_tenant"], [{"tenant_id": tenant.id} for tenant in tenants])
    assert server is not None
    return Inventory(
        len(tenants), *(sum(row[name] for row in rows) for name in ("owners", "pages", "failed_jobs")), **server
    )
