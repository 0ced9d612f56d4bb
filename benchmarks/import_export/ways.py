"""Imports and exports a wiki in this process and over HTTP. Each way is opened once and then used repeatedly."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from pathlib import Path

import httpx
import uvicorn

from app.asgi import create_app
from app.server.serve import bind, config_of
from app.settings import Settings
from db.database import Database
from db.scope import Scope
from resolvers.auth.credentials import mint
from resolvers.import_export.export_files import export_path
from resolvers.import_export.importing import import_path

Work = Callable[[Scope, Path], Awaitable[object]]
Way = Callable[[Database], AbstractAsyncContextManager[Work]]
SECRET = "a secret of the benchmarks, long enough"
WIKI = "/api/wiki"
KINDS = {".zip": "application/zip", ".jsonl": "application/jsonl"}
MAX_SECONDS = 86_400  # seconds
MAX_BYTES = 10_000_000_000  # bytes
PIECE = 1 << 16  # bytes


@asynccontextmanager
async def importing(database: Database) -> AsyncIterator[Work]:
    yield partial(import_path, database)


@asynccontextmanager
async def exporting(database: Database) -> AsyncIterator[Work]:
    yield partial(export_path, database)


@asynccontextmanager
async def exporting_histories(database: Database) -> AsyncIterator[Work]:
    yield partial(export_path, database, history=True)


@asynccontextmanager
async def uploading(database: Database) -> AsyncIterator[Work]:
    async with service(database.dsn) as http:

        async def upload(scope: Scope, path: Path) -> None:
            kind = {"content-type": "application/zip" if path.suffix == ".zip" else "application/jsonl"}
            async with http.stream(
                "POST", f"{WIKI}/import", content=pieces(path), headers=authorization(scope) | kind
            ) as answer:
                await answer.aread()
                answer.raise_for_status()

        yield upload


@asynccontextmanager
async def downloading(database: Database) -> AsyncIterator[Work]:
    async with service(database.dsn) as http:

        async def download(scope: Scope, path: Path) -> None:
            async with http.stream("GET", f"{WIKI}/export.zip?history=true", headers=authorization(scope)) as answer:
                answer.raise_for_status()
                with path.open("wb") as file:
                    async for piece in answer.aiter_bytes(PIECE):
                        file.write(piece)

        yield download


async def pieces(path: Path) -> AsyncIterator[bytes]:
    for piece in read_pieces(path):
        yield piece


def read_pieces(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while piece := file.read(PIECE):
            yield piece


def authorization(scope: Scope) -> dict[str, str]:
    token = mint(SECRET, tenant_id=scope.tenant_id, owner_id=scope.owner_id, role=scope.role, ttl=MAX_SECONDS)
    return {"authorization": f"Bearer {token}"}


@asynccontextmanager
async def service(dsn: str) -> AsyncIterator[httpx.AsyncClient]:
    """Start the service on a free port in this process, and yield a client of it."""
    settings = Settings(database_url=dsn, jwt_secret=SECRET, max_import=MAX_BYTES, import_timeout=MAX_SECONDS)
    listening = bind("127.0.0.1", 0)
    server = uvicorn.Server(config_of(create_app(settings, dsn=dsn), settings))
    running = asyncio.create_task(server.serve(sockets=[listening]))
    while not server.started and not running.done():
        await asyncio.sleep(0.01)
    url = f"http://127.0.0.1:{listening.getsockname()[1]}"
    try:
        async with httpx.AsyncClient(base_url=url, timeout=None, trust_env=False) as http:
            yield http
    finally:
        server.should_exit = True
        await running
        listening.close()
