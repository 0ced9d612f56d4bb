"""Slow operations are logged once, with the plan of their SQL, and without values that a client sent."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import structlog
from graphql import parse

from app.observability.slow_operations import SlowOperations, document_hash
from db.database import Database
from observability.trace import RequestTrace, TraceSpan
from tests.app.service import serving
from tests.waiting import within
from tests.wiki import Wiki

QUERY = """query Slow($prefix: String) {
    wikiPages(first: 3, filter: {titlePrefix: $prefix, tags: ["hunter2"]}) { nodes { id title } } }"""


@pytest.fixture
def records() -> Iterator[list[Any]]:
    with structlog.testing.capture_logs() as records:
        yield records


def with_event(records: list[Any], event: str) -> list[dict[str, Any]]:
    return [record for record in records if record["event"] == event]


async def wait_for_event(records: list[Any], event: str) -> dict[str, Any]:
    async with within("nothing was logged of this event"):
        while not with_event(records, event):
            await asyncio.sleep(0.01)
    return with_event(records, event)[0]


async def test_a_slow_operation_is_logged_with_its_parts_and_its_plan(
    dsn: str, tmp_path: Path, wiki: Wiki, records: list[Any]
) -> None:
    async with serving(dsn, tmp_path, slow_operation=0.000001) as service:
        token = service.token(wiki.scope.tenant_id, wiki.scope.owner_id)
        await service.ask(QUERY, token, prefix="hunter2")
        explained = await asyncio.wait_for(wait_for_event(records, "slow operation explained"), 10)
    (slow,) = with_event(records, "slow operation")
    assert slow["document"] == explained["document"] == document_hash(QUERY)
    assert (slow["operation"], slow["type"], slow["way"], slow["cost"]) == ("Slow", "query", "bytes", 4)
    assert slow["ms"] >= slow["parse_ms"] + slow["plan_ms"] > 0
    assert slow["sql_ms"] > 0, "what was sent at the same time is in it too"
    assert slow["statements"][0]["sql"] == explained["sql"]
    assert "Scan" in explained["plan"]
    assert "hunter2" not in str(records)


async def test_a_slow_write_is_explained_without_being_repeated(
    dsn: str, tmp_path: Path, wiki: Wiki, records: list[Any]
) -> None:
    text = 'mutation { createWikiPage(input: {type: TOPIC, title: "hunter2"}) { page { id } } }'
    async with serving(dsn, tmp_path, slow_operation=0.000001) as service:
        token = service.token(wiki.scope.tenant_id, wiki.scope.owner_id)
        await service.ask(text, token)
        await asyncio.wait_for(wait_for_event(records, "slow operation explained"), 10)
    assert len(with_event(records, "slow operation")[0]["statements"]) == 8
    assert len(await wiki.rows("pages")) == 1
    assert "hunter2" not in str(records)


async def test_fast_operations_and_other_requests_are_not_logged(
    dsn: str, tmp_path: Path, wiki: Wiki, records: list[Any]
) -> None:
    for threshold in (100, 0):
        async with serving(dsn, tmp_path, slow_operation=threshold) as service:
            await service.ask("{ viewer { role } }", service.token(wiki.scope.tenant_id, wiki.scope.owner_id))
            await service.http.get("/readyz")
    assert not with_event(records, "slow operation")


@pytest.fixture
async def database(shared_dsn: str) -> Any:
    database = Database(shared_dsn, size=1)
    await database.open()
    yield database
    await database.close()


def trace(sql: str) -> RequestTrace:
    request_trace = RequestTrace("id")
    request_trace.document, request_trace.ended = "{ a }", request_trace.began + 9
    request_trace.definition = parse("{ a }").definitions[0]  # type: ignore[assignment]
    request_trace.spans = [TraceSpan("sql", sql)]
    request_trace.spans[0].ended, request_trace.spans[0].error = request_trace.spans[0].began + 9, None
    return request_trace


async def test_slow_statements_are_explained_rarely_and_one_at_a_time(
    database: Database, records: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = SlowOperations(1, database)
    slow.end(trace("SELECT $1::int"), {}, 200)
    slow.end(trace("SELECT $1::text"), {}, 200)  # while the first is being asked for
    await asyncio.wait_for(wait_for_event(records, "slow operation explained"), 10)
    slow.end(trace("SELECT $1::text"), {}, 200)  # too soon after it
    monkeypatch.setattr(slow, "paused_until", 0.0)
    slow.end(trace("SELECT $1::int"), {}, 200)  # the same one again
    slow.end(trace("SELECT nothing"), {}, 200)
    await asyncio.wait_for(wait_for_event(records, "slow operation not explained"), 10)
    await slow.close()
    assert [record["sql"] for record in with_event(records, "slow operation explained")] == ["SELECT $1::int"]
    assert len(with_event(records, "slow operation")) == 5
