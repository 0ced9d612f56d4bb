"""The pages for writing: create, edit, rename, merge, move and archive pages, and restore earlier versions."""

import re
from contextlib import suppress
from typing import Any

from starlette.responses import PlainTextResponse, Response

from content.ingest.extraction import Unreadable
from content.markdown.html import html
from content.markdown.sections import parse, render
from content.names import NoSlug, slugify
from content.templates import TEMPLATES
from resolvers.errors import BadInput, Conflict, Forbidden
from resolvers.ingest.ingest import text_of as text_of_file

from ..endpoint import Visit
from ..merging import EDITED, conflicting_summary, format_tags, merge_edit, merge_fields, one_line, tags_of
from ..paths import path_to, redirect
from ..prose import safe_html
from .files import find_files
from .read import may_write, page_variables, require_page

PREVIEWED_MAX = 200_000  # characters
TITLE_MAX = 500  # characters
PASTED_MAX = 500_000  # characters of HTML
FALSE_BOLD = re.compile(r"<b [^>]*font-weight:\s*normal[^>]*>", re.IGNORECASE)  # around all that Google Docs copies
BROKEN_LINK_CLASS = re.compile(r"wiki-link wiki-link-broken")


# -- creating a page


async def new_page(visit: Visit) -> Response:
    """Show the form of a new page. Its title may be in the query string, as in the link of a missing page."""
    found = await visit.query("search", "Nothing")
    check_may_write(visit, found["viewer"])
    type = visit.parameter("type") if visit.parameter("type") in TEMPLATES else "topic"
    fields = {
        "type": type,
        "title": visit.parameter("title"),
        "slug": "",
        "summary": "",
        "tags": "",
        "body": template_text(type),
    }
    return await visit.show("new.html", fields=fields, errors=[], templates=page_templates(), **found)


async def create(visit: Visit) -> Response:
    """Create the page of the form, or show the form again with the errors."""
    names = ("type", "title", "slug", "summary", "tags", "body")
    fields = {name: visit.form_field(name) for name in names}
    if fields["type"] not in TEMPLATES:
        raise BadInput("Choose one of the types.", "type")
    page = {
        "owner": visit.owner,
        "type": fields["type"].upper(),
        "title": fields["title"].strip(),
        "slug": fields["slug"].strip() or None,
        "summary": fields["summary"].strip() or None,
        "tags": tags_of(fields["tags"]),
        "bodyMd": without_empty_sections(fields["body"]),
    }
    payload = await visit.mutate("write", "Create", input=page)
    if payload["userErrors"]:
        found = await visit.query("search", "Nothing")
        values = {"fields": fields, "errors": payload["userErrors"], "templates": page_templates()}
        return await visit.show("new.html", 422, **values, **found)
    return redirect(page_path(visit, payload["page"]))


def template_text(type: str) -> str:
    """Return the initial text of a page: the headings of its type."""
    return "\n\n".join(f"## {heading}\n" for _, heading in TEMPLATES[type])


def page_templates() -> dict[str, str]:
    return {type: template_text(type) for type in TEMPLATES}


def without_empty_sections(body: str) -> str:
    """Return the text without the sections that have a heading and no text."""
    return render(section for section in parse(body) if section.body)


# -- editing


async def edit_page(visit: Visit) -> Response:
    """Show the editor of a page, or of the section that the query string names."""
    section = visit.parameter("section")
    found = await visit.query("write", "Edit", **page_variables(visit), section=section or "-", isSection=bool(section))
    page = require_page(found["page"])
    check_may_write(visit, found["viewer"])
    if section and page["section"] is None:
        raise Conflict("The page no longer has this section. Edit the whole page, or look at its history.")
    body = page["section"]["bodyMd"] if section else page["bodyMd"]
    heading = page["section"]["heading"] if section else ""
    summary, tags = one_line(page["summary"]), format_tags(page["tags"])
    fields = {
        "version": page["version"],
        "body": body,
        "heading": heading,
        "heading_before": heading,
        "summary": summary,
        "summary_before": summary,
        "tags": tags,
        "tags_before": tags,
        "edit_summary": "",
    }
    return await visit.show("edit.html", fields=fields, section=section, errors=[], **found)


