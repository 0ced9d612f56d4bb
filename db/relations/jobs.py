"""Compile jobs."""

from typing import Any

from sqlalchemy import Select, select

from ..tables import compile_jobs
from .references import found

by_ids = found(compile_jobs)


def listed() -> Select[Any]:
    job = compile_jobs.alias()
    return select(job).order_by(job.c.created_at.desc(), job.c.id.desc())
