"""The endpoints of the reader: what its requests share, the visits of people who are signed in, and error pages."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import structlog
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from db.database import Database
from db.scope import Scope as Wiki
from observability.trace import record_error, record_path
from resolvers.auth.credentials import Credentials
from resolvers.auth.oidc import Provider
from resolvers.errors import CairnError, NoCredential, Unauthenticated
from resolvers.rate_limits import Account, Throttled
from resolvers.transactions.db_errors import translate_error
from schema.errors import masked

from ..http.limits import Bounds
from ..http.request import Bodies, GraphQLRequest, Refused, header
from ..http.responses import make_delivery
from ..oauth.server import AuthorizationServer
from ..rest.problems import STATUSES
from ..stored_queries import run_stored_query, stored_query
from ..subscriptions.operations import Credential
from ..subscriptions.sse import EventStream
from ..subscriptions.streams import Streams
from .forms import MULTIPART, Upload, content_type, read_form, read_multipart
from .paths import is_api_path, path_to, redirect
from .rendering import render
from .session import check_same_origin, credential, sign_out
from .shell import add_shown_wiki, with_shell

log = structlog.get_logger()
OWN_FORMS = "form-action 'self'"
# Allows only scripts, styles and requests of this service, and forbids scripts to turn text into markup.
POLICY = "; ".join(
    (
        "default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self' data:", "connect-src 'self'",
        OWN_FORMS, "base-uri 'none'", "frame-ancestors 'none'", "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    )
)  # fmt: skip
HTML = "text/html; charset=utf-8"
MESSAGES = {
    404: "There is nothing at this address. Search for what you are looking for, or go to the home page.",
    405: "This address does not accept this request. Open the page again and use its buttons.",
}


@dataclass(frozen=True)
class Web:
    """The objects and limits that all requests of the reader share."""

    database: Database
    credentials: Credentials
    bounds: Bounds
    bodies: Bodies
    compress_over: int
    """The size in bytes above which responses are compressed; 0 for never."""
    streams: Streams
    local_token: str | None = None
    """The token that signs in browsers on this machine without a cookie."""
    files: Bodies | None = None
    """The reader of request bodies with a file, if these may be larger than other bodies."""
    oauth: AuthorizationServer | None = None
    provider: Provider | None = None
    """The OpenID provider by which people can sign in."""


class Proposed(CairnError):
    """The write became a proposal and waits for a reviewer. `path` is the page of the proposal."""

    code = "REVIEW_REQUIRED"

    def __init__(self, message: str, owner: str, id: str) -> None:
        super().__init__(message)
        self.path = path_to("proposal", owner, id, made="1")


@dataclass
class Visit:
    """A request of a person who is signed in, with what its body contains."""

    web: Web
    request: Request
    wiki: Wiki
    account: Account
    form: Mapping[str, str] = field(default_factory=dict)
    file: bytes = b""
    """The body of a request that sends a file instead of a form."""
    upload: Upload | None = None
    """The file that was sent with a form."""

    @property
    def owner(self) -> str | None:
        """Return the slug of the wiki that the path names, or None if it names none."""
        return self.request.path_params.get("owner")

    def parameter(self, name: str) -> str:
        """Return a parameter of the query string, stripped, or an empty text if it is missing."""
        return self.request.query_params.get(name, "").strip()

    def form_field(self, name: str) -> str:
        """Return a field of the form with LF line ends, or an empty text if it is missing."""
        return self.form.get(name, "").replace("\r\n", "\n")

    async def query(self, document: str, operation: str | None = None, **variables: Any) -> Any:
        """Execute an operation of queries/<document>.graphql with this person's credential and return its data."""
        context = self.web.bounds.context(self.web.database, self.wiki, self.account)
        all_variables = {"tenantId": str(self.wiki.tenant_id), "owner": self.owner} | variables
        data = await run_stored_query(with_shell(document), operation, all_variables, self.web.bounds, context)
        if (viewer := data.get("viewer")) and "scopes" in viewer:
            await add_shown_wiki(self, viewer)
        return data

    async def mutate(self, document: str, operation: str, **variables: Any) -> dict[str, Any]:
        """Execute a mutation whose field has the alias `payload` and return its payload. Raises Proposed."""
        payload: dict[str, Any] = (await self.query(document, operation, **variables))["payload"]
        for error in payload["userErrors"]:
            if error["proposalId"]:
                raise Proposed(error["message"], self.owner or "", error["proposalId"])
        return payload

    async def show(self, template: str, status: int = 200, **values: Any) -> Response:
        """Return a rendered page of the reader. The values must contain `viewer`."""
        return await render_response(self.web, self.request, template, status, owner_slug=self.owner, **values)


async def render_response(
    web: Web, request: Request, template: str, status: int, *, allowed_form_origin: str = "", **values: Any
) -> Response:
    """Render a template as the response to a request, with compression and an ETag.

    `allowed_form_origin` is another origin to which the page's form may redirect the browser: the policy of the page
    allows it.
    """
    here = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    site = f"{request.url.scheme}://{request.url.netloc}"
    body = render(template, here=here, site=site, **values).encode()
    delivery = await make_delivery(request.scope, status, body, web.compress_over)
    headers = {name.decode(): value.decode() for name, value in delivery.headers}
    headers["vary"] = "Cookie, Accept-Encoding"
    policy = POLICY.replace(OWN_FORMS, f"{OWN_FORMS} {allowed_form_origin}") if allowed_form_origin else POLICY
    return Response(delivery.body, delivery.status, headers | {"content-security-policy": policy}, HTML)


