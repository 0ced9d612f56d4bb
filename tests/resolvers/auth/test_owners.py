"""Tenants, the owners inside them, and what they grant each other."""

import asyncio
from uuid import UUID

import pytest

from db.database import Database
from db.ids import new_id
from resolvers.auth.owners import (
    Grant,
    OwnerKind,
    create_owner,
    ensure_owner,
    find_owner,
    find_owners,
    grant,
    list_grants,
    list_owners,
    revoke,
)
from resolvers.errors import BadInput, Conflict, NotFound, SlugTaken
from resolvers.tenants.tenants import create_tenant, ensure_tenant, find_tenant, list_tenants

LIKE_AN_ID = "0192a1fd-e212-7af9-b32f-44d5a5b0399e"
BAD_SLUGS = [
    "",
    "index",
    "Two Words",
    "-a",
    "a--b",
    "a" * 121,
    "nul\0",
    "\ud800",
    LIKE_AN_ID,
    LIKE_AN_ID.replace("-", ""),
]
BAD_NAMES = ["", "  ", "nul\0", "\ud800", "x" * 201]


async def test_a_tenant_is_found_by_its_id_and_by_its_slug(database: Database) -> None:
    tenant = await create_tenant(database, "harbour", "Harbour  Coffee")
    assert tenant.name == "Harbour Coffee"
    assert await find_tenant(database, tenant.id) == tenant
    assert await find_tenant(database, str(tenant.id)) == tenant
    assert await find_tenant(database, "harbour") == tenant


async def test_an_owner_is_found_by_its_id_and_by_its_slug(database: Database, tenant_id: UUID) -> None:
    owner = await create_owner(database, tenant_id, OwnerKind.AGENT, "mara", "Mara")
    assert (owner.tenant_id, owner.kind) == (tenant_id, OwnerKind.AGENT)
    assert await find_owner(database, tenant_id, owner.id) == owner
    assert await find_owner(database, tenant_id, "mara") == owner


@pytest.mark.parametrize("name", ["", "nobody", "nul\0", LIKE_AN_ID])
async def test_an_unknown_name_among_several_is_not_found(database: Database, tenant_id: UUID, name: str) -> None:
    mara = await create_owner(database, tenant_id, OwnerKind.AGENT, "mara", "Mara")
    with pytest.raises(NotFound, match="There is no owner"):
        await find_owners(database, tenant_id, [mara.id, name])


async def test_tenants_and_owners_are_listed_by_slug(database: Database, tenant_id: UUID) -> None:
    await create_tenant(database, "atlas", "Atlas")
    for slug in ("mara", "ines", "bruno"):
        await create_owner(database, tenant_id, OwnerKind.USER, slug, slug.title())
    assert [tenant.slug for tenant in await list_tenants(database)] == ["atlas", "harbour"]
    assert [owner.slug for owner in await list_owners(database, tenant_id)] == ["bruno", "ines", "mara"]


async def test_an_owner_is_not_found_from_another_tenant(database: Database, tenant_id: UUID) -> None:
    other = await create_tenant(database, "atlas", "Atlas")
    owner = await create_owner(database, other.id, OwnerKind.USER, "ines", "Ines")
    for name in (owner.id, "ines"):
        with pytest.raises(NotFound):
            await find_owner(database, tenant_id, name)
    assert await list_owners(database, tenant_id) == []


async def test_two_tenants_may_have_owners_of_one_slug(database: Database, tenant_id: UUID) -> None:
    other = await create_tenant(database, "atlas", "Atlas")
    owners = [await create_owner(database, id, OwnerKind.USER, "mara", "Mara") for id in (tenant_id, other.id)]
    assert owners[0].id != owners[1].id


@pytest.mark.parametrize("name", [*BAD_SLUGS, "nobody"])
async def test_an_unknown_name_is_not_found(database: Database, tenant_id: UUID, name: str) -> None:
    with pytest.raises(NotFound):
        await find_tenant(database, name)
    with pytest.raises(NotFound):
        await find_owner(database, tenant_id, name)


async def test_a_taken_slug_is_refused_with_its_own_code(database: Database, tenant_id: UUID) -> None:
    await create_owner(database, tenant_id, OwnerKind.USER, "mara", "Mara")
    with pytest.raises(SlugTaken, match="mara"):
        await create_owner(database, tenant_id, OwnerKind.AGENT, "mara", "Another")
    with pytest.raises(SlugTaken, match="harbour"):
        await create_tenant(database, "harbour", "Another")


async def test_ensuring_twice_creates_one_row_and_keeps_its_name(database: Database) -> None:
    tenant = await ensure_tenant(database, "harbour", "Harbour")
    assert await ensure_tenant(database, "harbour", "Another name") == tenant
    owner = await ensure_owner(database, tenant.id, OwnerKind.USER, "mara", "Mara")
    assert await ensure_owner(database, tenant.id, OwnerKind.USER, "mara", "Another name") == owner


