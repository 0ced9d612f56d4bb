"""Commands for API keys and tokens."""

from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any
from uuid import UUID

import typer

from ...options import AsJson, Owner, Tenant, duration
from ...output import print_json, print_status, print_table, say


class Role(StrEnum):
    """The roles of credentials, repeated here because db.scope imports all of db."""

    READER = "reader"
    MEMBER = "member"
    SERVICE = "service"
    ADMIN = "admin"


class ActorKind(StrEnum):
    """The kinds of actor of db.scope that can hold a credential."""

    AGENT = "agent"
    USER = "user"
    SERVICE = "service"


class KeyScope(StrEnum):
    """The scopes of OAuth, each of which includes the ones before it."""

    READ = "wiki:read"
    WRITE = "wiki:write"
    ADMIN = "wiki:admin"


ActorOption = Annotated[
    ActorKind | None,
    typer.Option("--actor", help="Kind of author named in the history. Defaults to the kind of the owner."),
]
RoleOption = Annotated[
    Role, typer.Option("--role", help="Maximum role. Services and admins have access to the whole tenant.")
]


if TYPE_CHECKING:
    from ....settings import Settings
    from ...session import Wiki

Ttl = Annotated[
    int, typer.Option(parser=duration, metavar="TIME", help="Lifetime of the token, such as 90s, 15m, 12h or 30d.")
]


def add_token(parent: typer.Typer) -> None:
    parent.command("token", epilog="Example: cairn token --tenant acme --owner mara --role reader --ttl 12h")(token)


def token(
    tenant: Tenant,
    owner: Owner,
    role: RoleOption = Role.MEMBER,
    ttl: Ttl = "30d",  # type: ignore[assignment]  # a default is parsed like what is typed
    actor: ActorOption = None,
    as_json: AsJson = False,
) -> None:
    """Print a signed token for `Authorization: Bearer`."""
    from resolvers.transactions.audit import MACHINE, Event, audit_in_own_transaction

    from ....settings import Settings
    from ...session import find_wiki, run_in_session

    async def work(database: "Database") -> "tuple[Wiki, str]":
        wiki = await find_wiki(database, tenant, owner)
        signed = token_for(Settings(), wiki, role, ttl, actor)
        detail = {"role": role, "seconds": ttl}
        await audit_in_own_transaction(database, wiki.tenant.id, MACHINE, Event.TOKEN_CREATED, wiki.owner.id, **detail)
        return wiki, signed

    wiki, signed = run_in_session(work)
    if as_json:
        print_json(
            {"token": signed, "tenantId": wiki.tenant.id, "ownerId": wiki.owner.id, "role": role, "expiresIn": ttl}
        )
    else:
        say(signed)


def token_for(settings: "Settings", wiki: "Wiki", role: str, ttl: float, actor_kind: ActorKind | None = None) -> str:
    """Return a token signed with the secret of this installation. Raises Forbidden if another issuer signs tokens."""
    from db import scope
    from resolvers.auth.credentials import Signing, issue_token

    from ....settings import signing_secret

    signing = Signing(signing_secret(settings), settings.jwt_issuer, settings.jwt_audience)
    acting = scope.ActorKind(actor_kind) if actor_kind else None
    return issue_token(signing, wiki.owner, scope.Role(role), ttl, acting)


if TYPE_CHECKING:
    from db.database import Database
    from resolvers.auth.api_keys import ApiKey, IssuedKey

app = typer.Typer(help="Manage API keys.", no_args_is_help=True)
Owners = Annotated[
    list[str],
    typer.Option("--owner", metavar="SLUG", help="Slug or id of an owner that the key acts for. Can be repeated."),
]
Expires = Annotated[
    int | None, typer.Option(parser=duration, metavar="TIME", help="Time after which the key expires, such as 90d.")
]


def add_keys(parent: typer.Typer) -> None:
    parent.add_typer(app, name="keys", epilog="Example: cairn keys create --help")


@app.command("create", epilog="Example: cairn keys create --tenant acme --owner ada --role member --name crawler")
def create(
    tenant: Tenant,
    owner: Owners,
    name: Annotated[str, typer.Option(metavar="NAME", help="Purpose of the key.")],
    role: Annotated[
        Role | None, typer.Option("--role", help="Maximum role. Defaults to the role that --scope allows.")
    ] = None,
    scope: Annotated[
        list[KeyScope] | None, typer.Option("--scope", help="Scope that limits the key. Can be repeated.")
    ] = None,
    network: Annotated[
        list[str] | None,
        typer.Option("--network", metavar="CIDR", help="Network from which the key is accepted. Can be repeated."),
    ] = None,
    expires: Expires = None,
    actor: ActorOption = None,
    as_json: AsJson = False,
) -> None:
    """Create an API key and print it. It cannot be shown again. Its default wiki is that of the first owner."""
    from db import scope as scopes
    from resolvers.auth.api_keys import KeyLimits, create_api_key
    from resolvers.auth.owners import find_owners
    from resolvers.tenants.tenants import find_tenant

    from ...session import run_in_session

    expires_at = None if expires is None else datetime.now(UTC) + timedelta(seconds=expires)

    async def work(database: "Database") -> "IssuedKey":
        tenant_id = (await find_tenant(database, tenant)).id
        owner_ids = [found.id for found in await find_owners(database, tenant_id, owner)]
        acting = scopes.ActorKind(actor) if actor else None
        max_role = scopes.Role(role) if role else None
        limits = KeyLimits([item.value for item in scope or ()], network or ())
        return await create_api_key(database, tenant_id, name, max_role, owner_ids, expires_at, acting, limits=limits)

    issued = run_in_session(work)
    if as_json:
        print_json({"id": issued.id, "key": issued.key, "expiresAt": expires_at})
    else:
        say(issued.key)
        print_status(
            f"Save the key now: it is not shown again. To revoke it: cairn keys revoke {issued.id} --tenant {tenant}"
        )


