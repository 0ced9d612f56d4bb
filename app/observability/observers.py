"""The observers of requests and jobs in this process, as the operator configures them."""

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from time import perf_counter
from uuid import UUID

from starlette.routing import BaseRoute

from db.database import Database
from observability.trace import REQUEST_TRACE, RequestTrace
from selection import Engine

from ..settings import Settings, telemetry_wanted
from .metrics_endpoint import ServiceMetrics, metrics_routes
from .observer import JobObserver, Observer
from .slow_operations import SlowOperations
from .telemetry import telemetry


class Observers:
    """The observers that are configured: metrics, the log of slow operations, and OpenTelemetry."""

    def __init__(self, settings: Settings, engine: Engine | None, database: Database) -> None:
        """Create the observers. `engine` is None in a process that only runs jobs."""
        self.settings = settings
        wanted = telemetry_wanted()
        counts = settings.metrics != "off" or "metrics" in wanted
        self.metrics = ServiceMetrics(engine, database, settings.metrics_dir) if counts else None
        self.slow = SlowOperations(settings.slow_operation, database) if settings.slow_operation else None
        self.telemetry = telemetry(wanted, self.metrics.numbers if self.metrics else None)

    def __iter__(self) -> Iterator[Observer]:
        """Yield the observers, telemetry first, so that log entries of the other observers have its trace id."""
        yield from self.telemetry.observers
        if self.metrics:
            yield self.metrics.recorder
        if self.slow:
            yield self.slow

    def watch_streams(self, number: Callable[[], int]) -> None:
        if self.metrics:
            self.metrics.gauges.subscriptions = number

    @contextmanager
    def job(self, trigger: str, id: UUID) -> Iterator[None]:
        """Observe an attempt at a job, with a trace as for a request, whose id is the id of the job."""
        trace = RequestTrace(id.hex)
        before = REQUEST_TRACE.set(trace)
        observers = [observer for observer in self if isinstance(observer, JobObserver)]
        for observer in observers:
            observer.begin_job(trace, trigger)
        try:
            yield
        finally:
            REQUEST_TRACE.reset(before)
            trace.ended = perf_counter()
            for observer in observers:
                observer.end_job(trace, trigger)

    def routes(self) -> list[BaseRoute]:
        return metrics_routes(self.settings, self.metrics) if self.metrics and self.settings.metrics != "off" else []

    @asynccontextmanager
    async def observing(self) -> AsyncIterator[None]:
        """Run the observers during the block, in which the database must be open."""
        async with AsyncExitStack() as stack:
            stack.push_async_callback(self.telemetry.close)
            if self.metrics:
                await stack.enter_async_context(self.metrics.polling())
            if self.slow:
                stack.push_async_callback(self.slow.close)
            yield
