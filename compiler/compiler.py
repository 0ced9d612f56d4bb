"""The configuration of the compiler: planner, section writer, and the limits of a job."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import time as clock
from typing import NamedTuple

from resolvers.embeddings.embedder import Embedder

from .authors import AuthorFactory
from .metrics import Metrics
from .plan.validation import Room
from .planner import Planner, SectionWriter

BULK_TRIGGERS = ("bootstrap_import", "bulk_import")


class Caps(NamedTuple):
    """The limits of one job. A job that reaches one ends successfully and queues a follow-up job for the rest."""

    batch: int = 500
    """Sources per batch if planner and writer are free. A page is updated once for all sources of a batch."""
    paid_batch: int = 50
    """Sources per batch if the planner or the writer costs money."""
    sources: int = 500
    bulk_sources: int = 1_000
    """Sources per job for jobs of BULK_TRIGGERS, instead of `sources`."""
    new_pages: int = 25
    sections: int = 100

    def sources_for(self, trigger: str) -> int:
        """Return how many sources a job with this trigger may read."""
        return self.bulk_sources if trigger in BULK_TRIGGERS else self.sources

    def are_reached(self, done: Metrics) -> bool:
        """Return whether the job has created as many pages or written as many sections as it may."""
        return done.counts["pages_created"] >= self.new_pages or done.counts["sections_written"] >= self.sections

    def room(self, done: Metrics) -> Room:
        """Return how many pages the job may still create, and how many sections it may still write."""
        return Room(
            max(0, self.new_pages - int(done.counts["pages_created"])),
            max(0, self.sections - int(done.counts["sections_written"])),
        )


CAPS = Caps()


@dataclass(frozen=True, slots=True)
class Compiler:
    """The planner, the section writer, and the settings of the jobs that a worker runs."""

    planner: Planner
    writer: SectionWriter
    caps: Caps = CAPS
    links_by_evidence: bool = True
    sweep_at: clock | None = None
    """The UTC time of day from which a worker queues the daily sweep jobs; None for never."""
    keep_days: int = 0
    """The days for which tenants without a retention period of their own keep ended jobs, and entries of the activity
    log and the audit log; 0 keeps them forever."""
    report_progress: Callable[[Metrics], None] = lambda metrics: None
    """A callback that receives the job's metrics after each stored batch."""
    author_factory: AuthorFactory | None = None
    """Chooses planner and writer for each job, by the model that the job names. None: all jobs use the two above."""
    embedder: Embedder | None = None
    """Computes the embeddings of pages and passages for search; None: nothing is embedded."""
