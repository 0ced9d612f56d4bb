"""The graph of a wiki, or of the surroundings of a page: its active pages, and one edge for each directed pair."""

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
from .pages import active
from .references import id_among

STEPS_MAX = literal_column("3", Integer)
HUBS_MAX = literal_column("5000", Integer)
VISITS_MAX = literal_column("2000", Integer)
LINKS_MAX = literal_column("4000", Integer)


# -- the whole wiki


def nodes(owner: OuterRow) -> Select[Any]:
    """Select the active pages of a wiki, including pages without links, by descending hubness score."""
    page = pages.alias()
    query = select(page).where(page.c.owner_id == owner.c.id, active(page))
    return query.order_by(page.c.hubness_score.desc(), page.c.id.desc())


def edges(owner: OuterRow, among: Any) -> Select[Any]:
    """Select the edges between the `among` pages with the highest hubness score."""
    page, link = pages.alias(), links.alias()
    greatest = select(page.c.id).where(page.c.owner_id == owner.c.id, active(page))
    greatest = greatest.order_by(page.c.hubness_score.desc(), page.c.id.desc()).limit(
        func.greatest(func.least(among, HUBS_MAX), 0)
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
    """Return the page types that have an active page, as an array. For each type at most one page is read."""
    page = pages.alias()
    every = func.unnest(literal_column(f"ARRAY{sorted(TEMPLATES)}", ARRAY(Text)))
    type_ = every.table_valued(column("name", Text)).render_derived()
    of_type = select(page.c.id).where(page.c.owner_id == owner.c.id, page.c.type == type_.c.name, active(page))
    is_used = in_tenant(of_type).exists()
    return cast(func.array(select(type_.c.name).where(is_used).order_by(type_.c.name).scalar_subquery()), ARRAY(Text))


# -- around one page


def neighbours(page: OuterRow, depth: Any) -> Select[Any]:
    """Select the page itself and the active pages that at most `depth` links connect with it, the nearest first."""
    other = pages.alias()
    if depth.fixed == 1:
        query, distance = select(other).where(one_away(other, page)), other.c.id != page.c.id
    else:
        near = nearest(page, depth).subquery()
        query, distance = select(other).join(near, near.c.id == other.c.id), near.c.depth
    return query.order_by(distance, other.c.hubness_score.desc(), other.c.id.desc())


def neighbour_edges(page: OuterRow, depth: Any) -> Select[Any]:
    """Select the edges between the pages of `neighbours`. They are all active, so that their status is not checked."""
    other, link = pages.alias(), links.alias()
    within = in_tenant(select(other.c.id).where(one_away(other, page))) if depth.fixed == 1 else nearest(page, depth)
    near = within.cte("near")
    pairs = select(link.c.from_page_id, link.c.to_page_id, func.max(link.c.kind).label("kind")).where(
        link.c.from_page_id.in_(select(near.c.id)), link.c.to_page_id.in_(select(near.c.id))
    )
    pair = in_tenant(pairs).add_cte(near, nest_here=True).group_by(link.c.from_page_id, link.c.to_page_id).subquery()
    return select(pair).order_by(pair.c.from_page_id, pair.c.to_page_id)


def one_away(other: FromClause, page: OuterRow) -> ColumnElement[bool]:
    """Return a condition that is true for the page itself and for active pages with a link from or to it.

    It is the faster form of `nearest` for one step, with a limit of links, too.
    """
    ends = [select(page.c.id), *link_ends(page.c.id)]
    return and_(id_among(other, *ends, limit=LINKS_MAX), active(other))


def nearest(page: OuterRow, depth: Any) -> Select[Any]:
    """Select (id, depth) of the page and its neighbours, each once.

    The search is breadth first and stops after VISITS_MAX, so that a hub of hubs costs no more than any other page.
    """
    start = select(page.c.id.label("id"), literal(0, Integer).label("depth"))
    walk = start.cte("walk", recursive=True, nesting=True)
    hop, other = hops(OuterRow(walk).c.id), pages.alias()
    step = (
        select(hop.c.there, walk.c.depth + 1)
        .select_from(walk)
        .join(hop, true())
        .join(other, other.c.id == hop.c.there)
        .where(active(other), walk.c.depth < func.least(depth, STEPS_MAX))
    )
    walk = walk.union(in_tenant(step))
    visited = select(walk.c.id, walk.c.depth).limit(VISITS_MAX).subquery()
    return select(visited.c.id, func.min(visited.c.depth).label("depth")).group_by(visited.c.id)


def hops(here: ColumnElement[Any]) -> FromClause:
    """Select the other ends of a page's links in both directions.

    The sub-select is lateral. Otherwise Postgres could read all links of the tenant.
    """
    return union_all(*map(in_tenant, link_ends(here))).lateral()


def link_ends(here: ColumnElement[Any]) -> tuple[Select[Any], Select[Any]]:
    """Return two selects: of the pages to which a page links, and of the pages that link to it."""
    out, back = links.alias(), links.alias()
    return (
        select(out.c.to_page_id.label("there")).where(out.c.from_page_id == here),
        select(back.c.from_page_id.label("there")).where(back.c.to_page_id == here),
    )


# -- a node's own values


def neighbour_count(page: OuterRow) -> ColumnElement[Any]:
    """Return the number of distinct active pages that link to the page or to which it links."""
    other = pages.alias()
    query = select(func.count()).select_from(other).where(id_among(other, *link_ends(page.c.id)), active(other))
    return in_tenant(query).scalar_subquery()


def label(edge: OuterRow) -> ColumnElement[Any]:
    return literal("references")


def weight(edge: OuterRow) -> ColumnElement[Any]:
    return literal(0.5)


def node_type(page: OuterRow) -> ColumnElement[Any]:
    return literal("page")
