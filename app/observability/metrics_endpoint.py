"""The endpoint /metrics, in the text format of Prometheus."""

import asyncio
import hmac
import os
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import asynccontextmanager, suppress
from ipaddress import ip_address
from itertools import chain
from pathlib import Path

import structlog
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Metric, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.registry import Collector
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from db.database import Database
from db.replicas.replicas import Replicas
from resolvers.embeddings.embedder import embedder_of
from resolvers.jobs.queue import OpenJobs, count_open_jobs
from resolvers.webhooks.webhooks import OpenDeliveries, count_open_deliveries
from selection import Engine

from ..http.errors import error_body
from ..settings import Settings
from . import metrics
from .metrics import SECONDS, Family, Labels, Numbers, Recorder, Series, read_all_series

KINDS: dict[str, type[CounterMetricFamily | GaugeMetricFamily]] = {
    "counter": CounterMetricFamily,
    "gauge": GaugeMetricFamily,
}
BOUNDS = [*map(str, SECONDS), "+Inf"]

Sums = dict[Family, dict[Labels, list[float]]]


def exposition(series: Iterable[Series]) -> bytes:
    """Return the series in the text format of Prometheus, version 0.0.4, summed over processes."""
    registry = CollectorRegistry()
    registry.register(Summed(sum_series(series)))
    return generate_latest(registry)


def sum_series(series: Iterable[Series]) -> Sums:
    sums: Sums = {}
    for family, labels, values in series:
        known = sums.setdefault(family, {})
        before = known.get(labels)
        known[labels] = [a + b for a, b in zip(before, values, strict=True)] if before else values
    return sums


class Summed(Collector):
    """A collector that passes the sums to prometheus_client."""

    def __init__(self, sums: Sums) -> None:
        self.sums = sums

    def collect(self) -> Iterator[Metric]:
        for family, known in sorted(self.sums.items()):
            yield histogram(family, known) if family.kind == "histogram" else single(family, known)


def single(family: Family, known: dict[Labels, list[float]]) -> Metric:
    metric = KINDS[family.kind](family.name, family.help, labels=family.labels)
    for labels, (value,) in sorted(known.items()):
        metric.add_metric(labels, value)
    return metric


def histogram(family: Family, known: dict[Labels, list[float]]) -> Metric:
    metric = HistogramMetricFamily(family.name, family.help, labels=family.labels)
    for labels, (*counts, total) in sorted(known.items()):
        metric.add_metric(labels, list(zip(BOUNDS, cumulate(counts), strict=True)), total)
    return metric


def cumulate(counts: list[float]) -> Iterator[float]:
    total = 0.0
    for count in counts:
        total += count
        yield total


POLL_INTERVAL = 0.5  # seconds
PAGE_SIZE = os.sysconf("SC_PAGE_SIZE")
STATM = Path("/proc/self/statm")


class ProcessGauges:
    """Updates the gauges of this process from the state of its caches, pools, replicas and memory."""

    def __init__(self, numbers: Numbers, engine: Engine | None, database: Database) -> None:
        self.numbers, self.engine, self.database = numbers, engine, database
        self.subscriptions: Callable[[], int] = lambda: 0
        """Returns the number of open subscriptions. `Observers.watch_streams` sets it."""

    async def poll(self) -> None:
        """Measure the lag of the event loop and update the gauges every POLL_INTERVAL, until cancelled."""
        while True:
            began = time.perf_counter()
            await asyncio.sleep(POLL_INTERVAL)
            self.numbers.observe(metrics.LAG_SECONDS, seconds=max(0.0, time.perf_counter() - began - POLL_INTERVAL))
            self.update()

    def update(self) -> None:
        numbers = self.numbers
        if self.engine:
            self.update_caches(self.engine)
        counts = getattr(embedder_of(self.database), "counts", None)
        for result in ("embedded", "cached", "late", "failed") if counts else ():
            numbers.set(metrics.QUESTIONS, result, value=getattr(counts, result))
        for pool, facts in self.database.pools().items():
            numbers.set(metrics.CONNECTIONS, pool, "idle", value=facts.idle)
            numbers.set(metrics.CONNECTIONS, pool, "used", value=facts.size - facts.idle)
            numbers.set(metrics.WAITING, pool, value=facts.waiting)
        if self.database.replicas is not None:
            self.update_replicas(self.database.replicas)
        numbers.set(metrics.BREAKER, value=float(self.database.is_cut))
        numbers.set(metrics.SUBSCRIPTIONS, value=self.subscriptions())
        numbers.set(metrics.PROCESSES, value=1.0)
        numbers.set(metrics.CPU_SECONDS, value=time.process_time())
        numbers.set(metrics.MEMORY, value=resident_bytes())

    def update_replicas(self, replicas: Replicas) -> None:
        self.numbers.set(metrics.READS, "primary", value=replicas.on_primary)
        for replica in replicas.members:
            self.numbers.set(metrics.READS, replica.name, value=replica.reads)
            self.numbers.set(metrics.REPLICAS_ASIDE, replica.name, value=float(not replica.serves))
        for cause, count in replicas.fallbacks.items():
            self.numbers.set(metrics.READ_FALLBACKS, cause, value=count)

    def update_caches(self, engine: Engine) -> None:
        numbers, documents = self.numbers, engine.documents
        numbers.set(metrics.DOCUMENTS, value=len(documents.entries))
        caches = {"documents": documents.stats, "plans": engine.plans}
        for cache, stats in caches.items():
            numbers.set(metrics.LOOKUPS, cache, "hit", value=stats.hits)
            numbers.set(metrics.LOOKUPS, cache, "miss", value=stats.misses)
            numbers.set(metrics.EVICTIONS, cache, value=stats.evictions)


