"""How much one job does."""

from typing import NamedTuple

from .fitting import Room
from .metrics import Metrics

BULK_TRIGGERS = ("bootstrap_import", "bulk_import")


class Caps(NamedTuple):
    """What one job does at most: then it ends well, and another one goes on.

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