Handler = Callable[[Visit], Awaitable[Response]]


def page_route(web: Web, path: str, handle: Handler, method: str = "GET", *, takes: str = "form") -> Route:
    """Return the route of a page that requires a signed-in person.

    `takes` is the body of a POST: "form", "upload" (a form that may have a file), or "file" (a file alone).
    """

    async def endpoint(request: Request) -> Response:
        record_path(path)
        try:
            return await handle_visit(web, request, handle, takes)
        except Exception as error:
            return await error_page(web, request, error)

    return Route(path, endpoint, methods=[method])


class PageEvents:
    """The endpoint of the server-sent events that tell an open page of the reader that it was changed."""

    def __init__(self, web: Web) -> None:
        self.web = web

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope)

        def read_credential() -> Credential:
            check_same_origin(request)
            return self.web.streams.credential(f"Bearer {credential(request, self.web.local_token)}", None)

        async def make_request(wiki: Wiki) -> GraphQLRequest:
            variables = {"tenantId": str(wiki.tenant_id), "id": request.path_params["id"]}
            return GraphQLRequest(stored_query("web", "follow"), variables, None)

        await EventStream(self.web.streams, scope, receive, send).serve_operation(read_credential, make_request)


async def handle_visit(web: Web, request: Request, handle: Handler, takes: str) -> Response:
    """Authenticate a request, read its body and handle it. A POST must come from a page of this service."""
    form: Mapping[str, str] = {}
    file, upload = b"", None
    if request.method == "POST":
        check_same_origin(request)
    wiki = await web.credentials.scope(f"Bearer {credential(request, web.local_token)}")
    if request.method == "POST":
        if takes == "file":
            file = await (web.files or web.bodies).read(request.scope, request.receive)
        elif takes == "upload" and content_type(request) == MULTIPART:
            form, upload = await read_multipart(web.files or web.bodies, request)
        else:
            form = await read_form(web.bodies, request)

    def work(account: Account) -> Awaitable[Response]:
        return handle(Visit(web, request, wiki, account, form, file, upload))

    return await web.bounds.admit(wiki, work)


# -- errors


async def error_page(web: Web, request: Request, error: Exception) -> Response:
    """Return the page of an error, or a redirect: for Proposed to the proposal, for Unauthenticated to the sign-in."""
    error = translate_error(error)
    if isinstance(error, Proposed):
        return redirect(error.path)
    if isinstance(error, Unauthenticated):
        return redirect_to_sign_in(request, error)
    status, code, message, headers = describe_error(error)
    record_error(code)
    missing = request.path_params if status == 404 and {"owner", "slug"} <= request.path_params.keys() else None
    viewer = await find_viewer(web, request) if status < 500 and not isinstance(error, Throttled) else None
    values: dict[str, Any] = {"code": code, "message": message, "missing": missing, "viewer": viewer}
    response = await render_response(
        web, request, "error.html", status, owner_slug=readable_owner(request, viewer), **values
    )
    response.headers.update(headers)
    return response


async def find_viewer(web: Web, request: Request) -> dict[str, Any] | None:
    """Return the signed-in person for the navigation of an error page, or None if that cannot be read."""
    try:
        wiki = await web.credentials.scope(f"Bearer {credential(request, web.local_token)}")

        async def read(account: Account) -> dict[str, Any]:
            found = await Visit(web, request, wiki, account).query("search", "Nothing")
            viewer: dict[str, Any] = found["viewer"]
            return viewer

        return await web.bounds.admit(wiki, read)
    except CairnError:
        return None
    except Exception as error:
        log.warning("an error page has no navigation", reason=type(error).__name__)
        return None


def readable_owner(request: Request, viewer: Mapping[str, Any] | None) -> str | None:
    """Return the slug of the wiki that the path names if this person may read it, else None."""
    owner = request.path_params.get("owner")
    slugs = {space["slug"] for space in viewer["scopes"]["nodes"]} if viewer else set()
    return owner if owner in slugs else None


def describe_error(error: Exception) -> tuple[int, str, str, dict[str, str]]:
    """Return the HTTP status, the code, the message and the headers for an error, and log an unexpected one."""
    match error:
        case Refused():
            return error.status, error.code, error.message, {}
        case Throttled():
            return 429, error.code, error.message, {"retry-after": str(error.retry_after)}
        case CairnError():
            return STATUSES.get(error.code, 400), error.code, error.message, {}
        case HTTPException():
            code = {404: "NOT_FOUND", 405: "METHOD_NOT_ALLOWED"}.get(error.status_code, "BAD_REQUEST")
            message = MESSAGES.get(error.status_code, str(error.detail))
            return error.status_code, code, message, dict(error.headers or {})
    log.error("internal error", exc_info=error)
    shown = masked()
    return 500, shown["extensions"]["code"], shown["message"], {}


def redirect_to_sign_in(request: Request, error: Unauthenticated) -> Response:
    """Redirect to the sign-in page. The cookie of a credential that is no longer valid is deleted."""
    here = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    is_new = isinstance(error, NoCredential)
    response = redirect(path_to("sign-in", next=here if request.method == "GET" else "", ended="" if is_new else "1"))
    if not is_new:
        sign_out(request, response)
    return response


def wants_html(request: Request) -> bool:
    """Return whether the response should be an HTML page for a person, and not the JSON of an API."""
    return not is_api_path(request.url.path) and "text/html" in (header(request.scope, b"accept") or "")
