"""Metrics by OpenTelemetry: the two that its conventions name, and each counter and gauge that Cairn keeps."""

from collections.abc import Callable, Iterable

from opentelemetry.metrics import CallbackOptions, Meter, Observation
from opentelemetry.semconv.attributes import db_attributes as db
from opentelemetry.semconv.attributes import http_attributes as http
from starlette.types import Scope

from app.metrics.names import FAMILIES, SECONDS, Family
from app.metrics.numbers import Numbers
from selection.trail import Trail

from .conventions import asked, verb


class Measures:
    """A watcher of requests."""

    def __init__(self, meter: Meter) -> None:
        self.requests = meter.create_histogram(
            "http.server.request.duration", "s", "Requests", explicit_bucket_boundaries_advisory=SECONDS
        )
        self.statements = meter.create_histogram(
            "db.client.operation.duration", "s", "SQL statements", explicit_bucket_boundaries_advisory=SECONDS
        )

    def begin(self, trail: Trail, scope: Scope) -> None:
        pass

    def end(self, trail: Trail, scope: Scope, status: int) -> None:
        if not trail.is_stream:
            self.requests.record(trail.took, asked(scope) | {http.HTTP_RESPONSE_STATUS_CODE: status})
        for part in trail.all("sql"):
            known = {db.DB_SYSTEM_NAME: "postgresql", db.DB_OPERATION_NAME: verb(part.sql)}
            self.statements.record(part.took, known)


def observe(meter: Meter, numbers: Numbers) -> None:
    """`cairn_pool_waiting` is `cairn.pool.waiting` there; histograms are the conventions' own."""
    for family in FAMILIES:
        if family.kind != "histogram" and not family.of_service:
            make = meter.create_observable_counter if family.kind == "counter" else meter.create_observable_gauge
            name = family.name.removesuffix("_total").replace("_", ".")
            make(name, [reading(numbers, family)], description=family.help)


def reading(numbers: Numbers, family: Family) -> Callable[[CallbackOptions], Iterable[Observation]]:
    def read(_: CallbackOptions) -> Iterable[Observation]:
        for series in numbers.series():
            if series.family == family:
                yield Observation(series.values[0], dict(zip(family.labels, series.labels, strict=True)))

    return read
