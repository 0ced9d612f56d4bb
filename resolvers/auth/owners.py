"""The owners of wikis in a tenant, the settings of their wikis, and the grants between owners."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from datetime import UTC, datetime
from enum import StrEnum
from uuid import UUID

from content.languages import LANGUAGES, find_configuration
from content.limits import DISPLAY_NAME
from content.names import is_slug
from db.connection import Connection, Row
from db.database import Database
from db.ids import new_id
from db.scope import Actor, ActorKind, Role, Scope
from db.sql import statements

from .. import validation
from ..errors import BadInput, Conflict, NotFound, SlugTaken
from ..jobs.queue import enqueue
from ..permissions import Action
from ..proposals.gate import PolicyRule, Significance, checked_rules, rules_of
from ..tenants.tenants import as_id, check_tenant, new_slug
from ..transactions.audit import MACHINE, Event, audit
from ..transactions.db_errors import translated_db_errors
from ..transactions.transaction import lock_wiki, transaction, writing
from ..transactions.writer import record

OWNERS = statements("access/owners")
REINDEXING = statements("search/reindexing")
TRIGGER = "reindex"


@dataclass(frozen=True, slots=True)
class LanguageSet:
    """The result of a change of language. `job_id` is the job that reindexes the wiki; None if nothing changed."""

    owner_id: UUID
    language: str
    job_id: UUID | None


async def set_wiki_language(database: Database, scope: Scope, language: str) -> LanguageSet:
    """Set the language of the scope's wiki, which applies to all pages that specify no other. For admins.

    Until the job has reindexed the pages, search finds them by stems of the former language. Raises BadInput.
    """
    async with writing(database, scope, Action.ADMINISTER) as writer:
        language = await find_language(writer, language)
        if not await change_language(writer, scope, language):
            return LanguageSet(scope.owner_id, language, None)
        await record(writer, "wiki.language_set", language=language)
        job_id = await enqueue(writer, scope.tenant_id, scope.owner_id, TRIGGER, subject=TRIGGER)
        return LanguageSet(scope.owner_id, language, job_id)


async def change_language(connection: Connection, scope: Scope, language: str) -> bool:
    """Set the language of the wiki, which the caller has locked, and mark all pages to be reindexed.

    Return False if the wiki has this language already.
    """
    where = {"tenant_id": scope.tenant_id, "owner_id": scope.owner_id}
    row = await connection.one(OWNERS["set_language"], **where, language=language)
    if row is not None:
        await connection.run(REINDEXING["read_anew"], **where, now=datetime.now(UTC))
    return row is not None


async def find_language(connection: Connection, text: str) -> str:
    """Return the Postgres name of a language, written such as `de`, `de-AT` or `German`. Raises BadInput."""
    language = find_configuration(text)
    if language is None:
        raise BadInput(f"The language is not supported. Choose one of {', '.join(sorted(LANGUAGES))}.", "language")
    if not await connection.value(OWNERS["has_language"], language=language):
        raise BadInput(
            f"This Postgres has no stemmer for {language}; upgrade PostgreSQL, or use `simple`.",
            "language",
        )
    return language


@dataclass(frozen=True, slots=True)
class WikiSettings:
    """The settings of a wiki. In a change, None leaves a setting as it is."""

    score_boost: float | None = None
    min_sources_for_synthesis: int | None = None
    stale_after_days: int | None = None
    oversize_characters: int | None = None
    lint_min_pages: int | None = None
    lint_every_days: int | None = None
    lint_after_sources: int | None = None
    requires_sensitivity: bool | None = None
    write_policy: Sequence[PolicyRule] | None = None
    """The complete list of rules, which replaces the former one. A role without a rule may write."""
    reader_ceiling: str | None = None
    """The highest sensitivity of pages, sections and sources that readers see."""
    member_ceiling: str | None = None
    """The highest sensitivity of pages, sections and sources that members by grant see."""
    decision_threshold: str | None = None
    """The lowest significance at which a decision gets a page."""


USUAL = WikiSettings(0.9, 3, 90, 20_000, 3, 7, 5, False)
BOUNDS: Mapping[str, tuple[str, int, int]] = {
    "min_sources_for_synthesis": ("minSourcesForSynthesis", 1, 100),
    "stale_after_days": ("staleAfterDays", 1, 3_650),
    "oversize_characters": ("oversizeCharacters", 1_000, 1_000_000),
    "lint_min_pages": ("lintMinPages", 1, 1_000),
    "lint_every_days": ("lintEveryDays", 0, 365),
    "lint_after_sources": ("lintAfterSources", 0, 1_000),
}
"""The API field, minimum and maximum of each integer setting. A 0 for days or sources means never."""


OF_THIS_PLACE = frozenset({"write_policy", "reader_ceiling", "member_ceiling", "decision_threshold"})
"""The settings that an export of a wiki leaves out, because each server decides itself who may read and write."""
CEILINGS = ("internal", "confidential", "secret")


async def update_wiki_settings(database: Database, scope: Scope, settings: WikiSettings) -> bool:
    """Change settings of the scope's wiki; return False if nothing changed. For admins. Raises BadInput."""
    async with writing(database, scope, Action.ADMINISTER) as writer:
        changed = await change_settings(writer, scope, settings)
        if changed:
            changes = {name: value for name, value in asdict(settings).items() if value is not None}
            if settings.write_policy is not None:
                changes["write_policy"] = checked_rules(settings.write_policy)
            await record(writer, "wiki.settings_updated", **changes)
            await audit(writer, scope.tenant_id, scope.actor, Event.SETTINGS_UPDATED, scope.owner_id, **changes)
        return changed


async def change_settings(connection: Connection, scope: Scope, settings: WikiSettings) -> bool:
    """Change settings; return False if nothing changed. Raises BadInput for a setting out of its bounds."""
    boost, values = settings.score_boost, asdict(settings)
    if boost is not None and not SCORE_BOOST[0] <= boost <= SCORE_BOOST[1]:
        raise BadInput("A score boost is a number between 0 and 10; pages have 0.9 unless you set it.", "scoreBoost")
    for name, (field, minimum, maximum) in BOUNDS.items():
        if values[name] is not None and not minimum <= values[name] <= maximum:
            raise BadInput(f"This must lie between {minimum:,} and {maximum:,}.", field)
    for name, field in (("reader_ceiling", "readerCeiling"), ("member_ceiling", "memberCeiling")):
        if values[name] is not None:
            validation.one_of(values[name], CEILINGS, field)
    if settings.decision_threshold is not None:
        validation.one_of(settings.decision_threshold, tuple(Significance), "decisionThreshold")
    if settings.write_policy is not None:
        values["write_policy"] = checked_rules(settings.write_policy)
    where = {"tenant_id": scope.tenant_id, "owner_id": scope.owner_id}
    return await connection.one(OWNERS["update_settings"], **where, **values) is not None


GRANTS = statements("access/grants")
ENGLISH = "english"
SCORE_BOOST = (0.0, 10.0)  # minimum and maximum


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


def settings_from(row: Row) -> WikiSettings:
    """Return the settings that an export of a wiki includes."""
    return WikiSettings(
        **{field.name: row[field.name] for field in fields(WikiSettings) if field.name not in OF_THIS_PLACE}
    )
