"""The session of a browser: the cookie with its credential, and protection against forms of other sites."""

from ipaddress import ip_address

from starlette.requests import Request
from starlette.responses import Response

from resolvers.errors import Forbidden, NoCredential

from ..http.request import header
from .paths import is_api_path

LOOPBACK = ("localhost", "127.0.0.1", "::1")
FORWARDED = (b"forwarded", b"x-forwarded-for", b"x-forwarded-host")
COOKIE = "cairn"
COOKIE_MAX = 3_800  # characters: browsers drop cookies of more than 4096
COOKIE_AGE = 30 * 86_400  # seconds


def cookie_name(request: Request) -> str | None:
    """Return the name of the credential's cookie, or None over plain HTTP from another machine. The prefix `__Host-`
    binds the cookie to the host."""
    if request.url.scheme == "https":
        return f"__Host-{COOKIE}"
    return f"{COOKIE}-{request.url.port or 80}" if request.url.hostname in LOOPBACK else None


def position_cookie(request: Request) -> str | None:
    """Return the name of the cookie with the position of the browser's last write, or None for requests of an API."""
    # The path is checked first, because `cookie_name` builds the URL of the request, which is slow.
    name = None if is_api_path(request.scope["path"]) else cookie_name(request)
    return name and f"{name}-position"


def credential(request: Request, local_token: str | None) -> str:
    """Return the token or API key of the cookie, or the local token on this machine. Raises NoCredential."""
    name = cookie_name(request)
    if name and (shown := request.cookies.get(name)):
        return shown
    if local_token and is_on_this_machine(request):
        return local_token
    raise NoCredential("Sign in first.")


def is_on_this_machine(request: Request) -> bool:
    """Return whether a browser on this machine sent the request to a loopback name, and not through a proxy."""
    if request.client is None or any(header(request.scope, name) for name in FORWARDED):
        return False
    try:
        is_near = ip_address(request.client.host).is_loopback
    except ValueError:
        return False
    return is_near and request.url.hostname in LOOPBACK


def safe_cookie_name(request: Request) -> str:
    """Return the name of the credential's cookie. Raises Forbidden over plain HTTP from another machine."""
    if name := cookie_name(request):
        return name
    raise Forbidden(
        "Sign in over HTTPS, or at http://127.0.0.1 on the server itself. Over plain HTTP, others could read the"
        " credential."
    )


def sign_in(request: Request, response: Response, token: str, seconds: int = COOKIE_AGE) -> None:
    """Store the credential in a cookie that scripts cannot read. Raises Forbidden over plain HTTP from another machine,
    and for a token that is too long for a cookie."""
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
    """Raise Forbidden unless a page of this service sent the request, by headers that pages cannot change."""
    site = header(request.scope, b"sec-fetch-site")
    origin = header(request.scope, b"origin")
    own_origin = f"{request.url.scheme}://{request.url.netloc}"
    if site == "same-origin" or (site is None and origin == own_origin):
        return
    raise Forbidden("This form was not sent by a page of this service. Open the page here and send the form again.")
