"""What checks have found, as rows: a check holds its findings."""

from typing import Any

from sqlalchemy import FromClause, Integer, Select, Text, Uuid, select
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.types import TypeEngine

from selection.declare.rows import OuterRow

from ..tables import pages
from .kept import kept_rows
from .references import referred

Columns = dict[str, TypeEngine[Any]]
REPORTED: Columns = {"name": Text(), "severity": Text(), "about": Text(), "total": Integer(), "lists": JSONB()}
"""`lists` holds the findings: one document, as an array of arrays would be another array."""
FINDING: Columns = {"page_id": Uuid(), "type": Text(), "slug": Text(), "title": Text(), "detail": Text()}

page = referred(pages, "page_id")


def reported(found: FromClause) -> Select[Any]:
    checked = select(*found.c).subquery()
    return select(checked)


def findings(report: OuterRow) -> Select[Any]:
    return select(kept_rows(report.c.lists["findings"], **FINDING))
