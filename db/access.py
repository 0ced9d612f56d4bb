"""Access rules for the rows that a read starts from, as SQL over the caller's scope.

The rules are those of resolvers.permissions for READ: one's own owners, those granted, and every owner of the tenant
for a credential that spans it. Rows that may not be read do not exist for the caller: a foreign id answers as an
unknown one.
"""

from collections.abc import Collection
from typing import Any

from sqlalchemy import ARRAY, Boolean, ColumnElement, FromClause, Uuid, any_, cast, literal, or_, select

from selection import in_tenant, scope_value
from selection.compile.parameters import identifier
from selection.errors import BadInput, Refused

from .scope import Role, Scope
from .tables import grants, owners

OWNER = scope_value("owner_id", Uuid())
TENANT = scope_value("tenant_id", Uuid())
OWNERS = scope_value("owners", ARRAY(Uuid()))
SPANS_TENANT = scope_value("spans_tenant", Boolean())


def readable(owner: ColumnElement[Any]) -> ColumnElement[bool]:
    """Return whether the caller may read that owner's wiki, as SQL."""
    grant = grants.alias()
    granted = select(literal(1)).where(grant.c.grantee_id == any_(OWNERS), grant.c.owner_id == owner)
    return or_(SPANS_TENANT, owner == any_(OWNERS), in_tenant(granted).exists())


def owner_of(row: FromClause) -> ColumnElement[Any]:
    """Return the owner of a row. An owner's own row is in its own wiki."""
    return row.c.owner_id if "owner_id" in row.c else row.c.id


SPELLINGS = ("owner_id", "user_id", "agent_id")
NAMES = ("owner", *SPELLINGS)


def owner_by_name(name: Any) -> ColumnElement[Any]:
    """Return the id of the owner whose slug or id this parameter is; null if there is none."""
    owner = owners.alias()
    by_id = cast(name.derive(lambda text: str(identifier(text))), Uuid())
    found = select(owner.c.id).where(or_(owner.c.slug == name, owner.c.id == by_id))
    return in_tenant(found).scalar_subquery()


def check_tenant(scope: Scope, tenant_id: str | None) -> None:
    """Refuse any tenant but the credential's: unknown ones and other people's get the same words."""
    if tenant_id is not None and identifier(tenant_id) != scope.tenant_id:
        raise Refused("tenantId must be the tenant of the credential.", "FORBIDDEN")


def check_admin(scope: Scope) -> None:
    if scope.role is not Role.ADMIN:
        raise Refused("This needs a credential with the role admin.", "FORBIDDEN")


class InOwner:
    """Rows of one wiki: the caller's own, or the one that `owner` names (or ownerId, userId or agentId)."""

    arguments: Collection[str] = ("tenant_id", *NAMES)

    def check(self, scope: Any, tenant_id: str | None = None, **named: Any) -> None:
        check_tenant(scope, tenant_id)
        if len(named) > 1 and len({name.lower() for name in named.values() if name is not None}) > 1:
            message = "owner, ownerId, userId and agentId are names of one thing; give one of them."
            raise BadInput(message, field="owner")

    def criteria(self, row: FromClause, **named: Any) -> Collection[ColumnElement[bool]]:
        owner = self.owner(**named)
        return [owner_of(row) == owner] if owner is OWNER else [owner_of(row) == owner, readable(owner)]

    def owner(self, **named: Any) -> ColumnElement[Any]:
        """Return the owner whose wiki is meant."""
        if named.get("owner") is not None:
            return owner_by_name(named["owner"])
        return next((named[name] for name in SPELLINGS if named.get(name) is not None), OWNER)


class AsAdmin(InOwner):
    """Rows of one wiki, like InOwner, for credentials of the role admin alone."""

    def check(self, scope: Any, tenant_id: str | None = None, **named: Any) -> None:
        check_admin(scope)
        super().check(scope, tenant_id, **named)


class AsAdminOfTenant(AsAdmin):
    """Rows of the wiki that is named or, when none is, of all wikis of the tenant."""

    def criteria(self, row: FromClause, **named: Any) -> Collection[ColumnElement[bool]]:
        return [] if self.named_owner(**named) is None else super().criteria(row, **named)

    def named_owner(self, **named: Any) -> ColumnElement[Any] | None:
        """Return the owner whose wiki is named, or None."""
        owner = self.owner(**named)
        return None if owner is OWNER else owner


class OfTenantAsAdmin:
    """Rows of no wiki, such as API keys: all of the tenant's, for credentials of the role admin alone."""

    arguments: Collection[str] = ()

    def check(self, scope: Any, **given: Any) -> None:
        check_admin(scope)

    def criteria(self, row: FromClause, **named: Any) -> Collection[ColumnElement[bool]]:
        return []


class ById:
    """Rows that are asked for by their id, wherever the caller may read."""

    arguments: Collection[str] = ("tenant_id",)

    def check(self, scope: Any, tenant_id: str | None = None, **given: Any) -> None:
        check_tenant(scope, tenant_id)

    def criteria(self, row: FromClause, **named: Any) -> Collection[ColumnElement[bool]]:
        return [readable(owner_of(row))]


class SearchedPages(InOwner):
    """Pages that a search found, in the wiki that the arguments name or the question itself."""

    def criteria(self, row: FromClause, **named: Any) -> Collection[ColumnElement[bool]]:
        return BY_ID.criteria(row)


class SearchedTogether(InOwner):
    """The answer of a search as a whole: its pages are judged one by one. Explanations are for admins."""

    arguments: Collection[str] = (*InOwner.arguments, "explain")

    def check(self, scope: Any, tenant_id: str | None = None, explain: bool = False, **named: Any) -> None:
        if explain and scope.role is not Role.ADMIN:
            raise Refused("explain needs a credential with the role admin.", "FORBIDDEN")
        super().check(scope, tenant_id, **named)

    def criteria(self, row: FromClause, **named: Any) -> Collection[ColumnElement[bool]]:
        return []


class AsChecked(InOwner):
    """Rows that were found by a step that has checked that the caller may read them."""

    def criteria(self, row: FromClause, **named: Any) -> Collection[ColumnElement[bool]]:
        return []


class EventsInOwner(InOwner):
    """Events, in the wiki that the arguments name: judged one by one, because a grant may be withdrawn in between."""

    def criteria(self, row: FromClause, **named: Any) -> Collection[ColumnElement[bool]]:
        """An event is no stored row, so the compiler does not bind its tenant."""
        return [row.c.tenant_id == TENANT, readable(row.c.owner_id)]


class EventsAsAdmin(EventsInOwner, AsAdmin):
    """Events, like Happened, for credentials of the role admin alone."""


IN_OWNER, AS_ADMIN, AS_CHECKED, BY_ID = InOwner(), AsAdmin(), AsChecked(), ById()
AS_ADMIN_OF_TENANT, OF_TENANT_AS_ADMIN = AsAdminOfTenant(), OfTenantAsAdmin()
FOUND, FOUND_TOGETHER = SearchedPages(), SearchedTogether()
HAPPENED, HAPPENED_AS_ADMIN = EventsInOwner(), EventsAsAdmin()
