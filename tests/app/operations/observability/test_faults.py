"""Tests that errors outside of operations have the common form, and that each server fault is logged once."""

import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
import structlog
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from app.http.errors import ErrorMiddleware
from app.observability.logging import RequestLog
from app.settings import Settings
from tests.app.service import Service
from tests.wiki import Wiki

VIEWER = "{ viewer { tenant { slug } } }"


@pytest.fixture
def records() -> Iterator[list[Any]]:
    with structlog.testing.capture_logs() as records:
        yield records


def codes(response: httpx.Response) -> set[str]:
    return {error["extensions"]["code"] for error in response.json()["errors"]}


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", "/nothing", 404, "NOT_FOUND"),
        ("GET", "/graphql/", 404, "NOT_FOUND"),
        ("POST", "/healthz", 405, "METHOD_NOT_ALLOWED"),
        ("DELETE", "/graphiql", 405, "METHOD_NOT_ALLOWED"),
        ("GET", "/graphiql/assets/../../settings.py", 404, "NOT_FOUND"),
    ],
)
async def test_unknown_paths_and_methods_get_the_common_error_form(
    service: Service, method: str, path: str, status: int, code: str
) -> None:
    response = await service.http.request(method, path)
    assert (response.status_code, codes(response)) == (status, {code})
    assert response.headers["content-type"] == "application/json"
    assert ("allow" in response.headers) is (status == 405)


@pytest.mark.parametrize("method", ["PUT", "DELETE", "HEAD", "PATCH", "OPTIONS", "TRACE"])
async def test_other_methods_on_graphql_are_refused_with_a_code(service: Service, token: str, method: str) -> None:
    response = await service.http.request(method, "/graphql", headers={"authorization": f"Bearer {token}"})
    assert (response.status_code, response.headers["allow"]) == (405, "GET, POST")
    assert method == "HEAD" or codes(response) == {"METHOD_NOT_ALLOWED"}


async def test_a_server_fault_is_masked_and_logged_once_under_the_returned_id(
    service: Service, token: str, monkeypatch: pytest.MonkeyPatch, records: list[Any]
) -> None:
    async def broken(*_: object, **__: object) -> None:
        raise RuntimeError("password=hunter2")

    monkeypatch.setattr("resolvers.context.Context.fetch", broken)
    response = await service.post("{ recentWikiPages { id } }", token, **{"x-request-id": "mine-1"})
    (error,) = response.json()["errors"]
    assert error["extensions"] == {"code": "INTERNAL_SERVER_ERROR", "requestId": "mine-1"}
    assert "mine-1" in error["message"]
    assert "hunter2" not in response.text
    assert [record["event"] for record in records if record["log_level"] == "error"] == ["internal error"]


async def test_a_fault_before_the_operation_is_masked_as_well(
    service: Service, token: str, monkeypatch: pytest.MonkeyPatch, records: list[Any]
) -> None:
    async def broken(*_: object, **__: object) -> None:
        raise RuntimeError("password=hunter2")

    monkeypatch.setattr("resolvers.auth.credentials.Credentials.scope", broken)
    response = await service.post(VIEWER, token, **{"x-request-id": "mine-2"})
    assert response.status_code == 500
    assert response.json()["errors"][0]["extensions"]["requestId"] == "mine-2"
    assert [record["event"] for record in records if record["log_level"] == "error"] == ["internal error"]


async def test_a_client_error_is_not_logged_as_a_server_error(
    service: Service, token: str, wiki: Wiki, records: list[Any]
) -> None:
    for query in ("{", "{ nothing }", 'mutation { deleteWikiPage(pageId: "x") { deletedPageId } }', VIEWER + VIEWER):
        await service.post(query, token)
    await service.post(VIEWER, "no token")
    await service.http.post("/graphql", content=b"\xff")
    assert records == [], "apart from the line of each request"


async def fails(request: Request) -> Response:
    raise RuntimeError("password=hunter2")


async def fails_late(request: Request) -> Response:
    async def parts() -> Any:
        yield b"half"
        raise RuntimeError("password=hunter2")

    return StreamingResponse(parts())


@pytest.fixture
def app() -> Starlette:
    routes = [Route("/fails", fails), Route("/fails-late", fails_late)]
    return Starlette(
        routes=routes, middleware=[Middleware(RequestLog, settings=Settings()), Middleware(ErrorMiddleware)]
    )


async def test_a_fault_of_any_other_route_is_answered_and_logged_once(app: Starlette, records: list[Any]) -> None:
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://x") as http:
        response = await http.get("/fails")
    assert (response.status_code, codes(response)) == (500, {"INTERNAL_SERVER_ERROR"})
    assert response.json()["errors"][0]["extensions"]["requestId"] == response.headers["x-request-id"]
    assert [record["event"] for record in records] == ["internal error"]
    assert "hunter2" not in json.dumps(response.json())


async def test_a_response_that_fails_midway_is_not_completed(app: Starlette) -> None:
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://x") as http:
        with pytest.raises(RuntimeError):
            await http.get("/fails-late")
