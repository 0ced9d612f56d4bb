"""Compile jobs and findings of lint as relations."""

from typing import Any

from sqlalchemy import (
    Boolean,
    ColumnElement,
    DateTime,
    FromClause,
    Integer,
    Numeric,
    Select,
    Text,
    Uuid,
    case,
    cast,
    func,
    select,
)
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.types import TypeEngine

from selection.declare.mapping import OuterRow

from ..tables import compile_jobs, lint_reports, pages
from .json_rows import json_rows
from .references import foreign_row, rows_by_id

by_ids = rows_by_id(compile_jobs)


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
REPORTED: Columns = {
    "name": Text(), "severity": Text(), "about": Text(), "total": Integer(), "muted_total": Integer(), "lists": JSONB(),
}  # fmt: skip
"""`lists` holds the findings: one document, as an array of arrays would be another array."""
OVERVIEW: Columns = {"body_md": Text(), "next_cursor": Text()}
DIARY: Columns = {"since": Text(), "until": Text(), "body_md": Text(), "days": JSONB()}
"""`days` holds the days: one document, as findings of lint are."""
DIARY_DAY: Columns = {
    "date": Text(), "counts": JSONB(), "entries": JSONB(), "more_total": Integer(), "is_whole": Boolean(),
}  # fmt: skip
DIARY_COUNT: Columns = {"topic": Text(), "total": Integer()}
DIARY_ENTRY: Columns = {
    "topic": Text(), "action": Text(), "text": Text(), "times": Integer(), "at": DateTime(timezone=True),
    "page_id": Uuid(),
}  # fmt: skip
FINDING: Columns = {
    "page_id": Uuid(), "type": Text(), "slug": Text(), "title": Text(), "detail": Text(), "fix": Text(),
    "mute_reason": Text(), "muted_by": Text(), "muted_at": DateTime(timezone=True),
    "muted_until": DateTime(timezone=True),
}  # fmt: skip
COUNT: Columns = {"name": Text(), "total": Integer(), "muted": Integer()}

page = foreign_row(pages, "page_id")


def report_rows(found: FromClause) -> Select[Any]:
    checked = select(*found.c).subquery()
    return select(checked)


def findings(report: OuterRow) -> Select[Any]:
    return select(json_rows(report.c.lists["findings"], **FINDING))


def muted_findings(report: OuterRow) -> Select[Any]:
    return select(json_rows(report.c.lists["muted"], **FINDING))


def diary_days(diary: OuterRow) -> Select[Any]:
    return select(json_rows(diary.c.days["days"], **DIARY_DAY))


def diary_counts(day: OuterRow) -> Select[Any]:
    return select(json_rows(day.c.counts, **DIARY_COUNT))


def diary_entries(day: OuterRow) -> Select[Any]:
    return select(json_rows(day.c.entries, **DIARY_ENTRY))


lint_report_by_ids = rows_by_id(lint_reports)


def lint_reported() -> Select[Any]:
    report = lint_reports.alias()
    return select(report).order_by(report.c.id.desc())


def lint_counts(report: OuterRow) -> Select[Any]:
    return select(json_rows(report.c.counts, **COUNT))
