"""The path that imports notes: an upload of a zip of a folder, or of lines of JSON."""

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
from ..parameters import BODY_STATUSES, Caller, problem_responses
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
SUFFIXES = {"application/zip": ".zip", "application/jsonl": ".jsonl", "application/x-ndjson": ".jsonl"}
IMPORTS_PER_TENANT = 4  # concurrent imports of a tenant in a process; each has files on disk
IMPORTS_MAX = 32  # concurrent imports of all tenants in a process
BUFFER_SIZE = 100_000  # bytes that are buffered before they are written to disk
UNPACKED_FACTOR = 20  # how many times larger than the maximum upload the unpacked files may be
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
        "content": {kind: {"schema": A_ZIP if suffix == ".zip" else LINES} for kind, suffix in SUFFIXES.items()},
    }
}


@routes.post(
    "/import",
    operation_id="importNotes",
    response_model=ImportSummary,
    responses=problem_responses(*BODY_STATUSES),
    openapi_extra=BODY,
)
async def import_notes(call: Caller, format: MadeBy = ImportTool.AUTO) -> Response:
    """Import notes into the wiki. Importing the same notes again changes nothing, so that a request that timed out
    can be sent again to continue."""
    suffix = suffix_of(call.request)
    await check_may_write(call.database, call.wiki)
    max_bytes = call.endpoint.max_import
    with import_slot(call.wiki.tenant_id), tempfile.TemporaryDirectory(prefix="cairn-upload-") as folder:
        path = Path(folder) / f"upload{suffix}"
        await save_body(call.request, path, max_bytes)
        result = await import_path(
            call.database, call.wiki, path, max_unpacked=UNPACKED_FACTOR * max_bytes, format=Format(format)
        )
    call.account.charge(result.created + result.changed + result.unchanged + result.sources)
    return await answer_write(call, import_response(result).model_dump_json().encode())


def suffix_of(request: Request) -> str:
    kind = (header(request.scope, b"content-type") or "").partition(";")[0].strip().lower()
    if kind not in SUFFIXES:
        message = "Send a zip of notes as application/zip, or lines of JSON as application/jsonl."
        raise Refused(415, message, "UNSUPPORTED_MEDIA_TYPE")
    return SUFFIXES[kind]


running_imports: Counter[UUID] = Counter()


@contextmanager
def import_slot(tenant_id: UUID) -> Iterator[None]:
    """Count a running import during the block. Raises Unavailable if the tenant or the process has too many."""
    if running_imports[tenant_id] >= IMPORTS_PER_TENANT or running_imports.total() >= IMPORTS_MAX:
        raise Unavailable("Other imports are running. Try again in a moment.")
    running_imports[tenant_id] += 1
    try:
        yield
    finally:
        running_imports[tenant_id] -= 1
        if not running_imports[tenant_id]:
            del running_imports[tenant_id]


async def stream_body(request: Request, max_bytes: int) -> AsyncIterator[bytes]:
    """Yield the body piece by piece. Raises Refused if it is larger than `max_bytes`, whatever its Content-Length."""
    check_content_encoding(header(request.scope, b"content-encoding"))
    declared = header(request.scope, b"content-length")
    if declared and declared.isdecimal() and int(declared) > max_bytes:
        raise too_large(max_bytes)
    size = 0
    async for piece in request.stream():
        size += len(piece)
        if size > max_bytes:
            raise too_large(max_bytes)
        yield piece


async def save_body(request: Request, path: Path, max_bytes: int) -> None:
    """Write the body to a file."""
    pieces = bytearray()
    with path.open("wb") as file:
        async for piece in stream_body(request, max_bytes):
            pieces += piece
            if len(pieces) > BUFFER_SIZE:
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
    return [
        ImportFault(path=problem.path, code=problem.code, message=problem.message)
        for problem in problems[:ERRORS_SHOWN]
    ]
