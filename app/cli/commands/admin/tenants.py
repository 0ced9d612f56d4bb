"""`cairn tenants`: create and list tenants, and turn automatic compiling on or off."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...options import AsJson
from ...output import print_json, print_table, say

if TYPE_CHECKING:
    from db.database import Database
    from resolvers.tenants.tenants import Tenant

app = typer.Typer(help="Manage tenants.", no_args_is_help=True)


def add_to(parent: typer.Typer) -> None:
    parent.add_typer(app, name="tenants", epilog="Example: cairn tenants list")


@app.command("create", epilog="Example: cairn tenants create acme --name 'Acme Ltd'")
def create(
    slug: Annotated[str, typer.Argument(metavar="SLUG", help="Slug of the tenant, such as acme.")],
    name: Annotated[str | None, typer.Option(metavar="NAME", help="Display name. Defaults to the slug.")] = None,
    as_json: AsJson = False,
) -> None:
    """Create a tenant."""
    from resolvers.tenants.tenants import create_tenant

    from ...session import run_in_session

    tenant = run_in_session(lambda database: create_tenant(database, slug, name or slug), creates=True)
    if as_json:
        print_json(tenant_to_dict(tenant))
    else:
        say(f"Created the tenant {tenant.slug}. Next: cairn owners create SLUG --tenant {tenant.slug} --kind user")


@app.command("list", epilog="Example: cairn tenants list --json")
def list_all(as_json: AsJson = False) -> None:
    """List all tenants."""
    from resolvers.tenants.tenants import list_tenants

    from ...session import run_in_session

    tenants = run_in_session(list_tenants)
    if as_json:
        print_json([tenant_to_dict(tenant) for tenant in tenants])
    else:
        print_table(["slug", "name", "id"], [(tenant.slug, tenant.name, tenant.id) for tenant in tenants])


@app.command("compile", epilog="Example: cairn tenants compile acme --off")
def set_automatic_compiling(
    slug: Annotated[str, typer.Argument(metavar="SLUG", help="Slug or id of the tenant.")],
    on: Annotated[
        bool, typer.Option("--on/--off", help="Compile new sources automatically, or only on request of an admin.")
    ] = True,
    as_json: AsJson = False,
) -> None:
    """Turn automatic compiling of new sources on or off for a tenant."""
    from resolvers.tenants.tenants import find_tenant, set_compiling

    from ...session import run_in_session

    async def work(database: "Database") -> "Tenant":
        tenant = await find_tenant(database, slug)
        await set_compiling(database, tenant.id, on)
        return tenant

    tenant = run_in_session(work)
    if as_json:
        print_json(tenant_to_dict(tenant) | {"automatic": on})
    else:
        say(f"New sources of {slug} are compiled {'automatically' if on else 'only when an admin asks for it'}.")


def tenant_to_dict(tenant: "Tenant") -> dict[str, Any]:
    return {"id": tenant.id, "slug": tenant.slug, "name": tenant.name, "createdAt": tenant.created_at}
