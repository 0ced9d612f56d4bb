"""Links between pages, as pages and as links. A page is selected once, even if several kinds of links lead to it."""

from collections.abc import Callable
from typing import Any

from sqlalchemy import ColumnElement, FromClause, Select, Text, any_, case, cast, func, literal, or_, select, union_all
from sqlalchemy.dialects.postgresql import ARRAY, aggregate_order_by

from selection import in_tenant
from selection.declare.mapping import OuterRow

from ..access import readable
from ..tables import aliases, link_targets, links, old_slugs, owners, pages, sections
from .references import foreign_row, id_among

# -- pages that link here


def backlinks(page: OuterRow, kinds: Any = None) -> Select[Any]:
    """Select the active pages that link to this page, with the `kinds` of their links, by descending hubness score."""
    link, same, other = links.alias(), links.alias(), pages.alias()
    linking = select(link.c.from_page_id).where(link.c.to_page_id == page.c.id)
    link_kinds = select(func.array_agg(aggregate_order_by(same.c.kind, same.c.kind), type_=ARRAY(Text))).where(
        same.c.from_page_id == OuterRow(other).c.id, same.c.to_page_id == page.c.id
    )
    if kinds is not None:
        linking, link_kinds = linking.where(link.c.kind == any_(kinds)), link_kinds.where(same.c.kind == any_(kinds))
    found = select(other, in_tenant(link_kinds).scalar_subquery().label("kinds"), page.c.id.label("linked_id"))
    row = in_tenant(found.where(id_among(other, linking), other.c.status == "active")).subquery()
    return select(row).order_by(row.c.hubness_score.desc(), row.c.id.desc())


def linking_sections(other: OuterRow) -> Select[Any]:
    """Select the sections of a backlinking page (a row of `backlinks`) whose text contains the link."""
    return sections_with(other.c.id, other.c.linked_id)


def linked_sections(link: OuterRow) -> Select[Any]:
    """Select the sections whose text contains a link, of the page where the link starts."""
    return sections_with(link.c.from_page_id, link.c.to_page_id).where(link.c.kind == "reference")


def sections_with(from_page_id: Any, to_page_id: Any) -> Select[Any]:
    """Select the sections of a page whose text links to another page."""
    section, written = sections.alias(), link_targets.alias()
    places = select(func.unnest(written.c.section_slugs)).where(
        written.c.from_page_id == from_page_id, written.c.to_page_id == to_page_id
    )
    return (
        select(section)
        .where(section.c.page_id == from_page_id, section.c.section_slug.in_(in_tenant(places)))
        .order_by(section.c.position)
    )


def backlinks_of(page_id: Any) -> Select[Any]:
    """Select the pages of `backlinks` as a plain list, for the deprecated root field."""
    page, link = pages.alias(), links.alias()
    linking = select(link.c.from_page_id).where(link.c.to_page_id == page_id)
    return (
        select(page)
        .where(id_among(page, linking), page.c.status == "active")
        .order_by(page.c.hubness_score.desc(), page.c.id.desc())
    )


# -- pages at the other end of a page's links


def connected(page: OuterRow, direction: str) -> Select[Any]:
    return connected_with(page.c.id, direction)


def connected_with(page_id: Any, direction: str) -> Select[Any]:
    """Select the active pages to which a page links (`outgoing`), those that link to it (`incoming`), or `both`."""
    other, incoming, outgoing = pages.alias(), links.alias(), links.alias()
    ends = {
        "incoming": select(incoming.c.from_page_id).where(incoming.c.to_page_id == page_id),
        "outgoing": select(outgoing.c.to_page_id).where(outgoing.c.from_page_id == page_id),
    }
    followed = ends.values() if direction == "both" else (ends[direction],)
    return (
        select(other)
        .where(id_among(other, *followed), other.c.status == "active")
        .order_by(other.c.hubness_score.desc(), other.c.id.desc())
    )


def connected_from(page_id: Any) -> Select[Any]:
    """Select the active pages to which a page links."""
    return connected_with(page_id, "outgoing")


# -- the links of a page

from_page = foreign_row(pages, "from_page_id")
to_page = foreign_row(pages, "to_page_id")


def text(link: OuterRow) -> ColumnElement[Any]:
    """Return the text that the page shows for the link, or null. Of several texts, it is the first one by target."""
    written = link_targets.alias()
    query = select(written.c.text).where(
        written.c.from_page_id == link.c.from_page_id,
        written.c.to_page_id == link.c.to_page_id,
        link.c.kind == "reference",
        written.c.text.is_not(None),
    )
    return in_tenant(query).order_by(written.c.target).limit(1).scalar_subquery()


def outgoing(page: OuterRow, kinds: Any = None) -> Select[Any]:
    """Select the links of a page to active pages, in the order of their creation."""
    link, other = links.alias(), pages.alias()
    query = (
        select(link)
        .join(other, other.c.id == link.c.to_page_id)
        .where(link.c.from_page_id == page.c.id, other.c.status == "active")
        .order_by(link.c.id)
    )
    return query if kinds is None else query.where(link.c.kind == any_(kinds))


