"""What is logged: one line a request, with an id, and nothing of what a client has sent."""

import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest
import structlog

from app.logging import configure, known_id
from app.settings import Settings


@pytest.fixture(autouse=True)
def as_it_was() -> Iterator[None]:
    yield
    structlog.reset_defaults()
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
        "event": "request", "path": "/graphql", "status": 200, "level": "info", "timestamp": "",
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


def test_debug_is_not_shown_unless_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    configured().debug("detail")
    assert lines(capsys) == []


@pytest.mark.parametrize(
    ("given", "taken"),
    [("abc-1", True), ("a" * 64, True), ("a" * 65, False), ("", False), ("a b", False), ("é", False), ("a\n", False)],
)
def test_a_clients_own_id_is_taken_when_it_can_stand_in_a_log(given: str, taken: bool) -> None:
    assert (known_id(given) == given) is taken
