"""Contradictions: pairs of claims of a page that cannot both hold."""

from typing import Any

from sqlalchemy import ColumnElement, FromClause, Integer, Select, Text, and_, case, cast, literal, null, or_, select

from selection.declare.mapping import OuterRow

from ...tables import contradictions, pages, sources
from ..references import foreign_row, rows_by_id

HIGH = literal(3, Integer)

by_ids = rows_by_id(contradictions)
page = foreign_row(pages, "page_id")
older_source = foreign_row(sources, "older_source_id")
newer_source = foreign_row(sources, "newer_source_id")


def listed(status: Any = None, page_id: Any = None) -> Select[Any]:
    contradiction = contradictions.alias()
    query = of_status(contradiction, status)
    return query if page_id is None else query.where(contradiction.c.page_id == page_id)


def of_page(page: OuterRow, status: Any = None) -> Select[Any]:
    contradiction = contradictions.alias()
    return of_status(contradiction, status).where(contradiction.c.page_id == page.c.id)


def of_status(contradiction: FromClause, status: Any) -> Select[Any]:
    query = select(contradiction).order_by(contradiction.c.id.desc())
    return query if status is None else query.where(contradiction.c.status == status)


def suggested_resolution(contradiction: OuterRow) -> ColumnElement[Any]:
    """Return the resolution that the policy suggests, or null if a person has to decide."""
    row = contradiction.c
    is_contested = and_(row.older_support >= HIGH, row.newer_support < HIGH)
    return case((or_(is_contested, row.older_on == row.newer_on), null()), else_=cast("keep_newer", Text))
