"""`cairn token`: signed tokens for people and tests."""

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from .options import AsJson, Owner, Tenant, duration
from .output import say, show


class Role(StrEnum):
    """As in db.scope, which brings the whole of db with it."""

    READER = "reader"
    MEMBER = "member"
    SERVICE = "service"
    ADMIN = "admin"


class ActorKind(StrEnum):
    """As in db.scope, of those who can hold a credential."""

    AGENT = "agent"
    USER = "user"
    SERVICE = "service"


ActorOption = Annotated[
    ActorKind | None,
    typer.Option("--actor", help="Who acts with it, as history will say. When left out: what the owner is."),
]
RoleOption = Annotated[Role, typer.Option("--role", help="What it may do at most. Services and admins: tenant-wide.")]


if TYPE_CHECKING:
    from ..settings import Settings
    from .session import Wiki

Ttl = Annotated[int, typer.Option(parser=duration, metavar="TIME", help="How long it lives: 90s, 15m, 12h, 30d.")]


def add_to(parent: typer.Typer) -> None:
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
    from ..settings import Settings
    from .session import find_wiki, session

    wiki = session(lambda database: find_wiki(database, tenant, owner))
    signed = token_for(Settings(), wiki, role, ttl, actor)
    if as_json:
        show({"token": signed, "tenantId": wiki.tenant.id, "ownerId": wiki.owner.id, "role": role, "expiresIn": ttl})
    else:
        say(signed)


def token_for(settings: "Settings", wiki: "Wiki", role: str, ttl: float, actor_kind: ActorKind | None = None) -> str:
    """A token signed with our own secret. Raises Forbidden where tokens come from another issuer."""
    from db import scope
    from resolvers.auth.tokens import Signing, issue_token

    from ..settings import signing_secret

    signing = Signing(signing_secret(settings), settings.jwt_issuer, settings.jwt_audience)
    acting = scope.ActorKind(actor_kind) if actor_kind else None
    return issue_token(signing, wiki.owner, scope.Role(role), ttl, acting)
