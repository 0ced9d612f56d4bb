"""The results of a search of pages and evidence as rows: hits are pages or passages."""

from typing import Any

from sqlalchemy import Boolean, Double, FromClause, Integer, Select, SmallInteger, Text, Uuid, func, select
from sqlalchemy.dialects.postgresql import JSONB

from selection.declare.mapping import OuterRow

from ..access import readable
from ..tables import owners
from .json_rows import json_rows
from .passages import owner_of_source
from .search import Columns, owner_of_page

EDGE: Columns = {
    "page_id": Uuid(),
    "source_id": Uuid(),
    "position": Integer(),
    "analyser": SmallInteger(),
    "score": Double(),
    "raw_score": Double(),
    "matched_alias": Text(),
    "section_id": Uuid(),
    "snippet": JSONB(),
    "place": Integer(),
    "cursor": Text(),
    "newer_source_id": Uuid(),
    "newer_position": Integer(),
}
RESULTS: Columns = {
    "did_you_mean": Text(),
    "has_next_page": Boolean(),
    "has_previous_page": Boolean(),
    "start_cursor": Text(),
    "end_cursor": Text(),
    "lists": JSONB(),
}


def edges(results: OuterRow) -> Select[Any]:
    """Select the edges whose page or source exists and may be read, looked up one by one."""
    found = json_rows(results.c.lists["edges"], **EDGE)
    of_page, of_source = owner_of_page(found), owner_of_source(found)
    owner = func.coalesce(of_page.element, of_source.element).label("owner_id")
    hit = select(*found.c, owner).subquery()
    return select(hit).where(hit.c.owner_id.is_not(None), readable(hit.c.owner_id)).order_by(hit.c.place)


def results(found: FromClause) -> Select[Any]:
    return select(found)


def spaces(results: OuterRow) -> Select[Any]:
    """Select the wikis that were searched, in order."""
    found, owner = json_rows(results.c.lists["spaces"], id=Uuid(), place=Integer()), owners.alias()
    query = select(owner).select_from(found.join(owner, owner.c.id == found.c.id))
    return query.where(readable(owner.c.id)).order_by(found.c.place)
