"""The pages for sources: list, search and show them with the pages that cite them, add and forget them."""

from datetime import UTC, datetime
from typing import Any

from starlette.responses import PlainTextResponse, Response

from content.ingest.extraction import Unreadable, media_type_of
from content.names import NoSlug, slugify
from resolvers.errors import BadInput, NotFound
from resolvers.ingest.ingest import text_of as text_of_file
from resolvers.sources.blobs import OriginalDraft
from resolvers.sources.retain import TRIGGER
from resolvers.sources.sources import SourceDraft
from resolvers.sources.sources import add_source as add_source_with_file
from schema.enums import WikiSourceKind

from ..endpoint import Visit
from ..forms import Upload
from ..paths import path_to, redirect
from .files import owner_scope
from .read import may_write
from .search import QUERY_MAX
from .write import check_may_write, raise_first_error

KINDS = tuple(sorted(WikiSourceKind.__members__))
PART_MAX = 40_000  # characters of a source on one page
NO_SOURCE = "There is no such source. Look for it in the list of sources."


async def sources(visit: Visit) -> Response:
    """Show the sources of a wiki, newest first, or the passages that match a query."""
    query = visit.parameter("q")[:QUERY_MAX]
    kind = visit.parameter("kind").upper()
    after = visit.parameter("after") or None
    chosen = {"q": query, "kind": kind if kind in KINDS else ""}
    if query:
        found = await visit.query("sources", "Passages", query=query, after=after)
    else:
        found = await visit.query("sources", "Sources", kinds=[kind] if chosen["kind"] else None, after=after)
    values: dict[str, Any] = {"chosen": chosen, "kinds": KINDS, "may_write": may_write(visit, found["viewer"])}
    return await visit.show("sources.html", **values, **found)


async def source(visit: Visit) -> Response:
    """Show the lines of a source, with the pages that cite it. A long source is shown in parts: one by its number, or
    the one with a line."""
    found = await visit.query("sources", "Source", id=visit.request.path_params["id"])
    lines = require_source(found)["content"].removesuffix("\n").split("\n")  # as citations count lines
    parts = split_into_parts(lines)
    part, line = number_of(visit.parameter("part")), number_of(visit.parameter("line"))
    if line:
        part = next((number for number, (_, end) in enumerate(parts, 1) if line <= end), 1)
    part = min(max(part, 1), len(parts))
    start, end = parts[part - 1]
    cited_lines = {line for cited in found["source"]["citations"]["nodes"] for line in cited_range(cited)}
    numbered_lines = [(number, line, number in cited_lines) for number, line in enumerate(lines[start:end], start + 1)]
    values: dict[str, Any] = {"lines": numbered_lines, "part": part, "parts": len(parts)}
    return await visit.show("source.html", may_write=may_write(visit, found["viewer"]), **values, **found)