def resident_bytes() -> float:
    """Return the resident memory in bytes, or 0 where the system has no `/proc/self/statm`."""
    with suppress(OSError, ValueError, IndexError):
        return float(STATM.read_text().split()[1]) * PAGE_SIZE
    return 0.0


log = structlog.get_logger()
CACHED_FOR = 60.0  # seconds
TIMEOUT = 5.0  # seconds


class QueueLength:
    """A cache of the numbers of open jobs and webhook deliveries, which are counted once in CACHED_FOR at most."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.counts: tuple[OpenJobs, OpenDeliveries] | None = None
        self.counted_at = -CACHED_FOR
        self.lock = asyncio.Lock()

    async def series(self) -> list[Series]:
        """Return the series of jobs and deliveries, or none if Postgres does not answer: other series are served."""
        async with self.lock:
            if time.monotonic() - self.counted_at >= CACHED_FOR:
                self.counted_at, self.counts = time.monotonic(), await self.count()
        return list(job_series(*self.counts)) if self.counts else []

    async def count(self) -> tuple[OpenJobs, OpenDeliveries] | None:
        try:
            async with asyncio.timeout(TIMEOUT):
                return await count_open_jobs(self.database), await count_open_deliveries(self.database)
        except Exception as error:
            log.warning("jobs and deliveries were not counted", error=type(error).__name__)
            return None


def job_series(jobs: OpenJobs, deliveries: OpenDeliveries) -> Iterator[Series]:
    yield Series(metrics.JOBS, ("pending",), [jobs.pending])
    yield Series(metrics.JOBS, ("running",), [jobs.running])
    yield Series(metrics.OLDEST_JOB, (), [jobs.oldest])
    yield Series(metrics.DELIVERIES, ("pending",), [deliveries.pending])
    yield Series(metrics.DELIVERIES, ("dead",), [deliveries.dead])
    yield Series(metrics.OLDEST_DELIVERY, (), [deliveries.oldest])


class ServiceMetrics:
    """The metrics of the service. Several processes of a service share `folder`; a single process needs none."""

    def __init__(self, engine: Engine | None, database: Database, folder: Path | None = None) -> None:
        self.folder, self.database = folder, database
        self.numbers = Numbers(folder)
        self.recorder = Recorder(self.numbers)
        self.gauges = ProcessGauges(self.numbers, engine, database)
        self.queue = QueueLength(database)

    def series(self) -> Iterable[Series]:
        """Return the series of all processes: of this process as of now, of the others up to POLL_INTERVAL old."""
        self.gauges.update()
        return self.numbers.series() if self.folder is None else read_all_series(self.folder)

    async def service_series(self) -> list[Series]:
        """Return the series of metrics that cover all processes of the service, as this process sees them."""
        members = self.database.replicas.members if self.database.replicas is not None else ()
        lags = [Series(metrics.REPLICA_LAG, (replica.name,), [replica.lag]) for replica in members]
        return [*lags, *await self.queue.series()]

    @asynccontextmanager
    async def polling(self) -> AsyncIterator[None]:
        """Update the gauges in the background during the block."""
        self.gauges.update()
        polling = asyncio.create_task(self.gauges.poll())
        try:
            yield
        finally:
            polling.cancel()
            with suppress(asyncio.CancelledError):
                await polling
            self.numbers.close()


FORWARDED = ("forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip", "via")


def metrics_routes(settings: Settings, metrics: ServiceMetrics) -> list[BaseRoute]:
    async def show(request: Request) -> Response:
        if refused := refusal(settings, request):
            return refused
        series = chain(metrics.series(), await metrics.service_series())
        return Response(exposition(series), media_type=CONTENT_TYPE_LATEST)

    return [Route("/metrics", show)]


def refusal(settings: Settings, request: Request) -> Response | None:
    if settings.metrics == "token":
        return None if has_valid_token(settings, request) else wrong_token()
    return None if is_local(request) else not_local()


def has_valid_token(settings: Settings, request: Request) -> bool:
    assert settings.metrics_token is not None  # Settings validates this
    token = request.headers.get("authorization", "").partition(" ")[2].strip()
    return hmac.compare_digest(token.encode(), settings.metrics_token.get_secret_value().encode())


def is_local(request: Request) -> bool:
    """Return whether a request comes from this machine, and not through a proxy on it.

    A proxy that sets none of the FORWARDED headers cannot be recognised.
    """
    if request.client is None or any(name in request.headers for name in FORWARDED):
        return False
    try:
        return ip_address(request.client.host).is_loopback
    except ValueError:
        return False


def wrong_token() -> Response:
    body = error_body("Send `Authorization: Bearer` with the token for metrics.", "UNAUTHENTICATED")
    return Response(body, 401, {"WWW-Authenticate": 'Bearer realm="metrics"'}, "application/json")


def not_local() -> Response:
    return Response(error_body("Metrics are read on this machine alone.", "FORBIDDEN"), 403, None, "application/json")
