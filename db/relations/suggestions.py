"""Names that begin as somebody types: for the box that search is asked in."""

from typing import Any

from sqlalchemy import ColumnElement, FromClause, Select, case, func, literal_column, select, true
from sqlalchemy.dialects.postgresql import distinct_on
from sqlalchemy.types import Integer

from selection import in_tenant
from selection.rows import OuterRow

from ..tables import aliases, owners, page_names, pages
from .pages import LAST, beginning
from .references import referred

CANDIDATES = literal_column("200", Integer)
BETTER = {"title": 1, "alias": 2, "slug": 3, "old_slug": 4}

page = referred(pages, "page_id")


def suggested(prefix: Any) -> Select[Any]:
    """Names of active pages, each page once, the shorter ones first: the whole name is the shortest that begins so.

    The index of names is read from the prefix on and no further than the candidates, however many begin so.
    """
    owner, start = owners.alias(), prefix.derive(beginning)
    name = best(begun(OuterRow(owner).c.id, start), start).lateral()
    row = select(owner.c.id.label("owner_id"), *name.c).select_from(owner.join(name, true()))
    found = in_tenant(row).subquery()
    return select(found).order_by(func.length(found.c.name), found.c.name, found.c.page_id)


def begun(owner_id: ColumnElement[Any], start: Any) -> FromClause:
    name = page_names.alias()
    query = select(name.c.page_id, name.c.kind, name.c.name, name.c.status).where(
        name.c.owner_id == owner_id, name.c.name >= start, name.c.name < start + LAST
    )
    return in_tenant(query).order_by(name.c.name, name.c.page_id).limit(CANDIDATES).subquery()


def best(name: FromClause, start: Any) -> Select[Any]:
    """Of each page the name that says most: all of it, or else its title before what else it is called."""
    query = select(name.c.page_id, name.c.kind, name.c.name).where(name.c.status == "active")
    better = (name.c.name != start, case(BETTER, value=name.c.kind), func.length(name.c.name), name.c.name)
    return query.ext(distinct_on(name.c.page_id)).order_by(name.c.page_id, *better)


def as_written(suggestion: OuterRow) -> ColumnElement[Any]:
    """The title or the alias as people wrote it; a slug as it is, though its words are kept apart too."""
    titled, alias, name = pages.alias(), aliases.alias(), suggestion.c
    title = in_tenant(select(titled.c.title).where(titled.c.id == name.page_id))
    written = in_tenant(select(alias.c.name).where(alias.c.page_id == name.page_id, alias.c.alias == name.name))
    shown = {"title": title.scalar_subquery(), "alias": written.scalar_subquery()}
    return case(*((name.kind == kind, value) for kind, value in shown.items()), else_=func.replace(name.name, " ", "-"))
