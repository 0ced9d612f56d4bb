"""The trace of a request, recorded where things happen. Metrics, spans and the log of slow operations are made of it.

Whoever begins a request puts a RequestTrace into REQUEST_TRACE and reads it in the end; a process has no list of
listeners. Without a trace nothing is recorded. Of what a client has sent it holds
the document and its name alone.
"""

from contextvars import ContextVar
from time import perf_counter
from types import TracebackType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from graphql import OperationDefinitionNode

CREDENTIAL_MAX = 100  # characters
MOST_PARTS = 500  # of one request: a write of many pages runs thousands of statements


class TraceSpan:
    """A span. `what` is parse, plan, wait (for a connection), sql or operation. Times: perf_counter(), in seconds."""

    __slots__ = ("began", "ended", "error", "sql", "what")

    ended: float
    error: str | None

    def __init__(self, what: str, sql: str = "") -> None:
        self.what, self.sql, self.began = what, sql, perf_counter()

    @property
    def took(self) -> float:
        return self.ended - self.began


class RequestTrace:
    """`way` is how the operation was executed: bytes of Postgres are passed on, or values through graphql-core."""

    document: str | None = None
    definition: "OperationDefinitionNode | None" = None
    way = "bytes"
    context: Any = None
    ended: float | None = None
    span: Any = None  # of whoever traces
    trace_id: str | None = None
    path: str | None = None  # without what a client has put into it
    caller: Any = None  # the scope of the credential, once that is known
    client: str | None = None  # the program that asks, as it names itself
    tool: str | None = None
    is_stream = False  # its length says nothing of how fast it was answered

    def __init__(self, request_id: str) -> None:
        self.request_id = request_id
        self.began = perf_counter()
        self.parts: list[TraceSpan] = []
        self.codes: list[str] = []
        self.refusals: list[str] = []  # why the database could not do something, in words of ours

    @property
    def took(self) -> float:
        """Return the seconds until it ended or until now."""
        return (self.ended or perf_counter()) - self.began

    def all(self, what: str) -> list[TraceSpan]:
        return [part for part in self.parts if part.what == what]

    def spent(self, what: str) -> float:
        """Return the seconds, those of parts at the same time added up."""
        return sum(part.took for part in self.all(what))

    @property
    def type(self) -> str | None:
        """Return query, mutation or subscription, once that is known."""
        return self.definition.operation.value if self.definition else None

    @property
    def name(self) -> str | None:
        return self.definition.name.value if self.definition and self.definition.name else None

    @property
    def caller_labels(self) -> dict[str, str]:
        """Return who asked, as far as that is known: tenant, credential, client and operation."""
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
"""The IP address from which a request or a connection comes, past the proxies that are trusted."""


class span(TraceSpan):
    """`with span("sql", text): …` notes when that began and ended, and the kind of error that ended it."""

    __slots__ = ()

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        record(self, error)


def record(part: TraceSpan, error: BaseException | None = None, ended: float = 0.0) -> None:
    """Record a span that is over, now or at an earlier moment."""
    trace = REQUEST_TRACE.get()
    if trace is not None and len(trace.parts) < MOST_PARTS:
        part.ended, part.error = ended or perf_counter(), type(error).__name__ if error else None
        trace.parts.append(part)


def record_path(path: str) -> None:
    """Record the path of the request as the contract writes it, where a part of it is a client's value."""
    if (trace := REQUEST_TRACE.get()) is not None:
        trace.path = path


def record_document(text: str, context: Any) -> None:
    """Record the document that is about to be executed. Its cost is read from the context in the end."""
    if (trace := REQUEST_TRACE.get()) is not None:
        trace.document, trace.context = text, context


def record_caller(scope: Any) -> None:
    """Record whose credential was verified: its id is shown, never itself."""
    if (trace := REQUEST_TRACE.get()) is not None:
        trace.caller = scope


def record_tool(name: str) -> None:
    """Record the tool that an agent calls."""
    if (trace := REQUEST_TRACE.get()) is not None:
        trace.tool = name


def record_operation(definition: "OperationDefinitionNode") -> None:
    if (trace := REQUEST_TRACE.get()) is not None:
        trace.definition = definition


def record_values() -> None:
    """Record that this operation went through graphql-core."""
    if (trace := REQUEST_TRACE.get()) is not None:
        trace.way = "values"


def record_stream() -> None:
    """Record that this answer goes on for as long as its client wants it."""
    if (trace := REQUEST_TRACE.get()) is not None:
        trace.is_stream = True


def record_error(code: str) -> None:
    """Record one more error in the answer."""
    if (trace := REQUEST_TRACE.get()) is not None:
        trace.codes.append(code)


def record_refusal(cause: str) -> None:
    """Record that the database could not do something now."""
    if (trace := REQUEST_TRACE.get()) is not None:
        trace.refusals.append(cause)


def is_traced(code: str) -> bool:
    """Return whether the answer has an error of this code so far."""
    return (trace := REQUEST_TRACE.get()) is not None and code in trace.codes


def error_count() -> int:
    """Return how many errors the answer has so far."""
    return len(trace.codes) if (trace := REQUEST_TRACE.get()) is not None else 0


def forget_errors(kept: int) -> None:
    """Forget all errors but the first `kept`: the others were in an answer that is not sent."""
    if (trace := REQUEST_TRACE.get()) is not None:
        del trace.codes[kept:]


def request_id() -> str | None:
    return trace.request_id if (trace := REQUEST_TRACE.get()) is not None else None
