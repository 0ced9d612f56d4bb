"""Pages: where reads of pages start, and what hangs on one."""

from collections.abc import Callable
from typing import Any

from sqlalchemy import (
    ColumnElement,
    FromClause,
    Integer,
    Select,
    Text,
    and_,
    any_,
    case,
    cast,
    column,
    false,
    func,
    literal,
    literal_column,
    null,
    or_,
    select,
    true,
)
from sqlalchemy.dialects.postgresql import aggregate_order_by

from content.names import ALIAS_MAX, normalise
from selection import in_tenant
from selection.rows import OuterRow

from ..tables import (
    aliases,
    merged_pages,
    old_slugs,
    page_names,
    pages,
    renamings,
    revisions,
    section_sources,
    sections,
    sources,
)
from .references import found, referred

ONE = literal(1, Integer)
LAST = "\U0010ffff"


def active(page: FromClause) -> ColumnElement[bool]:
    return page.c.status == "active"


# -- where reads start

by_ids = found(pages)
same = referred(pages, "id")


def by_slug(owner: Any, type: Any, slug: Any, include_archived: bool = False) -> Select[Any]:
    """The page of that slug, or else the one that once had it, which is looked for only then: `redirected_from` says
    which. Both are keys of a wiki, and two ids are found for less than two rows are put side by side."""
    page, now, old = pages.alias(), pages.alias(), old_slugs.alias()
    here = select(now.c.id).where(now.c.owner_id == owner, now.c.type == type, now.c.slug == slug)
    there = select(old.c.page_id).where(old.c.owner_id == owner, old.c.type == type, old.c.slug == slug)
    if not include_archived:
        here = here.where(active(now))
    one = func.coalesce(in_tenant(here).scalar_subquery(), in_tenant(there).scalar_subquery())
    redirected_from = case((and_(page.c.type == type, page.c.slug == slug), null()), else_=cast(slug, Text))
    found = in_tenant(select(page, redirected_from.label("redirected_from")).where(page.c.id == one)).subquery()
    query = select(found)
    return query if include_archived else query.where(found.c.status == "active")


ORDERS: dict[str, Callable[[FromClause], tuple[Any, ...]]] = {
    "title": lambda page: (page.c.title, page.c.id),
    "updated": lambda page: (page.c.updated_at.desc(), page.c.id.desc()),
    "created": lambda page: (page.c.id.desc(),),
    "hubness": lambda page: (page.c.hubness_score.desc(), page.c.id.desc()),
}


def listed(filter: Any = None, order_by: str = "title") -> Select[Any]:
    """Ids are made in time order, so the newest page is the one with the greatest id."""
    page = pages.alias()
    query = select(page).order_by(*ORDERS[order_by](page))
    status = getattr(filter, "status", None)
    query = query.where(active(page) if status is None else page.c.status == status)
    return query if filter is None else filtered(query, page, filter)


def filtered(query: Select[Any], page: FromClause, filter: Any) -> Select[Any]:
    if filter.types is not None:
        query = query.where(page.c.type == any_(filter.types))
    if filter.tags is not None:
        query = query.where(page.c.tags.contains(filter.tags))
    if filter.updated_since is not None:
        query = query.where(page.c.updated_at >= filter.updated_since.decide())
    if filter.title_prefix is not None:
        query = query.where(page.c.id.in_(in_tenant(titled(page, filter.title_prefix))))
    return query


def titled(page: FromClause, prefix: Any) -> Select[Any]:
    """Pages whose normalised title starts so, by a range of the index of names."""
    name, outer = page_names.alias(), OuterRow(page)
    start = prefix.derive(beginning)
    return select(name.c.page_id).where(
        name.c.owner_id == outer.c.owner_id, name.c.kind == "title", name.c.name >= start, name.c.name < start + LAST
    )


def beginning(prefix: str) -> str:
    """As titles are stored; what has no letter is the beginning of none."""
    return normalise(prefix[:ALIAS_MAX]) or LAST


def recent() -> Select[Any]:
    page = pages.alias()
    return select(page).where(active(page)).order_by(page.c.updated_at.desc(), page.c.id.desc())


# -- values of a page


def redirected_from(page: OuterRow) -> ColumnElement[Any]:
    return page.c.redirected_from if "redirected_from" in page.c else cast(null(), Text)


def pages_to_rewrite(page: OuterRow) -> ColumnElement[Any]:
    renaming = renamings.alias()
    left = select(func.coalesce(cast(func.sum(renaming.c.remaining), Integer), literal_column("0")))
    return in_tenant(left.where(renaming.c.page_id == page.c.id)).scalar_subquery()


def source_count(page: OuterRow) -> ColumnElement[Any]:
    cited = section_sources.alias()
    query = select(func.count(func.distinct(cited.c.source_id))).where(cited.c.page_id == page.c.id)
    return in_tenant(query).scalar_subquery()


def memory_count(page: OuterRow) -> ColumnElement[Any]:
    """A memory is one, however many of its versions are cited."""
    cited, source = section_sources.alias(), sources.alias()
    query = (
        select(func.count(func.distinct(source.c.ref)))
        .join(cited, cited.c.source_id == source.c.id)
        .where(cited.c.page_id == page.c.id, source.c.kind == "memory_unit")
    )
    return in_tenant(query).scalar_subquery()


def memory_ids(page: OuterRow) -> Select[Any]:
    """Refs of the memories it cites, newest citation first."""
    cited, source = section_sources.alias(), sources.alias()
    newest = func.max(cited.c.created_at)
    return (
        select(source.c.ref)
        .join(cited, cited.c.source_id == source.c.id)
        .where(cited.c.page_id == page.c.id, source.c.kind == "memory_unit")
        .group_by(source.c.ref)
        .order_by(newest.desc(), source.c.ref)
    )


