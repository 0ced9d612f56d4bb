"""Compile jobs and findings of lint as relations."""

from typing import Any

from sqlalchemy import ColumnElement, FromClause, Integer, Numeric, Select, Text, Uuid, case, cast, func, select
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.types import TypeEngine

from selection.declare.rows import OuterRow

from ..tables import compile_jobs, pages
from .kept import kept_rows
from .references import found, referred

by_ids = found(compile_jobs)


OLDER_TRIGGERS = {"retain": "memory_retain", "sweep": "lint"}


def older_trigger(job: OuterRow) -> ColumnElement[Any]:
    """Return the name that older clients compare with; a trigger that is newer than they are keeps its own."""
    return case(OLDER_TRIGGERS, value=job.c.trigger, else_=job.c.trigger)


def older_metrics(job: OuterRow) -> ColumnElement[Any]:
    """Return the metrics, also under the names that older clients show. They are null before a job has any."""
    found = job.c.metrics
    upserted = cast(found["pages_created"], Numeric) + cast(found["pages_updated"], Numeric)
    older = func.jsonb_build_object("records_read", found["sources_read"], "pages_upserted", upserted)
    both: ColumnElement[Any] = found.concat(older)
    return both


def listed(owner: ColumnElement[Any] | None) -> Select[Any]:
    """Select the newest first. Ids grow with time, and by them the index of the primary key finds the newest of a whole
    tenant."""
    job = compile_jobs.alias()
    return select(job).order_by(*([] if owner is None else [job.c.created_at.desc()]), job.c.id.desc())


Columns = dict[str, TypeEngine[Any]]
REPORTED: Columns = {"name": Text(), "severity": Text(), "about": Text(), "total": Integer(), "lists": JSONB()}
"""`lists` holds the findings: one document, as an array of arrays would be another array."""
OVERVIEW: Columns = {"body_md": Text(), "next_cursor": Text()}
FINDING: Columns = {"page_id": Uuid(), "type": Text(), "slug": Text(), "title": Text(), "detail": Text()}

page = referred(pages, "page_id")


def reported(found: FromClause) -> Select[Any]:
    checked = select(*found.c).subquery()
    return select(checked)


def findings(report: OuterRow) -> Select[Any]:
    return select(kept_rows(report.c.lists["findings"], **FINDING))
