"""Who plans and writes for one job, and when they stop because it would cost too much."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple, Protocol

from db.database import Database
from db.scope import Scope
from resolvers.errors import CairnError
from resolvers.jobs import Job

from .metrics import Metrics
from .planner import Planner, SectionWriter


class Refused(CairnError):
    """What a job asks for is not to be had here, however often it is tried."""

    code = "BAD_USER_INPUT"


class Stop(NamedTuple):
    """Why no other batch is begun, and from when on it may be; None: as soon as the next job may run."""

    reason: str
    until: datetime | None = None


async def never() -> Stop | None:
    """For those who cost nothing."""
    return None


@dataclass(frozen=True, slots=True)
class Authors:
    """`batch` is how many sources they take at once, where that is less than usual."""

    planner: Planner
    writer: SectionWriter
    batch: int | None = None
    stop: Callable[[], Awaitable[Stop | None]] = never


class Hiring(Protocol):
    """Finds the authors that a job asks for. What they use is added to the job's metrics as they use it."""

    def authors(self, database: Database, scope: Scope, job: Job, metrics: Callable[[], Metrics]) -> Authors:
        """Raises Refused for a model that nobody may use, Unavailable for one that cannot be reached."""
