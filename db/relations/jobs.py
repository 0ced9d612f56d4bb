"""Compile jobs, lint reports and the diary as rows."""

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
"""The former names of triggers, for the API of older clients."""


def older_trigger(job: OuterRow) -> ColumnElement[Any]:
    """Return the former name of the job's trigger, or its name if it has no former one."""
    return case(OLDER_TRIGGERS, value=job.c.trigger, else_=job.c.trigger)


def older_metrics(job: OuterRow) -> ColumnElement[Any]:
    """Return the metrics of a job under both their names and their former names. They are null if it has none."""
    metrics = job.c.metrics
    upserted = cast(metrics["pages_created"], Numeric) + cast(metrics["pages_updated"], Numeric)
    former = func.jsonb_build_object("records_read", metrics["sources_read"], "pages_upserted", upserted)
    both: ColumnElement[Any] = metrics.concat(former)
    return both


def listed(owner: ColumnElement[Any] | None) -> Select[Any]:
    """Select the jobs of a wiki, or of the whole tenant without an owner, the newest first.

    Those of a tenant are sorted by id, which grows with time, so that Postgres can use the primary key.
    """
    job = compile_jobs.alias()
    return select(job).order_by(*([] if owner is None else [job.c.created_at.desc()]), job.c.id.desc())


Columns = dict[str, TypeEngine[Any]]
REPORTED: Columns = {
    "name": Text(), "severity": Text(), "about": Text(), "total": Integer(), "muted_total": Integer(), "lists": JSONB(),
}  # fmt: skip
"""The columns of a lint report from a step. `lists` is a JSON document of the findings.

A list in a row of a step is always a JSON document: the rows are passed to Postgres as arrays of columns, and an array
of arrays would be a multi-dimensional array.
"""
OVERVIEW: Columns = {"body_md": Text(), "next_cursor": Text()}
DIARY: Columns = {"since": Text(), "until": Text(), "body_md": Text(), "days": JSONB()}
"""The columns of a diary from a step. `days` is a JSON document of the days."""
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
