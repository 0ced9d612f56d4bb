"""Tests the OpenTelemetry spans and metrics of a request, which contain no value of a client."""

import json
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
import structlog
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode, format_trace_id

from app.observability.otlp import resource
from app.observability.slow_operations import document_hash
from app.observability.telemetry import Telemetry, telemetry
from app.settings import telemetry_wanted
from tests.app.service import Service, serving
from tests.wiki import Wiki

QUERY = "query Mine($p: String) { wikiPages(first: 1, filter: {titlePrefix: $p}) { nodes { id } } }"
PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


@pytest.fixture
def exported(monkeypatch: pytest.MonkeyPatch) -> InMemorySpanExporter:
    """Enable traces, and return an exporter that stores the spans instead of sending them."""
    exporter = InMemorySpanExporter()
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://127.0.0.1:9/v1/traces")
    monkeypatch.setattr("app.observability.otlp.OTLPSpanExporter", lambda: exporter)
    monkeypatch.setattr("app.observability.otlp.BatchSpanProcessor", SimpleSpanProcessor)
    return exporter


@pytest.fixture
async def traced(exported: InMemorySpanExporter, dsn: str, tmp_path: Path) -> AsyncIterator[Service]:
    async with serving(dsn, tmp_path) as service:
        yield service


def by_name(exported: InMemorySpanExporter) -> dict[str, ReadableSpan]:
    return {span.name: span for span in exported.get_finished_spans()}


async def test_a_request_is_a_trace_from_http_to_sql(
    traced: Service, exported: InMemorySpanExporter, wiki: Wiki, capsys: pytest.CaptureFixture[str]
) -> None:
    token = traced.token(wiki.scope.tenant_id, wiki.scope.owner_id)
    capsys.readouterr()
    await traced.post(QUERY, token, {"p": "hunter2"}, traceparent=PARENT)
    logged = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    spans = by_name(exported)
    assert spans.keys() == {"POST /graphql", "query", "graphql.parse", "graphql.plan", "SELECT"}
    server, operation, sql = (spans[name] for name in ("POST /graphql", "query", "SELECT"))
    assert server.kind is SpanKind.SERVER
    assert server.parent is not None
    assert (server.parent.trace_id, server.parent.span_id) == (0x0AF7651916CD43DD8448EB211C80319C, 0xB7AD6B7169203331)
    assert dict(server.attributes or {}).items() >= {
        "http.request.method": "POST", "http.route": "/graphql", "url.path": "/graphql",
        "http.response.status_code": 200,
    }.items()  # fmt: skip
    assert dict(operation.attributes or {}) == {
        "graphql.operation.type": "query", "graphql.operation.name": "Mine", "cairn.graphql.way": "bytes",
        "cairn.graphql.document.hash": document_hash(QUERY),
    }  # fmt: skip
    assert sql.kind is SpanKind.CLIENT
    assert sql.attributes is not None
    assert "SELECT JSON_OBJECT" in str(sql.attributes["db.query.text"])
    assert (parent_of(operation), parent_of(sql)) == (span_id(server), span_id(operation))
    assert inside(sql, operation)
    assert inside(operation, server)
    assert "hunter2" not in "".join(span.to_json() for span in spans.values())
    assert {record["trace_id"] for record in logged} == {format_trace_id(server.parent.trace_id)}


def span_id(span: ReadableSpan) -> int:
    assert span.context is not None
    return span.context.span_id


def parent_of(span: ReadableSpan) -> int | None:
    return span.parent.span_id if span.parent else None


def inside(inner: ReadableSpan, outer: ReadableSpan) -> bool:
    """Return whether a span is within another, to a tenth of a millisecond, as two clocks are read."""
    times: list[Any] = [outer.start_time, inner.start_time, inner.end_time, outer.end_time]
    return times[0] - 100_000 <= times[1] <= times[2] <= times[3] + 100_000


