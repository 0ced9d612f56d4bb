"""The graph of a wiki, whole or around one page: active pages, and one edge per directed pair."""

from typing import Any

from sqlalchemy import (
    ARRAY,
    ColumnElement,
    FromClause,
    Integer,
    Select,
    Text,
    and_,
    cast,
    column,
    func,
    literal,
    literal_column,
    select,
    true,
    union_all,
)

from content.templates import TEMPLATES
from selection import in_tenant
from selection.declare.mapping import OuterRow

from ..tables import links, pages
from .references import id_among

MOST_STEPS = literal_column("3", Integer)
MOST_HUBS = literal_column("5000", Integer)
MOST_VISITS = literal_column("2000", Integer)
MOST_LINKS = literal_column("4000", Integer)


def active(page: FromClause) -> ColumnElement[bool]:
    return page.c.status == "active"


# -- the whole wiki


def nodes(owner: OuterRow) -> Select[Any]:
    """Select the pages, the greatest hubs first, pages without links too."""
    page = pages.alias()
    query = select(page).where(page.c.owner_id == owner.c.id, active(page))
    return query.order_by(page.c.hubness_score.desc(), page.c.id.desc())


def edges(owner: OuterRow, among: Any) -> Select[Any]:
    """Select the edges between as many of the greatest hubs as a drawing shows: no edge leads out of it."""
    page, link = pages.alias(), links.alias()
    greatest = select(page.c.id).where(page.c.owner_id == owner.c.id, active(page))
    greatest = greatest.order_by(page.c.hubness_score.desc(), page.c.id.desc()).limit(
        func.greatest(func.least(among, MOST_HUBS), 0)
    )
    hub = in_tenant(greatest).cte("hub")
    pairs = select(link.c.from_page_id, link.c.to_page_id, func.max(link.c.kind).label("kind")).where(
        link.c.owner_id == owner.c.id,
        link.c.from_page_id.in_(select(hub.c.id)),
        link.c.to_page_id.in_(select(hub.c.id)),
    )
    pair = in_tenant(pairs).add_cte(hub, nest_here=True).group_by(link.c.from_page_id, link.c.to_page_id).subquery()
    return select(pair).order_by(pair.c.from_page_id, pair.c.to_page_id)


def node_count(owner: OuterRow) -> ColumnElement[Any]:
    page = pages.alias()
    query = select(func.count()).select_from(page).where(page.c.owner_id == owner.c.id, active(page))
    return in_tenant(query).scalar_subquery()


def types(owner: OuterRow) -> ColumnElement[Any]:
    """Return the types of which there are active pages: each is looked for, and no page is read besides."""
    page = pages.alias()
    every = func.unnest(literal_column(f"ARRAY{sorted(TEMPLATES)}", ARRAY(Text)))
    type_ = every.table_valued(column("name", Text)).render_derived()
    one = select(page.c.id).where(page.c.owner_id == owner.c.id, page.c.type == type_.c.name, active(page))
    held = in_tenant(one).exists()
    return cast(func.array(select(type_.c.name).where(held).order_by(type_.c.name).scalar_subquery()), ARRAY(Text))


# -- around one page


def neighbours(page: OuterRow, depth: Any) -> Select[Any]:
    """Select the page itself and the pages within so many links of it, the nearest first."""
    other = pages.alias()
    if depth.fixed == 1:
        query, distance = select(other).where(one_away(other, page)), other.c.id != page.c.id
    else:
        near = nearest(page, depth).subquery()
        query, distance = select(other).join(near, near.c.id == other.c.id), near.c.depth
    return query.order_by(distance, other.c.hubness_score.desc(), other.c.id.desc())


def neighbour_edges(page: OuterRow, depth: Any) -> Select[Any]:
    """Select the edges between those pages. The middle is active, or there would be none, and so are all others."""
    other, link = pages.alias(), links.alias()
    within = in_tenant(select(other.c.id).where(one_away(other, page))) if depth.fixed == 1 else nearest(page, depth)
    near = within.cte("near")
    pairs = select(link.c.from_page_id, link.c.to_page_id, func.max(link.c.kind).label("kind")).where(
        link.c.from_page_id.in_(select(near.c.id)), link.c.to_page_id.in_(select(near.c.id))
    )
    pair = in_tenant(pairs).add_cte(near, nest_here=True).group_by(link.c.from_page_id, link.c.to_page_id).subquery()
    return select(pair).order_by(pair.c.from_page_id, pair.c.to_page_id)


def one_away(other: FromClause, page: OuterRow) -> ColumnElement[bool]:
    """Return whether it is that page or an active one linked with it. One step takes no walk, but is cut off as one."""
    ends = [select(page.c.id), *link_ends(page.c.id)]
    return and_(id_among(other, *ends, most=MOST_LINKS), active(other))


def nearest(page: OuterRow, depth: Any) -> Select[Any]:
    """Select (id, depth), each page once: breadth first and cut off, so a hub of hubs costs no more than a page."""
    start = select(page.c.id.label("id"), literal(0, Integer).label("depth"))
    walk = start.cte("walk", recursive=True, nesting=True)
    hop, other = hops(OuterRow(walk).c.id), pages.alias()
    step = (
        select(hop.c.there, walk.c.depth + 1)
        .select_from(walk)
        .join(hop, true())
        .join(other, other.c.id == hop.c.there)
        .where(active(other), walk.c.depth < func.least(depth, MOST_STEPS))
    )
    walk = walk.union(in_tenant(step))
    visited = select(walk.c.id, walk.c.depth).limit(MOST_VISITS).subquery()
    return select(visited.c.id, func.min(visited.c.depth).label("depth")).group_by(visited.c.id)


def hops(here: ColumnElement[Any]) -> FromClause:
    """Select the other ends of a page's links, both ways. Lateral, lest all links of the tenant are read for few."""
    return union_all(*map(in_tenant, link_ends(here))).lateral()


def link_ends(here: ColumnElement[Any]) -> tuple[Select[Any], Select[Any]]:
    """Return the select of where a page's links lead, and that of where they come from."""
    out, back = links.alias(), links.alias()
    return (
        select(out.c.to_page_id.label("there")).where(out.c.from_page_id == here),
        select(back.c.from_page_id.label("there")).where(back.c.to_page_id == here),
    )


# -- a node's own values


def neighbour_count(page: OuterRow) -> ColumnElement[Any]:
    """Count the distinct active pages at the other end of a link."""
    other = pages.alias()
    query = select(func.count()).select_from(other).where(id_among(other, *link_ends(page.c.id)), active(other))
    return in_tenant(query).scalar_subquery()


def label(edge: OuterRow) -> ColumnElement[Any]:
    return literal("references")


def weight(edge: OuterRow) -> ColumnElement[Any]:
    return literal(0.5)


def node_type(page: OuterRow) -> ColumnElement[Any]:
    return literal("page")
