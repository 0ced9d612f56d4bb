"""The log of slow operations: each gets an entry with the time of its parts, and later one with the plan of its SQL.

The plan is Postgres's generic plan, which needs no values. To spare a slow database, at most one plan is requested at a
time, no two within a few seconds, and the plan of the same statement at most once an hour.
"""

import asyncio
import hashlib
import time
from collections import OrderedDict
from typing import Any

import structlog
from starlette.types import Scope

from db.database import Database
from observability.trace import RequestTrace, TraceSpan

log = structlog.get_logger()
MAX_STATEMENTS = 10  # in a log entry: the slowest of the operation
PAUSE = 5.0  # seconds between two plans
EXPLAIN_INTERVAL = 3600.0  # seconds between two plans of the same statement
MAX_REMEMBERED = 1000  # statements that were explained


class SlowOperations:
    """An observer that logs each operation which took at least `threshold` seconds."""

    def __init__(self, threshold: float, database: Database) -> None:
        self.threshold, self.database = threshold, database
        self.explained: OrderedDict[str, float] = OrderedDict()
        """Statements that were explained, each with the monotonic time from which it may be explained again."""
        self.paused_until = 0.0
        self.explaining: asyncio.Task[None] | None = None

    def begin(self, trace: RequestTrace, scope: Scope) -> None:
        pass

    def end(self, trace: RequestTrace, scope: Scope, status: int) -> None:
        if trace.document is None or trace.is_stream or trace.took < self.threshold:
            return
        statements = sorted(trace.spans_of("sql"), key=lambda span: span.took, reverse=True)
        slowest = [span_to_dict(span) for span in statements[:MAX_STATEMENTS]]
        log.warning("slow operation", **describe_operation(trace), statements=slowest)
        if statements and self.may_explain(statements[0].sql):
            work = self.explain(statements[0].sql, document_hash(trace.document))
            self.explaining = asyncio.get_running_loop().create_task(work)

    def may_explain(self, sql: str) -> bool:
        now = time.monotonic()
        busy = self.explaining is not None and not self.explaining.done()
        if busy or now < self.paused_until or now < self.explained.get(sql, 0.0):
            return False
        self.paused_until, self.explained[sql] = now + PAUSE, now + EXPLAIN_INTERVAL
        if len(self.explained) > MAX_REMEMBERED:
            self.explained.popitem(last=False)
        return True

    async def explain(self, sql: str, document: str) -> None:
        try:
            plan = await self.database.generic_plan(sql)
        except Exception as error:
            log.warning("slow operation not explained", document=document, error=type(error).__name__)
        else:
            log.warning("slow operation explained", document=document, sql=sql, plan=plan)

    async def close(self) -> None:
        """Cancel a running EXPLAIN. Call this before the connection pools are closed."""
        if self.explaining is not None:
            self.explaining.cancel()
            await asyncio.gather(self.explaining, return_exceptions=True)


def describe_operation(trace: RequestTrace) -> dict[str, Any]:
    """Return the fields of a log entry about an operation, with times in milliseconds and without client values."""
    kinds = ("parse", "plan", "wait", "sql")
    return {
        "document": document_hash(trace.document or ""),
        "operation": trace.name,
        "type": trace.type,
        "way": trace.way,
        "ms": milliseconds(trace.took),
        **{f"{kind}_ms": milliseconds(trace.seconds_in(kind)) for kind in kinds},
        "cost": getattr(trace.context, "spent", None),
        "codes": trace.codes,
    }


def span_to_dict(span: TraceSpan) -> dict[str, Any]:
    return {"sql": span.sql, "ms": milliseconds(span.took)} | ({"error": span.error} if span.error else {})


def document_hash(text: str) -> str:
    """Return the SHA-256 of the document text as the client sent it, which is also the id of a trusted document."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def milliseconds(seconds: float) -> float:
    return round(seconds * 1000, 2)
