"""Pages, with their aliases, tags and changes."""

from collections.abc import Callable, Sequence
from typing import Any

from sqlalchemy import (
    ARRAY,
    ColumnElement,
    FromClause,
    Integer,
    Select,
    Table,
    Text,
    Uuid,
    and_,
    any_,
    case,
    cast,
    column,
    func,
    literal_column,
    null,
    or_,
    select,
    tuple_,
)

from content.limits import NAME, SLUG, TAG
from content.names import compose, normalise
from selection import in_tenant
from selection.declare.mapping import OuterRow

from ..tables import (
    aliases,
    compile_jobs,
    contradictions,
    installation,
    links,
    lint_reports,
    mentions,
    merged_pages,
    old_slugs,
    owners,
    page_names,
    page_positions,
    pages,
    renamings,
    revisions,
    section_sources,
    sections,
    sources,
    superseded_claims,
)
from .page_fields import named_page_ids
from .references import foreign_row, id_among, rows_by_id

LAST = "\U0010ffff"
"""The last character: all names that begin with a prefix are below prefix + LAST."""
STUB_MAX: ColumnElement[Any] = literal_column("1")


def active(page: FromClause) -> ColumnElement[bool]:
    return page.c.status == "active"


# -- where reads start

by_ids = rows_by_id(pages)
same = foreign_row(pages, "id")


def by_slug(owner: Any, type: Any, slug: Any, include_archived: bool = False) -> Select[Any]:
    """Select the page with this slug, or else the page that had it before, with `redirected_from` as the former slug.

    The former slug is looked up only if no page has the slug. Finding two ids by unique keys is cheaper than a union.
    """
    page, now, old = pages.alias(), pages.alias(), old_slugs.alias()
    slug = slug.derive(compose_slug)
    here = select(now.c.id).where(now.c.owner_id == owner, now.c.type == type, now.c.slug == slug)
    there = select(old.c.page_id).where(old.c.owner_id == owner, old.c.type == type, old.c.slug == slug)
    if not include_archived:
        here = here.where(active(now))
    one = func.coalesce(in_tenant(here).scalar_subquery(), in_tenant(there).scalar_subquery())
    redirected_from = case((and_(page.c.type == type, page.c.slug == slug), null()), else_=cast(slug, Text))
    found = in_tenant(select(page, redirected_from.label("redirected_from")).where(page.c.id == one)).subquery()
    query = select(found)
    return query if include_archived else query.where(found.c.status == "active")


def compose_slug(slug: str) -> str:
    """Return a slug in composed Unicode (NFC), as slugs are stored."""
    return slug if slug.isascii() else compose(slug, SLUG)


def compose_tags(tags: Sequence[str]) -> list[str]:
    return [compose(tag, TAG) for tag in tags]


def decompose_tags(tags: Sequence[str]) -> list[str]:
    """Return the tags in decomposed Unicode (NFD), as imported files may contain them."""
    return [compose(tag, TAG, "NFD") for tag in tags]


ORDERS: dict[str, Callable[[FromClause], tuple[Any, ...]]] = {
    "title": lambda page: (func.lower(page.c.title), page.c.id),
    "updated": lambda page: (page.c.updated_at.desc(), page.c.id.desc()),
    "created": lambda page: (page.c.id.desc(),),
    "hubness": lambda page: (page.c.hubness_score.desc(), page.c.id.desc()),
}


def listed(filter: Any = None, order_by: str = "title") -> Select[Any]:
    """Select the pages of a filter, by default the active ones. `created` sorts by id, because ids grow with time."""
    page = pages.alias()
    query = select(page).order_by(*ORDERS[order_by](page))
    status = getattr(filter, "status", None)
    query = query.where(active(page) if status is None else page.c.status == status)
    return query if filter is None else filtered(query, page, filter)


def filtered(query: Select[Any], page: FromClause, filter: Any) -> Select[Any]:
    """Return the query with the conditions of a filter, except that of the status."""
    if filter.types is not None:
        query = query.where(page.c.type == any_(filter.types))
    if filter.tags is not None:
        spellings = (filter.tags, filter.tags.derive(compose_tags), filter.tags.derive(decompose_tags))
        query = query.where(or_(*(page.c.tags.contains(tags) for tags in spellings)))
    if filter.updated_since is not None:
        query = query.where(page.c.updated_at >= filter.updated_since.plan_for_value())
    if filter.title_prefix is not None:
        query = query.where(page.c.id.in_(in_tenant(titled(page, filter.title_prefix))))
    if filter.is_stub is not None:
        query = query.where(is_stub(OuterRow(page)) == filter.is_stub)
    return query


