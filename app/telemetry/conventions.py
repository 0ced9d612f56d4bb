"""Names that OpenTelemetry's semantic conventions have for what is known of a request."""

import re

from opentelemetry.semconv.attributes import http_attributes as http
from opentelemetry.semconv.attributes import url_attributes as url
from starlette.types import Scope

from app.metrics.recorder import PATHS

COMMENTS = re.compile(r"^(?:\s*--[^\n]*\n)+")
METHODS = frozenset({"GET", "POST", "HEAD", "OPTIONS", "PUT", "PATCH", "DELETE", "CONNECT", "TRACE"})


def method(scope: Scope) -> str:
    return scope["method"] if scope["method"] in METHODS else "_OTHER"


def route(scope: Scope) -> dict[str, str]:
    """Only a path that is served is a route: what clients make up would be a series each."""
    return {http.HTTP_ROUTE: scope["path"]} if scope["path"] in PATHS else {}


def asked(scope: Scope) -> dict[str, str]:
    return {http.HTTP_REQUEST_METHOD: method(scope), url.URL_SCHEME: scope["scheme"], **route(scope)}


def verb(sql: str) -> str:
    said = COMMENTS.sub("", sql).split(None, 1)
    return said[0].upper() if said else "UNKNOWN"
