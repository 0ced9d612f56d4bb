"""The pages for reading: a page with its evidence, its other formats, related pages and the graph around it."""

from math import cos, pi, sin
from typing import Any

from starlette.responses import JSONResponse, PlainTextResponse, Response

from content.names import is_slug
from content.templates import TEMPLATES
from resolvers.errors import NotFound
from resolvers.transactions.transaction import NO_PAGE

from ..endpoint import Visit
from ..paths import path_to, redirect
from .files import find_files

WRITERS = ("MEMBER", "SERVICE", "ADMIN")
SECTIONS_MAX = 200  # sections of a page that are shown
RING_SIZE = 16  # pages on a ring of a drawing


async def read_page(visit: Visit) -> Response:
    """Show a page, or redirect from a former slug or from a page that was merged into another one."""
    variables = page_variables(visit) | {"children": visit.parameter("children") or None}
    found = await visit.query("read", "Read", **variables)
    page = require_page(found["page"])
    if page["sectionCount"] > len(page["sections"]):
        found = await visit.query("read", "Read", **variables, sections=SECTIONS_MAX)
        page = require_page(found["page"])
    if page["mergedInto"] or page["redirectedFrom"]:
        return redirect_to_page(visit, page["mergedInto"] or page)
    number_evidence(page)
    texts = (section["bodyHtml"] for section in page["sections"])
    values: dict[str, Any] = {"drawing": draw_star(page), "may_write": may_write(visit, found["viewer"])}
    files = await find_files(visit, texts, page["metadata"].get("imported_from"))
    anchors = {section["sectionSlug"] for section in page["sections"]}
    return await visit.show("read.html", files=files, anchors=anchors, **values, **found)


async def read_markdown(visit: Visit) -> Response:
    """Return the page as Markdown."""
    page = require_page((await visit.query("read", "Markdown", **page_variables(visit)))["page"])
    if into := page["mergedInto"]:
        return redirect_to_page(visit, into, ".md")
    parts = [f"# {page['title']}", page["summary"] or "", page["bodyMd"]]
    text = "\n\n".join(filter(None, parts)) + "\n"
    return PlainTextResponse(text, media_type="text/markdown", headers={"cache-control": "private, no-cache"})


async def read_json(visit: Visit) -> Response:
    """Return the page as JSON: its fields, and its sections as Markdown with the sources that they cite."""
    page = require_page((await visit.query("read", "Data", **page_variables(visit)))["page"])
    if into := page.pop("mergedInto"):
        return redirect_to_page(visit, into, ".json")
    return JSONResponse(page, headers={"cache-control": "private, no-cache"})


async def show_related(visit: Visit) -> Response:
    """Return the list of similar pages, which a script adds to an open page."""
    found = await visit.query("read", "Related", id=visit.request.path_params["id"])
    return await visit.show("related.html", viewer=None, **found)


async def preview(visit: Visit) -> Response:
    """Return the preview card of a page, which a script shows beside a link."""
    page = require_page((await visit.query("read", "Preview", **page_variables(visit)))["page"])
    return await visit.show("preview.html", page=page, viewer=None)


async def redirect_short_path(visit: Visit) -> Response:
    """Redirect from /wiki/TYPE/SLUG, which programs use, to the page in the wiki of `owner` or of this person."""
    owner = visit.parameter("owner") or (await visit.query("home", "Own"))["viewer"]["owner"]["slug"]
    return redirect(path_to("wiki", owner, visit.request.path_params["type"], visit.request.path_params["slug"]), 301)


async def show_graph(visit: Visit) -> Response:
    """Show the pages around a page, as a drawing and as a list."""
    depth = 2 if visit.parameter("depth") == "2" else 1
    found = await visit.query("read", "Graph", id=visit.request.path_params["id"], depth=depth)
    if found["around"] is None or found["around"]["page"]["owner"]["slug"] != visit.owner:
        raise NotFound(NO_PAGE)
    drawing = lay_out_graph(found["around"])
    return await visit.show("graph.html", drawing=drawing, depth=depth, **found)


def page_variables(visit: Visit) -> dict[str, str]:
    """Return the type and slug of the path as variables. Raises NotFound if no page can have them."""
    type, slug = visit.request.path_params["type"], visit.request.path_params["slug"]
    if type not in TEMPLATES or not is_slug(slug):
        raise NotFound(NO_PAGE)
    return {"type": type.upper(), "slug": slug}


def require_page(page: dict[str, Any] | None) -> dict[str, Any]:
    """Return a page or another result about a page. Raises NotFound if it is None."""
    if page is None:
        raise NotFound(NO_PAGE)
    return page


def redirect_to_page(visit: Visit, page: dict[str, Any], suffix: str = "") -> Response:
    return redirect(path_to("wiki", visit.owner or "", page["type"].lower(), page["slug"]) + suffix, 301)


def may_write(visit: Visit, viewer: dict[str, Any]) -> bool:
    """Return whether this person may write to the wiki that the path names."""
    return any(space["slug"] == visit.owner and space["role"] in WRITERS for space in viewer["scopes"]["nodes"])


def number_evidence(page: dict[str, Any]) -> None:
    """Number the footnotes of a page from 1, and give the first one of each source an anchor that citations link to."""
    number = 0
    seen: set[str] = set()
    for section in page["sections"]:
        for citation in section["citations"]["nodes"]:
            number += 1
            ref = citation["source"]["ref"]
            citation["number"] = number
            citation["anchor"] = None if ref in seen else f"citation-{ref}"
            seen.add(ref)


def draw_star(page: dict[str, Any]) -> dict[str, str]:
    """Return the SVG paths of a small drawing with a ray and a dot for each page linked with this one, 16 at most."""
    linked = [link["toPage"]["id"] for link in page["links"]["nodes"]] + [
        edge["node"]["id"] for edge in page["backlinks"]["edges"]
    ]
    number = min(len({*linked} - {page["id"]}), RING_SIZE)
    angles = (2 * pi * index / number - pi / 2 for index in range(number))
    ends = [f"{80 * cos(angle):.0f} {80 * sin(angle):.0f}" for angle in angles]
    return {"lines": "".join(f"M0 0L{end}" for end in ends), "dots": "".join(f"M{end}h0" for end in ends)}


def lay_out_graph(around: dict[str, Any]) -> dict[str, Any]:
    """Place the pages of a graph on rings of 16 around the page in the middle, and return them with their lines."""
    radius = 240.0
    middle, nodes = around["page"]["id"], around["nodes"]
    others = [node for node in nodes if node["id"] != middle]
    places: dict[str, tuple[float, float]] = {middle: (0.0, 0.0)}
    for ring, start in enumerate(range(0, len(others), RING_SIZE)):
        members = others[start : start + RING_SIZE]
        for index, node in enumerate(members):
            angle = 2 * pi * (index + ring / 2) / len(members) - pi / 2
            far = radius * (1 + ring * 0.6)
            places[node["id"]] = (round(far * cos(angle), 1), round(far * sin(angle), 1))
    shown = [node | {"x": places[node["id"]][0], "y": places[node["id"]][1]} for node in nodes if node["id"] in places]
    lines = {tuple(sorted((edge["source"], edge["target"]))) for edge in around["edges"]}
    drawn_lines = sorted([*places[a], *places[b]] for a, b in lines if a in places and b in places)
    size = radius * (1 + 0.6 * max(0, (len(others) - 1) // RING_SIZE))
    return {"nodes": shown, "lines": drawn_lines, "size": size, "middle": middle}
