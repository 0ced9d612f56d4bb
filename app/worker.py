"""The compile worker of a service, and the models that it may use."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

import structlog

from compiler.compiler import Compiler
from compiler.jobs.worker import work
from compiler.metrics import Metrics
from compiler.planner import Planner, SectionWriter
from db.database import Database
from resolvers.errors import Unavailable

from .embeddings import embedder_of
from .settings import PRICE, Settings

if TYPE_CHECKING:
    from compiler.models.models import Models, Terms

LACKING = "CAIRN_MODEL needs a library that is not installed: pip install 'cairn-wiki[models]'. It lacks {name}."


def models_of(settings: Settings, planner: Planner, writer: SectionWriter) -> "Models | None":
    """Return the models, or None if none is set. Raises Unavailable, which says what to install or to set."""
    if not settings.model and not settings.models:
        return None
    try:
        from compiler.models.models import Models
    except ModuleNotFoundError as error:
        raise Unavailable(LACKING.format(name=error.name)) from None
    return Models(settings.model, settings.models or (), planner, writer, terms_of(settings))


def terms_of(settings: Settings) -> "Terms":
    from compiler.models.meter import Budget
    from compiler.models.models import Terms
    from compiler.models.usage import Price

    found = [match.groups() for price in settings.model_prices or () if (match := PRICE.fullmatch(price))]
    return Terms(
        timeout=settings.model_timeout,
        requests=settings.model_requests,
        budget=Budget(
            job_tokens=settings.model_job_tokens,
            job_cost=settings.model_job_cost,
            day_tokens=settings.model_day_tokens,
            day_cost=settings.model_day_cost,
        ),
        prices={name: Price(float(of_input), float(of_output)) for name, of_input, of_output in found},
    )


log = structlog.get_logger()


def compiler_of(settings: Settings, told: Callable[[Metrics], None] | None = None) -> Compiler:
    """Return the compiler of the settings. `told` is called with each batch that is stored."""
    planner = named(settings.planner, "CAIRN_PLANNER")
    writer = named(settings.section_writer, "CAIRN_SECTION_WRITER")
    made = Compiler(
        planner,
        writer,
        links_by_evidence=settings.deterministic_links,
        sweep_at=None if settings.sweep_at == "never" else settings.sweep_at,
        hiring=models_of(settings, planner, writer),
        embedder=embedder_of(settings),
    )
    return replace(made, told=told) if told else made


def named(name: str, setting: str) -> Any:
    """Return what a class makes when it is called without arguments."""
    try:
        return resolve_name(name)()
    except (ImportError, AttributeError, ValueError, TypeError) as error:
        raise Unavailable(f"{name} cannot be used to compile: {error}. Give {setting} as module:Class.") from None


@asynccontextmanager
async def compiling(settings: Settings, database: Database) -> AsyncIterator[None]:
    """Run jobs in the background, if that is wanted. Without a compiler the service serves all the same."""
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
