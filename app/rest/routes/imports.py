"""Notes into the wiki: a zip of a folder, or lines of JSON, in one upload."""

import asyncio
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query
from starlette.requests import Request
from starlette.responses import Response

from resolvers.errors import Unavailable
from resolvers.import_export.formats import Format
from resolvers.import_export.importing import import_path
from resolvers.import_export.notes import ImportProblem
from resolvers.import_export.results import ImportResult
from resolvers.transactions.transaction import check_may_write

from ...http.request import Refused, check_content_encoding, header, too_large
from ..endpoint import BulkRoute
from ..models import ResponseModel
from ..parameters import SENT, Caller, problems
from ..responses import answer_write


class ImportFault(ResponseModel):
    """Error or warning of an import: path, code and reason."""

    path: str
    code: str
    message: str


class ImportSummary(ResponseModel):
    """Result of an import, with the first thousand errors and warnings.

    `format` is the detected tool; `left_out` counts files that are not notes, and `attachments` stored files.
    """

    created: int
    changed: int
    unchanged: int
    failed: int
    sources: int
    links: int
    broken_links: int
    format: str
    left_out: dict[str, int]
    attachments: int
    warnings: list[ImportFault]
    errors: list[ImportFault]


routes = APIRouter(route_class=BulkRoute, tags=["import"])
ENDINGS = {"application/zip": ".zip", "application/jsonl": ".jsonl", "application/x-ndjson": ".jsonl"}
IMPORTS_PER_TENANT = 4  # imports of one tenant in one process: each has files on the disk
IN_ALL = 32  # of all tenants
WRITTEN_OVER = 100_000  # bytes that are gathered before they go to the disk
UNPACKED = 20  # times the size of an upload that what it unpacks to may have
ERRORS_SHOWN = 1_000
A_ZIP = {
    "type": "string",
    "format": "binary",
    "contentMediaType": "application/zip",
    "description": "Zip archive of a folder of Markdown notes, such as a vault or an export of Cairn.",
}
LINES = {
    "type": "string",
    "format": "binary",
    "description": "One JSON object per line in UTF-8, each a page in the format of a `.jsonl` export.",
    "examples": ['{"type": "entity", "title": "Zilker Park", "body": "A park in [[Austin]]."}\n'],
}


class ImportTool(StrEnum):
    """Supported note-taking tools."""

    AUTO = "auto"
    MARKDOWN = "markdown"
    OBSIDIAN = "obsidian"
    NOTION = "notion"
    LOGSEQ = "logseq"


MadeBy = Annotated[ImportTool, Query(description="Tool that wrote the notes of a zip. `auto` detects it.")]
BODY = {
    "requestBody": {
        "required": True,
        "description": "The notes, not a form: CAIRN_MAX_IMPORT bytes at most, uncompressed.",
        "content": {kind: {"schema": A_ZIP if ending == ".zip" else LINES} for kind, ending in ENDINGS.items()},
    }
}


@routes.post(
    "/import", operation_id="importNotes", response_model=ImportSummary, responses=problems(*SENT), openapi_extra=BODY
)
async def import_notes(call: Caller, format: MadeBy = ImportTool.AUTO) -> Response:
    """Import notes into the wiki. Importing the same notes again changes nothing, so that a request that timed out
    can be sent again to continue."""
    ending = ending_of(call.request)
    await check_may_write(call.database, call.wiki)
    most = call.endpoint.max_import
    with slot(call.wiki.tenant_id), tempfile.TemporaryDirectory(prefix="cairn-upload-") as folder:
        path = Path(folder) / f"upload{ending}"
        await save_body(call.request, path, most)
        result = await import_path(call.database, call.wiki, path, unpacked_most=UNPACKED * most, format=Format(format))
    call.account.owe(result.created + result.changed + result.unchanged + result.sources)
    return await answer_write(call, import_response(result).model_dump_json().encode())


def ending_of(request: Request) -> str:
    kind = (header(request.scope, b"content-type") or "").partition(";")[0].strip().lower()
    if kind not in ENDINGS:
        message = "Send a zip of notes as application/zip, or lines of JSON as application/jsonl."
        raise Refused(415, message, "UNSUPPORTED_MEDIA_TYPE")
    return ENDINGS[kind]


at_work: Counter[UUID] = Counter()


@contextmanager
def slot(tenant_id: UUID) -> Iterator[None]:
    """Take one of the few imports that a tenant may have at work in this process, so that other tenants have theirs."""
    if at_work[tenant_id] >= IMPORTS_PER_TENANT or at_work.total() >= IN_ALL:
        raise Unavailable("Other imports are running. Try again in a moment.")
    at_work[tenant_id] += 1
    try:
        yield
    finally:
        at_work[tenant_id] -= 1
        if not at_work[tenant_id]:
            del at_work[tenant_id]


async def stream_body(request: Request, most: int) -> AsyncIterator[bytes]:
    """Yield the body piece by piece. More than `most` bytes are refused, whatever the client says it sends."""
    check_content_encoding(header(request.scope, b"content-encoding"))
    declared = header(request.scope, b"content-length")
    if declared and declared.isdecimal() and int(declared) > most:
        raise too_large(most)
    size = 0
    async for piece in request.stream():
        size += len(piece)
        if size > most:
            raise too_large(most)
        yield piece


async def save_body(request: Request, path: Path, most: int) -> None:
    """Write the body to a file."""
    pieces = bytearray()
    with path.open("wb") as file:
        async for piece in stream_body(request, most):
            pieces += piece
            if len(pieces) > WRITTEN_OVER:
                await asyncio.to_thread(file.write, bytes(pieces))
                pieces.clear()
        await asyncio.to_thread(file.write, bytes(pieces))


def import_response(result: ImportResult) -> ImportSummary:
    return ImportSummary(
        created=result.created,
        changed=result.changed,
        unchanged=result.unchanged,
        failed=result.failed,
        sources=result.sources,
        links=result.links,
        broken_links=result.broken_links,
        format=result.format,
        left_out=dict(result.left_out),
        attachments=result.attachments,
        warnings=faults(result.warnings),
        errors=faults(result.errors),
    )


def faults(problems: Sequence[ImportProblem]) -> list[ImportFault]:
    return [ImportFault(path=one.path, code=one.code, message=one.message) for one in problems[:ERRORS_SHOWN]]
