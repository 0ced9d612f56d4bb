"""The endpoint of the reader: it signs people in, keeps other sites' forms out, and answers errors as pages."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from ipaddress import ip_address
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

import structlog
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from db.database import Database
from db.scope import Scope as Wiki
from observability.trace import record_error, record_path
from resolvers.auth.credentials import Credentials
from resolvers.auth.oidc import Provider
from resolvers.errors import CairnError, Forbidden, NoCredential, Unauthenticated
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
from .rendering import render

log = structlog.get_logger()
# Scripts, styles and requests of this service alone, and no way from text to markup in a script.
OWN_FORMS = "form-action 'self'"
POLICY = "; ".join(
    (
        "default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self' data:", "connect-src 'self'",
        OWN_FORMS, "base-uri 'none'", "frame-ancestors 'none'", "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    )
)  # fmt: skip
LOOPBACK = ("localhost", "127.0.0.1", "::1")
FORWARDED = (b"forwarded", b"x-forwarded-for", b"x-forwarded-host")
COOKIE = "cairn"
COOKIE_MAX = 3_800  # characters: browsers drop cookies of more than 4096
COOKIE_AGE = 30 * 86_400  # seconds
HTML = "text/html; charset=utf-8"
WORDS = {
    404: "There is nothing at this address. Search for what you are looking for, or go to the home page.",
    405: "This address does not accept this request. Open the page again and use its buttons.",
}


@dataclass(frozen=True)
class Web:
    """The objects and limits that requests share. `local_token` signs in browsers on this machine, `provider`
    people anywhere; `compress_over` in bytes, 0 for never."""

    database: Database
    credentials: Credentials
    bounds: Bounds
    bodies: Bodies
    compress_over: int
    streams: Streams
    local_token: str | None = None
    files: Bodies | None = None
    """The reader of bodies that hold a file, where those may be larger than others."""
    oauth: AuthorizationServer | None = None
    provider: Provider | None = None


class Proposed(CairnError):
    """The write was not done: it waits as a proposal."""

    code = "REVIEW_REQUIRED"

    def __init__(self, message: str, owner: str, id: str) -> None:
        super().__init__(message)
        self.path = path_to("proposal", owner, id, made="1")


@dataclass
class Visit:
    """A request of a person who is signed in. `owner` is the slug of the wiki that the address names, if it does.
    `file` is the body of a request that sends a file instead of a form, and `upload` the file of a form."""

    web: Web
    request: Request
    wiki: Wiki
    account: Account
    form: Mapping[str, str] = field(default_factory=dict)
    file: bytes = b""
    upload: Upload | None = None

    @property
    def owner(self) -> str | None:
        return self.request.path_params.get("owner")

    def parameter(self, name: str) -> str:
        """Return a parameter of the query string without blanks around it; empty if there is none."""
        return self.request.query_params.get(name, "").strip()

    def form_field(self, name: str) -> str:
        """Return a field of the form with line ends as markdown has them; empty if there is none."""
        return self.form.get(name, "").replace("\r\n", "\n")

    async def ask(self, document: str, operation: str | None = None, **variables: Any) -> Any:
        """Return the data of queries/<document>.graphql for this person's credential."""
        context = self.web.bounds.context(self.web.database, self.wiki, self.account)
        given = {"tenantId": str(self.wiki.tenant_id), "owner": self.owner} | variables
        return await run_stored_query(with_shell(document), operation, given, self.web.bounds, context)

    async def do(self, document: str, operation: str, **variables: Any) -> dict[str, Any]:
        """Return the payload of a mutation. Raises Proposed where it waits for a reviewer instead."""
        done: dict[str, Any] = (await self.ask(document, operation, **variables))["done"]
        for error in done["userErrors"]:
            if error["proposalId"]:
                raise Proposed(error["message"], self.owner or "", error["proposalId"])
        return done

    async def show(self, template: str, status: int = 200, **values: Any) -> Response:
        """Return a page of the reader. `viewer` is needed among the values."""
        return await answer(self.web, self.request, template, status, owner_slug=self.owner, **values)


@cache
def with_shell(document: str) -> str:
    """Return a document, with the fragment of what every page shows where it asks for that."""
    text = stored_query("web", document)
    return text + (stored_query("web", "shell") if "...Shell" in text else "")


async def answer(
    web: Web, request: Request, template: str, status: int, *, leads_to: str = "", **values: Any
) -> Response:
    """Return a template as the answer to a request, compressed and revalidated as any other.

    `leads_to` is the origin of another service that the browser is sent to once the page's form was taken.
    """
    here = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    site = f"{request.url.scheme}://{request.url.netloc}"
    body = render(template, here=here, site=site, **values).encode()
    found = await make_delivery(request.scope, status, body, web.compress_over)
    headers = {name.decode(): value.decode() for name, value in found.headers}
    headers["vary"] = "Cookie, Accept-Encoding"
    policy = POLICY.replace(OWN_FORMS, f"{OWN_FORMS} {leads_to}") if leads_to else POLICY
    return Response(found.body, found.status, headers | {"content-security-policy": policy}, HTML)


