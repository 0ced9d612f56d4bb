"""Every family of numbers: what it is called, what it means, and which labels tell its series apart.

Labels have few values by construction. Nothing that a client names is one.
"""

from typing import Literal, NamedTuple

Kind = Literal["counter", "gauge", "histogram"]

SECONDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Upper bounds of every histogram: half a millisecond is a small statement, ten seconds is the statement timeout."""


class Family(NamedTuple):
    """`of_service` is of all processes together already: asked once, and not added up."""

    name: str
    kind: Kind
    help: str
    labels: tuple[str, ...] = ()
    of_service: bool = False


REQUESTS = Family("cairn_requests_total", "counter", "Requests answered", ("path", "status"))
REQUEST_SECONDS = Family("cairn_request_seconds", "histogram", "From the first header to the last byte", ("path",))
IN_FLIGHT = Family("cairn_requests_in_flight", "gauge", "Requests that are being answered")
OPERATIONS = Family(
    "cairn_operations_total", "counter", "GraphQL operations: how they ended, and by which way they were executed",
    ("type", "outcome", "way"),
)  # fmt: skip
OPERATION_SECONDS = Family("cairn_operation_seconds", "histogram", "GraphQL operations", ("type",))
PREPARING_SECONDS = Family(
    "cairn_preparing_seconds",
    "histogram",
    "Reading documents, and planning operations, that were not cached",
    ("part",),
)
SQL_SECONDS = Family("cairn_sql_seconds", "histogram", "SQL statements of requests")
WAIT_SECONDS = Family("cairn_pool_wait_seconds", "histogram", "Waiting for a connection, where none was idle")
ERRORS = Family(
    "cairn_errors_total", "counter", "Errors in answers; THROTTLED and LIMIT_EXCEEDED are refusals", ("code",)
)
LOOKUPS = Family("cairn_cache_lookups_total", "counter", "Looks into a cache", ("cache", "result"))
EVICTIONS = Family("cairn_cache_evictions_total", "counter", "Entries that made room for others", ("cache",))
DOCUMENTS = Family("cairn_documents_cached", "gauge", "Documents kept with their plans")
CONNECTIONS = Family("cairn_pool_connections", "gauge", "Connections to Postgres", ("pool", "state"))
WAITING = Family("cairn_pool_waiting", "gauge", "Requests that wait for a connection", ("pool",))
LAG_SECONDS = Family(
    "cairn_event_loop_lag_seconds", "histogram", "How late the event loop came to a timer, twice a second"
)
SUBSCRIPTIONS = Family("cairn_subscriptions_open", "gauge", "Subscriptions that are served")
PROCESSES = Family("cairn_processes", "gauge", "Processes that serve")
CPU_SECONDS = Family("cairn_cpu_seconds_total", "counter", "CPU time of the processes")
MEMORY = Family("cairn_memory_bytes", "gauge", "Resident memory of the processes")
JOBS = Family("cairn_jobs", "gauge", "Compile jobs that are not finished", ("status",), of_service=True)
OLDEST_JOB = Family(
    "cairn_oldest_pending_job_seconds", "gauge", "How long the oldest job waits that could run", of_service=True
)

FAMILIES = (
    REQUESTS, REQUEST_SECONDS, IN_FLIGHT, OPERATIONS, OPERATION_SECONDS, PREPARING_SECONDS, SQL_SECONDS, WAIT_SECONDS,
    ERRORS, LOOKUPS, EVICTIONS, DOCUMENTS, CONNECTIONS, WAITING, LAG_SECONDS, SUBSCRIPTIONS, PROCESSES, CPU_SECONDS,
    MEMORY, JOBS, OLDEST_JOB,
)  # fmt: skip
BY_NAME = {family.name: family for family in FAMILIES}
