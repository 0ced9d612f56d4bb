"""Finds the wikis that are not completely indexed for search, and indexes two at a time with a progress bar.

On the embedded server every command looks for such wikis, so the code that indexes them is imported only if needed.
"""

import asyncio
from collections.abc import Sequence
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple

from db.connection import Row
from db.database import Database
from resolvers.auth.owners import find_owner
from resolvers.errors import CairnError, Unavailable
from resolvers.search.index import has_unsearchable
from resolvers.tenants.tenants import find_tenant, list_tenants

from .output import print_status

if TYPE_CHECKING:
    from resolvers.import_export.results import Progress

CONCURRENCY = 2
CONTINUE = "Progress is saved. To continue, run: cairn reindex"


class Reindexed(NamedTuple):
    """The summary of a reindex. Its fields have the names of the JSON output."""

    wikis: int
    pages: int
    sources: int
    seconds: float


async def find_unindexed(
    database: Database, tenant: str | None = None, owner: str | None = None, *, everything: bool = False
) -> list[Row]:
    """Return the wikis to index: of all tenants, of one tenant, or of one of its owners.

    These are the wikis with pages or sources that are not indexed, and those with a former index that can be deleted.
    With `everything`, all wikis that have pages or sources are returned.
    """
    from resolvers.search.reindexing import unread

    tenants = [await find_tenant(database, tenant)] if tenant else await list_tenants(database)
    wikis: list[Row] = []
    for found in tenants:
        owner_id = (await find_owner(database, found.id, owner)).id if owner else None
        wikis += await unread(database, found.id, owner_id)
    return [
        wiki
        for wiki in wikis
        if wiki["is_due"] or wiki["has_older"] or (everything and (wiki["pages"] or wiki["sources"]))
    ]


async def index_wikis(
    database: Database, wikis: Sequence[Row], *, everything: bool = False, keep_older: bool = False
) -> Reindexed:
    """Index what is not indexed in these wikis, or all of it with `everything`.

    If it is interrupted, it prints how to continue.
    """
    from .progress import progress

    began = monotonic()
    try:
        with progress() as report:
            pages = await index_together(database, wikis, report, everything=everything, keep_older=keep_older)
    except asyncio.CancelledError:
        print_status(f"Stopped. {CONTINUE}")
        raise
    except CairnError as error:
        raise Unavailable(f"{error} {CONTINUE}") from error
    sources = sum(wiki["sources" if everything and not wiki["is_begun"] else "unread_sources"] for wiki in wikis)
    return Reindexed(len(wikis), pages, sources, round(monotonic() - began, 2))


async def index_together(
    database: Database, wikis: Sequence[Row], report: "Progress", *, everything: bool, keep_older: bool
) -> int:
    """Index several wikis at a time and return the number of pages indexed. Raises the first error of any wiki."""
    from resolvers.search.reindexing import reindex, request_reindex

    planned = [(everything and not wiki["is_begun"], wiki) for wiki in wikis]
    pages = sum(wiki["pages" if is_whole else "unread"] for is_whole, wiki in planned)
    bar = Bar(report, pages + sum(wiki["sources" if is_whole else "unread_sources"] for is_whole, wiki in planned))
    counts: list[int] = []
    if everything:  # for all wikis first, so that `cairn reindex` without --again continues an interrupted run
        for wiki in wikis:
            await request_reindex(database, wiki["tenant_id"], wiki["owner_id"])
    queue = iter(wikis)

    async def work() -> None:
        for wiki in queue:
            name = f"{wiki['tenant']}/{wiki['owner']}"
            ids = wiki["tenant_id"], wiki["owner_id"]
            counts.append(await reindex(database, *ids, partial(bar.move, name), keep_older=keep_older))

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(CONCURRENCY):
                group.create_task(work())
    except ExceptionGroup as failed:
        raise failed.exceptions[0] from None
    return sum(counts)


class Bar:
    """A progress bar for all wikis together, which counts pages and sources and names the current wiki."""

    def __init__(self, report: "Progress", total: int) -> None:
        self.report = report
        self.total = total
        self.done = 0
        self.move("", 0)

    def move(self, wiki: str, pages: int) -> None:
        self.done += pages
        self.report("reading", self.done, self.total, wiki)


async def catch_up(database: Database) -> None:
    """Index what search has not indexed yet. After an upgrade, no wiki is left without search."""
    tenants = await list_tenants(database)
    if any([await has_unsearchable(database, tenant.id) for tenant in tenants]):
        wikis = await find_unindexed(database)
        print_status(f"Indexing {format_amount(wikis)} for search")
        await index_wikis(database, wikis)


def format_amount(wikis: Sequence[Row]) -> str:
    """Return an amount such as `1,234 pages of 2 wikis`."""
    sources = sum(wiki["unread_sources"] for wiki in wikis)
    return format_counts(sum(wiki["unread"] for wiki in wikis), sources, len(wikis))


def format_counts(pages: int, sources: int, wikis: int) -> str:
    amounts = [(pages, "page")] * (pages > 0 or not sources) + [(sources, "source")] * (sources > 0)
    amount = " and ".join(f"{number:,} {name}{'' if number == 1 else 's'}" for number, name in amounts)
    return f"{amount} of {wikis:,} wiki{'' if wikis == 1 else 's'}"
