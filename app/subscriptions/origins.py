"""Which web pages may open a WebSocket: browsers let any page try, and say which one it is."""

from urllib.parse import urlsplit

from starlette.types import Scope

from ..http.request import header

PORTS = {"http": 80, "https": 443}


def is_same_site(scope: Scope, allowed: frozenset[str]) -> bool:
    """One of this very host, one that is allowed, or no web page at all: programs send no Origin."""
    origin = header(scope, b"origin")
    if origin is None or origin in allowed or "*" in allowed:
        return True
    found = authority(origin)
    return found is not None and found == authority(f"//{header(scope, b'host') or ''}", urlsplit(origin).scheme)


def authority(url: str, scheme: str = "") -> tuple[str, int | None] | None:
    """(host, port), the usual port of the scheme where none is written; None for what is no address, as `null`."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        return None
    return (host.lower(), port or PORTS.get(parts.scheme or scheme)) if host else None
