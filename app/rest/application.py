"""The application at /api/wiki, and its OpenAPI contract."""

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

ROUTE_MODULES = (
    pages, edits, claims, decisions, proposals, history, search, sources, overview, lint, changes, imports, exports,
    health,
)  # fmt: skip
DESCRIPTION = (
    "REST API of the wiki of a credential, or with `X-Cairn-Owner` of another one that it can access. "
    "Errors are problems (RFC 9457) with the same `code` as in the GraphQL API. To continue a list, "
    "pass its `next` as `cursor`."
)
BEARER = {"type": "http", "scheme": "bearer", "description": "Token or API key."}
OWNER_HEADER = {
    "name": "X-Cairn-Owner",
    "in": "header",
    "description": "Id of another owner whose wiki the credential can access.",
    "schema": {"type": "string", "format": "uuid"},
}
IF_MATCH_HEADER = {
    "name": "If-Match",
    "in": "header",
    "description": "ETag of the page. The request fails with 412 if the page has another one.",
    "schema": {"type": "string"},
}
IDEMPOTENCY_KEY = {
    "name": "Idempotency-Key",
    "in": "header",
    "description": (
        "Idempotency key of 1 to 255 visible ASCII characters. A repeated request with the same key is executed once."
    ),
    "schema": {"type": "string", "pattern": "^[!-~]{1,255}$"},
}
EDIT_ACTIONS = ("/edit", "/rename", "/merge", "/transfer", "/restore", "/archive", "/unarchive")
PUBLIC_PATHS = ("/health",)
UPPER = re.compile("[A-Z]")


def rest_application(settings: Settings, database: Database, credentials: Credentials, bounds: Bounds) -> FastAPI:
    """Return the application with the objects that its requests use."""
    application = make_application()
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


def make_application() -> FastAPI:
    """Return the application with all routes, but without a database. Its contract is complete."""
    application = ContractApplication("Cairn", DESCRIPTION, PATH)
    application.add_routes(*(module.routes for module in ROUTE_MODULES))
    application.add_route("/docs", show_reference, include_in_schema=False)
    return application


async def show_reference(request: Request) -> Response:
    """Return the contract as an HTML page."""
    page = await compile_in_thread(reference_page)
    return HTMLResponse(page, headers={"Content-Security-Policy": POLICY, "Cache-Control": "no-cache"})


@cache
def reference_page() -> str:
    return reference(make_application().openapi())


async def router_error_response(request: Request, error: Exception) -> Response:
    """Return the response for an unknown path or method.

    The Allow header names the methods of all routes of the path; the router's own names only those of the first.
    """
    answer = problem_of(error)
    if answer.status_code == 405:
        routes = (route for route in request.app.router.routes if isinstance(route, APIRoute))
        matching = (route for route in routes if route.matches(request.scope)[0] is Match.PARTIAL)
        allowed = {name for route in matching for name in route.methods or ()}
        if "GET" in allowed:
            allowed.add("HEAD")
        answer.headers["Allow"] = ", ".join(sorted(allowed))
    return answer


class MountAll(Mount):
    """A mount that serves all paths below its own, including paths with line breaks."""

    def __init__(self, path: str, app: ASGIApp) -> None:
        super().__init__(path, app)
        self.path_regex = re.compile(self.path_regex.pattern, re.DOTALL)

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve HEAD as GET. The server omits the body."""
        if scope.get("method") == "HEAD":
            scope = {**scope, "method": "GET"}
        await super().handle(scope, receive, send)


class ContractApplication(FastAPI):
    """An application whose contract includes what signatures do not show: credentials, common headers and problems."""

    bearer = BEARER

    def __init__(self, title: str, description: str, path: str) -> None:
        """Create an application without routes, which is served at `path`."""
        super().__init__(
            title=title,
            version="1",
            description=description.strip(),
            servers=[{"url": path}],
            openapi_url=None,
            docs_url=None,
            redoc_url=None,
            redirect_slashes=False,
            root_path_in_servers=False,
            exception_handlers={HTTPException: router_error_response},
            telemetry={"tracing": False, "metrics": False, "logs": False, "operation_spans": False},
        )

    def add_routes(self, *routers: APIRouter) -> None:
        """Add the routes of the routers, and their contract at /openapi.json.

        `include_router` would analyse all signatures again at the first request, for 50 ms on the event loop.
        """
        for router in routers:
            self.router.routes.extend(router.routes)
        self.add_route("/openapi.json", self.show_contract, include_in_schema=False)

    async def show_contract(self, request: Request) -> Response:
        """Return the contract. It is created once, in a thread, because that takes 150 ms."""
        return JSONResponse(await compile_in_thread(self.openapi))

    def complete_operation(self, operation: dict[str, Any], path: str, method: str) -> None:
        complete_wiki_operation(operation, path, method)

    def openapi(self) -> dict[str, Any]:
        if self.openapi_schema is None:
            self.openapi_schema = make_contract(self)
        return self.openapi_schema


def contract_text() -> str:
    """Return the OpenAPI document as JSON text, in the form in which it is committed."""
    return json.dumps(make_application().openapi(), indent=2, ensure_ascii=False)


def make_contract(application: ContractApplication) -> dict[str, Any]:
    """Return the OpenAPI document of an application."""
    document = get_openapi(
        title=application.title,
        version=application.version,
        description=application.description,
        routes=application.routes,
        servers=application.servers,
    )
    components = document["components"]
    components["securitySchemes"] = {"bearer": application.bearer}
    schemas = Problem.model_json_schema(ref_template="#/components/schemas/{model}")
    components["schemas"] |= schemas.pop("$defs", {}) | {"Problem": schemas}
    for name in ("HTTPValidationError", "ValidationError"):
        components["schemas"].pop(name, None)
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            application.complete_operation(operation, path, method)
    return document


def set_summary(operation: dict[str, Any]) -> None:
    """Set the summary of an operation from its id, and remove null from its parameters."""
    operation["summary"] = UPPER.sub(lambda letter: f" {letter[0].lower()}", operation["operationId"]).capitalize()
    for parameter in operation.get("parameters", ()):
        parameter["schema"] = without_null(parameter["schema"])


def complete_wiki_operation(operation: dict[str, Any], path: str, method: str) -> None:
    """Add the credential and the common headers to an operation."""
    set_summary(operation)
    if path in PUBLIC_PATHS:
        return
    operation["security"] = [{"bearer": []}]
    parameters = operation.setdefault("parameters", [])
    parameters.append(OWNER_HEADER)
    if method in ("post", "patch") and path != "/import":
        parameters.append(IDEMPOTENCY_KEY)
    if method == "patch" or (method == "delete" and path.startswith("/pages/")) or path.endswith(EDIT_ACTIONS):
        parameters.append(IF_MATCH_HEADER)


def without_null(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a parameter without null: a parameter of a query can be omitted, but not be null."""
    choices = [choice for choice in schema.get("anyOf", ()) if choice != {"type": "null"}]
    if len(choices) != 1:
        return schema
    return {**{name: value for name, value in schema.items() if name != "anyOf"}, **choices[0]}
