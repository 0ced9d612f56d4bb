"""The paths of sources: they are listed, searched, read, added, ingested and forgotten; and files of the wiki."""

from base64 import b64encode
from typing import Annotated, Any
from urllib.parse import quote, unquote
from uuid import UUID

import orjson
from fastapi import APIRouter, Query
from starlette.responses import Response

from content.ingest.extraction import MEDIA_TYPES
from content.limits import ADDRESS, FORGET_REASON, ORIGINAL, SOURCE_TITLE
from content.markdown.attachments import folder_of
from db.database import Database
from resolvers.errors import NotFound
from resolvers.ingest.ingest import IngestDraft, ingest_source
from resolvers.sources.attachments import NO_FILE, find_attachments, read_attachment
from resolvers.sources.blobs import read_original
from resolvers.sources.retain import retain_source, retain_sources
from resolvers.sources.sources import NO_SOURCE, SourceDraft, SourceForgotten, forget_source
from schema.enums import WikiPageType, WikiSourceKind

from ...http.request import header, parse_in_thread
from ...moments import Moment
from .. import responses
from ..endpoint import BulkRoute, Call, WikiRoute
from ..models import ForgetResult, NewSource, NewSources, PassageHits, ResponseModel, RetainResults, Source, Sources
from ..operations import read, write
from ..parameters import BODY_STATUSES, Caller, Cursor, Limit, problem_responses, read_responses
from ..problems import problem
from ..responses import answer, answer_write
from .imports import stream_body
from .pages import enum_names

routes = APIRouter(route_class=WikiRoute, tags=["sources"])
uploads = APIRouter(route_class=BulkRoute, tags=["sources"])
BINARY = "application/octet-stream"
PATH_MAX = 1_000  # characters
FILE_SCHEMA = {"schema": {"type": "string", "format": "binary"}}
FILE = {
    "requestBody": {
        "required": True,
        "description": f"Content of the file, not a form: {ORIGINAL.maximum:,} bytes at most, uncompressed.",
        "content": dict.fromkeys((*MEDIA_TYPES, BINARY), FILE_SCHEMA),
    }
}
Kinds = Annotated[list[WikiSourceKind] | None, Query(alias="kind", max_length=20, description="Kinds of the sources.")]
Reason = Annotated[
    str | None, Query(min_length=1, max_length=FORGET_REASON.maximum, description="Reason. It is stored.")
]
ALREADY_STORED: dict[int | str, dict[str, Any]] = {
    200: {"model": Source | RetainResults, "description": "The source was already stored."}
}


class Ingestion(ResponseModel):
    """Ingested file: its source, and the created or proposed page."""

    created: bool
    source: Source
    page_id: UUID | None
    proposal_id: UUID | None


@routes.get("/sources", operation_id="listSources", response_model=Sources, responses=read_responses())
async def list_sources(call: Caller, kinds: Kinds = None, limit: Limit = 50, cursor: Cursor = None) -> Response:
    """List the sources of the wiki, newest first."""
    found = (await read(call, "sources", "RestSources", kinds=enum_names(kinds), first=limit, after=cursor))["found"]
    return await answer(call, responses.list_body(found, [responses.lower_enums(source) for source in found["nodes"]]))


@routes.get("/search/sources", operation_id="searchSources", response_model=PassageHits, responses=read_responses())
async def search_sources(
    call: Caller,
    q: Annotated[str, Query(description='Search query: words, "a phrase", -word. Dates prefer sources of that time.')],
    kinds: Kinds = None,
    refs: Annotated[list[str] | None, Query(alias="ref", max_length=100, description="Refs of the sources.")] = None,
    captured_after: Annotated[Moment | None, Query(description="Only sources captured at or after this time.")] = None,
    captured_before: Annotated[Moment | None, Query(description="Only sources captured before this time.")] = None,
    limit: Annotated[int, Query(ge=1, le=50)] = 20,
    cursor: Cursor = None,
) -> Response:
    """Search the sources of the wiki, best passages first."""
    filter = {
        "kinds": enum_names(kinds),
        "refs": refs,
        "capturedAfter": captured_after and captured_after.isoformat(),
        "capturedBefore": captured_before and captured_before.isoformat(),
    }
    variables: dict[str, Any] = {"query": q, "filter": filter, "first": limit, "after": cursor}
    found = (await read(call, "source_search", "RestSourceSearch", **variables))["found"]
    hits = [responses.passage(edge) for edge in found["edges"]]
    return await answer(call, responses.list_body(found, hits, did_you_mean=found["did_you_mean"]))


