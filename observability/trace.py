"""The trace of a request: metrics, OpenTelemetry spans and the log of slow operations are made from it.

The code that begins a request sets REQUEST_TRACE to a new RequestTrace and reads it at the end of the request; there is
no list of listeners. Without a trace the functions below record nothing. Of the client's input a trace holds the
document, the names of the operation and of the client, and the tool, but no variables.
"""

from contextvars import ContextVar
from time import perf_counter
from types import TracebackType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from graphql import OperationDefinitionNode

CREDENTIAL_MAX = 100  # characters
MAX_SPANS = 500  # of one request: a write of many pages runs thousands of statements


class TraceSpan:
    """A span of a trace. Its times are readings of perf_counter(), in seconds.

    `kind` is `parse`, `plan`, `wait` (for a connection), `sql` or `operation`.
    """

    __slots__ = ("began", "ended", "error", "kind", "sql")

    ended: float
    error: str | None
    """The name of the exception's class, if an exception ended the span."""

    def __init__(self, kind: str, sql: str = "") -> None:
        self.kind, self.sql, self.began = kind, sql, perf_counter()

    @property
    def took(self) -> float:
        return self.ended - self.began


class RequestTrace:
    """The trace of one request or job."""

    document: str | None = None
    definition: "OperationDefinitionNode | None" = None
    way = "bytes"
    """How the operation was executed: `bytes` (the JSON of Postgres is passed on) or `values` (by graphql-core)."""
    context: Any = None
    ended: float | None = None
    span: Any = None
    """The OpenTelemetry span of the request, if traces are exported."""
    trace_id: str | None = None
    path: str | None = None
    """The path as the contract writes it, such as `/pages/{id}`, without values of the client."""
    caller: Any = None
    """The scope of the credential, once it is verified."""
    client: str | None = None
    """The client program, by the name that it sends."""
    tool: str | None = None
    is_stream = False
    """Whether the response is a stream, so that its duration says nothing about its speed."""

    def __init__(self, request_id: str) -> None:
        self.request_id = request_id
        self.began = perf_counter()
        self.spans: list[TraceSpan] = []
        self.codes: list[str] = []
        """The codes of the errors in the response."""
        self.refusals: list[str] = []
        """The causes for which the database could not execute statements, each one word such as `timeout`."""

    @property
    def took(self) -> float:
        """Return the duration in seconds until the end of the request, or until now."""
        return (self.ended or perf_counter()) - self.began

    def spans_of(self, kind: str) -> list[TraceSpan]:
        return [span for span in self.spans if span.kind == kind]

    def seconds_in(self, kind: str) -> float:
        """Return the sum of the durations of all spans of a kind. Concurrent spans are added up too."""
        return sum(span.took for span in self.spans_of(kind))

    @property
    def type(self) -> str | None:
        """Return `query`, `mutation` or `subscription`, or None before the operation is known."""
        return self.definition.operation.value if self.definition else None

    @property
    def name(self) -> str | None:
        return self.definition.name.value if self.definition and self.definition.name else None

    @property
    def caller_labels(self) -> dict[str, str]:
        """Return the tenant, credential, client and operation of the request, without those that are unknown."""
        caller = self.caller
        known = {
            "tenant": caller and str(caller.tenant_id),
            "credential": caller and f"{caller.actor.kind}:{caller.actor.id}"[:CREDENTIAL_MAX],
            "client": self.client,
            "operation": self.tool or self.name,
        }
        return {name: value for name, value in known.items() if value}


REQUEST_TRACE: ContextVar[RequestTrace | None] = ContextVar("trace", default=None)
CLIENT_ADDRESS: ContextVar[str | None] = ContextVar("client_address", default=None)
"""The IP address of the client of this request or connection, as trusted proxies forward it."""


class span(TraceSpan):
    """`with span("sql", text): …` records when the block began and ended, and the type of the error that ended it."""

    __slots__ = ()

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        record(self, error)


def record(span: TraceSpan, error: BaseException | None = None, ended: float = 0.0) -> None:
    """Record a span that ended now, or at the time `ended`."""
    trace = REQUEST_TRACE.get()
    if trace is not None and len(trace.spans) < MAX_SPANS:
        span.ended = ended or perf_counter()
        span.error = type(error).__name__ if error else None
        trace.spans.append(span)


def record_path(path: str) -> None:
    """Record the path of the request as the contract writes it, without the client's values of its parameters."""
    if (trace := REQUEST_TRACE.get()) is not None:
        trace.path = path


def record_document(text: str, context: Any) -> None:
    """Record the document that is about to be executed. At the end its cost is read from the context."""
    if (trace := REQUEST_TRACE.get()) is not None:
        trace.document, trace.context = text, context


def record_caller(scope: Any) -> None:
    """Record the scope of the verified credential. Logs and metrics show its id, never the credential itself."""
    if (trace := REQUEST_TRACE.get()) is not None:
        trace.caller = scope


def record_tool(name: str) -> None:
    """Record the name of the MCP tool that an agent calls."""
    if (trace := REQUEST_TRACE.get()) is not None:
        trace.tool = name


def record_operation(definition: "OperationDefinitionNode") -> None:
    if (trace := REQUEST_TRACE.get()) is not None:
        trace.definition = definition


def record_values() -> None:
    """Record that graphql-core executes this operation."""
    if (trace := REQUEST_TRACE.get()) is not None:
        trace.way = "values"


def record_stream() -> None:
    """Record that the response is a stream, which lasts until the client ends it."""
    if (trace := REQUEST_TRACE.get()) is not None:
        trace.is_stream = True


def record_error(code: str) -> None:
    """Record the code of an error in the response."""
    if (trace := REQUEST_TRACE.get()) is not None:
        trace.codes.append(code)


def record_refusal(cause: str) -> None:
    """Record the cause for which the database could not execute a statement at this time."""
    if (trace := REQUEST_TRACE.get()) is not None:
        trace.refusals.append(cause)


def has_error(code: str) -> bool:
    """Return whether an error with this code was recorded for the response so far."""
    return (trace := REQUEST_TRACE.get()) is not None and code in trace.codes


def error_count() -> int:
    """Return the number of errors that were recorded for the response so far."""
    return len(trace.codes) if (trace := REQUEST_TRACE.get()) is not None else 0


def forget_errors(count: int) -> None:
    """Remove all errors but the first `count`: the others belong to a response that is not sent."""
    if (trace := REQUEST_TRACE.get()) is not None:
        del trace.codes[count:]


def request_id() -> str | None:
    return trace.request_id if (trace := REQUEST_TRACE.get()) is not None else None