def titled(page: FromClause, prefix: Any) -> Select[Any]:
    """Select the ids of pages whose normalised title begins with a prefix, by a range scan of the index of names."""
    name, outer = page_names.alias(), OuterRow(page)
    start = prefix.derive(beginning)
    return select(name.c.page_id).where(
        name.c.owner_id == outer.c.owner_id, name.c.kind == "title", name.c.name >= start, name.c.name < start + LAST
    )


def beginning(prefix: str) -> str:
    """Return a prefix normalised like stored names. Without a letter it is LAST, with which no name begins."""
    return normalise(prefix[: NAME.maximum]) or LAST


def recent() -> Select[Any]:
    page = pages.alias()
    return select(page).where(active(page)).order_by(page.c.updated_at.desc(), page.c.id.desc())


def active_one(page_id: Any) -> Select[Any]:
    page = pages.alias()
    return select(page).where(page.c.id == page_id, active(page))


# -- values of a page


def redirected_from(page: OuterRow) -> ColumnElement[Any]:
    return page.c.redirected_from if "redirected_from" in page.c else cast(null(), Text)


def pages_to_rewrite(page: OuterRow) -> ColumnElement[Any]:
    renaming = renamings.alias()
    left = select(func.coalesce(cast(func.sum(renaming.c.remaining), Integer), literal_column("0")))
    return in_tenant(left.where(renaming.c.page_id == page.c.id)).scalar_subquery()


def source_count(page: OuterRow) -> ColumnElement[Any]:
    """Return the number of sources that the page cites. Several versions of a source count once."""
    cited, source = section_sources.alias(), sources.alias()
    query = (
        select(func.count(func.distinct(tuple_(source.c.kind, source.c.ref))))
        .join(cited, cited.c.source_id == source.c.id)
        .where(cited.c.page_id == page.c.id)
    )
    return in_tenant(query).scalar_subquery()


def is_stub(page: OuterRow) -> ColumnElement[Any]:
    """Return whether the page cites at most one source."""
    return source_count(page) <= STUB_MAX


def memory_count(page: OuterRow) -> ColumnElement[Any]:
    """Return the number of memories that the page cites. Several versions of a memory count once."""
    cited, source = section_sources.alias(), sources.alias()
    query = (
        select(func.count(func.distinct(source.c.ref)))
        .join(cited, cited.c.source_id == source.c.id)
        .where(cited.c.page_id == page.c.id, source.c.kind == "memory_unit")
    )
    return in_tenant(query).scalar_subquery()


def memory_ids(page: OuterRow) -> Select[Any]:
    """Select the refs of the memories that the page cites, newest citation first."""
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
    """Select the page into which this one was merged."""
    merged, into = merged_pages.alias(), pages.alias()
    return select(into).join(merged, merged.c.into_page_id == into.c.id).where(merged.c.page_id == page.c.id)


SUPERSEDES = "supersedes"
"""The reason of a link from a page to the page that it supersedes."""


def supersedes(page: OuterRow) -> Select[Any]:
    """Select the pages that were merged into this one, and those that its links or its metadata say it supersedes."""
    former, merged, link = pages.alias(), merged_pages.alias(), links.alias()
    parts = select(merged.c.page_id).where(merged.c.into_page_id == page.c.id)
    linked = select(link.c.to_page_id).where(link.c.from_page_id == page.c.id, link.c.reasons.contains([SUPERSEDES]))
    return (
        select(former)
        .where(id_among(former, parts, linked, *named_page_ids(page, SUPERSEDES)))
        .order_by(former.c.title, former.c.id)
    )


def superseded_by(page: OuterRow) -> Select[Any]:
    """Select the page into which this one was merged, and those whose links say that they supersede it."""
    newer, merged, link = pages.alias(), merged_pages.alias(), links.alias()
    into = select(merged.c.into_page_id).where(merged.c.page_id == page.c.id)
    linked = select(link.c.from_page_id).where(link.c.to_page_id == page.c.id, link.c.reasons.contains([SUPERSEDES]))
    return select(newer).where(id_among(newer, into, linked)).order_by(newer.c.title, newer.c.id)


TABLES = {
    "WikiPage": pages,
    "WikiSection": sections,
    "WikiSource": sources,
    "WikiMention": mentions,
    "WikiAlias": aliases,
    "WikiLink": links,
    "WikiCitation": section_sources,
    "WikiRevision": revisions,
    "WikiOwner": owners,
    "WikiSupersededClaim": superseded_claims,
    "WikiContradiction": contradictions,
    "WikiLintReport": lint_reports,
}
"""The tables of object types that have an id of their own, for `node` and `_entities`."""
VARIANTS = {type_: foreign_row(table, "id") for type_, table in TABLES.items()}


def one(id: Any) -> Select[Any]:
    row = select(id.label("id")).subquery()
    return select(row)


