"""Changes as a subscription shows them: the event at hand is the row, and what it happened to hangs on it."""

from typing import Any

from sqlalchemy import FromClause, Select, select

from ..tables import compile_jobs, pages
from .references import referred

page = referred(pages, "page_id")
job = referred(compile_jobs, "job_id")


def happened(event: FromClause) -> Select[Any]:
    return select(event)
