"""Owners, and the caller's role and identity."""

from typing import Any

from sqlalchemy import ColumnElement, Select, Text, Uuid, any_, case, cast, func, literal, select

from selection import in_tenant, scope_value
from selection.declare.mapping import OuterRow

from ...access import OWNERS, SPANS_TENANT, readable
from ...tables import api_keys, grants, owners, tenants
from ..json_rows import json_rows
from ..references import foreign_row, rows_by_id

by_ids = rows_by_id(owners)
same = foreign_row(owners, "id")
of_row = foreign_row(owners, "owner_id")

ROLE = scope_value("role", Text())
ACTOR_KIND = scope_value("actor_kind", Text())
ACTOR_ID = scope_value("actor_id", Text())


def listed() -> Select[Any]:
    """Select the owners. The access rule of the source leaves out those whose wiki the caller may not read."""
    owner = owners.alias()
    return select(owner).order_by(owner.c.slug, owner.c.id)


def all_readable(row: OuterRow) -> Select[Any]:
    owner = owners.alias()
    return select(owner).where(readable(owner.c.id)).order_by(owner.c.slug, owner.c.id)


def tenant(row: OuterRow) -> Select[Any]:
    found = tenants.alias()
    return select(found).where(found.c.tenant_id == row.c.tenant_id)


def role(owner: OuterRow) -> ColumnElement[Any]:
    """Return the caller's role in the owner's wiki: the credential's role, or that of a grant, limited by it."""
    grant = grants.alias()
    strongest = func.max(case({"reader": 1, "member": 2, "admin": 3}, value=grant.c.role))
    granted = in_tenant(select(strongest).where(grant.c.grantee_id == any_(OWNERS), grant.c.owner_id == owner.c.id))
    capped = case(
        (ROLE == "reader", "reader"),
        else_=case({1: "reader", 2: "member", 3: "admin"}, value=granted.scalar_subquery()),
    )
    return case((SPANS_TENANT, ROLE), (owner.c.id == any_(OWNERS), ROLE), else_=capped)


def caller_role(owner: OuterRow) -> ColumnElement[Any]:
    return ROLE


def actor_kind(owner: OuterRow) -> ColumnElement[Any]:
    return ACTOR_KIND


def actor_id(owner: OuterRow) -> ColumnElement[Any]:
    return ACTOR_ID


def actor_name(owner: OuterRow) -> ColumnElement[Any]:
    return author_name(ACTOR_ID)


def author_name(author_id: ColumnElement[Any]) -> ColumnElement[Any]:
    """Return the name of the owner or API key with this id, or else the id itself, such as the subject of a token."""
    owner, key = owners.alias(), api_keys.alias()
    id = case((func.pg_input_is_valid(author_id, "uuid"), cast(author_id, Uuid)))
    of_owner = in_tenant(select(owner.c.name).where(owner.c.id == id)).scalar_subquery()
    of_key = in_tenant(select(key.c.name).where(key.c.id == id)).scalar_subquery()
    return func.coalesce(of_owner, of_key, author_id)


def null_text(owner: OuterRow) -> ColumnElement[Any]:
    return literal(None, Text)


def write_rules(owner: OuterRow) -> Select[Any]:
    return select(json_rows(owner.c.write_policy, role=Text(), page_type=Text(), policy=Text()))
