"""What a job is for, by what asked for it: a compile, unless it says otherwise."""

from collections.abc import Mapping

from db.database import Database
from resolvers.jobs.queue import Job

from .compiler import Compiler
from .forgetting.job import Forgetting
from .leaf_pass import Run
from .promotion import Promotion
from .rebuilding import Rebuilding
from .reindexing import Reindexing

ERRANDS: Mapping[str, type[Run]] = {
    "forget": Forgetting, "rebuild": Rebuilding, "reindex": Reindexing, "sweep": Promotion
}  # fmt: skip


def errand(database: Database, job: Job, compiler: Compiler) -> Run:
    """One attempt at it."""
    return ERRANDS.get(job.trigger, Run)(database, job, compiler)
