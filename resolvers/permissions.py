"""Permissions: the table of what a role may do in a wiki. All transports check it with `authorise`."""

from collections.abc import Collection, Mapping
from enum import IntEnum
from typing import Final
from uuid import UUID

from db.connection import Connection
from db.scope import Role, Scope
from db.sensitivity import find_withheld, restriction_of
from db.sql import statements

from .errors import Forbidden, NotFound

GRANTS = statements("access/grants")


class Action(IntEnum):
    """An action in a wiki. A caller who may do an action may also do every lower one."""

    READ = 1
    WRITE = 2
    MANAGE = 3
    """Delete for good, archive the whole wiki, and grant access to it."""
    ADMINISTER = 4
    """Manage the tenant: owners, keys, jobs."""


class WikiRelation(IntEnum):
    """A relation of a credential to a wiki of its tenant, from the weakest to the strongest."""

    STRANGER = 0
    READER = 1
    MEMBER = 2
    OWN = 3
    ADMIN = 4


NOTHING: Final = 0
READ, WRITE, MANAGE, ADMINISTER = Action

# The highest action that a role permits under each relation. A grant never raises a credential above its own role.
# Services need no grant to read and write in the wikis of the tenant, and admins need none for any action.
MAX_ACTIONS: Mapping[Role, tuple[int, int, int, int, int]] = {
    #              stranger    reader      member      own         admin
    Role.READER:  (NOTHING,    READ,       READ,       READ,       READ),
    Role.MEMBER:  (NOTHING,    READ,       WRITE,      WRITE,      MANAGE),
    Role.SERVICE: (WRITE,      WRITE,      WRITE,      WRITE,      MANAGE),
    Role.ADMIN:   (ADMINISTER, ADMINISTER, ADMINISTER, ADMINISTER, ADMINISTER),
}  # fmt: skip

REFUSALS: Mapping[Action, str] = {
    WRITE: "You may read this wiki, but not change it.",
    MANAGE: "This needs a grant as admin of this wiki, or a credential with the role admin.",
    ADMINISTER: "This needs a credential with the role admin.",
}


def is_allowed(role: Role, relation: WikiRelation, action: Action) -> bool:
    """Return whether the role permits the action under this relation."""
    return action <= MAX_ACTIONS[role][relation]


def covers(maker: Role, role: Role) -> bool:
    """Return whether a credential with the role `maker` may create one with `role`: `maker` has all its rights."""
    return all(mine >= theirs for mine, theirs in zip(MAX_ACTIONS[maker], MAX_ACTIONS[role], strict=True))


def require_admin(scope: Scope) -> UUID:
    """Return the scope's tenant, if it may manage owners, grants and keys. Raises Forbidden without the role admin."""
    if not is_allowed(scope.role, WikiRelation.OWN, ADMINISTER):
        raise Forbidden(REFUSALS[ADMINISTER])
    return scope.tenant_id


def is_allowed_in_own_wiki(scope: Scope, owner_id: UUID, action: Action) -> bool:
    """Return whether the wiki is one of the credential's own and its role permits the action, without any grant."""
    return owner_id in scope.owners and is_allowed(scope.role, WikiRelation.OWN, action)


async def authorise(connection: Connection, scope: Scope, owner_id: UUID, action: Action) -> None:
    """Check the permission for an action. Raises NotFound if the caller may not read the wiki, otherwise Forbidden.

    The check runs no statement for what a credential may do in its own wikis, and one statement otherwise.
    """
    if is_allowed_in_own_wiki(scope, owner_id, action):
        return
    relation = await relation_to(connection, scope, owner_id)
    if relation is None or not is_allowed(scope.role, relation, READ):
        raise NotFound("There is no such wiki, or none that you may see.")
    if not is_allowed(scope.role, relation, action):
        raise Forbidden(REFUSALS[action])


PAGE_HIDDEN = "This is more sensitive than you may read here, so you may not write it. Nothing was written."
PARTS_HIDDEN = "Parts of this page are more sensitive than you may read, so you may not write it. Nothing was written."


class Withheld(Forbidden):
    """The write concerns a page that the caller may not read completely."""


async def check_sees(connection: Connection, scope: Scope, page_ids: Collection[UUID], missing: str) -> None:
    """Refuse a write to pages that the caller may not read completely.

    Raises NotFound with the message `missing` if a whole page is hidden from the caller (Withheld if `missing` is
    PAGE_HIDDEN), and Withheld if parts are. Runs no statement for a caller who may read everything in the wiki.
    """
    restriction = restriction_of(scope)
    if restriction is None or not page_ids or (scope.owner_id in scope.owners and not restriction.is_reader):
        return
    rows = await connection.all(find_withheld(), page_ids=list(page_ids), **restriction.values)
    if any(row["is_hidden"] for row in rows):
        raise Withheld(PAGE_HIDDEN) if missing == PAGE_HIDDEN else NotFound(missing)
    if rows:
        raise Withheld(PARTS_HIDDEN)


async def relation_to(connection: Connection, scope: Scope, owner_id: UUID) -> WikiRelation | None:
    """Return the strongest relation of the scope to a wiki, or None if the tenant has no such owner."""
    rows = await connection.all(
        GRANTS["find_roles"], tenant_id=scope.tenant_id, owner_id=owner_id, grantee_ids=list(scope.owners)
    )
    ungranted = WikiRelation.OWN if owner_id in scope.owners else WikiRelation.STRANGER
    return max((max(ungranted, granted_relation(row["role"])) for row in rows), default=None)


def granted_relation(granted: str | None) -> WikiRelation:
    """Return the relation that a granted role makes."""
    return WikiRelation.STRANGER if granted is None else WikiRelation[granted.upper()]