Handle = Callable[[Visit], Awaitable[Response]]
Limits = Callable[[], Web]


def page_route(web: Web, path: str, handle: Handle, method: str = "GET", *, takes: str = "form") -> Route:
    """Return the route of a page, which only a person who is signed in sees.

    It takes a form, an `upload` (a form with a file), or a `file` alone.
    """

    async def endpoint(request: Request) -> Response:
        record_path(path)
        try:
            return await handle_visit(web, request, handle, takes)
        except Exception as error:
            return await error_page(web, request, error)

    return Route(path, endpoint, methods=[method])


class Following:
    """The route by which an open page hears that it was changed, as the subscription to it says."""

    def __init__(self, web: Web) -> None:
        self.web = web

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope)

        def read_credential() -> Credential:
            check_same_origin(request)
            return self.web.streams.credential(f"Bearer {credential(self.web, request)}", None)

        async def make_request(wiki: Wiki) -> GraphQLRequest:
            given = {"tenantId": str(wiki.tenant_id), "id": request.path_params["id"]}
            return GraphQLRequest(stored_query("web", "follow"), given, None)

        await EventStream(self.web.streams, scope, receive, send).serve_operation(read_credential, make_request)


async def handle_visit(web: Web, request: Request, handle: Handle, takes: str) -> Response:
    """Answer a request whose credential holds. A form or a file must come from a page of this service."""
    form: Mapping[str, str] = {}
    file, upload = b"", None
    if request.method == "POST":
        check_same_origin(request)
        if takes == "file":
            file = await (web.files or web.bodies).read(request.scope, request.receive)
        elif takes == "upload" and content_type(request) == MULTIPART:
            form, upload = await read_multipart(web.files or web.bodies, request)
        else:
            form = await read_form(web.bodies, request)
    wiki = await web.credentials.scope(f"Bearer {credential(web, request)}")

    def work(account: Account) -> Awaitable[Response]:
        return handle(Visit(web, request, wiki, account, form, file, upload))

    return await web.bounds.admit(wiki, work)


# -- who it is


def cookie_name(request: Request) -> str | None:
    """Return the name of the cookie: bound to the host over HTTPS, plain on this machine, none over any other HTTP."""
    if request.url.scheme == "https":
        return f"__Host-{COOKIE}"
    return f"{COOKIE}-{request.url.port or 80}" if request.url.hostname in LOOPBACK else None


def position_cookie(request: Request) -> str | None:
    """Return the name of the cookie that keeps what a browser has written, for requests of pages."""
    name = None if is_of_an_api(request.scope["path"]) else cookie_name(request)  # its URL takes longer to make
    return name and f"{name}-position"


def credential(web: Web, request: Request) -> str:
    """Return the token or API key of the browser. Raises NoCredential where it has none."""
    name = cookie_name(request)
    if name and (shown := request.cookies.get(name)):
        return shown
    if web.local_token and is_on_this_machine(request):
        return web.local_token
    raise NoCredential("Sign in first.")


def is_on_this_machine(request: Request) -> bool:
    """Return whether a browser on this machine asks for a loopback name, past no proxy and by no other name."""
    if request.client is None or any(header(request.scope, name) for name in FORWARDED):
        return False
    try:
        is_near = ip_address(request.client.host).is_loopback
    except ValueError:
        return False
    return is_near and request.url.hostname in LOOPBACK


def safe_cookie_name(request: Request) -> str:
    """Return the name of the cookie. Raises Forbidden over plain HTTP from another machine."""
    if name := cookie_name(request):
        return name
    raise Forbidden(
        "Sign in over HTTPS, or at http://127.0.0.1 on the server itself. Over plain HTTP, others could read the"
        " credential."
    )


def sign_in(request: Request, response: Response, token: str, seconds: int = COOKIE_AGE) -> None:
    """Keep the credential in a cookie that no script reads. Raises Forbidden over plain HTTP from another machine."""
    name = safe_cookie_name(request)
    if len(token) > COOKIE_MAX:
        raise Forbidden(f"This token is longer than the {COOKIE_MAX:,} characters of a cookie. Use an API key.")
    response.set_cookie(
        name, token, max_age=seconds, httponly=True, samesite="lax", secure=request.url.scheme == "https"
    )


def sign_out(request: Request, response: Response) -> None:
    if name := cookie_name(request):
        response.delete_cookie(name, httponly=True, samesite="lax", secure=request.url.scheme == "https")