@uploads.post(
    "/ingest",
    operation_id="ingestSource",
    status_code=201,
    response_model=Ingestion,
    responses={
        200: {"model": Ingestion, "description": "Unchanged: this file was ingested from this address before."},
        **problem_responses(*BODY_STATUSES),
    },
    openapi_extra=FILE,
)
async def ingest(
    call: Caller,
    category: Annotated[WikiPageType | None, Query(description="Type of the page. Required.")] = None,
    address: Annotated[
        str | None,
        Query(
            max_length=ADDRESS.maximum,
            description="Path or URL of the file. A changed file from the same address becomes a new version.",
        ),
    ] = None,
    title: Annotated[
        str | None, Query(max_length=SOURCE_TITLE.maximum, description="Title. Defaults to the title of the file.")
    ] = None,
    captured_at: Annotated[Moment | None, Query(description="Time at which the source was captured.")] = None,
) -> Response:
    """Store a file, add its text as a source, and create or propose a page from it."""
    kind = header(call.request.scope, b"content-type")
    data = bytearray()
    async for piece in stream_body(call.request, ORIGINAL.maximum):
        data += piece
    draft = IngestDraft(bytes(data) or None, category and category.value, address, kind, title, captured_at)
    done = await ingest_source(call.database, call.wiki, draft)
    body = {
        "created": done.created,
        "source": await read_source(call, call.database, done.source_id),
        "page_id": done.page_id and str(done.page_id),
        "proposal_id": done.proposal_id and str(done.proposal_id),
    }
    return await answer_write(call, orjson.dumps(body), 201 if done.created else 200)


@routes.get(
    "/sources/{id}/original",
    operation_id="getOriginal",
    response_class=Response,
    responses={
        200: {"description": "Content of the file.", "content": {BINARY: FILE_SCHEMA}},
        **problem_responses(404),
    },
)
async def get_original(call: Caller, id: UUID) -> Response:
    """Download the original file of a source."""
    found = await read_original(call.database, call.wiki, id)
    name = unquote(found.address).rstrip("/").rpartition("/")[2] or "original"
    return bytes_of(found.data, found.media_type, name, found.sha256)


def bytes_of(data: bytes, media_type: str, name: str, sha256: str) -> Response:
    """Return a file as a download, which browsers save and do not display."""
    return Response(
        data,
        media_type=media_type,
        headers={
            "Content-Disposition": f"attachment; filename*=UTF-8''{quote(name, safe='')}",
            "Content-Security-Policy": "sandbox; default-src 'none'; frame-ancestors 'none'",
            "X-Content-Type-Options": "nosniff",
            "Cache-Control": "no-store",
            "Repr-Digest": f"sha-256=:{b64encode(bytes.fromhex(sha256)).decode()}:",
        },
    )


@routes.get(
    "/attachment",
    operation_id="getAttachment",
    response_class=Response,
    responses={
        200: {"description": "Content of the file.", "content": {BINARY: FILE_SCHEMA}},
        **problem_responses(404),
    },
)
async def get_attachment(
    call: Caller,
    path: Annotated[str, Query(max_length=PATH_MAX, description="Path of the file, as used in the text.")],
    beside: Annotated[
        str | None,
        Query(max_length=PATH_MAX, description="Path of the note that uses it: `imported_from` in its metadata."),
    ] = None,
) -> Response:
    """Download an image or a file that was imported with notes."""
    database = call.endpoint.database
    found = (await find_attachments(database, call.wiki, folder_of(beside), [path])).get(path)
    if found is None:
        raise NotFound(NO_FILE)
    file = await read_attachment(database, call.wiki, found.path)
    return bytes_of(file.data, file.media_type, file.path.rpartition("/")[2], file.hash)


