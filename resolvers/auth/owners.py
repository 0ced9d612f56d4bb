"""The owners of wikis in a tenant, and the grants between owners."""

from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from content.limits import DISPLAY_NAME
from content.names import is_slug
from db.connection import Connection, Row
from db.database import Database
from db.ids import new_id
from db.scope import Actor, ActorKind, Role, Scope
from db.sql import statements

from .. import validation
from ..errors import BadInput, Conflict, NotFound, SlugTaken
from ..proposals.gate import rules_of
from ..tenants.tenants import as_id, check_tenant, new_slug
from ..transactions.audit import MACHINE, Event, audit
from ..transactions.db_errors import translated_db_errors
from ..transactions.transaction import lock_wiki, transaction
from .wiki_settings import WikiSettings, change_language, change_settings, find_language, settings_from

OWNERS = statements("access/owners")
GRANTS = statements("access/grants")
ENGLISH = "english"


class OwnerKind(StrEnum):
    AGENT = "agent"
    USER = "user"
    SHARED = "shared"


class Grant(StrEnum):
    """The role of an owner in another owner's wiki, limited by the role of its credential: see permissions."""

    READER = "reader"
    MEMBER = "member"
    ADMIN = "admin"


@dataclass(frozen=True, slots=True)
class Owner:
    tenant_id: UUID
    id: UUID
    kind: OwnerKind
    slug: str
    name: str
    language: str
    created_at: datetime
    settings: WikiSettings

    @property
    def score_boost(self) -> float:
        assert self.settings.score_boost is not None
        return self.settings.score_boost


async def create_owner(
    database: Database,
    tenant_id: UUID,
    kind: OwnerKind,
    slug: str,
    name: str,
    language: str = ENGLISH,
    *,
    by: Actor = MACHINE,
) -> Owner:
    """Create an owner with an empty wiki, whose pages are in this language unless they specify another.

    Raises SlugTaken.
    """
    async with transaction(database) as connection:
        row = await add_owner(connection, tenant_id, kind, slug, name, language, by)
    if row is None:
        raise SlugTaken(f"There is an owner `{slug}` already. Choose another slug.", "slug")
    return owner_from(row)


async def ensure_owner(
    database: Database, tenant_id: UUID, kind: OwnerKind, slug: str, name: str, *, by: Actor = MACHINE
) -> Owner:
    """Return the owner with this slug, which is created if there is none. An existing owner keeps its name.

    Raises Conflict if it is of another kind.
    """
    async with transaction(database) as connection:
        row = await add_owner(connection, tenant_id, kind, slug, name, ENGLISH, by)
    owner = await find_owner(database, tenant_id, slug) if row is None else owner_from(row)
    if owner.kind != kind:
        raise Conflict(f"The owner `{slug}` is of the kind {owner.kind}, not {kind}.")
    return owner


async def list_owners(
    database: Database, tenant_id: UUID, *, after: str | None = None, limit: int | None = None
) -> list[Owner]:
    """Return the owners of a tenant by slug, by default all: those after the slug `after`, `limit` at most."""
    async with database.connection() as connection:
        rows = await connection.all(OWNERS["list_owners"], tenant_id=tenant_id, after=after, limit=limit)
    return [owner_from(row) for row in rows]


async def find_owners(database: Database, tenant_id: UUID, names: Sequence[str | UUID]) -> list[Owner]:
    """Return the owners with these ids or slugs, in this order. Takes one statement. Raises NotFound."""
    ids = [owner_id for name in names if (owner_id := as_id(name))]
    slugs = [str(name) for name in names if not as_id(name) and is_slug(str(name))]
    with translated_db_errors():
        async with database.connection() as connection:
            rows = await connection.all(OWNERS["find_owners"], tenant_id=tenant_id, owner_ids=ids, slugs=slugs)
    known: dict[str | UUID, Owner] = {}
    for owner in map(owner_from, rows):
        known |= {owner.id: owner, owner.slug: owner}
    found: list[Owner] = []
    for name in names:
        if (key := as_id(name) or name) not in known:
            raise NotFound(f"There is no owner `{str(name)[: DISPLAY_NAME.maximum]}`.")
        found.append(known[key])
    return found


async def find_owner(database: Database, tenant_id: UUID, name: str | UUID) -> Owner:
    """Return the owner with this id or slug. Raises NotFound."""
    row = None
    async with database.connection() as connection:
        if owner_id := as_id(name):
            row = await connection.one(OWNERS["find_owner"], tenant_id=tenant_id, owner_id=owner_id)
        elif is_slug(str(name)):
            row = await connection.one(OWNERS["find_owner_by_slug"], tenant_id=tenant_id, slug=name)
    if row is None:
        raise NotFound(f"There is no owner `{name}`.")
    return owner_from(row)


