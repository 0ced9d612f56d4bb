"""Pages by name: by a complete name, and suggestions while a user types one into the search box."""

from typing import Any

from sqlalchemy import (
    ARRAY,
    ColumnElement,
    FromClause,
    Select,
    Text,
    and_,
    case,
    cast,
    distinct,
    func,
    literal_column,
    not_,
    or_,
    select,
    true,
    union_all,
)
from sqlalchemy.dialects.postgresql import TSQUERY, distinct_on
from sqlalchemy.types import Integer

from content.limits import NAME
from content.search.words import words
from selection import in_tenant
from selection.declare.mapping import OuterRow

from ..tables import aliases, owners, page_names, pages, search_pages
from .pages import LAST, beginning
from .references import foreign_row

CANDIDATES = literal_column("200", Integer)
ENOUGH = 20  # pages, the maximum number of suggestions
SHORTEST = 2  # letters of a prefix that is searched inside names
MARKER = "\x01"  # a character that no word contains
BETTER = {"title": 1, "alias": 2, "slug": 3, "old_slug": 4}
"""The rank of the kinds of names for suggestions."""

MEANT = {"slug": 1, "old_slug": 2, "title": 3, "alias": 4}
"""The rank of the kinds of names for a complete name, like that of links in texts."""

page = foreign_row(pages, "page_id")


def by_name(owner: Any, name: Any, type: Any = None, include_archived: bool = False) -> Select[Any]:
    """Select the pages that have a name, each once with the best kind of the name, active pages and slugs first."""
    given, page = page_names.alias(), pages.alias()
    kind = case((page.c.slug == name.derive(as_given), "slug"), else_=given.c.kind)
    rank = case(MEANT, value=kind)
    is_called = or_(given.c.name == name.derive(as_given), given.c.name == name.derive(beginning))
    query = (
        select(page.c.id.label("page_id"), page.c.owner_id, page.c.status, kind.label("kind"), rank.label("rank"))
        .join(page, page.c.id == given.c.page_id)
        .where(given.c.owner_id == owner, page.c.owner_id == owner, is_called)
        .ext(distinct_on(page.c.id))
        .order_by(page.c.id, rank)
    )
    if type is not None:
        query = query.where(page.c.type == type)
    if not include_archived:
        query = query.where(page.c.status == "active", given.c.status == "active")
    row = in_tenant(query).subquery()
    return select(row).order_by(row.c.status != "active", row.c.rank, row.c.page_id)


def as_given(name: str) -> str:
    """Return a name without normalisation, as slugs are stored."""
    return name[: NAME.maximum]


def by_prefix(prefix: Any) -> Select[Any]:
    """Select suggestions for a prefix: active pages, each once with its best name.

    Names that begin with the prefix come before names in which a later word does, and shorter names first, so that the
    exact name is the first. At most CANDIDATES names are read from the index. Words inside names are searched only if
    fewer than ENOUGH pages have a name that begins with the prefix.
    """
    owner, start, end = owners.alias(), prefix.derive(beginning), prefix.derive(prefix_end)
    owner_id = OuterRow(owner).c.id
    first = names_with_prefix(owner_id, start, end).subquery()
    enough = select(func.count(distinct(first.c.page_id))).scalar_subquery() >= ENOUGH
    either = union_all(names_with_prefix(owner_id, start, end), within(owner_id, prefix, enough)).subquery()
    name = best_name(either, start, end).lateral()
    row = select(owner.c.id.label("owner_id"), *name.c).select_from(owner.join(name, true()))
    found = in_tenant(row).subquery()
    return select(found).order_by(found.c.is_within, func.length(found.c.name), found.c.name, found.c.page_id)


def prefix_end(prefix: str) -> str:
    """Return the upper bound of names with a prefix. A space ends a word: `z ` matches `z machine`, but not `zebra`."""
    return beginning(prefix) + ("!" if prefix[: NAME.maximum][-1:].isspace() else LAST)


