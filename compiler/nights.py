"""Once a day every wiki is swept, by whichever worker looks first."""

from collections.abc import Callable
from datetime import UTC, date, datetime
from datetime import time as clock

from db.database import Database
from resolvers.sources.compile_requests import sweep_all


def now() -> datetime:
    return datetime.now(UTC)


class Nights:
    """Remembers the last day that this process has looked at: others may have been first."""

    def __init__(self, at: clock | None, now: Callable[[], datetime] = now) -> None:
        self.at, self.now = at, now
        self.last: date | None = None

    async def look(self, database: Database) -> None:
        """Sweep, if the hour has come and nobody of this process has on this day."""
        moment = self.now()
        if self.at is None or self.last == moment.date() or moment.time() < self.at:
            return
        if await sweep_all(database, moment.date()):
            self.last = moment.date()
