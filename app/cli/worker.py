"""`cairn worker`: runs compile jobs."""

from typing import TYPE_CHECKING

import typer

from .output import tell

if TYPE_CHECKING:
    from db.database import Database


def add_to(parent: typer.Typer) -> None:
    parent.command("worker", epilog="Example: cairn worker")(worker)


def worker() -> None:
    """Run compile jobs until Ctrl-C or SIGTERM. Start as many as you like: a wiki is compiled by one at a time."""
    import asyncio
    import signal
    from contextlib import suppress

    from app.compiling import compiler_of
    from app.settings import Settings
    from compiler.worker import work

    from .session import session

    compiler = compiler_of(Settings())

    async def until_stopped(database: "Database") -> None:
        working = asyncio.create_task(work(database, compiler))
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, working.cancel)
        tell("Waiting for compile jobs")
        with suppress(asyncio.CancelledError):
            await working

    session(until_stopped, creates=True)
    tell("The worker has stopped. What it was at is left to others.")
