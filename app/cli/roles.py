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


RoleOption = Annotated[Role, typer.Option("--role", help="What it may do at most. Services and admins: tenant-wide.")]
