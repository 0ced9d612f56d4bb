"""A request trace records spans and errors, and nothing is recorded without one."""

import asyncio
from collections.abc import Iterator

import pytest

from lib.lru import LRU, CacheStats
from observability.trace import MAX_SPANS, REQUEST_TRACE, RequestTrace, record_error, request_id, span


@pytest.fixture
def trace() -> Iterator[RequestTrace]:
    trace = RequestTrace("id")
    token = REQUEST_TRACE.set(trace)
    yield trace
    REQUEST_TRACE.reset(token)


def test_nothing_is_recorded_without_a_request_trace() -> None:
    with span("sql", "SELECT 1"):
        record_error("NOT_FOUND")
    assert request_id() is None


def test_spans_record_times_and_error_types_but_not_messages(trace: RequestTrace) -> None:
    with span("wait"):
        pass
    with pytest.raises(ValueError, match="hunter2"), span("sql", "SELECT 1"):
        raise ValueError("hunter2")
    wait, sql = trace.spans
    assert trace.began <= wait.began <= wait.ended <= sql.began <= sql.ended
    assert (wait.error, sql.error, sql.sql) == (None, "ValueError", "SELECT 1")
    assert trace.seconds_in("sql") == sql.took
    assert "hunter2" not in repr(trace.spans)


def test_a_trace_keeps_at_most_the_maximum_number_of_spans(trace: RequestTrace) -> None:
    for _ in range(MAX_SPANS + 1):
        with span("sql", "SELECT 1"):
            pass
    assert len(trace.spans) == MAX_SPANS


async def test_tasks_of_a_request_share_a_trace_and_requests_do_not(trace: RequestTrace) -> None:
    async def step(name: str) -> None:
        with span("sql", name):
            await asyncio.sleep(0)

    async def other() -> int:
        REQUEST_TRACE.set(RequestTrace("other"))
        await step("c")
        found = REQUEST_TRACE.get()
        return len(found.spans) if found else 0

    *_, count = await asyncio.gather(step("a"), step("b"), asyncio.create_task(other()))
    assert sorted(span.sql for span in trace.spans) == ["a", "b"]
    assert count == 1


async def test_caches_count_hits_and_record_a_span_only_for_a_miss(trace: RequestTrace) -> None:
    stats = CacheStats()
    cache: LRU[int] = LRU(2, "plan", stats)
    for key in (1, 1, 2, 3, 1):
        assert await cache.get_or_create_in_thread(key, lambda: 7) == 7
    assert (stats.hits, stats.misses, stats.evictions) == (1, 4, 2)
    assert [span.kind for span in trace.spans] == ["plan"] * 4
