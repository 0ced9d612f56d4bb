"""Superseded claims of pages, with the sources that stated and overrode them."""

from typing import Any

from sqlalchemy import Integer, Select, func, literal, select

from selection import in_tenant
from selection.declare.mapping import OuterRow

from ...tables import pages, sources, superseded_claims
from ..references import foreign_row, rows_by_id

TRAJECTORY_LEAST = literal(2, Integer)

by_ids = rows_by_id(superseded_claims)
page = foreign_row(pages, "page_id")
stated_by = foreign_row(sources, "stated_by_id")
overridden_by = foreign_row(sources, "overridden_by_id")


def of_page(page: OuterRow) -> Select[Any]:
    claim = superseded_claims.alias()
    return (
        select(claim)
        .where(claim.c.page_id == page.c.id, claim.c.withdrawn_at.is_(None))
        .order_by(claim.c.superseded_on.desc(), claim.c.id.desc())
    )


def trajectory(page: OuterRow) -> Select[Any]:
    """Select the superseded claims of a page, oldest first, if there are at least TRAJECTORY_LEAST."""
    claim, other = superseded_claims.alias(), superseded_claims.alias()
    count = select(func.count()).select_from(other)
    count = count.where(other.c.page_id == page.c.id, other.c.withdrawn_at.is_(None))
    return (
        select(claim)
        .where(
            claim.c.page_id == page.c.id,
            claim.c.withdrawn_at.is_(None),
            in_tenant(count).scalar_subquery() >= TRAJECTORY_LEAST,
        )
        .order_by(claim.c.superseded_on, claim.c.id)
    )