async def grant(
    database: Database, tenant_id: UUID, *, owner_id: UUID, grantee_id: UUID, role: Grant, by: Actor = MACHINE
) -> None:
    """Grant the grantee a role in the owner's wiki. A second grant replaces the first."""
    if owner_id == grantee_id:
        raise BadInput("An owner needs no grant in its own wiki.", "grantee")
    async with transaction(database) as connection:
        await lock_owners(connection, tenant_id, (owner_id, grantee_id))
        await connection.run(
            GRANTS["save_grant"], tenant_id=tenant_id, owner_id=owner_id, grantee_id=grantee_id, role=role
        )
        await audit(connection, tenant_id, by, Event.GRANT_SAVED, owner_id, grantee=str(grantee_id), role=role)


async def revoke(database: Database, tenant_id: UUID, *, owner_id: UUID, grantee_id: UUID, by: Actor = MACHINE) -> bool:
    """Revoke a grant. Return False if there was none."""
    async with transaction(database) as connection:
        removed = await connection.run(
            GRANTS["remove_grant"], tenant_id=tenant_id, owner_id=owner_id, grantee_id=grantee_id
        )
        if removed:
            await audit(connection, tenant_id, by, Event.GRANT_REMOVED, owner_id, grantee=str(grantee_id))
    return removed > 0


@dataclass(frozen=True, slots=True)
class Granted:
    """A stored grant. `owner` and `grantee` are slugs."""

    owner: str
    grantee: str
    role: Grant
    created_at: datetime


async def list_grants(
    database: Database, tenant_id: UUID, *, owner_id: UUID | None = None, grantee_id: UUID | None = None
) -> list[Granted]:
    """Return the grants of a tenant, or of one owner or grantee, by the slugs of the owner and the grantee."""
    async with database.connection() as connection:
        rows = await connection.all(
            GRANTS["list_grants"], tenant_id=tenant_id, owner_id=owner_id, grantee_id=grantee_id
        )
    return [Granted(row["owner"], row["grantee"], Grant(row["role"]), row["created_at"]) for row in rows]


async def set_language(database: Database, tenant_id: UUID, owner_id: UUID, language: str) -> Owner:
    """Set the language of an owner's wiki. Its pages must be reindexed afterwards: see reindexing."""
    scope = Scope(tenant_id, owner_id, Role.ADMIN, Actor(ActorKind.SERVICE, "owners"), (owner_id,))
    async with transaction(database) as connection:
        await lock_wiki(connection, scope)
        await change_language(connection, scope, await find_language(connection, language))
    return await find_owner(database, tenant_id, owner_id)


async def set_owner_settings(
    database: Database, tenant_id: UUID, owner_id: UUID, settings: WikiSettings, *, by: Actor = MACHINE
) -> Owner:
    """Change the settings of an owner's wiki on behalf of an operator."""
    scope = Scope(tenant_id, owner_id, Role.ADMIN, Actor(ActorKind.SERVICE, "owners"), (owner_id,))
    async with transaction(database) as connection:
        if await change_settings(connection, scope, settings):
            changes = {name: value for name, value in asdict(settings).items() if value is not None}
            await audit(connection, tenant_id, by, Event.SETTINGS_UPDATED, owner_id, **changes)
    return await find_owner(database, tenant_id, owner_id)


async def add_owner(
    connection: Connection, tenant_id: UUID, kind: OwnerKind, slug: str, name: str, language: str, by: Actor
) -> Row | None:
    await check_tenant(connection, tenant_id)
    row = await connection.one(
        OWNERS["add_owner"],
        tenant_id=tenant_id,
        owner_id=new_id(),
        kind=kind,
        slug=new_slug(slug),
        name=validation.line(name, "name", DISPLAY_NAME.maximum),
        language=await find_language(connection, language),
    )
    if row is not None:
        await audit(connection, tenant_id, by, Event.OWNER_CREATED, row["id"], kind=kind, slug=row["slug"])
    return row


async def lock_owners(connection: Connection, tenant_id: UUID, owner_ids: Collection[UUID]) -> dict[UUID, OwnerKind]:
    """Lock these owners against deletion until the transaction ends; return their kinds. Raises NotFound."""
    rows = await connection.all(OWNERS["lock_owners"], tenant_id=tenant_id, owner_ids=list(owner_ids))
    kinds = {row["id"]: OwnerKind(row["kind"]) for row in rows}
    if missing := set(owner_ids) - kinds.keys():
        raise NotFound(f"There is no owner `{min(missing)}`.")
    return kinds


def usual_actor(kind: OwnerKind, role: Role) -> ActorKind:
    """Return the default kind of actor for the credentials of an owner of this kind.

    A credential with the role SERVICE acts for a whole tenant, and a shared space is no single actor: both are a
    service in the history.
    """
    if role is Role.SERVICE or kind is OwnerKind.SHARED:
        return ActorKind.SERVICE
    return ActorKind(kind.value)


def owner_from(row: Row) -> Owner:
    return Owner(
        tenant_id=row["tenant_id"],
        id=row["id"],
        kind=OwnerKind(row["kind"]),
        slug=row["slug"],
        name=row["name"],
        language=row["language"],
        created_at=row["created_at"],
        settings=replace(
            settings_from(row),
            write_policy=rules_of(row["write_policy"]),
            reader_ceiling=row["reader_ceiling"],
            member_ceiling=row["member_ceiling"],
            decision_threshold=row["decision_threshold"],
        ),
    )
