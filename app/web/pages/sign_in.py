"""Signing in with a token or an API key, and signing out."""

from functools import partial
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from resolvers.errors import CairnError

from ..endpoint import (
    Web,
    answer,
    check_same_origin,
    described,
    error_page,
    local_path,
    moved,
    read_form,
    sign_in,
    sign_out,
)
from ..rendering import texts


def sign_in_routes(web: Web) -> list[Route]:
    """Return the routes that need no credential."""
    return [
        Route("/sign-in", partial(show_sign_in, web), methods=["GET"]),
        Route("/sign-in", partial(take_credential, web), methods=["POST"]),
        Route("/sign-out", partial(leave, web), methods=["POST"]),
    ]


async def show_sign_in(web: Web, request: Request) -> Response:
    said = texts()["sign_in"]["ended"] if request.query_params.get("ended") else None
    return await sign_in_page(web, request, 200, said, request.query_params.get("next", ""))


async def sign_in_page(web: Web, request: Request, status: int, said: str | None, next: str) -> Response:
    values: dict[str, Any] = {"viewer": None, "owner_slug": None, "said": said, "next": local_path(next)}
    return await answer(web, request, "sign_in.html", status, **values)


async def take_credential(web: Web, request: Request) -> Response:
    """Keep the credential if it is valid; else say what is wrong with it."""
    form: dict[str, str] = {}
    try:
        check_same_origin(request)
        form = await read_form(web, request)
        token = form.get("token", "").strip().removeprefix("Bearer ").strip()
        await web.credentials.scope(f"Bearer {token}")
        response = moved(local_path(form.get("next", "")))
        sign_in(request, response, token)
    except CairnError as error:
        status, _, message, _ = described(error)
        return await sign_in_page(web, request, status, message, form.get("next", ""))
    except Exception as error:
        return await error_page(web, request, error)
    return response


async def leave(web: Web, request: Request) -> Response:
    try:
        check_same_origin(request)
    except CairnError as error:
        return await error_page(web, request, error)
    response = moved("/sign-in")
    sign_out(request, response)
    return response
