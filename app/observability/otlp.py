"""Sends spans and metrics to a collector over OTLP. It needs the libraries of `cairn-wiki[telemetry]`."""

import re
import time
from collections.abc import Callable, Iterable, Mapping
from functools import cache, lru_cache
from importlib.metadata import version
from typing import Any
from uuid import uuid4

from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.metrics import CallbackOptions, Meter, Observation
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.sdk.resources import OTELResourceDetector, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.semconv.attributes import db_attributes as db
from opentelemetry.semconv.attributes import error_attributes as error
from opentelemetry.semconv.attributes import http_attributes as http
from opentelemetry.semconv.attributes import url_attributes as url
from opentelemetry.trace import Span, SpanKind, Status, StatusCode, Tracer, format_trace_id, set_span_in_context
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
from starlette.types import Scope

from db.sql import tables_of
from observability.trace import RequestTrace, TraceSpan

from .metrics import FAMILIES, PATHS, SECONDS, Family, Numbers
from .slow_operations import document_hash
from .telemetry import Telemetry

COMMENTS = re.compile(r"^(?:\s*--[^\n]*\n)+")
METHODS = frozenset({"GET", "POST", "HEAD", "OPTIONS", "PUT", "PATCH", "DELETE", "CONNECT", "TRACE"})


def method(scope: Scope) -> str:
    return scope["method"] if scope["method"] in METHODS else "_OTHER"


def route(scope: Scope) -> dict[str, str]:
    """Return the attribute of the route if the path is served, else none, because clients can request any path."""
    return {http.HTTP_ROUTE: scope["path"]} if scope["path"] in PATHS else {}


def request_attributes(scope: Scope) -> dict[str, str]:
    return {http.HTTP_REQUEST_METHOD: method(scope), url.URL_SCHEME: scope["scheme"], **route(scope)}


@lru_cache(1024)
def sql_verb(sql: str) -> str:
    """Return the first word of a statement, in capitals. A statement that begins with WITH and only reads is SELECT."""
    words = COMMENTS.sub("", sql).split(None, 1)
    word = words[0].upper() if words else "UNKNOWN"
    return "SELECT" if word == "WITH" and not tables_of(sql).written else word


class Histograms:
    """An observer that exports the durations of requests and statements as histograms."""

    def __init__(self, meter: Meter) -> None:
        self.requests = meter.create_histogram(
            "http.server.request.duration", "s", "Requests", explicit_bucket_boundaries_advisory=SECONDS
        )
        self.statements = meter.create_histogram(
            "db.client.operation.duration", "s", "SQL statements", explicit_bucket_boundaries_advisory=SECONDS
        )

    def begin(self, trace: RequestTrace, scope: Scope) -> None:
        pass

    def end(self, trace: RequestTrace, scope: Scope, status: int) -> None:
        if not trace.is_stream:
            self.requests.record(trace.took, request_attributes(scope) | {http.HTTP_RESPONSE_STATUS_CODE: status})
        for part in trace.spans_of("sql"):
            labels = {db.DB_SYSTEM_NAME: "postgresql", db.DB_OPERATION_NAME: sql_verb(part.sql)}
            self.statements.record(part.took, labels)


def export_numbers(meter: Meter, numbers: Numbers) -> None:
    """Export the counters and gauges: `cairn_pool_waiting` becomes `cairn.pool.waiting`.

    Histograms are left out, because `Histograms` exports those of OpenTelemetry's conventions.
    """
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


@cache
def resource() -> Resource:
    ours = {"service.name": "cairn", "service.version": version("cairn-wiki"), "service.instance.id": str(uuid4())}
    return Resource.create(ours).merge(OTELResourceDetector().detect())


PROPAGATOR = TraceContextTextMapPropagator()
PROPAGATED = (b"traceparent", b"tracestate")
GRAPHQL_TYPE, GRAPHQL_NAME = "graphql.operation.type", "graphql.operation.name"
NAMES = {"parse": "graphql.parse", "plan": "graphql.plan", "wait": "pool.wait"}


