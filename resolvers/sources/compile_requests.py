"""Jobs that a caller may ask of the compiler: now, from the start, of a journal, of a page, or of mentions."""

from dataclasses import dataclass
from datetime import date
from typing import Any
from uuid import UUID

from content.limits import UNSTORABLE
from db.database import Database
from db.scope import Actor, ActorKind, Role, Scope
from db.sql import statements

from ..errors import BadInput, Unavailable
from ..jobs.queue import enqueue
from ..links.references import refresh_all_hubness
from ..links.targets import resolve_all
from ..permissions import Action
from ..tenants.tenants import is_compiling, list_tenants
from ..transactions.transaction import read_connection, writing, writing_page
from ..transactions.writer import Writer, record

COMPILING = statements("sources/compiling")
PAGES = statements("pages/pages")
SEARCH = statements("search/index")
BULK_TRIGGER = "bootstrap_import"
BULK_MAX = 1_000
ACCOUNT_MAX = 200  # characters


@dataclass(frozen=True, slots=True)
class Reset:
    """`cursor_cleared` is false where there was none. In a dry run both say what would be done."""

    cursor_cleared: bool
    pages_archived: int


async def reset_cursor(database: Database, scope: Scope, *, force: bool = False, dry_run: bool = False) -> Reset:
    """Let the next compile begin with the first source; with `force` every page is archived until it is compiled."""
    async with writing(database, scope, Action.ADMINISTER) as writer:
        found = await writer.one(COMPILING["find_reset"])
        assert found is not None
        reset = Reset(found["has_cursor"], found["active_pages"] if force else 0)
        if dry_run:
            return reset
        await writer.run(COMPILING["drop_cursor"])
        if reset.pages_archived:
            await writer.run(PAGES["archive_all"])
            await writer.run(SEARCH["archive_pages"])
            await writer.run(SEARCH["archive_names"])
            await resolve_all(writer)
            await refresh_all_hubness(writer)
        if reset.cursor_cleared or reset.pages_archived:
            await record(writer, "wiki.archived" if reset.pages_archived else "wiki.reset", pages=reset.pages_archived)
        return reset


async def pass_by(database: Database, scope: Scope) -> None:
    """Let the next compile begin behind what is there: the pages that came with it say it already."""
    async with writing(database, scope) as writer:
        await writer.run(COMPILING["pass_by"])


async def import_journal(database: Database, scope: Scope, account_id: str, limit: int | None) -> UUID | None:
    """A bulk job that ends behind the last idea of a journal's account, or the last of `limit`; none where none waits.

    A wiki is compiled in the order in which it came, so what lies before that idea is compiled along.
    """
    if limit is not None and not 1 <= limit <= BULK_MAX:
        raise BadInput(f"The limit must lie between 1 and {BULK_MAX}.", "limit")
    if UNSTORABLE.search(account_id) or len(account_id) > ACCOUNT_MAX:
        raise BadInput(f"An accountId is a text of at most {ACCOUNT_MAX} characters, without NUL.", "accountId")
    async with writing(database, scope, Action.ADMINISTER) as writer:
        last = await writer.one(COMPILING["find_last_idea"], account_id=account_id, most=limit)
        if last is None:
            return None
        options = {
            "accountId": account_id,
            "until": [last["created_at"].isoformat(), str(last["id"])],
            **({} if limit is None else {"limit": limit}),
        }
        subject = f"journal:{account_id}"
        return await enqueue(writer, scope.tenant_id, scope.owner_id, BULK_TRIGGER, options=options, subject=subject)


REBUILD = "rebuild"


async def rebuild_page(database: Database, scope: Scope, page_id: UUID) -> UUID:
    """The job that writes every section of a page anew which cites a source."""
    async with writing_page(database, scope, page_id) as (writer, page):
        wiki = writer.scope
        return await enqueue(
            writer,
            wiki.tenant_id,
            wiki.owner_id,
            REBUILD,
            options={"pageId": str(page.id)},
            subject=f"{REBUILD}:{page.id}",
        )


async def rebuild_wiki(database: Database, scope: Scope) -> UUID:
    """Enqueue the job that rebuilds all active pages of a wiki as `rebuild_page` does one, for admins."""
    async with writing(database, scope, Action.ADMINISTER) as writer:
        return await enqueue(writer, scope.tenant_id, scope.owner_id, REBUILD, subject=REBUILD)


SWEEPS, HELD_NAMES = statements("links/sweeps"), statements("links/held_names")
SWEEP = "sweep"
SWEEPER = Actor(ActorKind.COMPILER, "cairn")


async def sweep(database: Database, scope: Scope) -> UUID | None:
    """Enqueue the job that promotes what has earned a page; None when nothing has."""
    async with writing(database, scope) as writer:
        return await request_sweep(writer)


async def request_sweep(writer: Writer, options: dict[str, Any] | None = None) -> UUID | None:
    if not await writer.all(HELD_NAMES["find_earned"], after="", size=1):
        return None
    return await enqueue(writer, writer.scope.tenant_id, writer.scope.owner_id, SWEEP, options=options, subject=SWEEP)


async def ask_for(writer: Writer, mention_id: UUID) -> UUID | None:
    """Enqueue a sweep as `sweep` does, once this name has earned a page; None too where only admins ask for jobs."""
    wiki = writer.scope
    if not await writer.value(HELD_NAMES["has_earned"], mention_id=mention_id) or not await is_compiling(
        writer, wiki.tenant_id
    ):
        return None
    return await enqueue(writer, wiki.tenant_id, wiki.owner_id, SWEEP, subject=SWEEP)


async def sweep_all(database: Database, today: date) -> bool:
    """Sweep every wiki that nobody has swept on this day, each in a transaction; false when one was too busy."""
    wanted = [{"tenant_id": tenant.id, "today": today} for tenant in await list_tenants(database)]
    async with read_connection(database) as connection:
        rows = await connection.all_of_each(SWEEPS["find_unswept"], wanted)
    done = [await sweep_once(database, row["tenant_id"], row["owner_id"], today) for row in rows]
    return all(done)


async def sweep_once(database: Database, tenant_id: UUID, owner_id: UUID, today: date) -> bool:
    scope = Scope(tenant_id, owner_id, Role.SERVICE, SWEEPER, (owner_id,))
    try:
        async with writing(database, scope) as writer:
            if await writer.run(SWEEPS["claim_day"], today=today):
                await request_sweep(writer)
    except Unavailable:
        return False
    return True
