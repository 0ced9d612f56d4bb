"""Links: each other page once, whatever the number of kinds."""

from typing import Any

from sqlalchemy import Select, Text, any_, func, select
from sqlalchemy.dialects.postgresql import ARRAY, aggregate_order_by

from selection import in_tenant
from selection.rows import OuterRow

from ..tables import link_targets, links, pages
from .references import among, referred

# -- pages that link here


def backlinks(page: OuterRow, kinds: Any = None) -> Select[Any]:
    """The pages that link here, and as what: `kinds` is the edge's own, the other columns are the page's."""
    link, same, other = links.alias(), links.alias(), pages.alias()
    linking = select(link.c.from_page_id).where(link.c.to_page_id == page.c.id)
    says = select(func.array_agg(aggregate_order_by(same.c.kind, same.c.kind), type_=ARRAY(Text))).where(
        same.c.from_page_id == OuterRow(other).c.id, same.c.to_page_id == page.c.id
    )
    if kinds is not None:
        linking, says = linking.where(link.c.kind == any_(kinds)), says.where(same.c.kind == any_(kinds))
    found = select(other, in_tenant(says).scalar_subquery().label("kinds"))
    row = in_tenant(found.where(among(other, linking), other.c.status == "active")).subquery()
    return select(row).order_by(row.c.hubness_score.desc(), row.c.id.desc())


def backlinks_of(page_id: Any) -> Select[Any]:
    """The same pages as a plain list, for the root field of old."""
    page, link = pages.alias(), links.alias()
    linking = select(link.c.from_page_id).where(link.c.to_page_id == page_id)
    return (
        select(page)
        .where(among(page, linking), page.c.status == "active")
        .order_by(page.c.hubness_score.desc(), page.c.id.desc())
    )


# -- pages connected in either direction


def connected(page: OuterRow) -> Select[Any]:
    return connected_with(page.c.id)


def connected_with(page_id: Any) -> Select[Any]:
    other, incoming, outgoing = pages.alias(), links.alias(), links.alias()
    coming = select(incoming.c.from_page_id).where(incoming.c.to_page_id == page_id)
    going = select(outgoing.c.to_page_id).where(outgoing.c.from_page_id == page_id)
    return (
        select(other)
        .where(among(other, coming, going), other.c.status == "active")
        .order_by(other.c.hubness_score.desc(), other.c.id.desc())
    )


# -- the links of a page

from_page = referred(pages, "from_page_id")
to_page = referred(pages, "to_page_id")


def outgoing(page: OuterRow, kinds: Any = None) -> Select[Any]:
    """Links to active pages, in the order they were made."""
    link, other = links.alias(), pages.alias()
    query = (
        select(link)
        .join(other, other.c.id == link.c.to_page_id)
        .where(link.c.from_page_id == page.c.id, other.c.status == "active")
        .order_by(link.c.id)
    )
    return query if kinds is None else query.where(link.c.kind == any_(kinds))


def broken(page: OuterRow) -> Select[Any]:
    """Targets in this wiki that the page's text names and nobody answers to."""
    target = link_targets.alias()
    query = select(target).where(
        target.c.from_page_id == page.c.id, target.c.to_page_id.is_(None), target.c.space.is_(None)
    )
    return query.order_by(target.c.target)
