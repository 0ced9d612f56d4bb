"""Templates, texts and the files that pages load: how an answer of the wiki becomes HTML."""

import hashlib
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

from ..graphiql.page import FOR_EVER, versioned_name
from .prose import safe_html

HERE = Path(__file__).parent
FOLDER = "/static"
QUOTED_CODE = re.compile(r"`([^`]+)`")


@cache
def texts() -> Mapping[str, Any]:
    """Return the catalogue of the reader's texts."""
    return tomllib.loads(files("app.web").joinpath("texts/en.toml").read_text(encoding="utf-8"))


@cache
def static_files() -> dict[str, Path]:
    """Return the scripts and stylesheets by a name that changes when their content does."""
    return {versioned_name(file): file for file in sorted((HERE / "static").iterdir())}


def static(name: str) -> str:
    """Return the address of a script or stylesheet."""
    stem, _, suffix = name.rpartition(".")
    found = next(dated for dated in static_files() if dated.startswith(f"{stem}-") and dated.endswith(f".{suffix}"))
    return f"{FOLDER}/{found}"


async def send_static(request: Request) -> Response:
    """Send a file by its name: no path is ever made from what a client sends."""
    file = static_files().get(request.path_params["name"])
    if file is None:
        return PlainTextResponse("There is no such file.", status_code=404)
    return FileResponse(file, headers={"cache-control": FOR_EVER})


def day(moment: str | None) -> str:
    """Return the day of a moment in words: 5 March 2026."""
    if not moment:
        return ""
    at = datetime.fromisoformat(moment)
    return f"{at.day} {at:%B %Y}"


def minute(moment: str) -> str:
    """Return a moment in words: 5 March 2026, 14:05 UTC."""
    return f"{day(moment)}, {datetime.fromisoformat(moment).astimezone(UTC):%H:%M} UTC"


def with_code(text: str) -> Markup:
    """Return a message with what it sets between backticks as code."""
    return Markup(QUOTED_CODE.sub(r"<code>\1</code>", str(escape(text))))  # noqa: S704  # the text is escaped


def format_count(number: int, words: list[str]) -> str:
    """Return a number with its noun: `1 page`, `2 pages`."""
    return f"{number:,} {words[number != 1]}"


def address(page: Mapping[str, Any], owner: str) -> str:
    """Return the address of a page: in the wiki that it says it is of, or else in that of `owner`."""
    space = (page.get("owner") or {}).get("slug") or owner
    return f"/wiki/{space}/{page['type'].lower()}/{page['slug']}"


class Templates(Environment):
    """The environment of the templates. `page.title` is first looked for among the fields of an answer: Jinja would
    look for an attribute of the dict, and then meet an error for each field."""

    def getattr(self, obj: Any, attribute: str) -> Any:
        if type(obj) is dict and attribute in obj:
            return obj[attribute]
        return super().getattr(obj, attribute)


@cache
def templates() -> Templates:
    """Return the environment of the templates. Everything is escaped that is not markup of ours."""
    made = Templates(
        loader=FileSystemLoader(HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    made.globals |= {"t": texts(), "static": static, "page_types": sorted(TEMPLATES)}
    made.filters |= {
        "day": day,
        "minute": minute,
        "format_count": format_count,
        "address": address,
        "dressed": safe_html,
        "digest": digest,
        "with_code": with_code,
    }
    return made


def digest(text: str) -> str:
    """Return a short name of a text, for what a browser keeps about it."""
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def render(template: str, **values: Any) -> str:
    return templates().get_template(template).render(values)
