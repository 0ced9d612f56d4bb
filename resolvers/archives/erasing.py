"""Erasure of a tenant or of an owner from every table of the catalogue.

A step is a condition on one table. A dry run counts its rows; an erasure deletes or rewrites them, with all steps and
the record of the erasure in one transaction. The record has the counts of the erased rows, and none of their content.
"""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import asyncpg

from db.archives.catalogue import Table, describe_server, list_tables, quoted
from db.archives.copying import connect
from db.blob_folder import BlobFolder
from db.connection import Connection, Row, prepare_connection
from db.database import Database
from db.ids import new_id
from db.scope import Actor, ActorKind, Role, Scope
from db.sql import statements

from ..auth.oauth import author_ending
from ..auth.owners import find_owner
from ..errors import NotFound
from ..sources.sources import forget_source
from ..tenants.tenants import as_id, find_tenant
from ..transactions.audit import OPERATORS_LOG, Event, audit
from ..transactions.transaction import transaction
from . import moves

ERASING, OWNERS = statements("operations/erasing"), statements("access/owners")
NAME = "cairn erase"
ERASED = "erased"
LOCKED = "SET LOCAL lock_timeout = '30s'; SET LOCAL statement_timeout = 0"
ONE_BY_ONE = "SET LOCAL citus.multi_shard_modify_mode TO 'sequential'"
OF_TENANT, OF_OWNER = "tenant_id = $1", "tenant_id = $1 AND owner_id = $2"
ELSEWHERE = "tenant_id = $1 AND owner_id <> $2"
REFERS_OTHERWISE = {
    "owners": "tenant_id = $1 AND id = $2",
    "grants": "tenant_id = $1 AND (owner_id = $2 OR grantee_id = $2)",
    "api_keys": "tenant_id = $1 AND owner_ids[1] = $2",
    "throttles": "tenant_id = $1 AND split_part(subject, ':', 2) = ANY(CAST($2 AS text[]))",
    "audit_events": "tenant_id = $1 AND EXISTS (SELECT FROM unnest(CAST($2 AS text[])) AS n "
    "WHERE n IN (actor_id, subject) OR strpos(detail::text, concat('\"', n, '\"')) > 0)",
    "webhooks": "tenant_id = $1 AND owner_ids = ARRAY[CAST($2 AS uuid)]",
    "idempotency_keys": OF_TENANT,  # a stored answer does not say whose wiki it shows
}
"""The tables whose rows belong to an owner by another column than `owner_id`, and the conditions for these rows."""
ERASURES = {"tenant": Event.TENANT_ERASED, "owner": Event.OWNER_ERASED, "sources": Event.SOURCES_ERASED}
"""The audit event of each kind of erasure, which refers to the record and names no erased person."""
SHARED = frozenset({"tenants"})
"""The tables whose rows belong to the whole tenant, and have no data of an owner."""


@dataclass(frozen=True, slots=True)
class Step:
    """A condition for rows of one table. They are set to `rewritten`, or deleted if that is None."""

    table: str
    where: str
    arguments: Sequence[Any]
    rewritten: str | None = None

    async def count(self, connection: asyncpg.Connection) -> int:
        found: int = await connection.fetchval(f"SELECT count(*) FROM {self.place}", *self.arguments)  # noqa: S608
        return found

    async def run(self, connection: asyncpg.Connection) -> int:
        if self.rewritten is None:
            status = await connection.execute(f"DELETE FROM {self.place}", *self.arguments)  # noqa: S608
        else:
            change = f"UPDATE {quoted(self.table)} SET {self.rewritten} WHERE {self.where}"  # noqa: S608
            status = await connection.execute(change, *self.arguments)
        return int(status.rpartition(" ")[2])

    @property
    def place(self) -> str:
        return f"{quoted(self.table)} WHERE {self.where}"


@dataclass(frozen=True, slots=True)
class Erased:
    """The result of an erasure or of a dry run: the number of rows by table."""

    kind: str
    tenant_id: UUID
    owner_id: UUID | None
    counts: dict[str, int]

    @property
    def rows(self) -> int:
        return sum(self.counts.values())


def tenant_steps(tables: Iterable[Table], tenant_id: UUID) -> list[Step]:
    """Return the steps that erase a tenant from every table; rows are deleted before the rows that they reference."""
    return [Step(table.name, OF_TENANT, (tenant_id,)) for table in reversed(moves.tenant_tables(tables))]