async def test_an_error_is_marked_on_the_span_of_its_operation(
    traced: Service, exported: InMemorySpanExporter, wiki: Wiki
) -> None:
    token = traced.token(wiki.scope.tenant_id, wiki.scope.owner_id)
    await traced.post("{ nothing }", token)
    await traced.http.get("/hunter2", headers={"traceparent": "not one"})
    spans = by_name(exported)
    failed = spans["GraphQL Operation"]
    assert failed.attributes is not None
    assert failed.attributes["error.type"] == "GRAPHQL_VALIDATION_FAILED"
    assert failed.status.status_code is StatusCode.ERROR
    assert spans["POST /graphql"].status.status_code is StatusCode.UNSET  # the client's mistake
    assert spans["GET"].parent is None


async def test_a_request_that_is_not_sampled_creates_no_spans(
    exported: InMemorySpanExporter, dsn: str, tmp_path: Path, wiki: Wiki
) -> None:
    async with serving(dsn, tmp_path) as service:
        token = service.token(wiki.scope.tenant_id, wiki.scope.owner_id)
        await service.post(QUERY, token, traceparent=PARENT[:-1] + "0")
    assert exported.get_finished_spans() == ()


async def test_requests_and_statements_are_measured(
    dsn: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wiki: Wiki
) -> None:
    reader = InMemoryMetricReader()
    monkeypatch.setenv("OTEL_METRICS_EXPORTER", "otlp")
    monkeypatch.setattr("app.observability.otlp.PeriodicExportingMetricReader", lambda _: reader)
    async with serving(dsn, tmp_path) as service:
        token = service.token(wiki.scope.tenant_id, wiki.scope.owner_id)
        await service.post(QUERY, token, {"p": "hunter2"})
        assert (await service.http.get("/metrics")).status_code == 404  # the setting `metrics` is off
        found = {metric.name: metric.data.data_points for metric in metrics(reader)}
    assert found["http.server.request.duration"][0].attributes["http.route"] == "/graphql"
    assert {"db.system.name": "postgresql", "db.operation.name": "SELECT"} in [
        point.attributes for point in found["db.client.operation.duration"]
    ]
    assert [point.value for point in found["cairn.operations"]] == [1.0]
    assert found["cairn.processes"][0].value == 1.0


def metrics(reader: InMemoryMetricReader) -> Iterator[Any]:
    data = reader.get_metrics_data()
    assert data is not None
    for sent in data.resource_metrics:
        for scope in sent.scope_metrics:
            yield from scope.metrics


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({}, set()),
        ({"OTEL_SERVICE_NAME": "x"}, set()),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://x"}, {"traces", "metrics"}),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://x", "OTEL_METRICS_EXPORTER": "none"}, {"traces"}),
        ({"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT": "http://x"}, {"metrics"}),
        ({"OTEL_TRACES_EXPORTER": "otlp"}, {"traces"}),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://x", "OTEL_SDK_DISABLED": "true"}, set()),
    ],
)
def test_the_standard_variables_enable_traces_and_metrics(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], expected: set[str]
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert telemetry_wanted() == expected


def test_missing_telemetry_libraries_are_reported_without_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.exporter.otlp.proto.http", None)
    with structlog.testing.capture_logs() as records:
        assert telemetry(frozenset({"traces"}), None).observers == []
    assert "cairn-wiki[telemetry]" in records[0]["event"]


async def test_an_unresponsive_collector_does_not_delay_the_shutdown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.observability.telemetry.FLUSH_TIMEOUT", 0.05)
    never, sent = threading.Event(), threading.Event()

    class Hanging:
        def shutdown(self) -> None:
            never.wait()

    class Answering:
        def shutdown(self) -> None:
            sent.set()

    configured = Telemetry()
    configured.providers = [Hanging(), Answering()]
    await configured.close()
    assert sent.is_set()
    never.set()


def test_the_operator_can_change_the_service_name(monkeypatch: pytest.MonkeyPatch) -> None:
    assert resource.__wrapped__().attributes["service.name"] == "cairn"
    monkeypatch.setenv("OTEL_SERVICE_NAME", "wiki")
    assert resource.__wrapped__().attributes["service.name"] == "wiki"