def merged_into(page: OuterRow) -> Select[Any]:
    """The page that this one became a part of."""
    merged, into = merged_pages.alias(), pages.alias()
    return select(into).join(merged, merged.c.into_page_id == into.c.id).where(merged.c.page_id == page.c.id)


# -- names

alias_page = referred(pages, "page_id")


def alias_texts(page: OuterRow) -> Select[Any]:
    alias = aliases.alias()
    return select(alias.c.alias).where(alias.c.page_id == page.c.id).order_by(alias.c.alias)


def alias_rows(page: OuterRow) -> Select[Any]:
    alias = aliases.alias()
    return select(alias).where(alias.c.page_id == page.c.id).order_by(alias.c.alias, alias.c.id)


# -- hierarchy


def parent(page: OuterRow) -> Select[Any]:
    above = pages.alias()
    return select(above).where(above.c.id == page.c.parent_page_id, active(above))


def children(page: OuterRow) -> Select[Any]:
    child = pages.alias()
    return select(child).where(child.c.parent_page_id == page.c.id, active(child)).order_by(child.c.title, child.c.id)


def ancestors(page: OuterRow) -> Select[Any]:
    """From the parent up, as long as each is active."""
    up, above, ancestor = pages.alias(), pages.alias(), pages.alias()
    start = select(up.c.id, up.c.parent_page_id, ONE.label("depth")).where(up.c.id == page.c.parent_page_id, active(up))
    chain = in_tenant(start).cte("chain", recursive=True, nesting=True)
    step = select(above.c.id, above.c.parent_page_id, chain.c.depth + 1).join(
        chain, above.c.id == chain.c.parent_page_id
    )
    chain = chain.union_all(in_tenant(step).where(active(above), chain.c.depth < MOST_LEVELS))
    return select(ancestor).join(chain, ancestor.c.id == chain.c.id).order_by(chain.c.depth)


def descendants(page: OuterRow, depth: Any) -> Select[Any]:
    """From the children down, level by level; below an archived page there is nothing."""
    child, below, descendant = pages.alias(), pages.alias(), pages.alias()
    deepest = func.least(depth, MOST_LEVELS)
    start = select(child.c.id, ONE.label("depth")).where(child.c.parent_page_id == page.c.id, active(child))
    tree = in_tenant(start).where(deepest >= ONE).cte("tree", recursive=True, nesting=True)
    step = select(below.c.id, tree.c.depth + 1).join(tree, below.c.parent_page_id == tree.c.id)
    tree = tree.union_all(in_tenant(step).where(active(below), tree.c.depth < deepest))
    return select(descendant).join(tree, descendant.c.id == tree.c.id).order_by(tree.c.depth, descendant.c.id)


MOST_LEVELS = literal_column("32", Integer)


def promoted_from(page: OuterRow) -> Select[Any]:
    """The section that grew into this page, while the page it stands on is active."""
    section, above = sections.alias(), pages.alias()
    standing = select(above.c.id).where(above.c.id == OuterRow(section).c.page_id, active(above))
    return (
        select(section)
        .where(section.c.promoted_page_id == page.c.id, in_tenant(standing).exists())
        .order_by(section.c.id)
        .limit(1)
    )


def section_children(page: OuterRow, section_slug: Any) -> Select[Any]:
    """Active pages that the section lists, and the one promoted from it."""
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


# -- history

revision_page = referred(pages, "page_id")


def revision_rows(page: OuterRow) -> Select[Any]:
    revision = revisions.alias()
    return select(revision).where(revision.c.page_id == page.c.id).order_by(revision.c.version.desc())


def revision_at(page: OuterRow, version: Any) -> Select[Any]:
    revision = revisions.alias()
    return select(revision).where(revision.c.page_id == page.c.id, revision.c.version == version)


def revision_body(revision: OuterRow) -> ColumnElement[Any]:
    """The text of a state: kept whole, or put together from the bytes of its base and what is its own."""
    base = revisions.alias()
    kept = select(func.convert_to(base.c.body_md, "UTF8").label("bytes")).where(
        base.c.page_id == revision.c.page_id, base.c.version == revision.c.base_version
    )
    whole = in_tenant(kept).subquery()
    piece = (
        func.unnest(revision.c.base_starts, revision.c.base_lengths, revision.c.base_texts)
        .table_valued(column("start", Integer), column("length", Integer), column("own", Text), with_ordinality="n")
        .render_derived()
    )
    shared = func.substring(whole.c.bytes, piece.c.start + ONE, piece.c.length)
    joined = shared.concat(func.convert_to(piece.c.own, "UTF8"))
    restored = select(
        func.convert_from(func.string_agg(joined, aggregate_order_by(literal_column("''::bytea"), piece.c.n)), "UTF8")
    ).select_from(whole.join(piece, true()))
    return case((revision.c.base_version.is_(None), revision.c.body_md), else_=restored.scalar_subquery())


def fact(name: str) -> Callable[[OuterRow], ColumnElement[Any]]:
    """What a state says of its page besides the text: kept on it, or on the earlier state where it is the same."""

    def value(revision: OuterRow) -> ColumnElement[Any]:
        told = revisions.alias()
        elsewhere = select(told.c[name]).where(
            told.c.page_id == revision.c.page_id, told.c.version == revision.c.facts_version
        )
        own = getattr(revision.c, name)
        return case((revision.c.facts_version.is_(None), own), else_=in_tenant(elsewhere).scalar_subquery())

    return value


revision_slug, revision_aliases, revision_metadata = map(fact, ("slug", "aliases", "metadata"))


def active_one(page_id: Any) -> Select[Any]:
    page = pages.alias()
    return select(page).where(page.c.id == page_id, active(page))
