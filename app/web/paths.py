"""The paths of the reader: how they are built and redirected to, and how they differ from those of the APIs."""

from urllib.parse import quote, urlencode

from starlette.responses import RedirectResponse, Response

APIS = ("/api", "/graphql", "/mcp", "/metrics")


def path_to(*parts: str, anchor: str = "", **query: str) -> str:
    """Build a path of this service from its segments, which are quoted. Empty query parameters are left out."""
    query_string = urlencode({name: value for name, value in query.items() if value})
    path = "/" + "/".join(quote(part, safe="") for part in parts)
    return path + (f"?{query_string}" if query_string else "") + (f"#{quote(anchor)}" if anchor else "")


def local_path(path: str) -> str:
    """Return the path if it is one of this service, else `/`, so that no link redirects to another site."""
    is_ours = path.startswith("/") and not path.startswith(("//", "/\\")) and path.isprintable()
    return path if is_ours else "/"


def redirect(path: str, status: int = 303) -> Response:
    """Redirect to a path of this service."""
    return RedirectResponse(path, status_code=status, headers={"cache-control": "no-store"})


def is_api_path(path: str) -> bool:
    """Return whether a path belongs to an API and not to the reader."""
    return any(path == root or path.startswith(f"{root}/") for root in APIS)
