"""`cairn grants`: manage which owners have access to the wiki of another owner."""

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from ...options import AsJson, Owner, Tenant
from ...output import print_json, print_table, say

if TYPE_CHECKING:
    from uuid import UUID

    from db.database import Database
    from resolvers.auth.owners import Granted

app = typer.Typer(help="Manage access to the wikis of other owners.", no_args_is_help=True)
Grantee = Annotated[str, typer.Option("--grantee", metavar="SLUG", help="Slug or id of the owner who gets access.")]


class GrantRole(StrEnum):
    """The roles of grants, repeated here because resolvers.auth.owners is slow to import."""

    READER = "reader"
    MEMBER = "member"
    ADMIN = "admin"


def add_to(parent: typer.Typer) -> None:
    parent.add_typer(app, name="grants", epilog="Example: cairn grants add --help")


@app.command("add", epilog="Example: cairn grants add --tenant acme --owner team --grantee mara --role member")
def add(
    tenant: Tenant,
    owner: Owner,
    grantee: Grantee,
    role: Annotated[GrantRole, typer.Option(help="Role: read, read and write, or manage as well.")],
    as_json: AsJson = False,
) -> None:
    """Grant an owner access to the wiki of another. A second grant replaces the first."""
    from resolvers.auth.owners import Grant, grant

    from ...session import run_in_session

    async def work(database: "Database") -> None:
        tenant_id, owner_id, grantee_id = await find_parties(database, tenant, owner, grantee)
        await grant(database, tenant_id, owner_id=owner_id, grantee_id=grantee_id, role=Grant(role))

    run_in_session(work)
    if as_json:
        print_json({"owner": owner, "grantee": grantee, "role": role})
    else:
        say(f"{grantee} now has the role {role} in {owner}'s wiki.")


@app.command("list", epilog="Example: cairn grants list --tenant acme --owner team")
def list_all(
    tenant: Tenant,
    owner: Annotated[
        str | None, typer.Option("--owner", metavar="SLUG", help="Only grants for the wiki of this owner.")
    ] = None,
    grantee: Annotated[str | None, typer.Option("--grantee", metavar="SLUG", help="Only grants of this owner.")] = None,
    as_json: AsJson = False,
) -> None:
    """List the grants of a tenant."""
    from resolvers.auth.owners import find_owner, list_grants
    from resolvers.tenants.tenants import find_tenant

    from ...session import run_in_session

    async def work(database: "Database") -> "list[Granted]":
        tenant_id = (await find_tenant(database, tenant)).id
        owner_id = (await find_owner(database, tenant_id, owner)).id if owner else None
        grantee_id = (await find_owner(database, tenant_id, grantee)).id if grantee else None
        return await list_grants(database, tenant_id, owner_id=owner_id, grantee_id=grantee_id)

    grants = run_in_session(work)
    if as_json:
        print_json([
            {"owner": grant.owner, "grantee": grant.grantee, "role": grant.role, "createdAt": grant.created_at}
            for grant in grants
        ])  # fmt: skip
    elif grants:
        print_table(["owner", "grantee", "role", "since"], [
            (grant.owner, grant.grantee, grant.role.value, f"{grant.created_at:%Y-%m-%d}") for grant in grants
        ])  # fmt: skip
    else:
        say(f"No grants. To give one: cairn grants add --tenant {tenant} --owner OWNER --grantee GRANTEE --role reader")


@app.command("remove", epilog="Example: cairn grants remove --tenant acme --owner team --grantee mara")
def remove(tenant: Tenant, owner: Owner, grantee: Grantee, as_json: AsJson = False) -> None:
    """Revoke a grant. It is not an error if there is none."""
    from resolvers.auth.owners import revoke

    from ...session import run_in_session

    async def work(database: "Database") -> bool:
        tenant_id, owner_id, grantee_id = await find_parties(database, tenant, owner, grantee)
        return await revoke(database, tenant_id, owner_id=owner_id, grantee_id=grantee_id)

    removed = run_in_session(work)
    if as_json:
        print_json({"owner": owner, "grantee": grantee, "removed": removed})
    else:
        say(f"{'Removed the grant' if removed else 'There is no grant'} of {grantee} in {owner}'s wiki.")


async def find_parties(database: "Database", tenant: str, owner: str, grantee: str) -> "tuple[UUID, UUID, UUID]":
    """Return the ids of the tenant, of the owner of the wiki, and of the owner who gets access."""
    from resolvers.auth.owners import find_owner

    from ...session import find_wiki

    wiki = await find_wiki(database, tenant, owner)
    return wiki.tenant.id, wiki.owner.id, (await find_owner(database, wiki.tenant.id, grantee)).id