async def save(visit: Visit) -> Response:
    """Save an edit. If the page has changed since, merge both edits, or show them with their base if they conflict."""
    page_id = visit.form_field("id")
    section = visit.form_field("section")
    version = parse_version(visit.form_field("version"))
    fields = {name: visit.form_field(name) for name in EDITED}
    payload = await save_fields(visit, page_id, version, section, fields)
    if payload["conflict"]:
        part = {"section": section or "-", "isSection": bool(section)}
        found = await visit.query("write", "Base", id=page_id, version=version, **part)
        page = require_page(found["page"])
        texts, merges = merge_edit(page, section, fields)
        their_summary = conflicting_summary(page, fields)
        fields |= merge_fields(page, fields) | {"body": texts["yours"]}
        if merges and their_summary is None:
            payload = await save_fields(visit, page_id, page["version"], section, fields)
        if payload["conflict"]:
            values = {"texts": texts, "section": section, "fields": fields, "their_summary": their_summary}
            return await visit.show("conflict.html", 409, **values, **found)
    if payload["userErrors"]:
        found = await visit.query(
            "write", "Edit", **page_variables(visit), section=section or "-", isSection=bool(section)
        )
        fields = {name: visit.form_field(name) for name in EDITED} | {"version": str(version)}
        return await visit.show("edit.html", 422, fields=fields, section=section, errors=payload["userErrors"], **found)
    anchor = section or ""
    return redirect(page_path(visit, payload["page"], anchor))


async def save_fields(visit: Visit, page_id: str, version: int, section: str, fields: dict[str, str]) -> dict[str, Any]:
    """Save a section with its heading, or the whole page with its summary and tags, as far as they were changed.

    Return the payload.
    """
    change: dict[str, Any] = {
        "pageId": page_id,
        "expectedVersion": version,
        "bodyMd": fields["body"],
        "editSummary": fields["edit_summary"].strip() or None,
    }
    if section:
        heading = fields["heading"].strip()
        is_renamed = heading and heading != fields["heading_before"]
        section_change = change | {"sectionSlug": section} | ({"heading": heading} if is_renamed else {})
        patched: dict[str, Any] = await visit.mutate("write", "Patch", input=section_change)
        return patched
    if fields["summary"] != fields["summary_before"]:
        change["summary"] = fields["summary"].strip() or None
    if fields["tags"] != fields["tags_before"]:
        change["tags"] = tags_of(fields["tags"])
    updated: dict[str, Any] = await visit.mutate("write", "Update", input=change)
    return updated


async def preview_text(visit: Visit) -> Response:
    """Render the Markdown of an editor as HTML. Links are not looked up, so none is shown as broken."""
    shown = BROKEN_LINK_CLASS.sub("wiki-link", html(visit.form_field("body")[:PREVIEWED_MAX], {}))
    text = safe_html(shown, visit.owner or "", files=await find_files(visit, [shown]))
    return await visit.show("rendered.html", html=text, viewer=None)


async def convert_pasted_html(visit: Visit) -> Response:
    """Convert the HTML that a person pastes from a web page or a document to Markdown."""
    pasted = FALSE_BOLD.sub("<span>", visit.form_field("body")[:PASTED_MAX])
    try:
        text = (await text_of_file("text/html", pasted.encode())).text
    except Unreadable as error:
        raise BadInput(str(error), "body") from None
    return PlainTextResponse(text.strip(), headers={"cache-control": "no-store"})


# -- renaming and archiving


async def rename_form(visit: Visit) -> Response:
    return await show_page_form(visit, "rename.html")


async def rename(visit: Visit) -> Response:
    """Rename the page, and update the links to it on other pages."""
    title = visit.form_field("title").strip()
    slug = visit.form_field("slug").strip()
    change = {
        "pageId": visit.form_field("id"),
        "title": title,
        "expectedVersion": parse_version(visit.form_field("version")),
    }
    with suppress(NoSlug):  # a title from which no slug can be made keeps the present slug
        change["slug"] = slug or slugify(title)
    payload = await visit.mutate("write", "Rename", input=change)
    if payload["userErrors"] or payload["conflict"]:
        return await show_page_form(visit, "rename.html", 422, payload["userErrors"] or [payload["conflict"]])
    return redirect(page_path(visit, payload["page"]))


async def archive_form(visit: Visit) -> Response:
    return await show_page_form(visit, "archive.html")


async def archive(visit: Visit) -> Response:
    return await submit_page_id(visit, "Archive")


async def unarchive(visit: Visit) -> Response:
    return await submit_page_id(visit, "Unarchive")


async def show_page_form(visit: Visit, template: str, status: int = 200, errors: list[Any] | None = None) -> Response:
    """Show a form for an action on a whole page."""
    found = await visit.query("write", "Edit", **page_variables(visit), section="-", isSection=True)
    require_page(found["page"])
    check_may_write(visit, found["viewer"])
    return await visit.show(template, status, errors=errors or [], form=visit.form, **found)


