"""A worker in its own process, with the scripted planner and writer, that tests kill."""

import asyncio

from compiler.compiler import Caps
from compiler.jobs.worker import work
from db.database import Database
from tests.compiler.scripted_compiler import ScriptedWriter, scripted_compiler


def run_worker(dsn: str, pause: float) -> None:
    """Run the worker. Writing a section takes `pause` seconds."""
    asyncio.run(main(dsn, pause))


async def main(dsn: str, pause: float) -> None:
    database = Database(dsn, size=2)
    await database.open()
    await work(database, scripted_compiler(writer=ScriptedWriter(pause), caps=Caps(batch=3, new_pages=9)), idle=0.005)
