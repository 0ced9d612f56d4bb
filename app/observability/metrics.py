"""The metrics of this process and of the database: counters, gauges and histograms."""

import mmap
import os
import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, MutableSequence
from contextlib import suppress
from fcntl import LOCK_EX, LOCK_NB, flock
from pathlib import Path
from typing import Any, Literal, NamedTuple

import orjson
from starlette.types import Scope

from lib.processes import is_alive
from observability.trace import RequestTrace
from resolvers.transactions.db_errors import ALL_CAUSES

Kind = Literal["counter", "gauge", "histogram"]

SECONDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Upper bounds of the buckets of every histogram, from half a millisecond to the default statement timeout."""


class Family(NamedTuple):
    """A metric. If it is `of_service`, one process measures it for all, and it is not summed over processes."""

    name: str
    kind: Kind
    help: str
    labels: tuple[str, ...] = ()
    of_service: bool = False


REQUESTS = Family("cairn_requests_total", "counter", "Requests answered", ("path", "status"))
REQUEST_SECONDS = Family("cairn_request_seconds", "histogram", "Time of requests", ("path",))
IN_FLIGHT = Family("cairn_requests_in_flight", "gauge", "Requests in progress")
OPERATIONS = Family(
    "cairn_operations_total", "counter", "GraphQL operations",
    ("type", "outcome", "way"),
)  # fmt: skip
OPERATION_SECONDS = Family("cairn_operation_seconds", "histogram", "GraphQL operations", ("type",))
PREPARING_SECONDS = Family(
    "cairn_preparing_seconds",
    "histogram",
    "Parsing and planning that was not cached",
    ("part",),
)
SQL_SECONDS = Family("cairn_sql_seconds", "histogram", "Time of SQL statements")
WAIT_SECONDS = Family("cairn_pool_wait_seconds", "histogram", "Waiting for a connection")
ERRORS = Family("cairn_errors_total", "counter", "Errors in answers", ("code",))
REFUSALS = Family("cairn_database_refusals_total", "counter", "Work that the database refused", ("cause",))
BREAKER = Family("cairn_database_unresponsive", "gauge", "Processes whose database does not answer")
CALLS = Family(
    "cairn_calls_total", "counter", "Requests with a valid credential",
    ("tenant", "credential", "client", "operation"),
)  # fmt: skip
CALL_SECONDS = Family("cairn_call_seconds_total", "counter", "Time of requests with a valid credential", CALLS.labels)
LOOKUPS = Family("cairn_cache_lookups_total", "counter", "Cache lookups", ("cache", "result"))
EVICTIONS = Family("cairn_cache_evictions_total", "counter", "Cache evictions", ("cache",))
QUESTIONS = Family(
    "cairn_question_embeddings_total",
    "counter",
    "Questions sent to the embedding server",
    ("result",),
)
DOCUMENTS = Family("cairn_documents_cached", "gauge", "Cached documents")
CONNECTIONS = Family("cairn_pool_connections", "gauge", "Connections to Postgres", ("pool", "state"))
WAITING = Family("cairn_pool_waiting", "gauge", "Requests that wait for a connection", ("pool",))
READS = Family("cairn_reads_total", "counter", "Reads by server, where there are replicas", ("server",))
READ_FALLBACKS = Family("cairn_read_fallbacks_total", "counter", "Reads that no replica could answer", ("cause",))
REPLICAS_ASIDE = Family("cairn_replicas_aside", "gauge", "Processes that leave a replica out", ("server",))
REPLICA_LAG = Family(
    "cairn_replica_lag_seconds", "gauge", "Lag of a replica",
    ("server",), of_service=True,
)  # fmt: skip
LAG_SECONDS = Family("cairn_event_loop_lag_seconds", "histogram", "Lag of the event loop")
SUBSCRIPTIONS = Family("cairn_subscriptions_open", "gauge", "Open subscriptions")
PROCESSES = Family("cairn_processes", "gauge", "Processes that serve")
CPU_SECONDS = Family("cairn_cpu_seconds_total", "counter", "CPU time of the processes")
MEMORY = Family("cairn_memory_bytes", "gauge", "Resident memory of the processes")
ATTEMPTS = Family("cairn_job_attempts_total", "counter", "Ended attempts at jobs", ("trigger", "outcome"))
JOB_SECONDS = Family("cairn_job_seconds", "histogram", "Time of attempts at jobs", ("trigger",))
JOBS = Family("cairn_jobs", "gauge", "Unfinished compile jobs", ("status",), of_service=True)
OLDEST_JOB = Family(
    "cairn_oldest_pending_job_seconds", "gauge", "Age of the oldest job that could run", of_service=True
)
DELIVERIES = Family(
    "cairn_webhook_deliveries", "gauge", "Waiting and dead webhook deliveries", ("status",), of_service=True
)
OLDEST_DELIVERY = Family(
    "cairn_oldest_webhook_delivery_seconds", "gauge", "Age of the oldest delivery whose receiver works",
    of_service=True,
)  # fmt: skip

FAMILIES = (
    REQUESTS, REQUEST_SECONDS, IN_FLIGHT, OPERATIONS, OPERATION_SECONDS, PREPARING_SECONDS, SQL_SECONDS, WAIT_SECONDS,
    ERRORS, REFUSALS, BREAKER, CALLS, CALL_SECONDS, LOOKUPS, EVICTIONS, QUESTIONS, DOCUMENTS, CONNECTIONS, WAITING,
    READS, READ_FALLBACKS, REPLICAS_ASIDE, REPLICA_LAG, LAG_SECONDS, SUBSCRIPTIONS, PROCESSES, CPU_SECONDS, MEMORY,
    ATTEMPTS, JOB_SECONDS, JOBS, OLDEST_JOB,
    DELIVERIES, OLDEST_DELIVERY,
)  # fmt: skip
BY_NAME = {family.name: family for family in FAMILIES}


PLACES = 4096
"""The number of values that a process can store."""
WIDTH = len(SECONDS) + 2
"""Values of a histogram: its buckets, the bucket without an upper bound, and the sum of the seconds."""
OVERFLOW = 0
"""The place of the values of series for which no place is left. No series of a metric starts there."""

Labels = tuple[str, ...]


class Series(NamedTuple):
    """A series of a process: a single value, or the WIDTH values of a histogram."""

    family: Family
    labels: Labels
    values: list[float]


class Numbers:
    """The values of all series of this process, written only by this process, on its event loop.

    With a folder the values are a memory-mapped file, which the other processes of the service read. The process holds
    a lock on its file of names.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self.places: dict[tuple[Family, Labels], int] = {}
        """The index of the first value of each series."""
        self.next = OVERFLOW + WIDTH
        self.values: MutableSequence[float]
        self.names: Any = None
        if folder is None:
            self.values = [0.0] * PLACES
        else:
            folder.mkdir(parents=True, exist_ok=True)
            add_up_ended(folder)
            stem = folder / f"{os.getpid()}-{time.time_ns()}"
            self.values = map_values(stem.with_suffix(".numbers"))
            unlocked = stem.with_suffix(".new")
            self.names = unlocked.open("ab", buffering=0)
            with suppress(OSError):  # some file systems have no locks; there no process counts as ended
                flock(self.names, LOCK_EX | LOCK_NB)
            unlocked.rename(stem.with_suffix(".names"))

    def add(self, family: Family, *labels: str, amount: float = 1.0) -> None:
        self.values[self.place_of(family, labels)] += amount

    def set(self, family: Family, *labels: str, value: float) -> None:
        self.values[self.place_of(family, labels)] = value

    def observe(self, family: Family, *labels: str, seconds: float) -> None:
        place = self.place_of(family, labels)
        self.values[place + bisect_left(SECONDS, seconds)] += 1.0
        self.values[place + WIDTH - 1] += seconds

    def place_of(self, family: Family, labels: Labels) -> int:
        found = self.places.get((family, labels))
        return self.reserve(family, labels) if found is None else found

    def reserve(self, family: Family, labels: Labels) -> int:
        width = width_of(family)
        if self.next + width > PLACES:
            return OVERFLOW
        if not self.write_name(orjson.dumps([self.next, family.name, labels]) + b"\n"):
            return OVERFLOW
        place, self.next = self.next, self.next + width
        self.places[family, labels] = place
        return place

    def write_name(self, line: bytes) -> bool:
        """Add a series to the file of names, if there is one; return False if the disk has no room for the line."""
        if self.names is None:
            return True
        try:
            end = os.fstat(self.names.fileno()).st_size
            if self.names.write(line) == len(line):
                return True
            self.names.truncate(end)
        except OSError:
            pass
        return False

    def close(self) -> None:
        """Close the file of names. The values stay in the folder; series that are new after this are not listed."""
        if self.names is not None:
            self.names.close()
            self.names = None

    def series(self) -> Iterator[Series]:
        for (family, labels), place in list(self.places.items()):
            yield Series(family, labels, list(self.values[place : place + width_of(family)]))


