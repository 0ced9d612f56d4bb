"""Content negotiation: the response types that a client accepts and prefers (RFC 9110, section 12.5.1)."""

import pytest
from starlette.types import Scope

from app.http.request import EVENTS, GRAPHQL_JSON, JSON, Refused, answer_type, wants_events


def request_accepting(accepted: str) -> Scope:
    return {"type": "http", "headers": [(b"accept", accepted.encode())]}


@pytest.mark.parametrize(
    ("accepted", "expected"),
    [
        ("text/event-stream", True),
        ("Text/Event-Stream; charset=utf-8", True),
        ("text/event-stream, */*", True),
        ("*/*, text/event-stream", True),
        ("text/event-stream, application/json", True),
        ("text/event-stream;q=0.9, application/json;q=0.8", True),
        ("application/json;q=0.5, text/event-stream", True),
        ("application/json;q=0, text/event-stream;q=0.1", True),
        ("application/json, text/event-stream", False),
        ("text/event-stream;q=0.5, application/json", False),
        ("text/event-stream;q=0.5, */*", False),
        ("text/event-stream; q=0.5, application/graphql-response+json;q=0.7", False),
        ("text/event-stream;q=0", False),
        ("text/event-stream; Q=0.000, */*", False),
        ("*/*", False),
        ("text/*", False),
        ("text/event-streams", False),
    ],
)
def test_events_are_sent_to_clients_that_prefer_them(accepted: str, expected: bool) -> None:
    assert wants_events(request_accepting(accepted)) is expected


@pytest.mark.parametrize(
    ("accepted", "expected"),
    [
        ("", JSON),
        ("*", JSON),
        ("text/html, application/xml;q=0.9, */*;q=0.8", JSON),
        ("application/*", JSON),
        (f"{JSON}, {GRAPHQL_JSON}", GRAPHQL_JSON),
        (f"{GRAPHQL_JSON}, {JSON};q=0.9", GRAPHQL_JSON),
        (f"{JSON}, {GRAPHQL_JSON};q=0.9", JSON),
        (f"{GRAPHQL_JSON};q=0.5, */*;q=0.1", GRAPHQL_JSON),
        (f"{JSON};q=0, */*", GRAPHQL_JSON),
        (f"{GRAPHQL_JSON};q=0, application/*;q=0.2", JSON),
        (f"{JSON};q=much", JSON),
        (f"{EVENTS}, {JSON};q=0.001", JSON),
    ],
)
def test_the_response_has_the_preferred_type(accepted: str, expected: str) -> None:
    assert answer_type(request_accepting(accepted)) == expected


@pytest.mark.parametrize("accepted", ["text/html", f"{JSON};q=0", f"{JSON};q=0.0, text/*", "application/*;q=0, */*"])
def test_a_client_that_accepts_no_json_is_refused(accepted: str) -> None:
    with pytest.raises(Refused) as refused:
        answer_type(request_accepting(accepted))
    assert refused.value.status == 406
