"""Rendering of the reader's pages: templates with their filters, texts, and static files."""

import re
import tomllib
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape
from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse, Response

from content.templates import TEMPLATES

from ..http.static import FOR_EVER, versioned_name
from .prose import safe_html

HERE = Path(__file__).parent
FOLDER = "/static"
QUOTED_CODE = re.compile(r"`([^`]+)`")


@cache
def texts() -> Mapping[str, Any]:
    """Return the texts of the reader by section and name, from texts/en.toml."""
    return tomllib.loads(files("app.web").joinpath("texts/en.toml").read_text(encoding="utf-8"))


@cache
def static_files() -> dict[str, Path]:
    """Return the scripts and stylesheets by served name. The name contains a hash of the content."""
    return {versioned_name(file): file for file in sorted((HERE / "static").iterdir())}


def static(name: str) -> str:
    """Return the path at which a script or stylesheet is served."""
    stem, _, suffix = name.rpartition(".")
    found = next(
        served_name
        for served_name in static_files()
        if served_name.startswith(f"{stem}-") and served_name.endswith(f".{suffix}")
    )
    return f"{FOLDER}/{found}"


async def send_static(request: Request) -> Response:
    """Send a static file. It is looked up by name, so that no path is ever built from client input."""
    file = static_files().get(request.path_params["name"])
    if file is None:
        return PlainTextResponse("There is no such file.", status_code=404)
    return FileResponse(file, headers={"cache-control": FOR_EVER})


def day(moment: str | None) -> str:
    """Format the day of an ISO 8601 time, such as 5 March 2026. Returns an empty text for None."""
    if not moment:
        return ""
    at = datetime.fromisoformat(moment)
    return f"{at.day} {at:%B %Y}"


def minute(moment: str) -> str:
    """Format an ISO 8601 time, such as 5 March 2026, 14:05 UTC."""
    return f"{day(moment)}, {datetime.fromisoformat(moment).astimezone(UTC):%H:%M} UTC"


def with_code(text: str) -> Markup:
    """Return a message as HTML, with the text between backticks as code."""
    return Markup(QUOTED_CODE.sub(r"<code>\1</code>", str(escape(text))))  # noqa: S704  # the text is escaped


def format_count(number: int, words: list[str]) -> str:
    """Return a number with its noun, such as `1 page` or `2 pages`. `words` are singular and plural."""
    return f"{number:,} {words[number != 1]}"


def address(page: Mapping[str, Any], owner: str) -> str:
    """Return the path of a page in the wiki of its own `owner` field, or else in the wiki of `owner`."""
    space = (page.get("owner") or {}).get("slug") or owner
    return f"/wiki/{space}/{page['type'].lower()}/{page['slug']}"


class Templates(Environment):
    """The environment of the templates. It looks up `page.title` as a key of a dict first: Jinja tries the attribute
    first, which raises and catches an exception for each field."""

    def getattr(self, obj: Any, attribute: str) -> Any:
        if type(obj) is dict and attribute in obj:
            return obj[attribute]
        return super().getattr(obj, attribute)


@cache
def templates() -> Templates:
    """Return the environment of the templates, which escapes every value that is not Markup."""
    environment = Templates(
        loader=FileSystemLoader(HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    environment.globals |= {"t": texts(), "static": static, "page_types": sorted(TEMPLATES)}
    environment.filters |= {
        "day": day,
        "minute": minute,
        "format_count": format_count,
        "address": address,
        "safe_html": safe_html,
        "with_code": with_code,
    }
    return environment


def compile_templates() -> None:
    """Compile all templates. This takes a quarter of a second: call it in a thread, before the first request."""
    for name in templates().list_templates():
        templates().get_template(name)


def render(template: str, **values: Any) -> str:
    return templates().get_template(template).render(values)