def names_with_prefix(owner_id: ColumnElement[Any], start: Any, end: Any) -> Select[Any]:
    """Select the active names among the first CANDIDATES names in a range."""
    name = page_names.alias()
    query = select(*name_columns(name)).where(name.c.owner_id == owner_id, name.c.name >= start, name.c.name < end)
    first = in_tenant(query).order_by(name.c.name, name.c.page_id).limit(CANDIDATES).subquery()
    return select(first).where(first.c.status == "active")


def within(owner_id: ColumnElement[Any], prefix: Any, enough: ColumnElement[bool]) -> Select[Any]:
    """Select the names that contain the words of a prefix, of which the last may be incomplete, unless `enough`."""
    indexed, name = search_pages.alias(), page_names.alias()
    query_text = case((not_(enough), func.replace(prefix.derive(words_asked), MARKER, letter_of(owner_id))))
    found = select(indexed.c.page_id).where(
        indexed.c.owner_id == owner_id,
        indexed.c.status == "active",
        indexed.c.name_tsv.op("@@")(select(cast(query_text, TSQUERY)).scalar_subquery()),
    )
    pages_found = in_tenant(found).limit(CANDIDATES).subquery()
    spaced = func.concat(" ", func.translate(name.c.name, "'-", "  "), " ")
    query = select(*name_columns(name)).select_from(pages_found.join(name, name.c.page_id == pages_found.c.page_id))
    return in_tenant(query.where(name.c.status == "active", func.strpos(spaced, prefix.derive(inner)) > 0))


def letter_of(owner_id: ColumnElement[Any]) -> ColumnElement[Any]:
    """Return the letter with which every lexeme of a wiki begins, from the search index of any of its pages."""
    indexed, name = search_pages.alias(), page_names.alias()
    first = func.left(func.tsvector_to_array(indexed.c.name_tsv, type_=ARRAY(Text))[1], 1)
    query = select(first).select_from(name.join(indexed, indexed.c.page_id == name.c.page_id))
    return in_tenant(query.where(name.c.owner_id == owner_id)).limit(1).scalar_subquery()


def name_columns(name: FromClause) -> list[ColumnElement[Any]]:
    return [name.c.page_id, name.c.kind, name.c.name, name.c.status]


def words_asked(prefix: str) -> str | None:
    """Return a tsquery of the words of a prefix, of which the last may be incomplete, or None if it has no words.

    MARKER stands for the letter of the wiki.
    """
    found = words(beginning(prefix)) if len(beginning(prefix)) >= SHORTEST else []
    if not found:
        return None
    is_whole = prefix[: NAME.maximum][-1:].isspace()
    quoted = ["'" + (MARKER + word).replace("\\", "\\\\").replace("'", "''") + "'" for word in found]
    return "&".join(quoted) + ("" if is_whole else ":*")


def inner(prefix: str) -> str:
    """Return the words of a prefix as they appear in a name between spaces: a space replaces ' and -."""
    spaced = " " + beginning(prefix).replace("'", " ").replace("-", " ")
    return spaced + " " * prefix[: NAME.maximum][-1:].isspace()


def best_name(name: FromClause, start: Any, end: Any) -> Select[Any]:
    """Select the best name of each page: the exact name, else one that begins with the prefix, titles first."""
    is_within = not_(and_(name.c.name >= start, name.c.name < end)).label("is_within")
    query = select(name.c.page_id, name.c.kind, name.c.name, is_within)
    better = (name.c.name != start, is_within, case(BETTER, value=name.c.kind), func.length(name.c.name), name.c.name)
    return query.ext(distinct_on(name.c.page_id)).order_by(name.c.page_id, *better)


def as_written(suggestion: OuterRow) -> ColumnElement[Any]:
    """Return a suggested name as it is displayed: the title or alias as written, or the slug with its hyphens."""
    titled, alias, name = pages.alias(), aliases.alias(), suggestion.c
    title = in_tenant(select(titled.c.title).where(titled.c.id == name.page_id))
    written = in_tenant(select(alias.c.name).where(alias.c.page_id == name.page_id, alias.c.alias == name.name))
    shown = {"title": title.scalar_subquery(), "alias": written.scalar_subquery()}
    return case(*((name.kind == kind, value) for kind, value in shown.items()), else_=func.replace(name.name, " ", "-"))
