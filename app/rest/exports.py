"""The whole wiki as a zip of markdown."""

import asyncio
import tempfile
from collections.abc import AsyncIterator
from typing import IO, Any

from fastapi import APIRouter
from starlette.responses import Response, StreamingResponse

from resolvers.moving.files import export_zip

from .asking import Caller, problems
from .door import MovingRoute

routes = APIRouter(route_class=MovingRoute, tags=["export"])
IN_MEMORY = 4_000_000  # bytes; more goes to the disk
PIECE = 64 * 1024
ZIP = "application/zip"
A_ZIP: dict[int | str, dict[str, Any]] = {
    200: {"description": "A folder of markdown.", "content": {ZIP: {"schema": {"type": "string", "format": "binary"}}}}
}


@routes.get("/export.zip", response_class=Response, responses={**A_ZIP, **problems()})
async def export(call: Caller, history: bool = False) -> Response:
    """Pages, sources and held names, archived ones too; `cairn import` of it gives the same wiki again. With `history`
    every earlier version of each page is in it."""
    file = tempfile.SpooledTemporaryFile(IN_MEMORY)  # noqa: SIM115  open until it is sent
    try:
        made = await export_zip(call.door.database, call.wiki, file, history=history)
        call.account.owe(made.pages + made.sources)
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
    return StreamingResponse(pieces(file), media_type=ZIP, headers=headers)


async def pieces(file: IO[bytes]) -> AsyncIterator[bytes]:
    with file:
        while piece := await asyncio.to_thread(file.read, PIECE):
            yield piece
