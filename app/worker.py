"""The worker, which runs jobs and sends webhooks, within the service or as a process of its own, and its models."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import replace
from itertools import chain, repeat
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

import structlog
from starlette.applications import Starlette

from compiler.compiler import Compiler
from compiler.jobs.worker import Observe, work, worker_name
from compiler.metrics import Metrics
from compiler.planner import Planner, SectionWriter
from db.database import Database
from db.migrate import MigrationRefused, pending
from resolvers.errors import Unavailable
from resolvers.transactions.db_errors import REFUSED, words

from .blob_folder import use_blob_folder
from .embeddings import embedder_of, use_embeddings
from .http.health import health_routes
from .observability.observers import Observers
from .setting_types import PRICE
from .settings import Settings

if TYPE_CHECKING:
    from compiler.models.models import Models, Terms

MISSING = "CAIRN_MODEL needs a library that is not installed: pip install 'cairn-wiki[models]'. It lacks {name}."


def models_of(settings: Settings, planner: Planner, writer: SectionWriter) -> "Models | None":
    """Return the models of the settings, or None if they have none. Raises Unavailable if a library is missing."""
    if not settings.model and not settings.models:
        return None
    try:
        from compiler.models.models import Models
    except ModuleNotFoundError as error:
        raise Unavailable(MISSING.format(name=error.name)) from None
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
PAUSES = (1.0, 2.0, 4.0, 8.0, 15.0)  # seconds between two attempts to reach Postgres


def compiler_of(settings: Settings, report_progress: Callable[[Metrics], None] | None = None) -> Compiler:
    """Return the compiler of the settings. `report_progress` is called with the metrics after each stored batch."""
    planner = instantiate(settings.planner, "CAIRN_PLANNER")
    writer = instantiate(settings.section_writer, "CAIRN_SECTION_WRITER")
    compiler = Compiler(
        planner,
        writer,
        links_by_evidence=settings.deterministic_links,
        keep_days=settings.keep_days,
        sweep_at=None if settings.sweep_at == "never" else settings.sweep_at,
        author_factory=models_of(settings, planner, writer),
        embedder=embedder_of(settings),
    )
    return replace(compiler, report_progress=report_progress) if report_progress else compiler


def instantiate(name: str, setting: str) -> Any:
    """Return an instance of the class `module:Class`, created without arguments. Raises Unavailable."""
    try:
        return resolve_name(name)()
    except (ImportError, AttributeError, ValueError, TypeError) as error:
        raise Unavailable(f"{name} cannot be used to compile: {error}. Give {setting} as module:Class.") from None


@asynccontextmanager
async def compiling(settings: Settings, database: Database, observe: Observe) -> AsyncIterator[None]:
    """Run jobs and send webhooks in the background during the block, if the settings ask for it.

    If the compiler cannot be created, a warning is logged, and the service serves without it.
    """
    if not settings.worker:
        yield
        return
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(in_background(send_webhooks(settings, database)))
        try:
            compiler = compiler_of(settings)
        except Unavailable as error:
            log.warning("this process compiles nothing", reason=error.message)
        else:
            await stack.enter_async_context(in_background(work(database, compiler, observe=observe)))
        yield


async def send_webhooks(settings: Settings, database: Database) -> None:
    """Send webhooks until cancelled."""
    from resolvers.webhooks.posting import WebhookClient
    from resolvers.webhooks.sending import Sender

    await Sender(database, WebhookClient(settings.webhook_networks), worker_name()).work()


@asynccontextmanager
async def in_background(work: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    task = asyncio.create_task(work)
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


def worker_app(settings: Settings, *, dsn: str) -> Starlette:
    """Return an application that runs jobs and serves health and metrics. It waits for Postgres without a limit."""
    compiler = compiler_of(settings)
    database = Database(
        dsn, size=2, statement_timeout=settings.statement_timeout, statement_cache=settings.statement_cache
    )
    use_embeddings(settings, database)
    use_blob_folder(settings, database)
    observers = Observers(settings, None, database)

    async def run_jobs() -> None:
        await open_when_ready(database)
        async with in_background(send_webhooks(settings, database)):
            await work(database, compiler, observe=observers.job)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        try:
            async with observers.observing(), in_background(run_jobs()):
                yield
        finally:
            await database.close()

    return Starlette(routes=[*health_routes(database), *observers.routes()], lifespan=lifespan)


async def open_when_ready(database: Database) -> None:
    """Open the database once it answers and has all migrations."""
    for pause in chain(PAUSES, repeat(PAUSES[-1])):
        try:
            if not (missing := await pending(database.dsn)):
                await database.open()
                return
            reason = f"it lacks {len(missing)} migrations; run: cairn migrate"
        except (*REFUSED, MigrationRefused) as error:
            await database.close()
            reason = words(error) or type(error).__name__
        log.warning("waiting for the database", reason=reason)
        await asyncio.sleep(pause)
