"""Generates a small world of unusual values: two tenants with four wikis each. The same seed gives the same rows."""

import json
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from uuid import UUID

import asyncpg
import orjson
from sqlalchemy.dialects.postgresql import JSONB

from db.database import Database
from db.scope import Actor, ActorKind, Role, Scope
from db.tables import metadata
from resolvers.search.reindexing import reindex
from tests.schema.draws import START
from tests.schema.wikis import KEY, WikiMaker

Row = dict[str, Any]
Tables = dict[str, list[Row]]

OWNERS = {"alice": "user", "bot": "agent", "space": "shared", "eve": "user", "new": "user"}
GRANTS = [("alice", "space", "reader"), ("bot", "space", "member"), ("bot", "alice", "admin"), ("new", "bot", "reader")]
WITHOUT_PAGES = "new"
READ = {
    "pages": "*, lower(title)",  # lists go by titles in small letters, as Postgres makes them
    "installation": "*, (SELECT system_identifier FROM pg_control_system()), pg_relation_filepath('installation'),"
    " (SELECT timeline_id FROM pg_control_checkpoint())",
}


def tenant_id(number: int) -> UUID:
    return UUID(int=number << 64)


def owner_id(tenant: int, name: str) -> UUID:
    return UUID(int=(tenant << 64) + 1 + list(OWNERS).index(name))


def key_id(tenant: int, name: str) -> UUID:
    """Return the id of the API key that may act for that owner."""
    return UUID(int=owner_id(tenant, name).int + KEY)


def make_world(pages_per_wiki: int = 40, seed: int = 7) -> Tables:
    """Return the rows by table. Some scopes are granted to other owners; no other owner may use that of eve."""
    tables: Tables = {table.name: [] for table in metadata.sorted_tables}
    for tenant in (1, 2):
        maker = WikiMaker(tables, seed + tenant)
        add_tenant(tables, tenant, maker)
        for name in OWNERS:
            if name != WITHOUT_PAGES:
                maker.fill(tenant_id(tenant), owner_id(tenant, name), pages_per_wiki)
    add_page_fields(tables["pages"])
    return tables


def add_page_fields(pages: list[Row]) -> None:
    """Give some pages metadata as in frontmatter; the seeded draws stay as they are."""
    examples: list[Row] = [
        {"owner": "architect", "confidence": "high", "expires_at": "2026-05-01"},
        {"sensitivity": "public", "confidence": "sure", "expires_at": "2026-05-01T10:00:00+02:00", "owner": ""},
        {"expires_at": "next spring", "confidence": None, "supersedes": [], "contradicts": 7},
    ]
    for n, page in enumerate(pages):
        if n % 2:
            before = pages[n - 1 - n % 5]
            names = {
                "supersedes": before["slug"],
                "contradicts": [f"{before['type']}/{pages[n - 3]['slug']}", page["slug"]],
            }
            page["metadata"] = page["metadata"] | examples[n % len(examples)] | (names if n % 3 else {})


def add_tenant(tables: Tables, tenant: int, maker: WikiMaker) -> None:
    ids = {"tenant_id": tenant_id(tenant)}
    tables["tenants"].append({**ids, "slug": f"tenant-{tenant}", "name": f'Tenant "{tenant}"', "settings": {}})
    for name, kind in OWNERS.items():
        tables["owners"].append(
            {**ids, "id": owner_id(tenant, name), "kind": kind, "slug": name, "name": f"{name.title()} é"}
        )
        tables["api_keys"].append({
            **ids, "key_hash": key_id(tenant, name).bytes, "id": key_id(tenant, name), "name": f'Key of "{name}"',
            "role": "member", "owner_ids": [owner_id(tenant, name)], "created_at": START,
        })  # fmt: skip
    for grantee, owner, role in GRANTS:
        row = {"owner_id": owner_id(tenant, owner), "grantee_id": owner_id(tenant, grantee), "role": role}
        tables["grants"].append({**ids, **row})
    for name in ("tenants", "owners", "grants"):
        for row in tables[name]:
            row.setdefault("created_at", maker.moment())


