"""The compiler as the settings have it, and the worker in a serving process."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from pkgutil import resolve_name
from typing import Any

import structlog

from compiler.compiler import Compiler
from compiler.metrics import Metrics
from compiler.worker import work
from db.database import Database
from resolvers.errors import Unavailable

from .models import models_of
from .settings import Settings

log = structlog.get_logger()


def compiler_of(settings: Settings, told: Callable[[Metrics], None] | None = None) -> Compiler:
    """`told` hears of each batch that is stored."""
    planner = named(settings.planner, "CAIRN_PLANNER")
    writer = named(settings.section_writer, "CAIRN_SECTION_WRITER")
    made = Compiler(
        planner,
        writer,
        links_by_evidence=settings.deterministic_links,
        sweep_at=None if settings.sweep_at == "never" else settings.sweep_at,
        hiring=models_of(settings, planner, writer),
    )
    return replace(made, told=told) if told else made


def named(name: str, setting: str) -> Any:
    """What a class makes, called without arguments."""
    try:
        return resolve_name(name)()
    except (ImportError, AttributeError, ValueError, TypeError) as error:
        raise Unavailable(f"{name} cannot be used to compile: {error}. Give {setting} as module:Class.") from None


@asynccontextmanager
async def compiling(settings: Settings, database: Database) -> AsyncIterator[None]:
    """Meanwhile jobs are run, where that is wanted. Without a compiler the service serves all the same."""
    if not settings.worker:
        yield
        return
    try:
        compiler = compiler_of(settings)
    except Unavailable as error:
        log.warning("nothing is compiled here", reason=error.message)
        yield
        return
    working = asyncio.create_task(work(database, compiler))
    try:
        yield
    finally:
        working.cancel()
        with suppress(asyncio.CancelledError):
            await working
