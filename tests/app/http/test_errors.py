"""docs/reference/errors.md lists every code that a client can get, with its status, and no other code."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import asyncpg
import httpx
import pytest

from tests.app.service import Service
from tests.wiki import Wiki

ROOT = Path(__file__).parents[3]
DOCUMENT = ROOT / "docs" / "reference" / "errors.md"
ROW = re.compile(r"^\| `([A-Z_]+)` \|([^|]*)\|", re.MULTILINE)
CODE = re.compile(r"[A-Z]+(_[A-Z]+)*")
MAKERS = {"FieldError", "Invalid", "OperationError", "Refused", "error_body", "forbidden", "print_error"}


def documented() -> dict[str, str]:
    """Return the documented statuses of each code."""
    return {code: status.strip() for code, status in ROW.findall(DOCUMENT.read_text())}


def codes_of(tree: ast.AST) -> Iterator[str]:
    """Yield the codes in a source file: in `code = …`, {"code": …}, the creation of a refusal, or a command's pair."""
    for node in ast.walk(tree):
        match node:
            case ast.Assign(targets=[ast.Name("code")], value=value):
                yield from constants(value)
            case ast.Dict(keys=keys, values=values):
                named = zip(keys, values, strict=True)
                for value in (value for key, value in named if isinstance(key, ast.Constant) and key.value == "code"):
                    yield from constants(value)
            case ast.Call(func=ast.Name(name), args=[*arguments]) if name in MAKERS:
                for argument in arguments:
                    yield from constants(argument) if isinstance(argument, ast.Constant | ast.IfExp) else ()
            case ast.FunctionDef(name="__init__", args=ast.arguments(defaults=[*defaults])):
                for default in defaults:
                    yield from constants(default)
            case ast.Return(value=ast.Tuple(elts=[ast.Constant(str(first)), *_])):
                yield first


def constants(node: ast.AST) -> Iterator[str]:
    yield from (part.value for part in ast.walk(node) if isinstance(part, ast.Constant) and isinstance(part.value, str))


def test_every_code_is_documented_and_every_documented_code_exists() -> None:
    files = [
        file for package in ("app", "db", "resolvers", "schema", "selection") for file in (ROOT / package).rglob("*.py")
    ]
    used = {code for file in files for code in codes_of(ast.parse(file.read_text())) if CODE.fullmatch(code)}
    assert sorted(used) == sorted(documented())


async def ask(service: Service, token: str, method: str = "POST", body: Any = None, **headers: str) -> httpx.Response:
    given = {"authorization": f"Bearer {token}", "accept": "application/graphql-response+json"} | headers
    return await service.http.request(method, "/graphql", json=body, headers=given)


def viewer(**more: Any) -> dict[str, Any]:
    return {"query": "{ viewer { role } }", **more}


MUTATION = {"query": 'mutation { createWikiPage(input: {type: TOPIC, title: "T"}) { created } }'}
REFUSALS: list[tuple[str, int, dict[str, Any]]] = [
    ("BAD_REQUEST", 400, {"body": []}),
    ("BAD_USER_INPUT", 400, {"body": viewer(documentId=7)}),
    ("FORBIDDEN", 403, {"body": viewer(), "x-cairn-owner": "nobody"}),
    ("GRAPHQL_PARSE_FAILED", 400, {"body": {"query": "{"}}),
    ("GRAPHQL_VALIDATION_FAILED", 400, {"body": {"query": "{ nothing }"}}),
    ("LIMIT_EXCEEDED", 413, {"body": viewer(extensions={"x": "x" * 2_000_000})}),
    ("METHOD_NOT_ALLOWED", 405, {"method": "PUT"}),
    ("NOT_ACCEPTABLE", 406, {"body": viewer(), "accept": "text/html"}),
    ("OPERATION_RESOLUTION_FAILURE", 400, {"body": viewer(operationName="Other")}),
    ("PERSISTED_QUERY_NOT_FOUND", 400, {"body": {"documentId": "none"}}),
    ("UNAUTHENTICATED", 401, {"body": viewer(), "authorization": "Bearer nobody"}),
    ("UNSUPPORTED_MEDIA_TYPE", 415, {"body": viewer(), "content-type": "text/plain"}),
    ("UNSUPPORTED_MEDIA_TYPE", 415, {"body": viewer(), "content-encoding": "gzip"}),
    ("BAD_USER_INPUT", 400, {"body": MUTATION, "idempotency-key": "two words"}),
]


@pytest.mark.parametrize(("code", "status", "sent"), REFUSALS, ids=[row[0] for row in REFUSALS])
async def test_each_error_has_its_documented_status(
    service: Service, token: str, code: str, status: int, sent: dict[str, Any]
) -> None:
    response = await ask(service, token, **sent)
    assert (response.status_code, response.json()["errors"][0]["extensions"]["code"]) == (status, code)
    assert str(status) in documented()[code]


async def test_an_unreachable_database_gets_503_with_retry_after(
    service: Service, dsn: str, server_dsn: str, wiki: Wiki
) -> None:
    operator = await asyncpg.connect(server_dsn)
    name = await wiki.connection.fetchval("SELECT current_database()")
    await operator.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS false")
    await operator.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1", name)
    response = await ask(service, "cairn_" + "x" * 43, body=viewer())
    assert (response.status_code, response.json()["errors"][0]["extensions"]["code"]) == (503, "UNAVAILABLE")
    assert int(response.headers["retry-after"]) >= 1
    await operator.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS true")
    await operator.close()