async def store(dsn: str, tables: Tables) -> None:
    """Write the rows into a migrated, empty database."""
    connection = await asyncpg.connect(dsn)
    try:
        for table in metadata.sorted_tables:
            if rows := tables[table.name]:
                columns = list(rows[0])
                records = [[storable(row[name], table.c[name].type) for name in columns] for row in rows]
                await connection.copy_records_to_table(table.name, records=records, columns=columns)
        await index(dsn, tables["owners"])
        await connection.execute("ANALYZE")
    finally:
        await connection.close()


async def index(dsn: str, owners: list[Row]) -> None:
    """Write the search rows as the product does."""
    database = Database(dsn, size=1)
    await database.open()
    try:
        for owner in owners:
            await reindex(database, owner["tenant_id"], owner["id"])
    finally:
        await database.close()


def storable(value: Any, type_: Any) -> Any:
    """Convert documents to text, including empty lists."""
    return json.dumps(value) if isinstance(type_, JSONB) and value is not None else value


@dataclass(frozen=True)
class World:
    """The rows as Postgres stores them, and its order of texts."""

    tables: Tables
    places: dict[str, int]

    def of_tenant(self, tenant: UUID) -> Tables:
        return {
            name: [row for row in rows if row.get("tenant_id", tenant) == tenant] for name, rows in self.tables.items()
        }

    def rows(self, table: str, tenant: int, owner: str) -> list[Row]:
        """Return the rows of one wiki."""
        return self.by_wiki.get((table, tenant_id(tenant), owner_id(tenant, owner)), [])

    @cached_property
    def by_wiki(self) -> dict[tuple[str, UUID, UUID], list[Row]]:
        """The rows by table, tenant and owner."""
        found: dict[tuple[str, UUID, UUID], list[Row]] = {}
        for name, rows in self.tables.items():
            for row in rows:
                if "owner_id" in row:
                    found.setdefault((name, row["tenant_id"], row["owner_id"]), []).append(row)
        return found


async def read_back(dsn: str) -> World:
    """Read every row as plain Python; jsonb keeps the order in which Postgres stores its keys."""
    connection = await asyncpg.connect(dsn)
    await connection.set_type_codec("jsonb", schema="pg_catalog", encoder=str, decoder=orjson.loads)
    try:
        tables = {
            table: [dict(row) for row in await connection.fetch(f"SELECT {READ.get(table, '*')} FROM {table}")]
            for table in (one.name for one in metadata.sorted_tables)
        }
        texts = {text for rows in tables.values() for row in rows for text in texts_of(row)}
        places = await connection.fetch("SELECT t, rank() OVER (ORDER BY t) FROM unnest($1::text[]) t", list(texts))
        return World(tables, {row[0]: row[1] for row in places})
    finally:
        await connection.close()


def texts_of(row: Row) -> list[str]:
    """Return the texts of a row that can be a key of an order."""
    return [value for value in row.values() if isinstance(value, str)] + list(row.get("tags") or ())


def caller_scope(tenant: int, name: str, role: Role, *more: str) -> Scope:
    """Return the scope of a credential for an owner, and optionally for more owners."""
    owners = tuple(owner_id(tenant, owner) for owner in (name, *more))
    return Scope(tenant_id(tenant), owners[0], role, Actor(ActorKind.USER, f'{name} "é"'), owners)


NOBODY = Scope(tenant_id(1), UUID(int=99), Role.MEMBER, Actor(ActorKind.AGENT, ""), (UUID(int=99),))

CALLERS = [
    caller_scope(1, "alice", Role.MEMBER),
    caller_scope(1, "bot", Role.MEMBER),
    caller_scope(1, "eve", Role.READER),
    caller_scope(1, "alice", Role.ADMIN),
    caller_scope(2, "space", Role.SERVICE),
    caller_scope(2, "bot", Role.READER),
    caller_scope(1, "eve", Role.MEMBER, "new"),
    caller_scope(1, "new", Role.MEMBER),
    caller_scope(2, "eve", Role.ADMIN),
    NOBODY,
]
