"""Share links of a page, and the shared page: its text, without links to anything else in the wiki."""

from collections.abc import Awaitable
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from observability.trace import record_path
from resolvers.errors import BadInput, NotFound
from resolvers.pages.sharing import ENDED, find_shared
from resolvers.rate_limits import Account

from ..endpoint import Visit, Web, error_page, render_response
from ..paths import path_to, redirect
from ..prose import standalone_html
from .read import page_variables, require_page
from .work import is_admin
from .write import check_may_write, raise_first_error

SHARED = "/shared/{token}"
DAYS = (1, 7, 30, 90, 365)


def shared_route(web: Web) -> Route:
    """Return the route of shared pages, which are the only pages of a wiki that need no credential."""
    return Route(SHARED, partial(read_shared, web), methods=["GET"])


async def read_shared(web: Web, request: Request) -> Response:
    record_path(SHARED)
    try:
        wiki, page_id = await find_shared(web.database, request.path_params["token"])

        def work(account: Account) -> Awaitable[Response]:
            return show_shared(Visit(web, request, wiki, account), str(page_id))

        response = await web.bounds.admit(wiki, work)
    except Exception as error:
        response = await error_page(web, request, error)
    response.headers.update({"cache-control": "no-store", "referrer-policy": "no-referrer", "x-robots-tag": "noindex"})
    return response


async def show_shared(visit: Visit, page_id: str) -> Response:
    """Show the page of a share link. Raises NotFound if the page is no longer active."""
    page = (await visit.query("share", "Shared", id=page_id))["page"]
    if page is None or page["status"] != "ACTIVE":
        raise NotFound(ENDED)
    sections = [section | {"html": standalone_html(section["bodyHtml"])} for section in page["sections"]]
    values: dict[str, Any] = {"viewer": None, "page": page, "sections": sections}
    return await render_response(visit.web, visit.request, "shared.html", 200, owner_slug=None, **values)


async def share_page(visit: Visit, path: str | None = None) -> Response:
    """Show the share links of a page, and the URL of a new link with this path, which is shown only once."""
    id = require_page((await visit.query("share", "Page", **page_variables(visit)))["page"])["id"]
    found = await visit.query("share", "Links", **page_variables(visit), id=id)
    require_page(found["page"])
    check_may_write(visit, found["viewer"])
    link = path and f"{visit.request.url.scheme}://{visit.request.url.netloc}{path}"
    values: dict[str, Any] = {"may_share": is_admin(visit, found["viewer"]), "new_link": link, "days": DAYS}
    return await visit.show("share.html", **values, **found)


async def share(visit: Visit) -> Response:
    """Create a link that expires after the chosen number of days."""
    days = visit.form_field("days")
    if days not in map(str, DAYS):
        raise BadInput("Choose an expiry from the list.", "days")
    expires_at = datetime.now(UTC) + timedelta(days=int(days))
    share_input = {"pageId": visit.form_field("id"), "expiresAt": expires_at.isoformat()}
    payload = await visit.mutate("share", "Share", input=share_input)
    raise_first_error(payload)
    return await share_page(visit, payload["path"])


async def withdraw(visit: Visit) -> Response:
    raise_first_error(await visit.mutate("share", "Withdraw", input={"shareLinkId": visit.form_field("link")}))
    type, slug = visit.request.path_params["type"], visit.request.path_params["slug"]
    return redirect(path_to("share", visit.owner or "", type, slug))
