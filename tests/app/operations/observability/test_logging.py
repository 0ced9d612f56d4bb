"""Tests the format, the levels and the request ids of the log, and that it contains no values of clients."""

import json
import logging
import os
import sys
import time
from collections.abc import Iterator
from datetime import datetime, timedelta
from io import TextIOWrapper
from pathlib import Path
from typing import Any

import pytest
import structlog

from app.observability.logging import configure, loggable_id, new_request_id, writer
from app.settings import Settings
from observability.trace import REQUEST_TRACE, RequestTrace
from tests.app.service import Service
from tests.wiki import Wiki


@pytest.fixture(autouse=True)
def restored_logging() -> Iterator[None]:
    before = structlog.get_config()
    yield
    structlog.configure(**before)
    REQUEST_TRACE.set(None)
    logging.getLogger().handlers.clear()


def configured() -> Any:
    configure(Settings(log_format="json", log_level="info"))
    return structlog.get_logger()


def lines(capsys: pytest.CaptureFixture[str]) -> list[dict[str, object]]:
    return [json.loads(line) for line in capsys.readouterr().err.splitlines()]


def test_a_record_is_one_line_of_json(capsys: pytest.CaptureFixture[str]) -> None:
    log = configured()
    log.info("request", path="/graphql", status=200)
    logging.getLogger("some.library").warning("careful")
    ours, theirs = lines(capsys)
    assert ours | {"timestamp": ""} == {
        "event": "request", "path": "/graphql", "status": 200, "level": "info", "timestamp": "", "pid": os.getpid(),
    }  # fmt: skip
    assert (theirs["event"], theirs["level"]) == ("careful", "warning")


def test_a_traceback_shows_no_values(capsys: pytest.CaptureFixture[str]) -> None:
    log, password = configured(), "hunter2"
    try:
        raise RuntimeError("broken")
    except RuntimeError as error:
        log.error("internal error", exc_info=error)
    (record,) = lines(capsys)
    assert "broken" in json.dumps(record)
    assert password not in json.dumps(record)


def test_debug_records_are_not_written_at_level_info(capsys: pytest.CaptureFixture[str]) -> None:
    configured().debug("detail")
    assert lines(capsys) == []


SECRET = "query($s: String!) { mobileWikiSearch(query: $s) { score } }"


async def test_a_request_writes_one_log_line_without_its_values(
    service: Service, token: str, capsys: pytest.CaptureFixture[str]
) -> None:
    response = await service.post(SECRET, token, {"s": "hunter2"}, **{"x-request-id": "mine-1"})
    await service.http.get("/healthz")
    request, health = (line for line in lines(capsys) if line["event"] == "request")
    assert response.json()["data"] == {"mobileWikiSearch": []}
    assert list(request) == [
        "method", "path", "status", "ms", "event", "request_id", "level", "timestamp", "pid", "tenant", "credential",
        "client",
    ]  # fmt: skip
    shown = {"method": "POST", "path": "/graphql", "status": 200, "request_id": "mine-1", "level": "info"}
    assert shown.items() <= request.items()
    assert isinstance(request["ms"], float)
    assert datetime.fromisoformat(str(request["timestamp"])).utcoffset() == timedelta(0)
    assert str(request["timestamp"]).endswith("Z")
    assert health["path"] == "/healthz"
    assert len(str(health["request_id"])) == 32


async def test_the_log_line_of_a_request_names_caller_and_client(
    service: Service, wiki: Wiki, capsys: pytest.CaptureFixture[str]
) -> None:
    token = service.token(wiki.scope.tenant_id, wiki.scope.owner_id)
    named = {"apollographql-client-name": "field-app", "user-agent": "okhttp/4"}
    await service.post("query Titles { viewer { role } }", token, **named)
    await service.post("query Titles { viewer { role } }", token, **{"user-agent": "okhttp/4.12 (Android)"})
    await service.post("query Titles { viewer { role } }", "nobody", **{"user-agent": '"'})
    first, second, third = (line for line in lines(capsys) if line["event"] == "request")
    caller = {"tenant": str(wiki.scope.tenant_id), "operation": "Titles", "client": "field-app"}
    assert caller.items() <= first.items()
    assert str(first["credential"]).startswith(("agent:", "user:"))
    assert second["client"] == "okhttp"
    assert not {"tenant", "credential", "client"} & third.keys()


@pytest.mark.parametrize(("level", "count"), [("debug", 1), ("info", 1), ("warning", 0), ("error", 0)])
async def test_the_request_line_is_written_only_up_to_level_info(
    capsys: pytest.CaptureFixture[str], level: Any, count: int
) -> None:
    writer(Settings(log_level=level))(RequestTrace("mine-2"), "GET", "/", 200, 0.5)
    assert [line["request_id"] for line in lines(capsys)] == ["mine-2"] * count


async def test_the_console_format_writes_text(capsys: pytest.CaptureFixture[str]) -> None:
    settings = Settings(log_format="console")
    configure(settings)
    REQUEST_TRACE.set(RequestTrace("mine-3"))
    writer(settings)(RequestTrace("mine-3"), "GET", "/", 200, 0.5)
    (line,) = capsys.readouterr().err.splitlines()
    for part in ("request", "GET", "200", "mine-3"):
        assert part in line


@pytest.mark.parametrize("path", ["/\x1b]0;mine\x07", "/\x9b31m", "/\x85\u2028", "/\u202ecod.exe"])
def test_the_console_format_shows_control_characters_as_escapes(capsys: pytest.CaptureFixture[str], path: str) -> None:
    settings = Settings(log_format="console")
    configure(settings)
    writer(settings)(RequestTrace("mine-6"), "GET", path, 404, 0.5)
    structlog.get_logger().warning(f"There is no {path}.")
    written = capsys.readouterr().err
    assert written.count(path.encode("unicode_escape").decode()) == 2
    assert path not in written


async def test_log_lines_within_a_request_have_its_id(capsys: pytest.CaptureFixture[str]) -> None:
    log = configured()
    REQUEST_TRACE.set(RequestTrace("mine-4"))
    log.warning("careful")
    logging.getLogger("some.library").warning("careful too")
    assert [line["request_id"] for line in lines(capsys)] == ["mine-4", "mine-4"]


@pytest.mark.parametrize("format", ["json", "console"])
def test_a_log_on_a_full_disk_ends_neither_requests_nor_background_tasks(
    monkeypatch: pytest.MonkeyPatch, format: Any
) -> None:
    """/dev/full refuses what is written, as a full disk does."""
    settings = Settings(log_format=format)
    with Path("/dev/full").open("wb", buffering=0) as full:
        monkeypatch.setattr(sys, "stderr", TextIOWrapper(full, write_through=True))  # type: ignore[type-var]
        configure(settings)
        structlog.get_logger().warning("links could not be rewritten")
        writer(settings)(RequestTrace("mine-5"), "GET", "/", 200, 0.5)


def test_ids_of_requests_differ_and_sort_by_time(monkeypatch: pytest.MonkeyPatch) -> None:
    assert len({new_request_id() for _ in range(1000)}) == 1000
    earlier = new_request_id()
    later = time.time_ns() + 5_000_000
    monkeypatch.setattr("app.observability.logging.time_ns", lambda: later)
    assert earlier < new_request_id()


@pytest.mark.parametrize(
    ("given", "taken"),
    [("abc-1", True), ("a" * 64, True), ("a" * 65, False), ("", False), ("a b", False), ("é", False), ("a\n", False)],
)
def test_a_request_id_of_a_client_is_used_if_it_is_loggable(given: str, taken: bool) -> None:
    assert (loggable_id(given) == given) is taken
