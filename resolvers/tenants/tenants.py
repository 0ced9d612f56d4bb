"""Customers. Nothing is ever shared between two of them."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from content.limits import CALLED
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
    """A new customer, with nothing in it."""
    async with transaction(database) as connection:
        row = await add_tenant(connection, slug, name, by)
    if row is None:
        raise SlugTaken(f"There is a tenant `{slug}` already. Choose another slug.", "slug")
    return tenant_from(row)


async def ensure_tenant(database: Database, slug: str, name: str) -> Tenant:
    """The customer of that slug, made when there is none. One that exists keeps its name."""
    async with transaction(database) as connection:
        row = await add_tenant(connection, slug, name, MACHINE)
    return await find_tenant(database, slug) if row is None else tenant_from(row)


async def list_tenants(database: Database, *, after: str | None = None, limit: int | None = None) -> list[Tenant]:
    """The tenants by slug: those whose slug follows `after`, `limit` at most. Every tenant without them."""
    async with database.connection() as connection:
        rows = await connection.all(TENANTS["list_tenants"], after=after, most=limit)
    return [tenant_from(row) for row in rows]


async def find_tenant(database: Database, name: str | UUID) -> Tenant:
    """The customer of that id or slug."""
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
    """Return whether a job is asked for whenever something is retained."""
    return bool(await connection.value(TENANTS["find_compiling"], tenant_id=tenant_id))


async def set_compiling(database: Database, tenant_id: UUID, compiling: bool) -> None:
    """Ask for a job whenever something is retained, or leave that to admins."""
    async with transaction(database) as connection:
        await connection.run(TENANTS["set_compiling"], tenant_id=tenant_id, compiling=compiling)
        await audit(connection, tenant_id, MACHINE, Event.TENANT_COMPILING, compiling=compiling)


async def add_tenant(connection: Connection, slug: str, name: str, by: Actor) -> Row | None:
    row = await connection.one(
        TENANTS["add_tenant"], tenant_id=new_id(), slug=new_slug(slug), name=validation.line(name, "name", CALLED.most)
    )
    if row is not None:
        await audit(connection, row["tenant_id"], by, Event.TENANT_CREATED, slug=row["slug"])
    return row


async def check_tenant(connection: Connection, tenant_id: UUID) -> None:
    """Raise NotFound when there is no such tenant: what is put into one needs it."""
    if await connection.one(TENANTS["find_tenant"], tenant_id=tenant_id) is None:
        raise NotFound(f"There is no tenant `{tenant_id}`.")


def new_slug(slug: str) -> str:
    """Return the slug. It may not look like an id: where either can be given, an id comes first."""
    if as_id(validation.slug(slug)):
        raise BadInput("A slug must not look like an id.", "slug")
    return slug


def as_id(name: str | UUID) -> UUID | None:
    """The id that was written, or None for what can only be a slug."""
    try:
        return UUID(str(name))
    except ValueError:
        return None


def tenant_from(row: Row) -> Tenant:
    return Tenant(row["tenant_id"], row["slug"], row["name"], row["created_at"])


INVENTORY = statements("operations/inventory")


@dataclass(frozen=True, slots=True)
class Inventory:
    """Counts over all tenants; archived pages count too."""

    tenants: int
    owners: int
    pages: int
    failed_jobs: int
    bytes: int
    connections: int
    connections_most: int


async def inventory(database: Database) -> Inventory:
    """Measure the server, and count the tenants' contents by one small statement each: none reads across two."""
    tenants = await list_tenants(database)
    async with database.connection() as connection:
        server = await connection.one(INVENTORY["measure_server"])
        rows = await connection.all_of_each(INVENTORY["count_tenant"], [{"tenant_id": one.id} for one in tenants])
    assert server is not None
    return Inventory(
        len(tenants), *(sum(row[name] for row in rows) for name in ("owners", "pages", "failed_jobs")), **server
    )
