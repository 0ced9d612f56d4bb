"""The role of a credential, as an option."""

from enum import StrEnum
from typing import Annotated

import typer


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
