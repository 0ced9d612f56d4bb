"""Sign-in by an OpenID provider, with a token or with an API key, and sign-out."""

from functools import partial
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from resolvers.auth.oidc import ATTEMPT
from resolvers.errors import CairnError, Forbidden, NotFound, Unauthenticated
from resolvers.transactions.audit import Event, audit_in_own_transaction

from ..endpoint import Web, describe_error, error_page, render_response
from ..forms import read_form
from ..paths import local_path, redirect
from ..rendering import texts
from ..session import COOKIE_MAX, check_same_origin, cookie_name, safe_cookie_name, sign_in, sign_out

CALLBACK_PATH = "/sign-in/callback"
NO_HINT = "none"  # stored instead of an ID token that is too long for a cookie
NO_PROVIDER = "Sign-in by a provider is not enabled. Use a token, or an API key."


def sign_in_routes(web: Web) -> list[Route]:
    """Return the routes of sign-in and sign-out, which need no credential."""
    return [
        Route("/sign-in", partial(show_sign_in, web), methods=["GET"]),
        Route("/sign-in", partial(sign_in_with_credential, web), methods=["POST"]),
        Route("/sign-in/provider", partial(begin_provider_sign_in, web), methods=["GET"]),
        Route(CALLBACK_PATH, partial(finish_provider_sign_in, web), methods=["GET"]),
        Route("/sign-out", partial(handle_sign_out, web), methods=["POST"]),
    ]


async def show_sign_in(web: Web, request: Request) -> Response:
    message = texts()["sign_in"]["ended"] if request.query_params.get("ended") else None
    return await sign_in_page(web, request, 200, message, request.query_params.get("next", ""))


async def sign_in_page(web: Web, request: Request, status: int, message: str | None, next: str) -> Response:
    """Return the sign-in page with a message. `next` is the path to open after the person has signed in."""
    values: dict[str, Any] = {
        "viewer": None,
        "owner_slug": None,
        "message": message,
        "has_provider": web.provider is not None,
    }
    return await render_response(web, request, "sign_in.html", status, next=local_path(next), **values)


async def sign_in_with_credential(web: Web, request: Request) -> Response:
    """Check the credential of the form and store it in a cookie, or show the form again with the error."""
    form: dict[str, str] = {}
    try:
        check_same_origin(request)
        form = await read_form(web.bodies, request)
        token = form.get("token", "").strip().removeprefix("Bearer ").strip()
        wiki = await web.credentials.scope(f"Bearer {token}")
        await audit_in_own_transaction(
            web.database, wiki.tenant_id, wiki.actor, Event.SIGN_IN, wiki.owner_id, role=wiki.role
        )
        response = redirect(local_path(form.get("next", "")))
        sign_in(request, response, token)
    except CairnError as error:
        status, _, message, _ = describe_error(error)
        return await sign_in_page(web, request, status, message, form.get("next", ""))
    except Exception as error:
        return await error_page(web, request, error)
    return response


# -- sign-in by a provider


async def begin_provider_sign_in(web: Web, request: Request) -> Response:
    """Redirect the browser to the provider. A cookie keeps the state of the attempt for ten minutes."""
    if web.provider is None:
        return await error_page(web, request, NotFound(NO_PROVIDER))
    callback_url = f"{request.url.scheme}://{request.url.netloc}{CALLBACK_PATH}"
    next = request.query_params.get("next", "")
    try:
        name = attempt_cookie(request)
        attempt = await web.provider.begin(callback_url, local_path(next))
    except CairnError as error:
        return await refuse_sign_in(web, request, error, next)
    response = redirect(attempt.address)
    secure = request.url.scheme == "https"
    response.set_cookie(name, attempt.cookie, max_age=ATTEMPT, httponly=True, samesite="lax", secure=secure)
    return response


async def finish_provider_sign_in(web: Web, request: Request) -> Response:
    """Sign in a person who returns from the provider. The cookie of the attempt is deleted: it is valid once."""
    if web.provider is None:
        return await error_page(web, request, NotFound(NO_PROVIDER))
    try:
        name = attempt_cookie(request)
        try:
            signed_in = await web.provider.finish(request.query_params, request.cookies.get(name))
        except (Unauthenticated, Forbidden) as refusal:
            web.credentials.log.refuse(refusal.message, Event.SIGN_IN)
            raise
        response = redirect(local_path(signed_in.next))
        sign_in(request, response, signed_in.token, signed_in.seconds)
        hint = signed_in.id_token if len(signed_in.id_token) <= COOKIE_MAX else NO_HINT
        secure = request.url.scheme == "https"
        response.set_cookie(
            hint_cookie(request), hint, max_age=signed_in.seconds, httponly=True, samesite="lax", secure=secure
        )
    except CairnError as error:
        response = await refuse_sign_in(web, request, error, "")
    except Exception as error:
        response = await error_page(web, request, error)
    if cookie_name(request):
        secure = request.url.scheme == "https"
        response.delete_cookie(attempt_cookie(request), httponly=True, samesite="lax", secure=secure)
    return response


async def refuse_sign_in(web: Web, request: Request, error: CairnError, next: str) -> Response:
    status, _, message, _ = describe_error(error)
    return await sign_in_page(web, request, status, message, next)


def attempt_cookie(request: Request) -> str:
    return f"{safe_cookie_name(request)}-sign-in"


def hint_cookie(request: Request) -> str:
    """Return the name of the cookie with the ID token of a person who signed in by the provider."""
    return f"{safe_cookie_name(request)}-id"


async def handle_sign_out(web: Web, request: Request) -> Response:
    """Sign out here, and also at the provider if the person signed in by it.

    A page with a refresh header leads the browser to the provider: the policy of pages forbids that a form redirects to
    another site.
    """
    try:
        check_same_origin(request)
    except CairnError as error:
        return await error_page(web, request, error)
    hint = request.cookies.get(hint_cookie(request)) if cookie_name(request) else None
    return_url = f"{request.url.scheme}://{request.url.netloc}/sign-in"
    provider_url = (
        await web.provider.end_session(None if hint == NO_HINT else hint, return_url) if web.provider and hint else None
    )
    if provider_url:
        response = await render_response(
            web, request, "signed_out.html", 200, viewer=None, owner_slug=None, away=provider_url
        )
        response.headers.update({"refresh": f"0;url={provider_url}", "cache-control": "no-store"})
    else:
        response = redirect("/sign-in")
    sign_out(request, response)
    if hint:
        response.delete_cookie(
            hint_cookie(request), httponly=True, samesite="lax", secure=request.url.scheme == "https"
        )
    return response