async def test_concurrent_calls_ensure_one_row(database: Database, tenant_id: UUID) -> None:
    wanted = (ensure_owner(database, tenant_id, OwnerKind.USER, "mara", "Mara") for _ in range(16))
    assert len({owner.id for owner in await asyncio.gather(*wanted)}) == 1


async def test_ensuring_an_owner_of_another_kind_is_a_conflict(database: Database, tenant_id: UUID) -> None:
    await ensure_owner(database, tenant_id, OwnerKind.USER, "mara", "Mara")
    with pytest.raises(Conflict, match="user, not agent"):
        await ensure_owner(database, tenant_id, OwnerKind.AGENT, "mara", "Mara")


@pytest.mark.parametrize("slug", BAD_SLUGS)
async def test_a_bad_slug_is_refused(database: Database, tenant_id: UUID, slug: str) -> None:
    with pytest.raises(BadInput) as of_tenant:
        await create_tenant(database, slug, "Name")
    with pytest.raises(BadInput) as of_owner:
        await create_owner(database, tenant_id, OwnerKind.USER, slug, "Name")
    assert of_tenant.value.field == of_owner.value.field == "slug"


@pytest.mark.parametrize("name", BAD_NAMES)
async def test_a_bad_name_is_refused(database: Database, tenant_id: UUID, name: str) -> None:
    with pytest.raises(BadInput) as of_tenant:
        await create_tenant(database, "slug", name)
    with pytest.raises(BadInput) as of_owner:
        await create_owner(database, tenant_id, OwnerKind.USER, "slug", name)
    assert of_tenant.value.field == of_owner.value.field == "name"
    assert [tenant.slug for tenant in await list_tenants(database)] == ["harbour"]


async def test_creating_an_owner_requires_a_tenant(database: Database) -> None:
    with pytest.raises(NotFound, match="no tenant"):
        await create_owner(database, new_id(), OwnerKind.USER, "mara", "Mara")


async def test_a_grant_requires_two_owners_of_one_tenant(database: Database, tenant_id: UUID) -> None:
    mara = await create_owner(database, tenant_id, OwnerKind.USER, "mara", "Mara")
    other = await create_tenant(database, "atlas", "Atlas")
    ines = await create_owner(database, other.id, OwnerKind.USER, "ines", "Ines")
    for owner, grantee in ((mara, ines), (ines, mara)):
        with pytest.raises(NotFound, match=str(ines.id)):
            await grant(database, tenant_id, owner_id=owner.id, grantee_id=grantee.id, role=Grant.READER)
    with pytest.raises(BadInput) as refused:
        await grant(database, tenant_id, owner_id=mara.id, grantee_id=mara.id, role=Grant.ADMIN)
    assert refused.value.field == "grantee"


async def test_a_second_grant_replaces_the_first(database: Database, tenant_id: UUID) -> None:
    mara = await create_owner(database, tenant_id, OwnerKind.USER, "mara", "Mara")
    shared = await create_owner(database, tenant_id, OwnerKind.SHARED, "kitchen", "Kitchen")
    for role in (Grant.ADMIN, Grant.READER):
        await grant(database, tenant_id, owner_id=shared.id, grantee_id=mara.id, role=role)
    assert await revoke(database, tenant_id, owner_id=shared.id, grantee_id=mara.id)
    assert not await revoke(database, tenant_id, owner_id=shared.id, grantee_id=mara.id)


async def test_grants_are_listed_by_owner_and_grantee(database: Database, tenant_id: UUID) -> None:
    team, mara, ines = [
        (await create_owner(database, tenant_id, kind, slug, slug.title())).id
        for kind, slug in ((OwnerKind.SHARED, "team"), (OwnerKind.USER, "mara"), (OwnerKind.USER, "ines"))
    ]
    for owner, grantee, role in ((team, mara, Grant.MEMBER), (team, ines, Grant.READER), (ines, mara, Grant.ADMIN)):
        await grant(database, tenant_id, owner_id=owner, grantee_id=grantee, role=role)

    async def listed(**which: UUID) -> list[tuple[str, str, str]]:
        return [(entry.owner, entry.grantee, entry.role) for entry in await list_grants(database, tenant_id, **which)]

    everything = [("ines", "mara", "admin"), ("team", "ines", "reader"), ("team", "mara", "member")]
    assert await listed() == everything
    assert await listed(owner_id=team) == everything[1:]
    assert await listed(grantee_id=mara) == [everything[0], everything[2]]
    assert await listed(owner_id=mara) == []
    other = await create_tenant(database, "atlas", "Atlas")
    assert await list_grants(database, other.id) == []