def check_same_origin(request: Request) -> None:
    """Refuse a form of another site: browsers say where a request comes from, and no page can change it."""
    site = header(request.scope, b"sec-fetch-site")
    origin = header(request.scope, b"origin")
    own = f"{request.url.scheme}://{request.url.netloc}"
    if site == "same-origin" or (site is None and origin == own):
        return
    raise Forbidden("This form was not sent by a page of this service. Open the page here and send the form again.")


def local_path(given: str) -> str:
    """Return where to go after signing in: a path of this service and nothing else."""
    parts = urlsplit(given)
    is_ours = given.startswith("/") and not given.startswith(("//", "/\\")) and not (parts.scheme or parts.netloc)
    return given if is_ours and given.isprintable() else "/"


def redirect(path: str, status: int = 303) -> Response:
    """Redirect to a path of this service."""
    return RedirectResponse(path, status_code=status, headers={"cache-control": "no-store"})


def path_to(*parts: str, anchor: str = "", **query: str) -> str:
    """Return a path of this service from its parts."""
    asked = urlencode({name: value for name, value in query.items() if value})
    path = "/" + "/".join(quote(part, safe="") for part in parts)
    return path + (f"?{asked}" if asked else "") + (f"#{quote(anchor)}" if anchor else "")


# -- errors


async def error_page(web: Web, request: Request, error: Exception) -> Response:
    """Return a page that says what is wrong and what to do; to sign in, where nobody is."""
    error = translate_error(error)
    if isinstance(error, Proposed):
        return redirect(error.path)
    if isinstance(error, Unauthenticated):
        return to_sign_in(request, error)
    status, code, message, headers = describe_error(error)
    record_error(code)
    missing = request.path_params if status == 404 and {"owner", "slug"} <= request.path_params.keys() else None
    viewer = await viewer_of(web, request) if status < 500 and not isinstance(error, Throttled) else None
    values: dict[str, Any] = {"code": code, "message": message, "missing": missing, "viewer": viewer}
    response = await answer(web, request, "error.html", status, owner_slug=readable_owner(request, viewer), **values)
    response.headers.update(headers)
    return response


async def viewer_of(web: Web, request: Request) -> dict[str, Any] | None:
    """Return who is signed in, for the navigation of an error page; None where nobody is, or that cannot be read."""
    try:
        wiki = await web.credentials.scope(f"Bearer {credential(web, request)}")

        async def read(account: Account) -> dict[str, Any]:
            found = await Visit(web, request, wiki, account).ask("search", "Nothing")
            viewer: dict[str, Any] = found["viewer"]
            return viewer

        return await web.bounds.admit(wiki, read)
    except CairnError:
        return None
    except Exception as error:
        log.warning("an error page has no navigation", reason=type(error).__name__)
        return None


def readable_owner(request: Request, viewer: Mapping[str, Any] | None) -> str | None:
    """Return the wiki that the address names, if this person may read it."""
    owner = request.path_params.get("owner")
    slugs = {space["slug"] for space in viewer["scopes"]["nodes"]} if viewer else set()
    return owner if owner in slugs else None


def describe_error(error: Exception) -> tuple[int, str, str, dict[str, str]]:
    """Return the status, the code, the message and the headers of an error."""
    match error:
        case Refused():
            return error.status, error.code, error.message, {}
        case Throttled():
            return 429, error.code, error.message, {"retry-after": str(error.retry_after)}
        case CairnError():
            return STATUSES.get(error.code, 400), error.code, error.message, {}
        case HTTPException():
            code = {404: "NOT_FOUND", 405: "METHOD_NOT_ALLOWED"}.get(error.status_code, "BAD_REQUEST")
            return error.status_code, code, WORDS.get(error.status_code, str(error.detail)), dict(error.headers or {})
    log.error("internal error", exc_info=error)
    shown = masked()
    return 500, shown["extensions"]["code"], shown["message"], {}


def to_sign_in(request: Request, error: Unauthenticated) -> Response:
    """Redirect to the sign-in page; a credential that no longer holds is dropped."""
    here = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    is_new = isinstance(error, NoCredential)
    response = redirect(path_to("sign-in", next=here if request.method == "GET" else "", ended="" if is_new else "1"))
    if not is_new:
        sign_out(request, response)
    return response


APIS = ("/api", "/graphql", "/mcp", "/metrics")


def is_of_an_api(path: str) -> bool:
    return any(path == root or path.startswith(f"{root}/") for root in APIS)


def is_for_a_person(request: Request) -> bool:
    """Return whether a browser asks for a page, and not a program for an answer of an API."""
    return not is_of_an_api(request.url.path) and "text/html" in (header(request.scope, b"accept") or "")
