"""The active ancestors and descendants of a page. Pages above or below an archived page are not included."""

from typing import Any

from sqlalchemy import Integer, Select, Text, cast, false, func, literal, literal_column, or_, select

from selection import in_tenant
from selection.declare.mapping import OuterRow

from ..tables import pages, sections
from .pages import active

ONE = literal(1, Integer)
LEVELS_MAX = literal_column("32", Integer)


def parent(page: OuterRow) -> Select[Any]:
    above = pages.alias()
    return select(above).where(above.c.id == page.c.parent_page_id, active(above))


def children(page: OuterRow) -> Select[Any]:
    child = pages.alias()
    return select(child).where(child.c.parent_page_id == page.c.id, active(child)).order_by(child.c.title, child.c.id)


def ancestors(page: OuterRow) -> Select[Any]:
    """Select the ancestors from the parent upwards, up to the first one that is not active."""
    up, above, ancestor = pages.alias(), pages.alias(), pages.alias()
    start = select(up.c.id, up.c.parent_page_id, ONE.label("depth")).where(up.c.id == page.c.parent_page_id, active(up))
    chain = in_tenant(start).cte("chain", recursive=True, nesting=True)
    step = select(above.c.id, above.c.parent_page_id, chain.c.depth + 1).join(
        chain, above.c.id == chain.c.parent_page_id
    )
    chain = chain.union_all(in_tenant(step).where(active(above), chain.c.depth < LEVELS_MAX))
    return select(ancestor).join(chain, ancestor.c.id == chain.c.id).order_by(chain.c.depth)


def descendants(page: OuterRow, depth: Any) -> Select[Any]:
    """Select the descendants level by level, without those below an archived page.

    The recursive query selects whole rows, so that no page is looked up a second time.
    """
    child, below = pages.alias(), pages.alias()
    deepest = func.least(depth, LEVELS_MAX)
    start = select(child, ONE.label("depth")).where(child.c.parent_page_id == page.c.id, active(child))
    tree = in_tenant(start).where(deepest >= ONE).cte("tree", recursive=True, nesting=True)
    step = select(below, tree.c.depth + 1).join(tree, below.c.parent_page_id == tree.c.id)
    tree = tree.union_all(in_tenant(step).where(active(below), tree.c.depth < deepest))
    return select(*(tree.c[column.name] for column in pages.c)).order_by(tree.c.depth, tree.c.id)


def promoted_from(page: OuterRow) -> Select[Any]:
    """Select the section that was promoted to this page, if the page of the section is active."""
    section, above = sections.alias(), pages.alias()
    standing = select(above.c.id).where(above.c.id == OuterRow(section).c.page_id, active(above))
    return (
        select(section)
        .where(section.c.promoted_page_id == page.c.id, in_tenant(standing).exists())
        .order_by(section.c.id)
        .limit(1)
    )


def section_children(page: OuterRow, section_slug: Any) -> Select[Any]:
    """Select the active pages that a section lists, and the page that was promoted from it."""
    section, child = sections.alias(), pages.alias()
    outer = OuterRow(child)
    listing = in_tenant(
        select(section.c.id).where(
            section.c.page_id == page.c.id,
            section.c.section_slug == section_slug,
            or_(
                section.c.promoted_page_id == outer.c.id,
                func.coalesce(section.c.aggregation["linked_page_ids"].op("?")(cast(outer.c.id, Text)), false()),
            ),
        )
    )
    return (
        select(child)
        .where(child.c.owner_id == page.c.owner_id, listing.exists(), active(child))
        .order_by(child.c.title, child.c.id)
    )