def number_of(text: str) -> int:
    """Return the number that a parameter of a path gives, or 0 if it gives none."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 9 else 0


def split_into_parts(lines: list[str]) -> list[tuple[int, int]]:
    """Split the lines of a source into ranges of at most PART_MAX characters. A longer line is a range by itself."""
    parts, start, size = [], 0, 0
    for index, line in enumerate(lines):
        if size and size + len(line) > PART_MAX:
            parts.append((start, index))
            start, size = index, 0
        size += len(line) + 1
    return [*parts, (start, len(lines))]


def cited_range(citation: dict[str, Any]) -> range:
    """Return the numbers of the lines that a citation refers to. It may refer to none."""
    first = citation["lineStart"]
    return range(first, citation["lineEnd"] + 1) if first else range(0)


async def source_form(visit: Visit) -> Response:
    found = await visit.query("search", "Nothing")
    check_may_write(visit, found["viewer"])
    fields = {"title": "", "kind": "DOCUMENT", "day": "", "content": ""}
    return await visit.show("add_source.html", fields=fields, kinds=KINDS, errors=[], **found)


async def add_source(visit: Visit) -> Response:
    """Retain the text or the file of the form as a source."""
    fields = {name: visit.form_field(name).strip() for name in ("title", "kind", "day", "content")}
    if fields["kind"] not in KINDS:
        raise BadInput("Choose one of the kinds.", "kind")
    if visit.upload:
        return await add_file(visit, fields, visit.upload)
    source = {
        "kind": fields["kind"],
        "ref": make_ref(fields["title"]),
        "title": fields["title"] or None,
        "content": fields["content"],
        "capturedAt": f"{fields['day']}T00:00:00Z" if fields["day"] else None,
    }
    payload = await visit.mutate("sources", "Add", input={"owner": visit.owner, "sources": [source]})
    if payload["userErrors"]:
        return await show_refused_source(visit, fields, payload["userErrors"])
    return redirect(path_to("source", visit.owner or "", payload["sources"][0]["id"]))


async def add_file(visit: Visit, fields: dict[str, str], file: Upload) -> Response:
    """Retain an uploaded file as a source. Its bytes are stored; its text is that of the form, or else extracted."""
    name = file.name.replace("\\", "/").rpartition("/")[2]
    try:
        media_type = media_type_of(file.media_type, name, file.data)
        text = fields["content"] or (await text_of_file(media_type, file.data)).text.strip()
        draft = SourceDraft(
            fields["kind"].lower(),
            make_ref(fields["title"] or name),
            text,
            fields["title"] or name.rpartition(".")[0] or name,
            datetime.fromisoformat(f"{fields['day']}T00:00:00Z") if fields["day"] else None,
            original=OriginalDraft(file.data, media_type, name),
        )
        saved = await add_source_with_file(visit.web.database, await owner_scope(visit), draft, trigger=TRIGGER)
    except Unreadable as error:
        return await show_refused_source(visit, fields, [{"message": f"The file cannot be read: {error}."}])
    except (BadInput, ValueError) as error:
        message = error.message if isinstance(error, BadInput) else "The date is not valid."
        return await show_refused_source(visit, fields, [{"message": message}])
    return redirect(path_to("source", visit.owner or "", str(saved.source_id)))


async def show_refused_source(visit: Visit, fields: dict[str, str], errors: list[dict[str, Any]]) -> Response:
    found = await visit.query("search", "Nothing")
    return await visit.show("add_source.html", 422, fields=fields, kinds=KINDS, errors=errors, **found)


async def file_text(visit: Visit) -> Response:
    """Return the text of a file for the form of a new source, or the reason why it cannot be read with status 422."""
    check_may_write(visit, (await visit.query("search", "Nothing"))["viewer"])
    try:
        found = await text_of_file(media_type_of(None, visit.parameter("name"), visit.file), visit.file)
    except Unreadable as error:
        return PlainTextResponse(f"The file cannot be read: {error}.", 422)
    return PlainTextResponse(found.text.strip(), headers={"cache-control": "no-store"})


def make_ref(title: str) -> str:
    """Return a ref for a source that a person adds: the present time, and the slug of the title."""
    moment = f"{datetime.now(UTC):%Y-%m-%d-%H%M%S}"
    try:
        return f"{moment}-{slugify(title)}"
    except NoSlug:
        return moment


async def forget_form(visit: Visit) -> Response:
    """Show what is erased with a source, before it is forgotten."""
    found = await visit.query("sources", "Radius", id=visit.request.path_params["id"])
    require_source(found)
    check_may_write(visit, found["viewer"])
    return await visit.show("forget.html", **found)


async def forget(visit: Visit) -> Response:
    """Forget a source. A job then rewrites the pages that were written from it."""
    reason = visit.form_field("reason").strip() or None
    forget_input = {"sourceId": visit.request.path_params["id"], "reason": reason}
    raise_first_error(await visit.mutate("sources", "Forget", input=forget_input))
    return redirect(path_to("source", visit.owner or "", visit.request.path_params["id"]))


def require_source(found: dict[str, Any]) -> dict[str, Any]:
    """Return the source of a response. Raises NotFound."""
    source: dict[str, Any] | None = found["source"]
    if not source or "ref" not in source:
        raise NotFound(NO_SOURCE)
    return source
