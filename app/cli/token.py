"""`cairn token`: signed tokens for people and tests."""

from typing import TYPE_CHECKING, Annotated

import typer

from .options import AsJson, Owner, Tenant, duration
from .output import say, show
from .roles import Role, RoleOption

if TYPE_CHECKING:
    from app.settings import Settings

    from .wikis import Wiki

Ttl = Annotated[int, typer.Option(parser=duration, metavar="TIME", help="How long it lives: 90s, 15m, 12h, 30d.")]


def add_to(parent: typer.Typer) -> None:
    parent.command("token", epilog="Example: cairn token --tenant acme --owner mara --role reader --ttl 12h")(token)


def token(
    tenant: Tenant,
    owner: Owner,
    role: RoleOption = Role.MEMBER,
    ttl: Ttl = "30d",  # type: ignore[assignment]  # a default is parsed like what is typed
    as_json: AsJson = False,
) -> None:
    """Print a signed token for `Authorization: Bearer`."""
    from app.settings import Settings

    from .session import session
    from .wikis import find_wiki

    wiki = session(lambda database: find_wiki(database, tenant, owner))
    signed = token_for(Settings(), wiki, role, ttl)
    if as_json:
        show({"token": signed, "tenantId": wiki.tenant.id, "ownerId": wiki.owner.id, "role": role, "expiresIn": ttl})
    else:
        say(signed)


def token_for(settings: "Settings", wiki: "Wiki", role: str, ttl: float) -> str:
    """Signed with our own secret; where tokens come from somebody else there is none."""
    from app.settings import signing_secret
    from db.scope import Role
    from resolvers.errors import Unavailable
    from resolvers.tokens import mint

    secret = signing_secret(settings)
    if secret is None:
        raise Unavailable("Tokens come from the issuer behind CAIRN_JWKS_URL. Set CAIRN_JWT_SECRET to sign some here.")
    return mint(
        secret,
        tenant_id=wiki.tenant.id,
        owner_id=wiki.owner.id,
        role=Role(role),
        ttl=ttl,
        issuer=settings.jwt_issuer,
        audience=settings.jwt_audience,
    )
