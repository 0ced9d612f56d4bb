"""A request as spans. Only the request's own is open while it runs: its parts are made from the trail in the end."""

import time
from collections.abc import Mapping
from typing import Any

from opentelemetry.context import Context
from opentelemetry.semconv.attributes import db_attributes as db
from opentelemetry.semconv.attributes import error_attributes as error
from opentelemetry.semconv.attributes import http_attributes as http
from opentelemetry.semconv.attributes import url_attributes as url
from opentelemetry.trace import Span, SpanKind, Status, StatusCode, Tracer, format_trace_id, set_span_in_context
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
from starlette.types import Scope

from app.slow import document_hash
from selection.trail import Part, Trail

from .conventions import asked, method, route, verb

PROPAGATOR = TraceContextTextMapPropagator()
PROPAGATED = (b"traceparent", b"tracestate")
GRAPHQL_TYPE, GRAPHQL_NAME = "graphql.operation.type", "graphql.operation.name"
NAMES = {"parse": "graphql.parse", "plan": "graphql.plan", "wait": "pool.wait"}


class Spans:
    """A watcher of requests."""

    def __init__(self, tracer: Tracer) -> None:
        self.tracer = tracer

    def begin(self, trail: Trail, scope: Scope) -> None:
        sent = {key.decode(): value.decode("latin-1") for key, value in scope["headers"] if key in PROPAGATED}
        given = PROPAGATOR.extract(sent, Context())
        known = asked(scope) | {url.URL_PATH: scope["path"]}
        span = self.tracer.start_span(method(scope), given, SpanKind.SERVER, known)
        trail.span = span
        trail.trace_id = format_trace_id(span.get_span_context().trace_id)

    def end(self, trail: Trail, scope: Scope, status: int) -> None:
        span: Span = trail.span
        if span.is_recording():
            span.update_name(" ".join([method(scope), *route(scope).values()]))
            span.set_attributes({http.HTTP_RESPONSE_STATUS_CODE: status, "cairn.request.id": trail.request_id})
            self.parts(trail, span)
            fail(span, str(status) if status >= 500 else None)
        span.end()

    def parts(self, trail: Trail, span: Span) -> None:
        """The operation first: what began within it is below it."""
        now, clock = time.perf_counter(), time.time_ns()
        below, since = set_span_in_context(span, Context()), 0.0
        for part in sorted(trail.parts, key=lambda part: part.what != "operation"):
            parent = below if part.began >= since else set_span_in_context(span, Context())
            began, ended = (clock - int((now - moment) * 1e9) for moment in (part.began, part.ended))
            kind = SpanKind.CLIENT if part.what == "sql" else SpanKind.INTERNAL
            made = self.tracer.start_span(name(part, trail), parent, kind, attributes(part, trail), start_time=began)
            fail(made, failure(part, trail))
            made.end(ended)
            if part.what == "operation":
                below, since = set_span_in_context(made, Context()), part.began


def name(part: Part, trail: Trail) -> str:
    if part.what == "operation":
        return trail.type or "GraphQL Operation"
    return verb(part.sql) if part.what == "sql" else NAMES.get(part.what, part.what)


def attributes(part: Part, trail: Trail) -> Mapping[str, Any]:
    """No value that a client has sent, but for the operation's name: the document is told by its hash."""
    match part.what:
        case "operation":
            known = {GRAPHQL_TYPE: trail.type, GRAPHQL_NAME: trail.name, "cairn.graphql.way": trail.way}
            known["cairn.graphql.document.hash"] = document_hash(trail.document or "")
            return {key: value for key, value in known.items() if value is not None}
        case "sql":
            return {
                db.DB_SYSTEM_NAME: "postgresql", db.DB_QUERY_TEXT: part.sql, db.DB_OPERATION_NAME: verb(part.sql),
            }  # fmt: skip
    return {}


def failure(part: Part, trail: Trail) -> str | None:
    return trail.codes[0] if part.what == "operation" and trail.codes else part.error


def fail(span: Span, kind: str | None) -> None:
    if kind is not None:
        span.set_attribute(error.ERROR_TYPE, kind)
        span.set_status(Status(StatusCode.ERROR))