@routes.get("/sources/{id}", operation_id="getSource", response_model=Source, responses=read_responses(404, 410))
async def get_source(call: Caller, id: UUID) -> Response:
    """Get a source by its id. For a forgotten source, the response is 410 with the remaining record."""
    found = await read_source(call, call.database, id)
    if found["forgotten_at"]:
        record = {name: found[name] for name in ("kind", "ref", "version", "checksum", "forgotten_at")}
        return problem(410, SourceForgotten.code, "This source was forgotten.", **record)
    return await answer(call, found)


@routes.post(
    "/sources",
    operation_id="retainSources",
    status_code=201,
    response_model=Source | RetainResults,
    responses={**ALREADY_STORED, **problem_responses(*BODY_STATUSES)},
)
async def retain(call: Caller, sources: NewSources) -> Response:
    """Add a source, or an array of at most 100 sources. Adding the same source again changes nothing."""
    if isinstance(sources, list):
        return await retain_many(call, sources)

    async def work(database: Database) -> Any:
        saved = await retain_source(database, call.wiki, draft_of(sources))
        return {"created": saved.created, "source": await read_source(call, database, saved.source_id)}

    written = await write(call, work)
    result = await parse_in_thread(len(written.body), lambda: orjson.loads(written.body))
    location = ("Location", f"{call.request.scope['root_path']}/sources/{result['source']['id']}")
    body, status = orjson.dumps(result["source"]), 201 if result["created"] else 200
    return await answer_write(call, body, status, [*written.headers, location])


async def retain_many(call: Call, sources: list[NewSource]) -> Response:
    """Add each source independently: a source that cannot be stored does not prevent the others from being stored."""

    async def work(database: Database) -> Any:
        done = await retain_sources(database, call.wiki, [draft_of(source) for source in sources])
        items = [
            {
                "position": item.position,
                "id": item.saved and str(item.saved.source_id),
                "version": item.saved and item.saved.version,
                "created": item.saved is not None and item.saved.created,
                "code": item.error and item.error.code,
                "detail": item.error and item.error.message,
            }
            for item in done.items
        ]
        return {"items": items, "job_id": done.job_id and str(done.job_id)}

    written = await write(call, work)
    is_new = any(item["created"] for item in orjson.loads(written.body)["items"])
    return await answer_write(call, written.body, 201 if is_new else 200, written.headers)


def draft_of(source: NewSource) -> SourceDraft:
    return SourceDraft(
        kind=source.kind.value,
        ref=source.ref,
        content=source.content,
        title=source.title,
        captured_at=source.captured_at,
        metadata=source.metadata,
    )


@routes.delete(
    "/sources/{id}", operation_id="forgetSource", response_model=ForgetResult, responses=problem_responses(404)
)
async def forget(call: Caller, id: UUID, reason: Reason = None) -> Response:
    """Forget a source: erase all of its versions, and queue a job that erases everything written from it."""

    async def work(database: Database) -> Any:
        done = await forget_source(database, call.wiki, id, reason)
        record = await read_source(call, database, id)
        return {"source": record, "versions": done.versions, "job_id": done.job_id and str(done.job_id)}

    written = await write(call, work)
    return await answer_write(call, written.body, 200, written.headers)


async def read_source(call: Call, database: Database, id: UUID) -> dict[str, Any]:
    found = (await read(call, "sources", "RestSource", database, id=str(id)))["source"]
    if not found:
        raise NotFound(NO_SOURCE)
    return responses.source_row(found)


routes.include_router(uploads)
