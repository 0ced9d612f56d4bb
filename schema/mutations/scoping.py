"""In whose wiki a mutation works."""

from typing import Any
from uuid import UUID

import strawberry
from strawberry.types.info import Info

from db.access import check_tenant
from db.scope import Scope
from resolvers.context import Context
from resolvers.errors import BadInput
from resolvers.unset import UNSET
from selection.arguments import identifier

Request = Info[Context, Any]


@strawberry.input(description="In whose wiki. The caller's own when nothing is named.")
class InWiki:
    tenant_id: strawberry.ID | None = strawberry.field(default=None, description="Must be the credential's.")
    owner_id: strawberry.ID | None = strawberry.field(default=None, description="Another wiki that the caller may use.")


def scope_in(info: Request, wiki: InWiki) -> Scope:
    """Whether the caller may write there is decided where the transaction opens."""
    scope = info.context.scope
    check_tenant(scope, wiki.tenant_id)
    return scope if wiki.owner_id is None else scope.in_owner(identifier(wiki.owner_id))


def id_of(text: strawberry.ID | str) -> UUID:
    return identifier(text)


def optional_id(text: strawberry.ID | str | None) -> UUID | None:
    return None if text is None else identifier(text)


def required(maybe: Any, field: str) -> Any:
    """What was given of something that is always there."""
    if maybe is None:
        return UNSET
    if maybe.value is None:
        raise BadInput("This cannot be null. Leave it out to keep it as it is.", field)
    return maybe.value


def cleared(maybe: Any, empty: Any) -> Any:
    """What was given of something that may be empty: null empties it."""
    if maybe is None:
        return UNSET
    return empty if maybe.value is None else maybe.value
