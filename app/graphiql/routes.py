"""Where the page and its files are served."""

from pathlib import Path

from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Route

from app.graphiql.assets import ASSETS, directory, missing
from app.graphiql.page import content_security_policy, own_files, page

PAGE = "/graphiql"
FOLDER = f"{PAGE}/assets"
FOR_EVER = "public, max-age=31536000, immutable"


def graphiql_routes(endpoint: str = "/graphql") -> list[BaseRoute]:
    """The page at /graphiql and its files below it. What is on the disk is looked up once, here."""
    local = not missing()
    html = page(endpoint=endpoint, folder=FOLDER, local=local)
    headers = {
        "Content-Security-Policy": content_security_policy(local=local),
        "Cache-Control": "no-cache",
        "Referrer-Policy": "no-referrer",
        "X-Content-Type-Options": "nosniff",
    }
    files = _files(local)

    async def show_page(_request: Request) -> Response:
        return HTMLResponse(html, headers=headers)

    async def send_file(request: Request) -> Response:
        file = files.get(request.path_params["name"])
        if file is None:
            return PlainTextResponse("There is no such file.", status_code=404)
        return FileResponse(file, headers={"Cache-Control": FOR_EVER, "X-Content-Type-Options": "nosniff"})

    return [Route(PAGE, show_page), Route(f"{FOLDER}/{{name}}", send_file)]


def _files(local: bool) -> dict[str, Path]:
    """Every file that may be asked for, by name: no path is ever made from what a client sends."""
    theirs = {asset.name: directory() / asset.name for asset in ASSETS} if local else {}
    return own_files() | theirs