def pages_by_id(ids: Any) -> Select[Any]:
    """Select the ids of an array as rows, in order."""
    id_column: Any = column("id", Uuid)
    row = func.unnest(ids).table_valued(id_column, with_ordinality="ordinality").render_derived()
    return select(row).order_by(row.c.ordinality)


def by_representation(representations: Any) -> Select[Any]:
    """Select the pairs of a type's name and an id (federation's representations) as rows, in order."""
    kinds = representations.derive(lambda pairs: [kind for kind, _ in pairs])
    ids = representations.derive(lambda pairs: [id for _, id in pairs])
    pair: list[Any] = [column("kind", Text), column("id", Uuid)]
    row = func.unnest(kinds, cast(ids, ARRAY(Uuid))).table_valued(*pair, with_ordinality="ordinality").render_derived()
    return select(row).order_by(row.c.ordinality)


def of_kind(kind: str, table: Table) -> Callable[[OuterRow], Select[Any]]:
    """Return a relation from a representation to its row in the table, if the representation names this type."""
    same = foreign_row(table, "id")
    return lambda row: same(row).where(row.c.kind == kind)


ENTITIES = {kind: of_kind(kind, table) for kind, table in TABLES.items()}


page = foreign_row(pages, "page_id")


def changes() -> Select[Any]:
    position = page_positions.alias()
    return select(position).order_by(position.c.position)


def history() -> ColumnElement[str]:
    """Return an identifier of the history of the database, which the cursors of the change feed contain.

    It changes if the database is created anew or restored from a dump, and if the server is restored to a point in time
    or a standby takes over, which may lack the last commits. In all other cases, such as a restored disk snapshot, an
    operator has to change it with `cairn migrate --restored`.
    """
    row = installation.alias()
    system = func.pg_control_system().table_valued(column("system_identifier", Text()))
    checkpoint = func.pg_control_checkpoint().table_valued(column("timeline_id", Text()))
    file = func.pg_relation_filepath(literal_column("'installation'"))
    parts = func.concat_ws(".", row.c.history_id, system.c.system_identifier, checkpoint.c.timeline_id, file)
    return select(func.left(func.md5(parts), 12)).scalar_subquery()


def state(position: OuterRow) -> ColumnElement[Any]:
    """Return the status of the changed page, or `deleted` if the page has no row any more."""
    changed = pages.alias()
    status = in_tenant(select(changed.c.status).where(changed.c.id == position.c.page_id)).scalar_subquery()
    return func.coalesce(status, literal_column("'deleted'"))


def tag_counts() -> Select[Any]:
    """Select the tags of active pages with their numbers of pages, the most frequent first."""
    page = pages.alias()
    # The order of creation is about the order of rows in the table. Without it Postgres uses another index once other
    # wikis make the table large, and then reads the same blocks repeatedly.
    tagged = in_tenant(
        select(page.c.owner_id, page.c.tags).where(page.c.status == "active").order_by(page.c.id)
    ).subquery()
    each = select(tagged.c.owner_id, func.unnest(tagged.c.tags).label("tag")).subquery()
    tally = select(each.c.owner_id, each.c.tag, func.count().label("count")).group_by(each.c.owner_id, each.c.tag)
    row = tally.subquery()
    return select(row).order_by(row.c.count.desc(), row.c.tag.desc())


def texts(page: OuterRow) -> Select[Any]:
    alias = aliases.alias()
    return select(alias.c.alias).where(alias.c.page_id == page.c.id).order_by(alias.c.alias)


def of_page(page: OuterRow) -> Select[Any]:
    alias = aliases.alias()
    return select(alias).where(alias.c.page_id == page.c.id).order_by(alias.c.alias, alias.c.id)


job = foreign_row(compile_jobs, "job_id")


def visible_event(event: FromClause) -> Select[Any]:
    """Select an event. One of a page is selected only if the caller may read the page, or could before.

    A page that the caller may not read any more reads as deleted.
    """
    if "page_id" not in event.c:
        return select(event)
    page, position = pages.alias(), page_positions.alias()
    is_whole = or_(event.c.page_id.is_(None), event.c.kind == literal_column("'resync'"))
    is_seen = in_tenant(select(page.c.id).where(page.c.id == event.c.page_id)).exists()
    is_gone = in_tenant(select(position.c.page_id).where(position.c.page_id == event.c.page_id)).exists()
    shown = or_(is_whole, is_seen)
    hidden_as = {
        "kind": case((shown, event.c.kind), else_=literal_column("'deleted'")),
        "version": case((shown, event.c.version)),
    }
    columns = [hidden_as[each.name].label(each.name) if each.name in hidden_as else each for each in event.c]
    return select(select(*columns).where(or_(shown, is_gone)).subquery())
