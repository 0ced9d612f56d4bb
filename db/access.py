"""The access rules of sources (selection.Access): which rows a compiled read may start from, as SQL over the scope.

The rules are those of resolvers.permissions for READ. A caller may read the wikis of the owners that its credential
speaks for, of owners that granted access to one of these, and, with a credential for the whole tenant, of every owner.
A row that the caller may not read is answered like an unknown id.
"""

from collections.abc import Collection
from typing import Any

from sqlalchemy import ARRAY, Boolean, ColumnElement, FromClause, Uuid, any_, cast, literal, or_, select

from selection import in_tenant, scope_value
from selection.compile.parameters import identifier
from selection.errors import BadInput, FieldError

from .scope import Role, Scope
from .tables import grants, owners

OWNER = scope_value("owner_id", Uuid())
TENANT = scope_value("tenant_id", Uuid())
OWNERS = scope_value("owners", ARRAY(Uuid()))
SPANS_TENANT = scope_value("spans_tenant", Boolean())


def readable(owner: ColumnElement[Any]) -> ColumnElement[bool]:
    """Return a condition that is true if the caller may read the wiki of this owner."""
    grant = grants.alias()
    granted = select(literal(1)).where(grant.c.grantee_id == any_(OWNERS), grant.c.owner_id == owner)
    return or_(SPANS_TENANT, owner == any_(OWNERS), in_tenant(granted).exists())


def owner_of(row: FromClause) -> ColumnElement[Any]:
    """Return the owner id of a row: its `owner_id`, or its `id` if it is a row of the table owners itself."""
    return row.c.owner_id if "owner_id" in row.c else row.c.id


ID_ARGUMENTS = ("owner_id", "user_id", "agent_id")
"""The arguments that name an owner by its id. All three have the same meaning."""
OWNER_ARGUMENTS = ("owner", *ID_ARGUMENTS)
"""The arguments that name an owner: `owner` by slug or id, the others by id."""


def owner_by_name(name: Any) -> ColumnElement[Any]:
    """Return the id of the owner whose slug or id is the value of this parameter, or null."""
    owner = owners.alias()
    by_id = cast(name.derive(lambda text: str(identifier(text))), Uuid())
    found = select(owner.c.id).where(or_(owner.c.slug == name, owner.c.id == by_id))
    return in_tenant(found).scalar_subquery()


def check_tenant(scope: Scope, tenant_id: str | None) -> None:
    """Raise FieldError for any other tenant than the credential's, whether or not that tenant exists."""
    if tenant_id is not None and identifier(tenant_id) != scope.tenant_id:
        raise FieldError("tenantId must be the tenant of the credential.", "FORBIDDEN")


def check_admin(scope: Scope) -> None:
    """Raise FieldError unless the credential has the role admin."""
    if scope.role is not Role.ADMIN:
        raise FieldError("This needs a credential with the role admin.", "FORBIDDEN")


class InOwner:
    """Access to the rows of one wiki: the one named by `owner`, `ownerId`, `userId` or `agentId`, else the caller's."""

    arguments: Collection[str] = ("tenant_id", *OWNER_ARGUMENTS)

    def check(self, scope: Any, tenant_id: str | None = None, **named: Any) -> None:
        check_tenant(scope, tenant_id)
        if len(named) > 1 and len({name.lower() for name in named.values() if name is not None}) > 1:
            message = "owner, ownerId, userId and agentId are names of one thing; give one of them."
            raise BadInput(message, field="owner")

    def criteria(self, row: FromClause, **named: Any) -> Collection[ColumnElement[bool]]:
        owner = self.owner(**named)
        return [owner_of(row) == owner] if owner is OWNER else [owner_of(row) == owner, readable(owner)]

    def owner(self, **named: Any) -> ColumnElement[Any]:
        """Return the owner whose wiki is read: OWNER, the caller's, unless an argument names one."""
        if named.get("owner") is not None:
            return owner_by_name(named["owner"])
        return next((named[name] for name in ID_ARGUMENTS if named.get(name) is not None), OWNER)


