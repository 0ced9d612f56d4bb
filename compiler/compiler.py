"""The compiler: who plans and who writes, and within what bounds."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import time as clock
from typing import NamedTuple

from resolvers.embeddings.embedder import Embedder

from .authors import Hiring
from .metrics import Metrics
from .plan.validation import Room
from .planner import Planner, SectionWriter

BULK_TRIGGERS = ("bootstrap_import", "bulk_import")


class Caps(NamedTuple):
    """The most that one job does: then it ends well, and another one goes on.

    Of a batch authors that cost nothing read `batch` sources: a page is brought up to date once for all of them.
    """

    batch: int = 500
    paid_batch: int = 50
    sources: int = 500
    bulk_sources: int = 1_000
    new_pages: int = 25
    sections: int = 100

    def sources_for(self, trigger: str) -> int:
        return self.bulk_sources if trigger in BULK_TRIGGERS else self.sources

    def are_reached(self, done: Metrics) -> bool:
        return done.counts["pages_created"] >= self.new_pages or done.counts["sections_written"] >= self.sections

    def room(self, done: Metrics) -> Room:
        return Room(
            max(0, self.new_pages - int(done.counts["pages_created"])),
            max(0, self.sections - int(done.counts["sections_written"])),
        )


CAPS = Caps()


@dataclass(frozen=True, slots=True)
class Compiler:
    """The planner, the writer, and the bounds of jobs. With `hiring` each job has the authors that it asks for."""

    planner: Planner
    writer: SectionWriter
    caps: Caps = CAPS
    links_by_evidence: bool = True
    sweep_at: clock | None = None
    """From when on, in UTC, a worker sweeps the wikis of a day; None for never."""
    keep_days: int = 0
    """Workers delete ended jobs and lines of the activity log that are older; 0 for never."""
    told: Callable[[Metrics], None] = lambda metrics: None
    """Hears of each batch that is stored."""
    hiring: Hiring | None = None
    embedder: Embedder | None = None
    """Says what pages and passages mean, for search; without one nothing is embedded."""
