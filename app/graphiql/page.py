"""The GraphiQL page: its HTML, its content security policy and its routes."""

from collections.abc import Iterator
from html import escape
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Route

from ..http.static import FOR_EVER, versioned_name
from .assets import ASSETS, assets_folder, missing_assets

if TYPE_CHECKING:
    from app.web.graphiql import SessionGraphQL

HERE = Path(__file__).parent
CDN = "https://unpkg.com"


def own_files() -> dict[str, Path]:
    """Return Cairn's own stylesheet and script by file name. The name contains a hash of the content."""
    return {versioned_name(HERE / file): HERE / file for file in ("boot.css", "boot.js")}


def page(*, endpoint: str, folder: str, local: bool, is_signed_in: bool = False) -> str:
    """Return the HTML of the page. Queries are sent to `endpoint`; with `is_signed_in` they need no token.

    With `local`, the browser loads GraphiQL's files from `folder` of this server. Otherwise it loads them from the CDN
    and checks their hashes.
    """
    tags = [*_asset_tags(folder, local), *_own_tags(folder)]
    return Template((HERE / "page.html").read_text(encoding="utf-8")).substitute(
        endpoint=escape(endpoint),
        signed_in="true" if is_signed_in else "false",
        styles="\n    ".join(tag for tag in tags if tag.startswith("<link")),
        scripts="\n    ".join(tag for tag in tags if tag.startswith("<script")),
    )


def content_security_policy(*, local: bool) -> str:
    """Return a policy that allows only this server, and unless `local` also scripts and styles of the CDN."""
    files = "'self'" if local else f"'self' {CDN}"
    rules = {
        "default-src": "'none'",
        "script-src": files,
        # GraphiQL's dialogs add a <style> element when they open.
        "style-src": f"{files} 'unsafe-inline'",
        "font-src": "data:",
        "img-src": "'self' data:",
        "connect-src": "'self'",
        "base-uri": "'none'",
        "form-action": "'none'",
        "frame-ancestors": "'none'",
    }
    return "; ".join(f"{name} {value}" for name, value in rules.items())


def _asset_tags(folder: str, local: bool) -> Iterator[str]:
    for asset in ASSETS:
        yield _tag(f"{folder}/{asset.name}", asset.integrity) if local else _tag(asset.cdn_url, asset.integrity)


def _own_tags(folder: str) -> Iterator[str]:
    for name in own_files():
        yield _tag(f"{folder}/{name}")


def _tag(url: str, integrity: str | None = None) -> str:
    """Return the tag of a script or stylesheet. Browsers check hashes of other sites' files only with `crossorigin`."""
    check = f' integrity="{integrity}" crossorigin="anonymous"' if integrity else ""
    if url.endswith(".css"):
        return f'<link rel="stylesheet" href="{escape(url)}"{check}>'
    return f'<script defer src="{escape(url)}"{check}></script>'


PAGE = "/graphiql"
FOLDER = f"{PAGE}/assets"


def graphiql_routes(endpoint: str = "/graphql", signed_in: "SessionGraphQL | None" = None) -> list[BaseRoute]:
    """Return the routes of the page at /graphiql and of its files. Which files exist on disk is checked only here.

    With `signed_in`, people who are signed in to the reader need no token.
    """
    local = not missing_assets()
    html = page(endpoint=endpoint, folder=FOLDER, local=local)
    html_of_session = html
    if signed_in is not None:
        html_of_session = page(endpoint=signed_in.own_path, folder=FOLDER, local=local, is_signed_in=True)
    headers = {
        "Content-Security-Policy": content_security_policy(local=local),
        "Cache-Control": "private, no-cache",
        "Vary": "Cookie",
        "Referrer-Policy": "no-referrer",
        "X-Content-Type-Options": "nosniff",
    }
    files = _files(local)

    async def show_page(request: Request) -> Response:
        is_signed_in = signed_in is not None and signed_in.has_session(request)
        return HTMLResponse(html_of_session if is_signed_in else html, headers=headers)

    async def send_file(request: Request) -> Response:
        file = files.get(request.path_params["name"])
        if file is None:
            return PlainTextResponse("There is no such file.", status_code=404)
        return FileResponse(file, headers={"Cache-Control": FOR_EVER, "X-Content-Type-Options": "nosniff"})

    routes: list[BaseRoute] = [Route(PAGE, show_page), Route(f"{FOLDER}/{{name}}", send_file)]
    return routes if signed_in is None else [*routes, Route(signed_in.own_path, signed_in, methods=["POST"])]


def _files(local: bool) -> dict[str, Path]:
    """Return the files that are served, by name. A lookup by name never builds a path from client input."""
    theirs = {asset.name: assets_folder() / asset.name for asset in ASSETS} if local else {}
    return own_files() | theirs
