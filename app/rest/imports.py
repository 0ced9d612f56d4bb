"""Notes into the wiki: a zip of a folder, or lines of JSON, in one upload."""

import asyncio
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from resolvers.errors import Unavailable
from resolvers.moving.importing import ImportResult, import_path
from resolvers.writing import check_may_write

from ..request import Refused, check_coding, header, too_large
from .answers import answer_write
from .asking import SENT, Caller, problems
from .door import MovingRoute
from .models.imports import Imported, ImportFault

routes = APIRouter(route_class=MovingRoute, tags=["import"])
ENDINGS = {"application/zip": ".zip", "application/jsonl": ".jsonl", "application/x-ndjson": ".jsonl"}
AT_ONCE = 4  # imports of one process: each has files on the disk
WRITTEN_OVER = 100_000  # bytes that are gathered before they go to the disk
UNPACKED = 20  # times the size of an upload that what it unpacks to may have
ERRORS_SHOWN = 1_000
BODY = {
    "requestBody": {
        "required": True,
        "content": {kind: {"schema": {"type": "string", "format": "binary"}} for kind in ENDINGS},
    }
}


@routes.post("/import", response_model=Imported, responses=problems(*SENT), openapi_extra=BODY)
async def import_notes(call: Caller) -> Response:
    """Bring notes into the wiki. The same again changes nothing, so what was stopped in its time is sent again, and
    goes on where it was."""
    check_coding(header(call.request.scope, b"content-encoding"))
    ending = ending_of(call.request)
    await check_may_write(call.door.database, call.wiki)
    most = call.door.max_import
    with slot(), tempfile.TemporaryDirectory(prefix="cairn-upload-") as folder:
        path = Path(folder) / f"upload{ending}"
        await received(call.request, path, most)
        result = await import_path(call.door.database, call.wiki, path, unpacked_most=UNPACKED * most)
    call.account.owe(result.created + result.changed + result.unchanged + result.sources)
    return await answer_write(call, shown(result).model_dump_json().encode())


def ending_of(request: Request) -> str:
    kind = (header(request.scope, b"content-type") or "").partition(";")[0].strip().lower()
    if kind not in ENDINGS:
        message = "Send a zip of notes as application/zip, or lines of JSON as application/jsonl."
        raise Refused(415, message, "UNSUPPORTED_MEDIA_TYPE")
    return ENDINGS[kind]


at_work = 0


@contextmanager
def slot() -> Iterator[None]:
    """One of the few imports that a process has at work."""
    global at_work
    if at_work >= AT_ONCE:
        raise Unavailable("Other imports are at work here. Try again in a moment.")
    at_work += 1
    try:
        yield
    finally:
        at_work -= 1


async def received(request: Request, path: Path, most: int) -> None:
    """The body as a file. More than `most` bytes are refused, whatever the client says it sends."""
    declared = header(request.scope, b"content-length")
    if declared and declared.isdecimal() and int(declared) > most:
        raise too_large(most)
    size, pieces = 0, bytearray()
    with path.open("wb") as file:
        async for piece in request.stream():
            size += len(piece)
            if size > most:
                raise too_large(most)
            pieces += piece
            if len(pieces) > WRITTEN_OVER:
                await asyncio.to_thread(file.write, bytes(pieces))
                pieces.clear()
        await asyncio.to_thread(file.write, bytes(pieces))


def shown(result: ImportResult) -> Imported:
    return Imported(
        created=result.created,
        changed=result.changed,
        unchanged=result.unchanged,
        failed=result.failed,
        sources=result.sources,
        links=result.links,
        broken_links=result.broken_links,
        errors=[ImportFault(path=one.path, code=one.code, message=one.message) for one in result.errors[:ERRORS_SHOWN]],
    )