class Spans:
    """An observer that exports a span for each request and job, with the spans of its trace below it."""

    def __init__(self, tracer: Tracer) -> None:
        self.tracer = tracer

    def begin(self, trace: RequestTrace, scope: Scope) -> None:
        sent = {key.decode(): value.decode("latin-1") for key, value in scope["headers"] if key in PROPAGATED}
        parent = PROPAGATOR.extract(sent, Context())
        attributes = request_attributes(scope) | {url.URL_PATH: scope["path"]}
        span = self.tracer.start_span(method(scope), parent, SpanKind.SERVER, attributes)
        trace.span = span
        trace.trace_id = format_trace_id(span.get_span_context().trace_id)

    def end(self, trace: RequestTrace, scope: Scope, status: int) -> None:
        span: Span = trace.span
        if span.is_recording():
            span.update_name(" ".join([method(scope), *route(scope).values()]))
            span.set_attributes({http.HTTP_RESPONSE_STATUS_CODE: status, "cairn.request.id": trace.request_id})
            self.export_spans(trace, span)
            fail(span, str(status) if status >= 500 else None)
        span.end()

    def begin_job(self, trace: RequestTrace, trigger: str) -> None:
        trace.span = self.tracer.start_span(
            f"job {trigger}", Context(), SpanKind.CONSUMER, {"cairn.job.trigger": trigger}
        )
        trace.trace_id = format_trace_id(trace.span.get_span_context().trace_id)

    def end_job(self, trace: RequestTrace, trigger: str) -> None:
        span: Span = trace.span
        if span.is_recording():
            span.set_attribute("cairn.job.id", trace.request_id)
            self.export_spans(trace, span)
            fail(span, trace.codes[0] if trace.codes else None)
        span.end()

    def export_spans(self, trace: RequestTrace, span: Span) -> None:
        """Export the spans of a trace below the span of its request.

        The operation comes first, and spans that began after it become its children.
        """
        now, clock = time.perf_counter(), time.time_ns()
        below, since = set_span_in_context(span, Context()), 0.0
        for part in sorted(trace.spans, key=lambda part: part.kind != "operation"):
            parent = below if part.began >= since else set_span_in_context(span, Context())
            began, ended = (clock - int((now - moment) * 1e9) for moment in (part.began, part.ended))
            kind = SpanKind.CLIENT if part.kind == "sql" else SpanKind.INTERNAL
            child = self.tracer.start_span(name(part, trace), parent, kind, attributes(part, trace), start_time=began)
            fail(child, failure(part, trace))
            child.end(ended)
            if part.kind == "operation":
                below, since = set_span_in_context(child, Context()), part.began


def name(part: TraceSpan, trace: RequestTrace) -> str:
    if part.kind == "operation":
        return trace.type or "GraphQL Operation"
    return sql_verb(part.sql) if part.kind == "sql" else NAMES.get(part.kind, part.kind)


def attributes(part: TraceSpan, trace: RequestTrace) -> Mapping[str, Any]:
    """Return the attributes of a span. Of the client's input they have the operation's name and the document's hash."""
    match part.kind:
        case "operation":
            values = {GRAPHQL_TYPE: trace.type, GRAPHQL_NAME: trace.name, "cairn.graphql.way": trace.way}
            values["cairn.graphql.document.hash"] = document_hash(trace.document or "")
            return {key: value for key, value in values.items() if value is not None}
        case "sql":
            return {
                db.DB_SYSTEM_NAME: "postgresql", db.DB_QUERY_TEXT: part.sql, db.DB_OPERATION_NAME: sql_verb(part.sql),
            }  # fmt: skip
    return {}


def failure(part: TraceSpan, trace: RequestTrace) -> str | None:
    return trace.codes[0] if part.kind == "operation" and trace.codes else part.error


def fail(span: Span, kind: str | None) -> None:
    if kind is not None:
        span.set_attribute(error.ERROR_TYPE, kind)
        span.set_status(Status(StatusCode.ERROR))


def add_traces(telemetry: Telemetry) -> None:
    provider = TracerProvider(resource=resource(), shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    telemetry.providers.append(provider)
    telemetry.observers.append(Spans(provider.get_tracer("cairn", version("cairn-wiki"))))


def add_metrics(telemetry: Telemetry, numbers: Numbers | None) -> None:
    reader = PeriodicExportingMetricReader(OTLPMetricExporter())
    provider = MeterProvider([reader], resource=resource(), shutdown_on_exit=False)
    meter = provider.get_meter("cairn", version("cairn-wiki"))
    telemetry.providers.append(provider)
    telemetry.observers.append(Histograms(meter))
    if numbers is not None:
        export_numbers(meter, numbers)
