"""Links: each other page once, whatever the number of kinds."""

from typing import Any

from sqlalchemy import Select, Text, any_, func, select, union
from sqlalchemy.dialects.postgresql import ARRAY, aggregate_order_by

from selection import in_tenant
from selection.rows import OuterRow

from ..tables import link_targets, links, pages
from .references import referred

# -- pages that link here


def backlinks(page: OuterRow, kinds: Any = None) -> Select[Any]:
    """The pages that link here, and as what: `kinds` is the edge's own, the other columns are the page's."""
    link, other = links.alias(), pages.alias()
    linking = select(
        link.c.from_page_id,
        func.array_agg(aggregate_order_by(link.c.kind, link.c.kind), type_=ARRAY(Text)).label("kinds"),
    ).where(link.c.to_page_id == page.c.id)
    if kinds is not None:
        linking = linking.where(link.c.kind == any_(kinds))
    edge = in_tenant(linking).group_by(link.c.from_page_id).subquery()
    found = select(other, edge.c.kinds).join(edge, other.c.id == edge.c.from_page_id).where(other.c.status == "active")
    row = in_tenant(found).subquery()
    return select(row).order_by(row.c.hubness_score.desc(), row.c.id.desc())


def backlinks_of(page_id: Any) -> Select[Any]:
    """The same pages as a plain list, for the root field of old."""
    page, link = pages.alias(), links.alias()
    linking = select(link.c.from_page_id).where(link.c.to_page_id == page_id)
    return (
        select(page)
        .where(page.c.id.in_(in_tenant(linking)), page.c.status == "active")
        .order_by(page.c.hubness_score.desc(), page.c.id.desc())
    )


# -- pages connected in either direction


def connected(page: OuterRow) -> Select[Any]:
    return connected_with(page.c.id)


def connected_with(page_id: Any) -> Select[Any]:
    other, incoming, outgoing = pages.alias(), links.alias(), links.alias()
    near = union(
        in_tenant(select(incoming.c.from_page_id.label("id")).where(incoming.c.to_page_id == page_id)),
        in_tenant(select(outgoing.c.to_page_id.label("id")).where(outgoing.c.from_page_id == page_id)),
    ).subquery()
    return (
        select(other)
        .where(other.c.id.in_(select(near.c.id)), other.c.status == "active")
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
