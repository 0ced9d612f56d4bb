"""The scope of a mutation, which is the wiki that it changes."""

from typing import Any
from uuid import UUID

import strawberry
from strawberry.types.info import Info

from db.access import IN_OWNER
from db.scope import Scope
from resolvers.context import Context
from resolvers.errors import BadInput
from resolvers.validation import UNSET
from selection.compile.parameters import identifier

Request = Info[Context, Any]


@strawberry.input(description="The wiki to work in. Defaults to the caller's own wiki.")
class InWiki:
    tenant_id: strawberry.ID | None = strawberry.field(
        default=None, description="Id of the tenant. It must be the tenant of the credential."
    )
    owner: str | None = strawberry.field(
        default=None,
        description=(
            "Slug or id of the owner of another wiki that the caller can access. Defaults to the caller's own wiki."
        ),
    )
    owner_id: strawberry.ID | None = strawberry.field(
        default=None,
        description="Id of the owner of another wiki that the caller can access.",
        deprecation_reason="Use owner.",
    )


async def scope_in(info: Request, wiki: InWiki) -> Scope:
    """Return the scope of a wiki. The permission to write in it is checked when the transaction opens."""
    IN_OWNER.check(info.context.scope, wiki.tenant_id, owner=wiki.owner, owner_id=wiki.owner_id)
    return await info.context.scope_in({"owner": wiki.owner, "owner_id": wiki.owner_id})


def id_of(text: strawberry.ID | str) -> UUID:
    return identifier(text)


def optional_id(text: strawberry.ID | str | None) -> UUID | None:
    return None if text is None else identifier(text)


def non_null(maybe: Any, field: str) -> Any:
    """Return the value of a field that cannot be null, or UNSET if the field is omitted. Raises BadInput for null."""
    if maybe is None:
        return UNSET
    if maybe.value is None:
        raise BadInput("This cannot be null. Leave it out to keep it as it is.", field)
    return maybe.value


def nullable(maybe: Any, empty: Any) -> Any:
    """Return the value of a nullable field, `empty` for null, or UNSET if the field is omitted."""
    if maybe is None:
        return UNSET
    return empty if maybe.value is None else maybe.value
