"""A client of /api/wiki that compares every response with the contract: documented status, exact shape."""

import json
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import httpx
from pydantic import TypeAdapter

from app.rest.endpoint import PATH
from app.rest.models import Problem, ResponseModel
from app.rest.problems import PROBLEM

ROOT = Path(__file__).parents[3]


@cache
def contract() -> dict[str, Any]:
    """Return the committed contract: building it would block the event loop of the tests that use this client."""
    document: dict[str, Any] = json.loads((ROOT / "schema" / "openapi.json").read_text())
    return document


@cache
def response_models() -> dict[str, type[ResponseModel]]:
    """Return the response models by the names that they have in the contract."""
    found = ResponseModel.__subclasses__()
    for shape in found:
        found.extend(shape.__subclasses__())
    return {shape.__name__: shape for shape in found}


@dataclass
class RestClient:
    """A client with one credential."""

    http: httpx.AsyncClient
    token: str

    async def ask(self, method: str, path: str, **given: Any) -> httpx.Response:
        headers = {"authorization": f"Bearer {self.token}"} | given.pop("headers", {})
        answer = await self.http.request(method, PATH + path, headers=headers, **given)
        check_response(method, path.partition("?")[0], answer)
        return answer

    async def get(self, path: str, **given: Any) -> httpx.Response:
        return await self.ask("GET", path, **given)

    async def post(self, path: str, json: Any = None, **given: Any) -> httpx.Response:
        return await self.ask("POST", path, json=json, **given)

    async def create_page(self, title: str, type: str = "topic", content: str = "Text.", **more: Any) -> dict[str, Any]:
        answer = await self.post("/pages", {"title": title, "type": type, "content": content, **more})
        assert answer.status_code == 201, answer.text
        page: dict[str, Any] = answer.json()
        return page


def check_response(method: str, path: str, answer: httpx.Response) -> None:
    """Check that the contract documents the status of a response and has exactly the fields of its body."""
    operation = next((found for known, found in operations(method) if re.fullmatch(known, path)), None)
    if operation is None:
        assert answer.status_code in (404, 405)
    else:
        assert str(answer.status_code) in operation["responses"], answer.text
    if answer.status_code >= 400:
        assert answer.headers["content-type"] == PROBLEM
        TypeAdapter(Problem).validate_json(answer.content)
        assert answer.json()["request_id"] == answer.headers["x-request-id"]
    elif answer.headers.get("content-type") == "application/json":
        assert operation is not None
        response_schema = operation["responses"][str(answer.status_code)]["content"]["application/json"]["schema"]
        forms = [
            response_models()[reference["$ref"].rpartition("/")[2]]
            for reference in response_schema.get("anyOf", [response_schema])
        ]
        check_fields(next(form for form in forms if form.model_fields.keys() == answer.json().keys()), answer.json())


def operations(method: str) -> list[tuple[str, dict[str, Any]]]:
    paths = contract()["paths"].items()
    known = {re.sub(r"\{\w+\}", "[^/]+", path).replace(".zip", r"\.zip"): by.get(method.lower()) for path, by in paths}
    return [(path, operation) for path, operation in known.items() if operation]


def check_fields(model: Any, body: dict[str, Any]) -> None:
    """Check that a body has exactly the fields of a model, at every level."""
    TypeAdapter(model).validate_python(body)
    assert body.keys() == model.model_fields.keys()
    for name, field in model.model_fields.items():
        inner = next(
            (argument for argument in getattr(field.annotation, "__args__", ()) if hasattr(argument, "model_fields")),
            None,
        )
        for item in body[name] if isinstance(body[name], list) else ():
            if inner:
                check_fields(inner, item)


def status_and_code(answer: httpx.Response) -> tuple[int, str]:
    """Return the HTTP status and the code of an error response."""
    return answer.status_code, answer.json()["code"]