def width_of(family: Family) -> int:
    return WIDTH if family.kind == "histogram" else 1


def map_values(path: Path) -> MutableSequence[float]:
    """Return the values of a new file, written whole: to write to a hole in it on a full disk kills the process."""
    with path.open("wb+") as file:
        file.write(bytes(PLACES * 8))
        file.flush()
        values: Any = memoryview(mmap.mmap(file.fileno(), PLACES * 8)).cast("d")
    return values  # type: ignore[no-any-return]


def read_all_series(folder: Path) -> list[Series]:
    """Return the series of all processes that used this folder. Gauges of processes that have ended are left out."""
    while True:
        stored = read_ended(folder)
        moved, found = parse_ended(stored)
        for names in sorted(folder.glob("*.names")):
            if names.stem not in moved:
                with suppress(FileNotFoundError):  # the service is stopping, or the process has just been moved
                    lives = is_alive(int(names.stem.partition("-")[0]))
                    found += (series for series in read_series(names) if lives or series.family.kind != "gauge")
        if read_ended(folder) == stored:
            return found


ENDED = "ended.json"
"""The file with the sums of ended processes, and the names of their own files, which do not count any more."""


def add_up_ended(folder: Path) -> None:
    """Move the counts of processes that have ended into one file, so that replaced processes leave no files behind."""
    with suppress(OSError), (folder / "moving").open("wb") as lock:
        flock(lock, LOCK_EX | LOCK_NB)  # raises OSError while another process does this
        moved, found = parse_ended(read_ended(folder))
        ended = [names for names in folder.glob("*.names") if has_ended(names)]
        if not ended:
            return
        sums = {(series.family.name, series.labels): series.values for series in found}
        for names in ended:
            for series in read_series(names) if names.stem not in moved else ():
                if series.family.kind != "gauge":
                    key = (series.family.name, series.labels)
                    before = sums.get(key) or [0.0] * len(series.values)
                    sums[key] = [a + b for a, b in zip(before, series.values, strict=True)]
        series_of_ended = [[name, labels, values] for (name, labels), values in sums.items()]
        draft = folder / f"{ENDED}.draft"
        draft.write_bytes(orjson.dumps({"processes": [names.stem for names in ended], "series": series_of_ended}))
        draft.replace(folder / ENDED)
        for names in ended:
            names.with_suffix(".numbers").unlink(missing_ok=True)
            names.unlink()