def places(page_id: str) -> Callable[[OuterRow], ColumnElement[Any]]:
    """Return an expression for the pages to which the links in a page's text lead, as a JSON object by target.

    Each value is an array of type, slug, id, space and title, or null. The space is null for a page of the same wiki.
    `page_id` is the name of the row's column with the id of the page.
    """

    def query(row: OuterRow) -> ColumnElement[Any]:
        written, page = link_targets.alias(), pages.alias()
        target = OuterRow(written)
        own = in_tenant(select(described(page)).where(page.c.id == target.c.to_page_id))
        shared = in_tenant(
            select(described(page, target.c.space)).where(page.c.id == target_page(space_of(target), target))
        )
        found = case((target.c.space.is_(None), own.scalar_subquery()), else_=shared.scalar_subquery())
        each = select(func.coalesce(func.json_object_agg(written.c.target, found), func.json_build_object()))
        return in_tenant(each.where(written.c.from_page_id == getattr(row.c, page_id))).scalar_subquery()

    return query


def described(page: FromClause, space: Any = None) -> ColumnElement[Any]:
    return func.json_build_array(page.c.type, page.c.slug, page.c.id, cast(space, Text), page.c.title)


def broken(page: OuterRow) -> Select[Any]:
    """Select the page's link targets in its own wiki that lead to no page."""
    target = link_targets.alias()
    query = select(target).where(
        target.c.from_page_id == page.c.id, target.c.to_page_id.is_(None), target.c.space.is_(None)
    )
    return query.order_by(target.c.target)


# -- links into other wikis of the tenant


def to_spaces(page: OuterRow) -> Select[Any]:
    """Select the page's link targets in other wikis, whether or not they lead to a page."""
    target = link_targets.alias()
    query = select(target).where(target.c.from_page_id == page.c.id, target.c.space.is_not(None))
    return query.order_by(target.c.target)


def page_in_space(target: OuterRow) -> Select[Any]:
    """Select the active page to which a link into another wiki leads, if the caller may read that wiki.

    The page is not stored with the link, so that revoked access takes effect at once.
    """
    page = pages.alias()
    return select(page).where(page.c.id == target_page(space_of(target), target))


def space_of(target: OuterRow) -> ColumnElement[Any]:
    """Return the id of the owner of the wiki that a link target names, if the caller may read that wiki, or null.

    A link from a shared wiki into the wiki of a user or an agent leads nowhere, because the members of the shared wiki
    would see different pages.
    """
    other, own_owner = owners.alias(), owners.alias()
    own = in_tenant(select(own_owner.c.kind).where(own_owner.c.id == target.c.owner_id)).scalar_subquery()
    named = (
        select(other.c.id)
        .where(other.c.slug == target.c.space, readable(other.c.id))
        .where(or_(other.c.kind == "shared", own != "shared"))
    )
    return in_tenant(named).scalar_subquery()


def from_spaces(page: OuterRow) -> Select[Any]:
    """Select the active pages of other wikis whose text links to this page, as far as the caller may read them.

    Links are found by the names of this page, and count if the name leads to this page. Links from shared wikis into
    the wikis of users and agents do not count.
    """
    target, other, own, its = link_targets.alias(), pages.alias(), owners.alias(), owners.alias()
    former, alias = old_slugs.alias(), aliases.alias()
    own_slug = in_tenant(select(own.c.slug).where(own.c.id == page.c.owner_id)).scalar_subquery()
    own_kind = in_tenant(select(own.c.kind).where(own.c.id == page.c.owner_id)).scalar_subquery()
    slugs = union_all(select(page.c.slug), in_tenant(select(former.c.slug).where(former.c.page_id == page.c.id)))
    names = in_tenant(select(alias.c.alias).where(alias.c.page_id == page.c.id))
    written = or_(target.c.slug.in_(slugs), target.c.alias.in_(names))
    linking = select(target.c.from_page_id).where(
        target.c.space == own_slug, written, page.c.id == target_page(page.c.owner_id, OuterRow(target))
    )
    its_kind = in_tenant(select(its.c.kind).where(its.c.id == OuterRow(other).c.owner_id)).scalar_subquery()
    return (
        select(other)
        .where(id_among(other, linking), other.c.status == "active", other.c.owner_id != page.c.owner_id)
        .where(or_(own_kind == "shared", its_kind != "shared"), readable(other.c.owner_id))
        .order_by(other.c.hubness_score.desc(), other.c.id.desc())
    )


def target_page(owner_id: Any, target: OuterRow) -> ColumnElement[Any]:
    """Return the id of the page of a wiki to which a link target leads.

    As in resolve_targets, a slug comes before a former slug, and that before an alias.
    """
    by_slug, by_former, by_alias = pages.alias(), pages.alias(), pages.alias()
    former, alias = old_slugs.alias(), aliases.alias()
    rows = [
        select(by_slug.c.id, by_slug.c.type, by_slug.c.status, literal(1).label("rank")).where(
            by_slug.c.owner_id == owner_id, by_slug.c.slug == target.c.slug
        ),
        select(by_former.c.id, by_former.c.type, by_former.c.status, literal(2).label("rank"))
        .join(former, former.c.page_id == by_former.c.id)
        .where(by_former.c.owner_id == owner_id, former.c.owner_id == owner_id, former.c.slug == target.c.slug),
        select(by_alias.c.id, by_alias.c.type, by_alias.c.status, literal(3).label("rank"))
        .join(alias, alias.c.page_id == by_alias.c.id)
        .where(by_alias.c.owner_id == owner_id, alias.c.owner_id == owner_id, alias.c.alias == target.c.alias),
    ]
    found = union_all(*map(in_tenant, rows)).subquery()
    best = (
        select(found.c.id)
        .where(found.c.status == "active", or_(target.c.type.is_(None), found.c.type == target.c.type))
        .order_by(found.c.rank, found.c.id)
        .limit(1)
    )
    return best.scalar_subquery()
