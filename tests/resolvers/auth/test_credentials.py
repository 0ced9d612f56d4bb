"""Resolving the Authorization header to a scope, in the caller's own wiki or in another."""

from dataclasses import replace
from uuid import UUID

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from db.database import Database
from db.ids import new_id
from db.scope import Role, Scope
from resolvers.auth.api_keys import create_api_key
from resolvers.auth.credentials import Credentials, Tokens, mint
from resolvers.auth.owners import Grant, OwnerKind, create_owner, grant
from resolvers.errors import Forbidden, Unauthenticated
from resolvers.tenants.tenants import create_tenant

SECRET = "a secret of forty characters for the test"
# The first text that a new checkout draws waits for Hypothesis to write its tables of Unicode.
PATIENT = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
NEVER_OPENED = Database("postgresql://nobody.invalid/none")
"""A database to which every query fails."""


async def refusal(header: str | None) -> str:
    with pytest.raises(Unauthenticated) as refused:
        await Credentials(NEVER_OPENED, Tokens(secret=SECRET)).scope(header)
    return refused.value.message


@pytest.mark.parametrize("spelling", ["Bearer {}", "bearer {}", "BEARER   {} ", " Bearer {}"])
async def test_a_token_is_resolved_without_a_statement(spelling: str) -> None:
    tenant_id, owner_id = new_id(), new_id()
    minted = mint(SECRET, tenant_id=tenant_id, owner_id=owner_id, role=Role.MEMBER, ttl=60)
    found = await Credentials(NEVER_OPENED, Tokens(secret=SECRET)).scope(spelling.format(minted))
    assert (found.tenant_id, found.owner_id, found.owners) == (tenant_id, owner_id, (owner_id,))


async def test_an_api_key_selects_its_first_owner_unless_another_is_given(
    database: Database, tenant_id: UUID, mara_id: UUID, ines_id: UUID
) -> None:
    issued = await create_api_key(database, tenant_id, "import", Role.MEMBER, [mara_id, ines_id])
    credentials = Credentials(database, Tokens())
    assert (await credentials.scope(f"Bearer {issued.key}")).owner_id == mara_id
    assert (await credentials.scope(f"Bearer {issued.key}", str(ines_id))).owner_id == ines_id


@pytest.mark.parametrize(
    "header",
    [
        None,
        "",
        "Bearer",
        "Bearer ",
        "Basic bWFyYTpzZWNyZXQ=",
        "Bearer a b",
        "Bearer a.b.c",
        "Bearer a\0.b.c",
        "Bearer é",
        "Bearer \ud800",
        "Bearer cairn_short",
        "Bearer eyJhbGciOlt9.e30.",
        pytest.param("Bearer " + "a" * 8192, id="longer than the limit of a header"),
        pytest.param("Bearer " + "." * 8000, id="only dots"),
    ],
)
async def test_a_broken_header_is_unauthenticated(header: str | None) -> None:
    message = await refusal(header)
    assert message
    assert len(message) < 200


@PATIENT
@given(st.one_of(st.text(), st.text().map("Bearer {}".format), st.text(max_size=99).map("Bearer cairn_{}".format)))
async def test_any_invalid_header_is_unauthenticated(header: str) -> None:
    await refusal(header)


async def scope_in(
    database: Database, owner_id: UUID, tenant_id: UUID, wanted: object, role: Role = Role.MEMBER
) -> Scope:
    minted = mint(SECRET, tenant_id=tenant_id, owner_id=owner_id, role=role, ttl=60)
    return await Credentials(database, Tokens(secret=SECRET)).scope(f"Bearer {minted}", str(wanted))


async def test_a_caller_may_select_a_readable_wiki(
    database: Database, tenant_id: UUID, mara_id: UUID, ines_id: UUID
) -> None:
    own = await scope_in(database, mara_id, tenant_id, mara_id)
    assert own.owner_id == mara_id
    await grant(database, tenant_id, owner_id=ines_id, grantee_id=mara_id, role=Grant.READER)
    assert await scope_in(database, mara_id, tenant_id, ines_id) == replace(own, owner_id=ines_id)


async def test_a_service_may_select_any_wiki_of_its_tenant(
    database: Database, tenant_id: UUID, mara_id: UUID, ines_id: UUID
) -> None:
    assert (await scope_in(database, mara_id, tenant_id, ines_id, Role.SERVICE)).owner_id == ines_id


async def test_unreadable_unknown_and_malformed_wikis_get_the_same_error(
    database: Database, tenant_id: UUID, mara_id: UUID, ines_id: UUID
) -> None:
    other = await create_tenant(database, "atlas", "Atlas")
    foreign = await create_owner(database, other.id, OwnerKind.USER, "bruno", "Bruno")
    messages = set()
    for wanted in (ines_id, foreign.id, new_id(), "ines", "", "nul\0", "\ud800", "x" * 10_000):
        with pytest.raises(Forbidden) as refused:
            await scope_in(database, mara_id, tenant_id, wanted)
        messages.add(refused.value.message)
    with pytest.raises(Forbidden):
        await scope_in(database, mara_id, tenant_id, foreign.id, Role.ADMIN)
    assert len(messages) == 1