@app.command("list", epilog="Example: cairn keys list --tenant acme --json")
def list_all(tenant: Tenant, as_json: AsJson = False) -> None:
    """List the API keys of a tenant, without the secrets."""
    from resolvers.auth.api_keys import list_api_keys
    from resolvers.tenants.tenants import find_tenant

    from ...session import run_in_session

    async def work(database: "Database") -> "list[ApiKey]":
        return await list_api_keys(database, (await find_tenant(database, tenant)).id)

    keys = run_in_session(work)
    if as_json:
        print_json([key_to_dict(key) for key in keys])
    else:
        rows = [
            (
                key.name,
                key.role.value,
                key.actor_kind.value,
                " ".join(key.owners),
                key.state,
                ends(key),
                format_last_use(key),
                key.id,
            )
            for key in keys
        ]
        print_table(["name", "role", "actor", "owners", "state", "ends", "used", "id"], rows)


def key_to_dict(key: "ApiKey") -> dict[str, Any]:
    return {
        "id": key.id,
        "name": key.name,
        "role": key.role,
        "actor": key.actor_kind,
        "owners": key.owners,
        "state": key.state,
        "createdAt": key.created_at,
        "expiresAt": key.expires_at,
        "revokedAt": key.revoked_at,
        "scopes": key.scopes,
        "networks": key.networks,
        "usedAt": key.used_at,
        "formerUntil": key.former_until,
    }


def ends(key: "ApiKey") -> str:
    """Return the day on which a key was revoked or expires, or `never`."""
    end = key.revoked_at or key.expires_at
    return f"{end:%Y-%m-%d}" if end else "never"


def format_last_use(key: "ApiKey") -> str:
    """Return the day of the last use of a key, or `never`."""
    return f"{key.used_at:%Y-%m-%d}" if key.used_at else "never"


@app.command("rotate", epilog="Example: cairn keys rotate 0199f0c2-5d3e-7c1a-9f00-3a5b8c2d1e4f --tenant acme")
def rotate(
    key_id: Annotated[UUID, typer.Argument(metavar="ID", help="Id of the key, not the key itself.")],
    tenant: Tenant,
    overlap: Annotated[
        int, typer.Option(parser=duration, metavar="TIME", help="Time for which the old secret is still accepted.")
    ] = "24h",  # type: ignore[assignment]  # a default is parsed like what is typed
    as_json: AsJson = False,
) -> None:
    """Replace the secret of an API key and print the new one. The old secret is accepted until the overlap ends."""
    from resolvers.auth.api_keys import rotate_api_key
    from resolvers.tenants.tenants import find_tenant

    from ...session import run_in_session

    async def work(database: "Database") -> "IssuedKey":
        tenant_id = (await find_tenant(database, tenant)).id
        return await rotate_api_key(database, tenant_id, key_id, timedelta(seconds=overlap))

    issued = run_in_session(work)
    if as_json:
        print_json({"id": issued.id, "key": issued.key, "formerUntil": issued.former_until})
    else:
        say(issued.key)
        print_status(f"The previous secret is accepted until {issued.former_until:%Y-%m-%d %H:%M} UTC.")


@app.command("revoke", epilog="Example: cairn keys revoke 0199f0c2-5d3e-7c1a-9f00-3a5b8c2d1e4f --tenant acme")
def revoke(
    key_id: Annotated[UUID, typer.Argument(metavar="ID", help="Id of the key, not the key itself.")],
    tenant: Tenant,
    as_json: AsJson = False,
) -> None:
    """Revoke an API key. Revoking it again changes nothing."""
    from resolvers.auth.api_keys import revoke_api_key
    from resolvers.tenants.tenants import find_tenant

    from ...session import run_in_session

    async def work(database: "Database") -> None:
        await revoke_api_key(database, (await find_tenant(database, tenant)).id, key_id)

    run_in_session(work)
    if as_json:
        print_json({"id": key_id, "revoked": True})
    else:
        say(f"Revoked the key {key_id}.")


def add_to(parent: typer.Typer) -> None:
    add_token(parent)
    add_keys(parent)
