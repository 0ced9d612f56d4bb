"""Operations that took long are logged with what they consisted of, and afterwards with the plan of their SQL.

The plan is Postgres's generic one, which needs no values. One is asked for at a time, for each statement once an hour,
and not more often than every few seconds: a slow database is not asked for more work than it can spare.
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
MOST_STATEMENTS = 10  # of one operation, the slowest, in one record
REST = 5.0  # seconds between two plans
AGAIN = 3600.0  # seconds until the same statement's plan is asked for once more
REMEMBERED = 1000  # statements


class SlowOperations:
    """An observer of requests. `threshold` in seconds."""

    def __init__(self, threshold: float, database: Database) -> None:
        self.threshold, self.database = threshold, database
        self.explained: OrderedDict[str, float] = OrderedDict()
        self.rested = 0.0
        self.explaining: asyncio.Task[None] | None = None

    def begin(self, trace: RequestTrace, scope: Scope) -> None:
        pass

    def end(self, trace: RequestTrace, scope: Scope, status: int) -> None:
        if trace.document is None or trace.is_stream or trace.took < self.threshold:
            return
        statements = sorted(trace.all("sql"), key=lambda part: part.took, reverse=True)
        log.warning(
            "slow operation", **facts(trace), statements=[span_to_dict(part) for part in statements[:MOST_STATEMENTS]]
        )
        if statements and self.may_explain(statements[0].sql):
            work = self.explain(statements[0].sql, document_hash(trace.document))
            self.explaining = asyncio.get_running_loop().create_task(work)

    def may_explain(self, sql: str) -> bool:
        now = time.monotonic()
        busy = self.explaining is not None and not self.explaining.done()
        if busy or now < self.rested or now < self.explained.get(sql, 0.0):
            return False
        self.rested, self.explained[sql] = now + REST, now + AGAIN
        if len(self.explained) > REMEMBERED:
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
        """Stop, before the pools are closed."""
        if self.explaining is not None:
            self.explaining.cancel()
            await asyncio.gather(self.explaining, return_exceptions=True)


def facts(trace: RequestTrace) -> dict[str, Any]:
    """Return the facts of an operation in milliseconds, without any value that a client has sent."""
    parts = ("parse", "plan", "wait", "sql")
    return {
        "document": document_hash(trace.document or ""),
        "operation": trace.name,
        "type": trace.type,
        "way": trace.way,
        "ms": milliseconds(trace.took),
        **{f"{what}_ms": milliseconds(trace.spent(what)) for what in parts},
        "cost": getattr(trace.context, "spent", None),
        "codes": trace.codes,
    }


def span_to_dict(part: TraceSpan) -> dict[str, Any]:
    return {"sql": part.sql, "ms": milliseconds(part.took)} | ({"error": part.error} if part.error else {})


def document_hash(text: str) -> str:
    """Return the SHA-256 of the document as it was sent, which is how trusted documents are named."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def milliseconds(seconds: float) -> float:
    return round(seconds * 1000, 2)
