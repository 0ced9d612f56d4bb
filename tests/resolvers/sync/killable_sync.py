"""The target of a sync process that kills itself at one of its steps."""

import asyncio
import os
import signal
import sys
from pathlib import Path
from typing import Any

import asyncpg

import db.database
from db.scope import Scope
from resolvers.sync.syncing import sync_folder

FILES = frozenset({"open", "os.rename", "os.link", "os.remove", "os.mkdir", "os.rmdir", "os.scandir", "os.chmod"})


def sync_until(dsn: str, scope: Scope, root: str, last: int, quiet: float) -> None:
    """Sync a folder, and kill the process at the step `last`, counting its steps in the folder and its statements."""
    steps = 0

    def step() -> None:
        nonlocal steps
        steps += 1
        if steps == last:
            os.kill(os.getpid(), signal.SIGKILL)

    def hear(event: str, arguments: tuple[Any, ...]) -> None:
        if event in FILES and isinstance(arguments[0], str) and arguments[0].startswith(root):
            step()

    prepare = db.database.prepare_connection

    async def counting(connection: asyncpg.Connection) -> None:
        await prepare(connection)
        connection.add_query_logger(lambda _: step())

    async def run() -> None:
        database = db.database.Database(dsn, size=2)
        await database.open()
        try:
            await sync_folder(database, scope, Path(root), quiet=quiet)
        finally:
            await database.close()

    db.database.prepare_connection = counting
    sys.addaudithook(hear)
    asyncio.run(run())