def has_ended(names: Path) -> bool:
    """Return whether no process holds the lock on its file of names any more."""
    with suppress(OSError), names.open("rb") as file:
        flock(file, LOCK_EX | LOCK_NB)
        return True
    return False


def read_ended(folder: Path) -> bytes:
    with suppress(FileNotFoundError):
        return (folder / ENDED).read_bytes()
    return b""


def parse_ended(stored: bytes) -> tuple[set[str], list[Series]]:
    """Return the names of the files whose counts were moved, and the sums of these counts."""
    if not stored:
        return set(), []
    found = orjson.loads(stored)
    return {*found["processes"]}, [
        Series(BY_NAME[name], tuple(labels), values) for name, labels, values in found["series"]
    ]


def read_series(names: Path) -> Iterator[Series]:
    values = memoryview(names.with_suffix(".numbers").read_bytes()).cast("d")
    for line in names.read_bytes().splitlines(keepends=True):
        if line.endswith(b"\n"):  # else it is being written
            place, name, labels = orjson.loads(line)
            family = BY_NAME[name]
            yield Series(family, tuple(labels), list(values[place : place + width_of(family)]))


PATHS = frozenset({"/graphql", "/graphql/v0", "/graphiql", "/healthz", "/mcp", "/metrics", "/readyz"})


