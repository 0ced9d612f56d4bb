"""Claims that pages used to make, with the sources that stated and overrode them."""

from typing import Any

from sqlalchemy import Select, select

from selection.declare.rows import OuterRow

from ..tables import pages, sources, superseded_claims
from .references import found, referred

by_ids = found(superseded_claims)
page = referred(pages, "page_id")
stated_by = referred(sources, "stated_by_id")
overridden_by = referred(sources, "overridden_by_id")


def of_page(page: OuterRow) -> Select[Any]:
    claim = superseded_claims.alias()
    return (
        select(claim)
        .where(claim.c.page_id == page.c.id, claim.c.withdrawn_at.is_(None))
        .order_by(claim.c.superseded_on.desc(), claim.c.id.desc())
    )
