"""The table of permission rules, and the function that reads it."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import select

from db.access import readable
from db.connection import Connection
from db.database import Database
from db.ids import new_id
from db.scope import Actor, ActorKind, Role, Scope
from db.sql import Statement
from db.tables import owners
from resolvers.auth.owners import Grant, OwnerKind, create_owner, grant, revoke
from resolvers.errors import CairnError, Forbidden, NotFound
from resolvers.permissions import Action, WikiRelation, authorise, is_allowed
from resolvers.tenants.tenants import create_tenant
from selection import in_tenant
from selection.execute.plan import DIALECT

ROLES = list(Role)
ANY_ROLE, ANY_RELATION, ANY_ACTION = st.sampled_from(ROLES), st.sampled_from(WikiRelation), st.sampled_from(Action)

TABLE = """
         stranger reader   member   own      admin
reader   -        R        R        R        R
member   -        R        RW       RW       RWM
service  RW       RW       RW       RW       RWM
admin    RWMA     RWMA     RWMA     RWMA     RWMA
"""


@dataclass(frozen=True)
class Wikis:
    """The wikis of a tenant, by the relation that the owner of the wiki `OWN` has to each of them."""

    tenant_id: UUID
    by: Mapping[WikiRelation, UUID]

    def scope(self, role: Role, *more_owners: UUID) -> Scope:
        own = self.by[WikiRelation.OWN]
        return Scope(self.tenant_id, own, role, Actor(ActorKind.USER, str(own)), (own, *more_owners))


@pytest.fixture
async def wikis(database: Database) -> Wikis:
    tenant = await create_tenant(database, "harbour", "Harbour Coffee")
    created = {
        relation: await create_owner(database, tenant.id, OwnerKind.SHARED, relation.name.lower(), relation.name)
        for relation in WikiRelation
    }
    by = {relation: owner.id for relation, owner in created.items()}
    for role in Grant:
        owner_id = by[WikiRelation[role.name]]
        await grant(database, tenant.id, owner_id=owner_id, grantee_id=by[WikiRelation.OWN], role=role)
    return Wikis(tenant.id, by)


async def refusal(database: Database, scope: Scope, owner_id: UUID, action: Action) -> CairnError | None:
    async with database.connection() as connection:
        try:
            await authorise(connection, scope, owner_id, action)
        except CairnError as error:
            return error
    return None


def test_the_permission_rules_match_the_table() -> None:
    def cell(role: Role, relation: WikiRelation) -> str:
        return "".join(action.name[0] for action in Action if is_allowed(role, relation, action)) or "-"

    header = ["", *(relation.name.lower() for relation in WikiRelation)]
    rows = [header, *([role.value, *(cell(role, relation) for relation in WikiRelation)] for role in Role)]
    lines = ("".join(f"{text:9}" for text in row).rstrip() for row in rows)
    assert "\n".join(lines) == TABLE.strip("\n")


@given(ANY_ROLE, ANY_ROLE, ANY_RELATION, ANY_RELATION, ANY_ACTION, ANY_ACTION)
def test_a_stronger_role_or_relation_never_allows_less(
    role: Role, stronger: Role, relation: WikiRelation, closer: WikiRelation, action: Action, lesser: Action
) -> None:
    role, stronger = sorted((role, stronger), key=ROLES.index)
    relation, closer = sorted((relation, closer))
    lesser, action = sorted((lesser, action))
    if is_allowed(role, relation, action):
        assert is_allowed(stronger, closer, lesser)


async def test_refusals_are_forbidden_for_readable_wikis_and_else_not_found(database: Database, wikis: Wikis) -> None:
    for role, relation, action in product(Role, WikiRelation, Action):
        scope = wikis.scope(role)
        refused = await refusal(database, scope, wikis.by[relation], action)
        if is_allowed(role, relation, action):
            assert refused is None
        elif is_allowed(role, relation, Action.READ):
            assert isinstance(refused, Forbidden)
        else:
            assert isinstance(refused, NotFound)


@pytest.mark.parametrize("role", Role)
async def test_an_owner_of_another_tenant_is_refused_like_an_unknown_owner(
    database: Database, wikis: Wikis, role: Role
) -> None:
    scope = wikis.scope(role)
    other = await create_tenant(database, "other", "Other")
    foreign = await create_owner(database, other.id, OwnerKind.USER, "foreign", "Foreign")
    answers = [await refusal(database, scope, id, action) for id in (foreign.id, new_id()) for action in Action]
    assert {type(answer) for answer in answers} == {NotFound}
    assert len({str(answer) for answer in answers}) == 1


async def test_an_unreadable_wiki_is_refused_like_an_unknown_wiki(database: Database, wikis: Wikis) -> None:
    scope = wikis.scope(Role.MEMBER)
    stranger = await refusal(database, scope, wikis.by[WikiRelation.STRANGER], Action.READ)
    unknown = await refusal(database, scope, new_id(), Action.READ)
    assert str(stranger) == str(unknown)


async def test_access_to_the_own_wiki_takes_no_statement() -> None:
    owner_id = new_id()
    scope = Scope(new_id(), owner_id, Role.MEMBER, Actor(ActorKind.USER, "mara"), (owner_id,))
    unusable = Connection(raw=None)
    await authorise(unusable, scope, owner_id, Action.READ)
    await authorise(unusable, scope, owner_id, Action.WRITE)


async def test_the_strongest_grant_of_all_owners_of_a_credential_counts(database: Database, wikis: Wikis) -> None:
    shared, second = wikis.by[WikiRelation.READER], wikis.by[WikiRelation.STRANGER]
    both = wikis.scope(Role.MEMBER, second)
    assert isinstance(await refusal(database, both, shared, Action.WRITE), Forbidden)
    await grant(database, wikis.tenant_id, owner_id=shared, grantee_id=second, role=Grant.ADMIN)
    assert await refusal(database, both, shared, Action.MANAGE) is None


async def test_a_revoked_grant_gives_no_access(database: Database, wikis: Wikis) -> None:
    scope = wikis.scope(Role.MEMBER)
    wiki = wikis.by[WikiRelation.MEMBER]
    assert await revoke(database, scope.tenant_id, owner_id=wiki, grantee_id=scope.owner_id)
    assert isinstance(await refusal(database, scope, wiki, Action.READ), NotFound)


async def test_reads_by_selection_return_the_wikis_that_the_rules_allow(database: Database, wikis: Wikis) -> None:
    query = in_tenant(select(owners.c.id).where(readable(owners.c.id)))
    result = query.compile(dialect=DIALECT, compile_kwargs={"literal_binds": True})
    statement = Statement(str(result), tuple(result.positiontup or ()))
    for role in Role:
        scope = wikis.scope(role)
        values = {name: getattr(scope, name.removeprefix("scope_")) for name in statement.parameters}
        async with database.connection() as connection:
            seen = {row["id"] for row in await connection.all(statement, **values)}
        assert seen == {wikis.by[relation] for relation in WikiRelation if is_allowed(role, relation, Action.READ)}
