"""Starts a temporary Postgres with wikis that have sources and no pages yet."""

import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from uuid import UUID

from db.database import Database
from db.embedded import EmbeddedServer
from db.migrate import migrate
from db.scope import Actor, ActorKind, Role, Scope
from resolvers.auth.owners import OwnerKind, create_owner
from resolvers.sources.retain import BATCH_MAX, retain_sources
from resolvers.sources.sources import SourceDraft
from resolvers.tenants.tenants import create_tenant

MEMORY = {"shared_buffers": "1GB", "max_wal_size": "4GB", "max_connections": "200"}


@contextmanager
def temporary_server() -> Iterator[str]:
    """Start a server with one empty database, and remove it after the block. A crash of the machine may lose its
    data."""
    with tempfile.TemporaryDirectory(prefix="cairn-bench-") as folder:
        Path(folder).chmod(0o755)
        server = EmbeddedServer(Path(folder) / "data", durable=False)
        server.settings = server.settings | MEMORY
        with server as dsn:
            yield dsn


async def open_database(dsn: str, size: int = 2) -> Database:
    """Migrate the database and return an open connection pool for it."""
    await migrate(dsn)
    database = Database(dsn, size=size)
    await database.open()
    return database


async def new_wiki(database: Database, tenant: str, owner: str) -> Scope:
    """Create a tenant with one wiki."""
    created_tenant = await create_tenant(database, tenant, tenant)
    return await add_wiki(database, tenant_admin(created_tenant.id), owner)


async def add_wiki(database: Database, scope: Scope, owner: str) -> Scope:
    created_owner = await create_owner(database, scope.tenant_id, OwnerKind.USER, owner, owner)
    return scope.in_owner(created_owner.id)


def tenant_admin(tenant_id: UUID) -> Scope:
    return Scope(tenant_id, tenant_id, Role.ADMIN, Actor(ActorKind.USER, "bench"), ())


async def retain(
    database: Database,
    scope: Scope,
    drafts: Sequence[SourceDraft],
    report_progress: Callable[[int], object] = lambda _: None,
) -> None:
    """Retain the sources in batches. `report_progress` is called with the size of each batch after it was stored."""
    for start in range(0, len(drafts), BATCH_MAX):
        part = drafts[start : start + BATCH_MAX]
        result = await retain_sources(database, scope, part)
        assert all(item.saved for item in result.items), [item.error for item in result.items if item.error][:1]
        report_progress(len(part))
