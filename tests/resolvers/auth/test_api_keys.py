"""API keys: issued, used, expired, revoked."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from db.database import Database
from db.ids import new_id
from db.scope import Actor, ActorKind, Role, Scope
from resolvers.auth.api_keys import create_api_key, list_api_keys, revoke_api_key, scope_of_key
from resolvers.auth.owners import OwnerKind, create_owner
from resolvers.errors import BadInput, CairnError, NotFound, Unauthenticated
from resolvers.tenants.tenants import create_tenant


async def test_an_api_key_has_the_scope_of_its_owners(
    database: Database, tenant_id: UUID, mara_id: UUID, ines_id: UUID
) -> None:
    issued = await create_api_key(database, tenant_id, "nightly import", Role.MEMBER, [mara_id, ines_id])
    found = await scope_of_key(database, issued.key)
    assert found == Scope(tenant_id, mara_id, Role.MEMBER, Actor(ActorKind.USER, str(issued.id)), (mara_id, ines_id))


@pytest.mark.parametrize(
    ("kind", "role", "actor"),
    [
        (OwnerKind.AGENT, Role.MEMBER, ActorKind.AGENT),
        (OwnerKind.USER, Role.ADMIN, ActorKind.USER),
        (OwnerKind.SHARED, Role.MEMBER, ActorKind.SERVICE),
        (OwnerKind.AGENT, Role.SERVICE, ActorKind.SERVICE),
    ],
)
async def test_the_actor_kind_of_a_key_is_that_of_its_owner_unless_given(
    database: Database, tenant_id: UUID, kind: OwnerKind, role: Role, actor: ActorKind
) -> None:
    owner = await create_owner(database, tenant_id, kind, "one", "One")
    usual = await create_api_key(database, tenant_id, "usual", role, [owner.id])
    assert (await scope_of_key(database, usual.key)).actor == Actor(actor, str(usual.id))
    for actor_kind in (ActorKind.AGENT, ActorKind.USER, ActorKind.SERVICE):
        issued = await create_api_key(database, tenant_id, "said", role, [owner.id], actor_kind=actor_kind)
        assert (await scope_of_key(database, issued.key)).actor == Actor(actor_kind, str(issued.id))
    listed = [key.actor_kind for key in await list_api_keys(database, tenant_id)]
    assert listed == [actor, ActorKind.AGENT, ActorKind.USER, ActorKind.SERVICE]
    with pytest.raises(BadInput, match="agent, a user or a service"):
        await create_api_key(database, tenant_id, "x", role, [owner.id], actor_kind=ActorKind.COMPILER)


async def test_a_key_is_shown_once_and_stored_as_its_hash(database: Database, tenant_id: UUID, mara_id: UUID) -> None:
    issued = await create_api_key(database, tenant_id, "import", Role.READER, [mara_id])
    assert issued.key not in repr(issued)
    async with database.connection() as connection:
        stored = await connection.raw.fetchrow("SELECT k.*, k::text AS everything FROM api_keys AS k")
    assert len(stored["key_hash"]) == 32
    assert issued.key.removeprefix("cairn_") not in stored["everything"]


async def test_keys_are_listed_with_name_role_owners_and_state(
    database: Database, tenant_id: UUID, mara_id: UUID, ines_id: UUID
) -> None:
    first = await create_api_key(database, tenant_id, "import", Role.READER, [ines_id, mara_id])
    soon = datetime.now(UTC) + timedelta(hours=1)
    second = await create_api_key(database, tenant_id, "for an hour", Role.SERVICE, [mara_id], soon)
    await revoke_api_key(database, tenant_id, first.id)
    async with database.connection() as connection:
        sql = "UPDATE api_keys SET expires_at = now() - interval '1 hour' WHERE id = $1 RETURNING expires_at"
        past = await connection.raw.fetchval(sql, second.id)
    other = await create_tenant(database, "atlas", "Atlas")
    assert await list_api_keys(database, other.id) == []
    first_key, second_key = await list_api_keys(database, tenant_id)
    assert (first_key.id, first_key.name, first_key.role, list(first_key.owners), first_key.state) == (
        first.id, "import", Role.READER, ["ines", "mara"], "revoked"
    )  # fmt: skip
    assert (second_key.id, second_key.expires_at, second_key.revoked_at, second_key.state) == (
        second.id,
        past,
        None,
        "expired",
    )


async def test_a_revoked_key_is_refused(database: Database, tenant_id: UUID, mara_id: UUID) -> None:
    issued = await create_api_key(database, tenant_id, "import", Role.READER, [mara_id])
    other = await create_tenant(database, "atlas", "Atlas")
    with pytest.raises(NotFound):
        await revoke_api_key(database, other.id, issued.id)
    for _ in range(2):
        await revoke_api_key(database, tenant_id, issued.id)
    with pytest.raises(Unauthenticated, match="revoked"):
        await scope_of_key(database, issued.key)


async def test_an_expired_key_is_refused(database: Database, tenant_id: UUID, mara_id: UUID) -> None:
    soon = datetime.now(UTC) + timedelta(days=2)
    issued = await create_api_key(database, tenant_id, "import", Role.READER, [mara_id], expires_at=soon)
    assert await scope_of_key(database, issued.key)
    async with database.connection() as connection:
        await connection.raw.execute("UPDATE api_keys SET expires_at = now() - interval '1 hour'")
    with pytest.raises(Unauthenticated, match="expired"):
        await scope_of_key(database, issued.key)


async def test_an_unknown_key_is_refused(database: Database) -> None:
    with pytest.raises(Unauthenticated, match="unknown"):
        await scope_of_key(database, "cairn_" + "x" * 43)


async def test_a_key_requires_a_name_owners_of_the_tenant_and_a_future_expiry(
    database: Database, tenant_id: UUID, mara_id: UUID
) -> None:
    async def problem(**changed: Any) -> CairnError:
        given = {"name": "import", "owner_ids": [mara_id], "expires_at": None, **changed}
        with pytest.raises(CairnError) as refused:
            await create_api_key(database, tenant_id, role=Role.MEMBER, **given)
        return refused.value

    past = datetime.now(UTC) - timedelta(seconds=1)
    fields = [
        (await problem(**changed)).extensions.get("field")
        for changed in (
            {"name": "  "}, {"name": "nul\0"}, {"owner_ids": []}, {"expires_at": past}, {"expires_at": datetime.max}
        )
    ]  # fmt: skip
    assert fields == ["name", "name", "owners", "expiresAt", "expiresAt"]
    assert isinstance(await problem(owner_ids=[mara_id, new_id()]), NotFound)