def owner_steps(tables: Iterable[Table], tenant_id: UUID, owner_id: UUID, names: list[str]) -> list[Step]:
    """Return the steps that erase an owner from every table, and its ids from rows that it wrote in other wikis."""
    found, owner = [*reversed(moves.tenant_tables(tables))], (tenant_id, owner_id)
    steps = [step for table in found for step in authorship_steps(table, owner, names)]
    steps.append(
        Step("api_keys", "tenant_id = $1 AND $2 = ANY(owner_ids[2:])", owner, "owner_ids = array_remove(owner_ids, $2)")
    )
    # A webhook of this owner alone is deleted below: an empty list would stand for all owners.
    also = "tenant_id = $1 AND $2 = ANY(owner_ids) AND cardinality(owner_ids) > 1"
    steps.append(Step("webhooks", also, owner, "owner_ids = array_remove(owner_ids, $2)"))
    for table in found:
        where = REFERS_OTHERWISE.get(table.name) or (OF_OWNER if "owner_id" in table.columns else None)
        if where is not None:
            steps.append(Step(table.name, where, condition_values(where, owner, names)))
        elif table.name not in SHARED:
            raise AssertionError(f"nobody has said which rows of {table.name} belong to an owner")
    return steps


def condition_values(where: str, owner: tuple[UUID, UUID], names: list[str]) -> tuple[Any, ...]:
    """Return the values of a condition: the tenant, and, if it has a second parameter, the owner or its names."""
    if "$2" not in where:
        return owner[:1]
    return (owner[0], names) if "text[]" in where else owner


def authorship_steps(table: Table, owner: tuple[UUID, UUID], names: list[str]) -> list[Step]:
    """Return the steps that remove an owner's ids from the rows that it wrote in other wikis."""
    if "owner_id" not in table.columns:
        return []
    columns = sorted(name for name in table.collated if name.endswith(("_id", "_by")))
    ids = [name for name in names if as_id(name)]
    steps = [
        Step(
            table.name,
            f"{ELSEWHERE} AND regexp_replace({quoted(column)}, '^(agent|user|service|compiler):', '') = ANY($3)",
            (*owner, names),
            f"{quoted(column)} = '{ERASED}'",
        )
        for column in columns
    ]
    if table.name == "activity":
        where = (
            f"{ELSEWHERE} AND EXISTS (SELECT FROM unnest(CAST($3 AS text[])) AS n WHERE strpos(detail::text, n) > 0)"
        )
        steps.append(Step(table.name, where, (*owner, ids), "detail = '{}'"))
    return steps


async def erase_tenant(dsn: str, name: str, by: str, *, dry_run: bool, folder: BlobFolder | None = None) -> Erased:
    """Erase a tenant from every table, and its files from the folder of attachments; a dry run only counts the rows."""
    async with connect(dsn, NAME) as connection:
        await prepare_connection(connection)
        async with connection.transaction():
            await begin(connection)
            tenant_id = (await moves.find_tenant(connection, name))["tenant_id"]
            tables = await list_tables(connection)
            if not dry_run:
                await Connection(connection).all(ERASING["hold_owners_of_tenant"], tenant_id=tenant_id)
            steps = tenant_steps(tables, tenant_id)
            erased = await run_steps(connection, Erased("tenant", tenant_id, None, {}), steps, by, dry_run=dry_run)
            if folder and not dry_run:  # writers wait for the commit; if killed before it, the erasure is repeated
                await asyncio.to_thread(folder.drop_tree, tenant_id)
        if not dry_run:
            await vacuum(connection, erased)
    return erased