MAX_CALLERS = 400  # combinations of labels in a process
MAX_PER_CREDENTIAL = 20  # combinations of labels of a credential
OTHER = "other"


class Callers:
    """The bounded set of labels of callers. Clients choose their labels, so labels beyond the bounds become `other`."""

    def __init__(self) -> None:
        self.known = set[Labels]()
        self.of_credential = Counter[Labels]()

    def labels(self, trace: RequestTrace) -> Labels:
        """Return the tenant, credential, client and operation of a request, with `other` for labels beyond a bound."""
        by_name = trace.caller_labels
        labels = tuple(by_name.get(name, "") for name in CALLS.labels)
        credential = labels[:2]
        return self.admit(labels) or self.admit((*credential, OTHER, OTHER)) or (OTHER,) * len(labels)

    def admit(self, labels: Labels) -> Labels | None:
        """Return the labels if they are known or there is room for a new series, else None."""
        if labels not in self.known:
            credential = labels[:2]
            is_full = labels[2:] != (OTHER, OTHER) and self.of_credential[credential] >= MAX_PER_CREDENTIAL
            if is_full or len(self.known) >= MAX_CALLERS:
                return None
            self.known.add(labels)
            self.of_credential[credential] += 1
        return labels


class Recorder:
    """An observer that counts and times requests, their spans, and attempts at jobs."""

    def __init__(self, numbers: Numbers) -> None:
        """Begin the counters of which one event is an alert at zero, without which Prometheus does not see it."""
        self.numbers, self.callers = numbers, Callers()
        numbers.set(ERRORS, FAULT, value=0.0)
        for cause in ALL_CAUSES:
            numbers.set(REFUSALS, cause, value=0.0)

    def begin(self, trace: RequestTrace, scope: Scope) -> None:
        self.numbers.add(IN_FLIGHT)

    def end(self, trace: RequestTrace, scope: Scope, status: int) -> None:
        numbers, path = self.numbers, trace.path or metric_path(scope["path"])
        numbers.add(IN_FLIGHT, amount=-1.0)
        numbers.add(REQUESTS, path, str(status))
        if not trace.is_stream:
            numbers.observe(REQUEST_SECONDS, path, seconds=trace.took)
        for code in trace.codes:
            numbers.add(ERRORS, code)
        if trace.caller is not None:
            labels = self.callers.labels(trace)
            numbers.add(CALLS, *labels)
            if not trace.is_stream:
                numbers.add(CALL_SECONDS, *labels, amount=trace.took)
        self.record_spans(trace)

    def begin_job(self, trace: RequestTrace, trigger: str) -> None:
        pass

    def end_job(self, trace: RequestTrace, trigger: str) -> None:
        self.numbers.add(ATTEMPTS, trigger, trace.codes[0].removeprefix("JOB_").lower() if trace.codes else "ok")
        self.numbers.observe(JOB_SECONDS, trigger, seconds=trace.took)
        self.record_spans(trace)

    def record_spans(self, trace: RequestTrace) -> None:
        for cause in trace.refusals:
            self.numbers.add(REFUSALS, cause)
        for span in trace.spans:
            match span.kind:
                case "sql":
                    self.numbers.observe(SQL_SECONDS, seconds=span.took)
                case "wait":
                    self.numbers.observe(WAIT_SECONDS, seconds=span.took)
                case "operation":
                    type_ = trace.type or "none"
                    self.numbers.add(OPERATIONS, type_, outcome(trace), trace.way)
                    self.numbers.observe(OPERATION_SECONDS, type_, seconds=span.took)
                case _:
                    self.numbers.observe(PREPARING_SECONDS, span.kind, seconds=span.took)


def metric_path(path: str) -> str:
    """Return the path if it has its own series, else `other`, because clients can request any path."""
    return path if path in PATHS else "other"


FAULT = "INTERNAL_SERVER_ERROR"
FAULTS = {FAULT, "UNAVAILABLE"}


def outcome(trace: RequestTrace) -> str:
    """Return the outcome of an operation.

    It is `ok`, `failed` (a fault of the service), `refused` (not executed) or `errors` (errors of the client).
    """
    if not trace.codes:
        return "ok"
    if not FAULTS.isdisjoint(trace.codes):
        return "failed"
    return "refused" if trace.definition is None else "errors"
