"""GET /metrics, for whom the operator has said may read it."""

import hmac
from ipaddress import ip_address
from itertools import chain

from prometheus_client import CONTENT_TYPE_LATEST
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from app.errors import error_body
from app.settings import Settings

from .collected import Metrics
from .exposition import exposition

FORWARDED = ("forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip", "via")


def metrics_routes(settings: Settings, metrics: Metrics) -> list[BaseRoute]:
    async def show(request: Request) -> Response:
        if refused := refusal(settings, request):
            return refused
        series = chain(metrics.series(), await metrics.of_service())
        return Response(exposition(series), media_type=CONTENT_TYPE_LATEST)

    return [Route("/metrics", show)]


def refusal(settings: Settings, request: Request) -> Response | None:
    if settings.metrics == "token":
        return None if shows_token(settings, request) else wrong_token()
    return None if is_of_this_machine(request) else not_local()


def shows_token(settings: Settings, request: Request) -> bool:
    assert settings.metrics_token is not None  # the settings see to it
    shown = request.headers.get("authorization", "").partition(" ")[2].strip()
    return hmac.compare_digest(shown.encode(), settings.metrics_token.get_secret_value().encode())


def is_of_this_machine(request: Request) -> bool:
    """A request that a proxy on this machine passes on is not; a proxy that hides itself cannot be told apart."""
    if request.client is None or any(name in request.headers for name in FORWARDED):
        return False
    try:
        return ip_address(request.client.host).is_loopback
    except ValueError:
        return False


def wrong_token() -> Response:
    body = error_body("Send `Authorization: Bearer` with the token for metrics.", "UNAUTHENTICATED")
    return Response(body, 401, {"WWW-Authenticate": 'Bearer realm="metrics"'}, "application/json")


def not_local() -> Response:
    return Response(error_body("Metrics are read on this machine alone.", "FORBIDDEN"), 403, None, "application/json")
