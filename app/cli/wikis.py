"""The wiki that a command names with --tenant and --owner."""

from typing import NamedTuple

from db.database import Database
from db.scope import Actor, ActorKind, Role, Scope
from resolvers.auth.owners import Owner, OwnerKind, ensure_owner, find_owner
from resolvers.errors import NotFound
from resolvers.tenants.tenants import Tenant, ensure_tenant, find_tenant

ACTOR = Actor(ActorKind.SERVICE, "cairn")


class Wiki(NamedTuple):
    """One owner's wiki. `scope` is what a command may do there."""

    tenant: Tenant
    owner: Owner

    def scope(self, role: Role) -> Scope:
        return Scope(self.tenant.id, self.owner.id, role, ACTOR, (self.owner.id,))


async def find_wiki(database: Database, tenant: str, owner: str) -> Wiki:
    """Both by slug or id."""
    found = await find_tenant(database, tenant)
    try:
        return Wiki(found, await find_owner(database, found.id, owner))
    except NotFound as error:
        raise NotFound(f"{error.message} See who there is with: cairn owners list --tenant {found.slug}") from None


async def made_wiki(database: Database, tenant: str, owner: str) -> Wiki:
    """The same, made where there is none: both are slugs then, and the owner is a user."""
    try:
        found = await find_tenant(database, tenant)
    except NotFound:
        found = await ensure_tenant(database, tenant, tenant)
    try:
        return Wiki(found, await find_owner(database, found.id, owner))
    except NotFound:
        return Wiki(found, await ensure_owner(database, found.id, OwnerKind.USER, owner, owner))
