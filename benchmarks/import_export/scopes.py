"""Creates a new wiki for each measurement."""

from db.database import Database
from db.scope import Actor, ActorKind, Role, Scope
from resolvers.auth.owners import OwnerKind, ensure_owner
from resolvers.tenants.tenants import ensure_tenant


async def new_scope(database: Database, name: str) -> Scope:
    tenant = await ensure_tenant(database, name, name)
    owner = await ensure_owner(database, tenant.id, OwnerKind.USER, "mara", "Mara")
    return Scope(tenant.id, owner.id, Role.ADMIN, Actor(ActorKind.USER, "mara"), (owner.id,))
