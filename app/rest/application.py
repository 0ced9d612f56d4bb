"""The application at /api/wiki, and its contract."""

import json
import re
from functools import cache
from typing import Any

from fastapi import APIRouter, FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Match, Mount
from starlette.types import ASGIApp, Receive, Scope, Send

from db.database import Database
from lib.threads import compile_in_thread
from resolvers.auth.credentials import Credentials

from ..http.health import Readiness
from ..http.limits import Bounds
from ..http.request import Bodies
from ..settings import Settings
from .endpoint import PATH, RestEndpoint
from .models import Problem
from .problems import problem_of
from .reference import POLICY, reference
from .routes import (
    changes,
    claims,
    decisions,
    edits,
    exports,
    health,
    history,
    imports,
    lint,
    overview,
    pages,
    proposals,
    search,
    sources,
)

PARTS = (
    pages, edits, claims, decisions, proposals, history, search, sources, overview, lint, changes, imports, exports,
    health,
)  # fmt: skip
ABOUT = (
    "REST API of the wiki of a credential, or with `X-Cairn-Owner` of another one that it can access. "
    "Errors are problems (RFC 9457) with the same `code` as in the GraphQL API. To continue a list, "
    "pass its `next` as `cursor`."
)
BEARER = {"type": "http", "scheme": "bearer", "description": "Token or API key."}
OWNER = {
    "name": "X-Cairn-Owner",
    "in": "header",
    "description": "Id of another owner whose wiki the credential can access.",
    "schema": {"type": "string", "format": "uuid"},
}
IF_MATCH = {
    "name": "If-Match",
    "in": "header",
    "description": "ETag of the page. The request fails with 412 if the page has another one.",
    "schema": {"type": "string"},
}
KEY = {
    "name": "Idempotency-Key",
    "in": "header",
    "description": (
        "Idempotency key of 1 to 255 visible ASCII characters. A repeated request with the same key is executed once."
    ),
    "schema": {"type": "string", "pattern": "^[!-~]{1,255}$"},
}
EDIT_ACTIONS = ("/edit", "/rename", "/merge", "/transfer", "/restore", "/archive", "/unarchive")
OPEN = ("/health",)
UPPER = re.compile("[A-Z]")


def rest_application(settings: Settings, database: Database, credentials: Credentials, bounds: Bounds) -> FastAPI:
    """Return the application."""
    application = paths()
    application.state.readiness = Readiness(database)
    application.state.endpoint = RestEndpoint(
        database,
        credentials,
        bounds,
        Bodies(settings.max_body),
        settings.compress_over,
        settings.max_import,
    )
    return application


def paths() -> FastAPI:
    """Return the application with every path, and nothing behind them yet."""
    application = Contracted(
        title="Cairn",
        version="1",
        description=ABOUT.strip(),
        servers=[{"url": PATH}],
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        root_path_in_servers=False,
        exception_handlers={HTTPException: refuse},
        telemetry={"tracing": False, "metrics": False, "logs": False, "operation_spans": False},
    )
    application.add_routes(*(part.routes for part in PARTS))
    application.add_route("/docs", show_reference, include_in_schema=False)
    return application


async def show_reference(request: Request) -> Response:
    """Return the contract as a page for people."""
    page = await compile_in_thread(reference_page)
    return HTMLResponse(page, headers={"Content-Security-Policy": POLICY, "Cache-Control": "no-cache"})


@cache
def reference_page() -> str:
    return reference(paths().openapi())


async def refuse(request: Request, error: Exception) -> Response:
    """Answer what the router does not serve. Its own Allow header names the methods of the first route alone."""
    answer = problem_of(error)
    if answer.status_code == 405:
        every = (route for route in request.app.router.routes if isinstance(route, APIRoute))
        asked = (route for route in every if route.matches(request.scope)[0] is Match.PARTIAL)
        allowed = {name for route in asked for name in route.methods or ()}
        if "GET" in allowed:
            allowed.add("HEAD")
        answer.headers["Allow"] = ", ".join(sorted(allowed))
    return answer


class MountAll(Mount):
    """A mount that has every path below it, those with line ends too."""

    def __init__(self, path: str, app: ASGIApp) -> None:
        super().__init__(path, app)
        self.path_regex = re.compile(self.path_regex.pattern, re.DOTALL)

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve HEAD as GET; the server leaves the body out."""
        if scope.get("method") == "HEAD":
            scope = {**scope, "method": "GET"}
        await super().handle(scope, receive, send)


class Contracted(FastAPI):
    """An application whose contract says what no signature does: credentials, conditions, and the form of problems."""

    bearer = BEARER

    def add_routes(self, *routers: APIRouter) -> None:
        """Serve the routes of these, and the contract of them at /openapi.json.

        An included router would read its signatures again at the first request, for 50 ms on the event loop.
        """
        for router in routers:
            self.router.routes.extend(router.routes)
        self.add_route("/openapi.json", self.show_contract, include_in_schema=False)

    async def show_contract(self, request: Request) -> Response:
        """Return the contract, which takes 150 ms to make: in a thread, once."""
        return JSONResponse(await compile_in_thread(self.openapi))

    def complete(self, operation: dict[str, Any], path: str, method: str) -> None:
        complete(operation, path, method)

    def openapi(self) -> dict[str, Any]:
        if self.openapi_schema is None:
            self.openapi_schema = contract(self)
        return self.openapi_schema


def contract_text() -> str:
    """Return the OpenAPI document, as it is committed."""
    return json.dumps(paths().openapi(), indent=2, ensure_ascii=False)


def contract(application: Contracted) -> dict[str, Any]:
    made = get_openapi(
        title=application.title,
        version=application.version,
        description=application.description,
        routes=application.routes,
        servers=application.servers,
    )
    parts = made["components"]
    parts["securitySchemes"] = {"bearer": application.bearer}
    schemas = Problem.model_json_schema(ref_template="#/components/schemas/{model}")
    parts["schemas"] |= schemas.pop("$defs", {}) | {"Problem": schemas}
    for name in ("HTTPValidationError", "ValidationError"):
        parts["schemas"].pop(name, None)
    for path, operations in made["paths"].items():
        for method, operation in operations.items():
            application.complete(operation, path, method)
    return made


def describe(operation: dict[str, Any]) -> None:
    """Write the summary that the operation's id says, and parameters as queries have them."""
    operation["summary"] = UPPER.sub(lambda letter: f" {letter[0].lower()}", operation["operationId"]).capitalize()
    for parameter in operation.get("parameters", ()):
        parameter["schema"] = without_null(parameter["schema"])


def complete(operation: dict[str, Any], path: str, method: str) -> None:
    """Add the credential and the headers that every operation of its kind takes."""
    describe(operation)
    if path in OPEN:
        return
    operation["security"] = [{"bearer": []}]
    given = operation.setdefault("parameters", [])
    given.append(OWNER)
    if method in ("post", "patch") and path != "/import":
        given.append(KEY)
    if method == "patch" or (method == "delete" and path.startswith("/pages/")) or path.endswith(EDIT_ACTIONS):
        given.append(IF_MATCH)


def without_null(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a parameter's schema without null: it may be left out of a query, which has no word for null."""
    kinds = [kind for kind in schema.get("anyOf", ()) if kind != {"type": "null"}]
    if len(kinds) != 1:
        return schema
    return {**{name: value for name, value in schema.items() if name != "anyOf"}, **kinds[0]}