class AsAdmin(InOwner):
    """Access to the rows of one wiki, like InOwner, only for credentials with the role admin."""

    def check(self, scope: Any, tenant_id: str | None = None, **named: Any) -> None:
        check_admin(scope)
        super().check(scope, tenant_id, **named)


class AsAdminOfTenant(AsAdmin):
    """Access, only for the role admin, to the rows of the named wiki, or of the whole tenant if no wiki is named."""

    def criteria(self, row: FromClause, **named: Any) -> Collection[ColumnElement[bool]]:
        return [] if self.named_owner(**named) is None else super().criteria(row, **named)

    def named_owner(self, **named: Any) -> ColumnElement[Any] | None:
        """Return the owner that an argument names, or None."""
        owner = self.owner(**named)
        return None if owner is OWNER else owner


class OfTenantAsAdmin:
    """Access, only for the role admin, to all rows of a tenant that belong to no wiki, such as API keys."""

    arguments: Collection[str] = ()

    def check(self, scope: Any, **given: Any) -> None:
        check_admin(scope)

    def criteria(self, row: FromClause, **named: Any) -> Collection[ColumnElement[bool]]:
        return []


class ById:
    """Access to rows that are selected by id, in every wiki that the caller may read."""

    arguments: Collection[str] = ("tenant_id",)

    def check(self, scope: Any, tenant_id: str | None = None, **given: Any) -> None:
        check_tenant(scope, tenant_id)

    def criteria(self, row: FromClause, **named: Any) -> Collection[ColumnElement[bool]]:
        return [readable(owner_of(row))]


class SearchedPages(InOwner):
    """Access to pages that a search found. They are checked one by one, because a search may cover several wikis."""

    def criteria(self, row: FromClause, **named: Any) -> Collection[ColumnElement[bool]]:
        return BY_ID.criteria(row)


class SearchedTogether(InOwner):
    """Access to the result of a search as a whole. Its pages are checked elsewhere; `explain` needs the role admin."""

    arguments: Collection[str] = (*InOwner.arguments, "explain")

    def check(self, scope: Any, tenant_id: str | None = None, explain: bool = False, **named: Any) -> None:
        if explain and scope.role is not Role.ADMIN:
            raise FieldError("explain needs a credential with the role admin.", "FORBIDDEN")
        super().check(scope, tenant_id, **named)

    def criteria(self, row: FromClause, **named: Any) -> Collection[ColumnElement[bool]]:
        return []


class AsChecked(InOwner):
    """Access to rows of a step that has already checked that the caller may read them."""

    def criteria(self, row: FromClause, **named: Any) -> Collection[ColumnElement[bool]]:
        return []


class EventsInOwner(InOwner):
    """Access to the events of one wiki. Each event is checked, because a grant may be revoked during a subscription."""

    def criteria(self, row: FromClause, **named: Any) -> Collection[ColumnElement[bool]]:
        """Return the conditions, including the tenant: an event is no table row, so the compiler does not bind it."""
        return [row.c.tenant_id == TENANT, readable(row.c.owner_id)]


class EventsAsAdmin(EventsInOwner, AsAdmin):
    """Access to the events of one wiki, like EventsInOwner, only for credentials with the role admin."""


IN_OWNER = InOwner()
AS_ADMIN = AsAdmin()
CHECKED_BY_STEP = AsChecked()
BY_ID = ById()
AS_ADMIN_OF_TENANT = AsAdminOfTenant()
OF_TENANT_AS_ADMIN = OfTenantAsAdmin()
SEARCHED_PAGES = SearchedPages()
SEARCH_RESULT = SearchedTogether()
EVENT_ACCESS = EventsInOwner()
EVENT_ADMIN_ACCESS = EventsAsAdmin()