async def submit_page_id(visit: Visit, operation: str) -> Response:
    payload = await visit.mutate("write", operation, id=visit.form_field("id"))
    raise_first_error(payload)
    return redirect(page_path(visit, payload["page"]))


# -- merging and moving: the person searches the other page by name, then chooses it


async def merge_form(visit: Visit) -> Response:
    return await show_choice(visit, "merge")


async def merge_pages(visit: Visit) -> Response:
    """Merge the page into the chosen one."""
    merge_input = {"fromPageId": visit.form_field("id"), "intoPageId": chosen_page_id(visit)}
    return await submit_input(visit, "Merge", merge_input)


async def move_form(visit: Visit) -> Response:
    return await show_choice(visit, "move")


async def move_page(visit: Visit) -> Response:
    """Move the page under the chosen parent, or under no parent."""
    parent = None if visit.form_field("to") == "none" else chosen_page_id(visit)
    return await submit_input(visit, "Move", {"pageId": visit.form_field("id"), "parentId": parent})


def chosen_page_id(visit: Visit) -> str:
    """Return the id of the page that the person chose. Raises BadInput if there is none."""
    if not visit.form_field("to"):
        raise BadInput("Choose a page first.", "to")
    return visit.form_field("to")


async def show_choice(visit: Visit, action: str) -> Response:
    """Show the form of an action that needs a second page, with the pages that match the name given."""
    name = visit.parameter("name")[:TITLE_MAX]
    found = await visit.query("write", "Choose", **page_variables(visit), name=name, isNamed=bool(name))
    page = require_page(found["page"])
    check_may_write(visit, found["viewer"])
    answering = {hit["page"]["id"]: hit["page"] for hit in found.pop("named", [])}
    others = [other for id, other in answering.items() if id != page["id"]]
    return await visit.show("choose.html", action=action, name=name, others=others, **found)


async def submit_input(visit: Visit, operation: str, mutation_input: dict[str, Any]) -> Response:
    payload = await visit.mutate("write", operation, input=mutation_input)
    if payload["conflict"]:
        raise Conflict(payload["conflict"]["message"])
    raise_first_error(payload)
    return redirect(page_path(visit, payload["page"]))


# -- history


async def history(visit: Visit) -> Response:
    """Show the versions of a page."""
    found = await visit.query("history", "History", **page_variables(visit), after=visit.parameter("after") or None)
    require_page(found["page"])
    return await visit.show("history.html", may_write=may_write(visit, found["viewer"]), **found)


async def diff(visit: Visit) -> Response:
    """Show what changed between two versions, word by word."""
    first, last = sorted((parse_version(visit.parameter("from")), parse_version(visit.parameter("to"))))
    found = await visit.query("history", "Diff", id=visit.request.path_params["id"], **{"from": first, "to": last})
    require_page(found["diff"])
    for hunk in found["diff"]["hunks"]:
        for line in hunk["lines"]:
            line["pieces"] = split_line(line["text"], line["parts"])
    page = found["diff"]["toRevision"]["page"]
    return await visit.show("diff.html", page=page, may_write=may_write(visit, found["viewer"]), **found)


async def restore(visit: Visit) -> Response:
    """Restore an earlier version of a page as a new version."""
    change = {"pageId": visit.form_field("id"), "version": parse_version(visit.form_field("version"))}
    payload = await visit.mutate("write", "Restore", input=change)
    raise_first_error(payload)
    return redirect(page_path(visit, payload["page"]))


def split_line(text: str, parts: list[dict[str, int]]) -> list[tuple[str, bool]]:
    """Split a line into pieces, each with whether it is one of the changed `parts`."""
    found, at = [], 0
    for part in parts:
        start, end = part["start"], part["start"] + part["length"]
        found += [(text[at:start], False), (text[start:end], True)]
        at = end
    return [piece for piece in [*found, (text[at:], False)] if piece[0]]


# -- helpers


def page_path(visit: Visit, page: dict[str, Any], anchor: str = "") -> str:
    return path_to("wiki", visit.owner or "", page["type"].lower(), page["slug"], anchor=anchor)


def parse_version(text: str) -> int:
    """Return the number of a version. Raises BadInput."""
    if not (text.isascii() and text.isdecimal() and len(text) < 10):
        raise BadInput("Give the number of a version, such as 3.", "version")
    return int(text)


def check_may_write(visit: Visit, viewer: dict[str, Any]) -> None:
    if not may_write(visit, viewer):
        raise Forbidden("You can read this wiki but not write to it. Ask an admin of the wiki for a grant.")


def raise_first_error(payload: dict[str, Any]) -> None:
    """Raise BadInput for the first user error of a payload."""
    for error in payload["userErrors"]:
        raise BadInput(error["message"])
