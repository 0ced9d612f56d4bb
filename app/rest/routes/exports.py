"""The path that exports the whole wiki as a zip of Markdown files."""

import asyncio
import tempfile
from collections.abc import AsyncIterator
from typing import IO, Any

from fastapi import APIRouter
from starlette.responses import Response, StreamingResponse

from resolvers.import_export.export_files import export_zip
from resolvers.transactions.audit import Event, audit_in_own_transaction

from ..endpoint import BulkRoute
from ..parameters import Caller, problem_responses

routes = APIRouter(route_class=BulkRoute, tags=["export"])
IN_MEMORY = 4_000_000  # bytes; a larger zip is written to disk
PIECE_SIZE = 64 * 1024
ZIP = "application/zip"
CONTENT = {ZIP: {"schema": {"type": "string", "format": "binary"}}}
MISSING = "X-Cairn-Export-Missing"
A_ZIP: dict[int | str, dict[str, Any]] = {
    200: {"description": "Zip archive of a folder of Markdown files.", "content": CONTENT},
    207: {
        "description": "Incomplete export. `.cairn/errors.jsonl` lists the missing pages, sources and mentions.",
        "headers": {MISSING: {"description": "Number of missing entries.", "schema": {"type": "integer"}}},
        "content": CONTENT,
    },
}


@routes.get(
    "/export.zip", operation_id="exportWiki", response_class=Response, responses={**A_ZIP, **problem_responses()}
)
async def export(call: Caller, history: bool = False) -> Response:
    """Export pages, including archived ones, sources and mentions. `cairn import` restores the same wiki from it.
    With `history`, all earlier versions of each page are included. If an entry cannot be written, the rest is
    exported: the response is 207, and `.cairn/errors.jsonl` lists what is missing and why."""
    file = tempfile.SpooledTemporaryFile(IN_MEMORY)  # noqa: SIM115  open until it is sent
    try:
        result = await export_zip(call.database, call.wiki, file, history=history)
        detail = {"pages": result.pages, "sources": result.sources, "history": history}
        await audit_in_own_transaction(
            call.endpoint.database,
            call.wiki.tenant_id,
            call.wiki.actor,
            Event.WIKI_EXPORTED,
            call.wiki.owner_id,
            **detail,
        )
        call.account.charge(result.pages + result.sources)
        size = file.seek(0, 2)
        file.seek(0)
    except BaseException:
        file.close()
        raise
    headers = {
        "Content-Disposition": 'attachment; filename="wiki.zip"',
        "Content-Length": str(size),
        "Cache-Control": "no-store",
    }
    if result.failed:
        headers[MISSING] = str(result.failed)
    return StreamingResponse(pieces(file), 207 if result.failed else 200, media_type=ZIP, headers=headers)


async def pieces(file: IO[bytes]) -> AsyncIterator[bytes]:
    with file:
        while piece := await asyncio.to_thread(file.read, PIECE_SIZE):
            yield piece
