"""Starts a Cairn for the suites: the real service over its own Postgres, with the sample wikis.

The wiki that requests are generated for also has pages whose fields are as long and as unusual as allowed.
"""

import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, nullcontext
from pathlib import Path
from typing import Any
from uuid import UUID

from app.cli.demo_wikis import load_sample
from app.observability.logging import configure
from app.settings import Settings
from db.database import Database
from db.embedded import EmbeddedServer
from db.migrate import migrate
from db.scope import Actor, ActorKind, Role, Scope
from resolvers.auth.credentials import mint
from resolvers.import_export.export_files import export_path
from tests.app.service import SECRET, serving
from tests.full_wiki import create_full_pages, slug_of

QUIET: Any = {"log_level": "error", "log_format": "console", "slow_operation": 0}
STRANGE = ("\U0001f600", "\x01", "e\u0301", "a, ")
EXPORTS = ("wiki.zip", "wiki.jsonl")
WHERE = """SELECT t.tenant_id, o.id, p.id FROM tenants t JOIN owners o USING (tenant_id)
    JOIN pages p ON p.tenant_id = t.tenant_id AND p.owner_id = o.id
    WHERE o.slug = $1 ORDER BY p.slug = $2 DESC, p.slug LIMIT 1"""


@asynccontextmanager
async def sample_service(report: Callable[[str], None]) -> AsyncIterator[dict[str, str]]:
    """Start the service, and yield what a suite needs as environment variables. Everything is removed afterwards."""
    with tempfile.TemporaryDirectory(prefix="cairn-") as folder:
        data_dir = Path(folder)
        report("Starting Postgres")
        with EmbeddedServer(data_dir, durable=False) as dsn:
            configure(Settings(**QUIET))
            await migrate(dsn)
            report("Loading the sample wikis")
            environment = await fill_database(dsn, data_dir)
            async with serving(dsn, data_dir, oauth="own", **QUIET) as service:
                yield environment | {"CAIRN_URL": f"{service.url}/graphql"}


async def fill_database(dsn: str, folder: Path) -> dict[str, str]:
    database = Database(dsn, size=2)
    await database.open()
    try:
        await load_sample(database, lambda text: None, lambda title: nullcontext(lambda *done: None))
        tenant, mara, austin = await find_ids(database, "mara", "austin-texas")
        _, _, lisbon = await find_ids(database, "mara", "lisbon")
        elsewhere, ada, foreign = await find_ids(database, "ada", "")
        ids = await known_ids(database, mara)
        scope = Scope(tenant, mara, Role.ADMIN, Actor(ActorKind.USER, "mara"), (mara,))
        full = await create_full_pages(database, scope, STRANGE, length=20_000)
        for name in EXPORTS:
            await export_path(database, scope, folder / name, history=True)
    finally:
        await database.close()
    return {
        "CAIRN_TENANT": str(tenant),
        "CAIRN_OWNER": str(mara),
        "CAIRN_IDS": " ".join(map(str, (*ids, *full, foreign))),
        "CAIRN_EXPORTS": " ".join(str(folder / name) for name in EXPORTS),
        "CAIRN_SLUG": slug_of(0),
        "CAIRN_PAGE": str(austin),
        "CAIRN_OTHER_PAGE": str(lisbon),
        "CAIRN_FOREIGN_PAGE": str(foreign),
        "CAIRN_TOKEN": signed_token(tenant, mara),
        "CAIRN_STRANGER": signed_token(elsewhere, ada),
    }


async def find_ids(database: Database, owner: str, slug: str) -> tuple[UUID, UUID, UUID]:
    """Return the tenant, the owner, and the page of that slug, or any page if there is none."""
    async with database.connection() as connection:
        row = await connection.raw.fetchrow(WHERE, owner, slug)
    assert row is not None, f"the sample lacks {owner}"
    tenant_id, owner_id, page_id = row
    return tenant_id, owner_id, page_id


async def known_ids(database: Database, owner_id: UUID) -> list[UUID]:
    """Return the ids of some pages, sections and sources."""
    kinds = ("pages", "sections", "sources")
    sql = " UNION ALL ".join(f"(SELECT id FROM {kind} WHERE owner_id = $1 ORDER BY id LIMIT 4)" for kind in kinds)
    async with database.connection() as connection:
        return [id for (id,) in await connection.raw.fetch(sql, owner_id)]


def signed_token(tenant_id: UUID, owner_id: UUID) -> str:
    return mint(SECRET, tenant_id=tenant_id, owner_id=owner_id, role=Role.ADMIN, ttl=7200)