async def erase_owner(
    dsn: str, tenant: str, owner: str, by: str, *, dry_run: bool, folder: BlobFolder | None = None
) -> Erased:
    """Erase an owner with its wiki from every table, and its ids from other wikis; a dry run only counts the rows."""
    async with connect(dsn, NAME) as connection:
        await prepare_connection(connection)
        async with connection.transaction():
            await begin(connection)
            tenant_id = (await moves.find_tenant(connection, tenant))["tenant_id"]
            reader, owner_id = Connection(connection), as_id(owner)
            in_tenant = {"tenant_id": tenant_id}
            if owner_id is None:
                row = await reader.one(OWNERS["find_owner_by_slug"], slug=owner, **in_tenant)
                owner_id = row["id"] if row else None
            found = await reader.one(OWNERS["find_owner"], owner_id=owner_id, **in_tenant) if owner_id else None
            if owner_id is None or found is None:
                raise NotFound(f"There is no owner `{owner}`. See who there is with: cairn owners list")
            if not dry_run:
                await reader.all(ERASING["hold_owner"], owner_id=owner_id, **in_tenant)
            names = await find_names(reader, tenant_id, owner_id, found["name"])
            steps = owner_steps(await list_tables(connection), tenant_id, owner_id, names)
            erased = await run_steps(connection, Erased("owner", tenant_id, owner_id, {}), steps, by, dry_run=dry_run)
            if folder and not dry_run:
                await asyncio.to_thread(folder.drop_tree, tenant_id, owner_id)
        if not dry_run:
            await vacuum(connection, erased)
    return erased


async def find_names(connection: Connection, tenant_id: UUID, owner_id: UUID, owner_name: str) -> list[str]:
    """Return the names under which an owner, its keys and its programs have written."""
    rows = await connection.all(
        ERASING["find_names"],
        tenant_id=tenant_id,
        owner_id=owner_id,
        owner_name=owner_name,
        program_ending=author_ending(owner_name),
    )
    return [row["name"] for row in rows]


async def begin(connection: asyncpg.Connection) -> None:
    await connection.execute(LOCKED)
    if (await describe_server(connection))["is_citus"]:
        await connection.execute(ONE_BY_ONE)


async def run_steps(
    connection: asyncpg.Connection, erased: Erased, steps: Iterable[Step], by: str, *, dry_run: bool
) -> Erased:
    """Run the steps and record the erasure, or in a dry run count the rows."""
    for step in steps:
        rows = await (step.count if dry_run else step.run)(connection)
        if rows:
            erased.counts[step.table] = erased.counts.get(step.table, 0) + rows
    if not dry_run:
        await record_erasure(Connection(connection), erased, by)
    return erased


async def record_erasure(connection: Connection, erased: Erased, by: str) -> None:
    id, log = new_id(), OPERATORS_LOG if erased.kind == "tenant" else erased.tenant_id
    await audit(connection, log, Actor(ActorKind.SERVICE, by), ERASURES[erased.kind], id, rows=erased.rows)
    await connection.run(
        ERASING["record_erasure"],
        tenant_id=erased.tenant_id,
        id=id,
        kind=erased.kind,
        owner_id=erased.owner_id,
        erased_by=by,
        counts=erased.counts,
    )


async def vacuum(connection: asyncpg.Connection, erased: Erased) -> None:
    """Vacuum the tables, because the bytes of deleted rows stay in their files until then."""
    for table in erased.counts:
        await connection.execute(f"VACUUM {quoted(table)}")


async def erase_sources(database: Database, tenant: str, person: str, by: str, *, dry_run: bool) -> Erased:
    """Forget every source that a person has added to any wiki of a tenant; a dry run only counts them.

    `person` is the slug or id of an owner, the id of a key, or the subject of a token. The job of each wiki removes
    what was written from these sources from its pages and history.
    """
    tenant_id = (await find_tenant(database, tenant)).id
    in_tenant, names = {"tenant_id": tenant_id}, [person]
    async with database.connection() as connection:
        try:
            owner = await find_owner(database, tenant_id, person)
            owner_id = owner.id
            names = await find_names(connection, tenant_id, owner_id, owner.name)
        except NotFound:
            owner_id = None
        rows = await connection.all(ERASING["find_sources_of"], names=names, **in_tenant)
    erased = Erased("sources", tenant_id, owner_id, {"sources": len(rows)} if rows else {})
    if dry_run:
        return erased
    for row in rows:
        wiki = row["owner_id"]
        scope = Scope(tenant_id, wiki, Role.ADMIN, Actor(ActorKind.SERVICE, "cairn"), (wiki,))
        await forget_source(database, scope, row["id"], "The person asked for it.")
    async with transaction(database) as connection:
        await record_erasure(connection, erased, by)
    return erased


async def list_erasures(database: Database, tenant_id: UUID) -> list[Row]:
    """Return the records of the erasures of a tenant, which may be erased itself."""
    async with database.connection() as connection:
        return await connection.all(ERASING["list_erasures"], tenant_id=tenant_id)
