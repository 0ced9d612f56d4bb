"""Jobs of the compiler that callers request: compiles, rebuilds of pages, and sweeps of mentions."""

from dataclasses import dataclass
from datetime import date
from itertools import count
from typing import Any
from uuid import UUID

from content.limits import UNSTORABLE
from db.database import Database
from db.scope import Actor, ActorKind, Role, Scope
from db.sql import statements

from ..errors import BadInput, Unavailable
from ..jobs.queue import JOBS, enqueue
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
    """The result of a reset; for a dry run, what it would do. `cursor_cleared` is false if there was no cursor."""

    cursor_cleared: bool
    pages_archived: int


async def reset_cursor(database: Database, scope: Scope, *, force: bool = False, dry_run: bool = False) -> Reset:
    """Reset the compile cursor, so that the next compile begins with the first source. Needs ADMINISTER.

    With `force` all pages are archived; compiling a page unarchives it.
    """
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


async def skip_stored_sources(database: Database, scope: Scope) -> None:
    """Move the compile cursor behind all stored sources, because they were imported together with their pages."""
    async with writing(database, scope) as writer:
        await writer.run(COMPILING["skip_stored_sources"])


async def import_journal(database: Database, scope: Scope, account_id: str, limit: int | None) -> UUID | None:
    """Enqueue a job that compiles the ideas of an account of a journal, at most `limit`. Needs ADMINISTER.

    Return its id, or None if no idea waits. Sources are compiled in the order in which they were added, so the job also
    compiles all other sources before the last of these ideas.
    """
    if limit is not None and not 1 <= limit <= BULK_MAX:
        raise BadInput(f"The limit must lie between 1 and {BULK_MAX}.", "limit")
    if UNSTORABLE.search(account_id) or len(account_id) > ACCOUNT_MAX:
        raise BadInput(f"An accountId is a text of at most {ACCOUNT_MAX} characters, without NUL.", "accountId")
    async with writing(database, scope, Action.ADMINISTER) as writer:
        last = await writer.one(COMPILING["find_last_idea"], account_id=account_id, limit=limit)
        if last is None:
            return None
        options = {
            "accountId": account_id,
            "until": [last["created_at"].isoformat(), str(last["id"])],
            **({} if limit is None else {"limit": limit}),
        }
        subject = f"journal:{account_id}:{last['id']}"  # an open job up to an earlier idea would leave the others
        return await enqueue(writer, scope.tenant_id, scope.owner_id, BULK_TRIGGER, options=options, subject=subject)


REBUILD = "rebuild"


async def rebuild_page(database: Database, scope: Scope, page_id: UUID) -> UUID:
    """Enqueue the job that rewrites all sections of a page that cite sources. Return its id."""
    async with writing_page(database, scope, page_id) as (writer, page):
        return await request_rebuild(writer, {"pageId": str(page.id)}, f"{REBUILD}:{page.id}")


async def rebuild_wiki(database: Database, scope: Scope) -> UUID:
    """Enqueue the job that rebuilds all active pages of a wiki as `rebuild_page` does. Needs ADMINISTER."""
    async with writing(database, scope, Action.ADMINISTER) as writer:
        return await request_rebuild(writer, {}, REBUILD)


async def request_rebuild(writer: Writer, options: dict[str, Any], subject: str) -> UUID:
    """Enqueue a rebuild, or return the open one, unless that has begun: it does not return to pages it has passed."""
    wiki = writer.scope
    for ahead in count():
        job_id = await enqueue(
            writer, wiki.tenant_id, wiki.owner_id, REBUILD, options=options, subject=subject, ahead=ahead
        )
        if not await writer.value(JOBS["has_begun"], id=job_id):
            break
    return job_id


SWEEPS, HELD_NAMES = statements("links/sweeps"), statements("links/held_names")
SWEEP = "sweep"
SWEEPER = Actor(ActorKind.COMPILER, "cairn")


async def sweep(database: Database, scope: Scope) -> UUID | None:
    """Enqueue the job that promotes mentions to pages. Return its id, or None if no mention has enough evidence."""
    async with writing(database, scope) as writer:
        return await request_sweep(writer)


async def request_sweep(writer: Writer, options: dict[str, Any] | None = None) -> UUID | None:
    """Enqueue a sweep as `sweep` does, in the writer's transaction."""
    if not await writer.all(HELD_NAMES["find_earned"], after="", size=1):
        return None
    return await enqueue(writer, writer.scope.tenant_id, writer.scope.owner_id, SWEEP, options=options, subject=SWEEP)


async def request_sweep_for(writer: Writer, mention_id: UUID) -> UUID | None:
    """Enqueue a sweep if this mention has enough evidence for a page. Return its id.

    Return None if it has not, or if the tenant's settings leave it to admins to request jobs.
    """
    wiki = writer.scope
    if not await writer.value(HELD_NAMES["has_earned"], mention_id=mention_id) or not await is_compiling(
        writer, wiki.tenant_id
    ):
        return None
    return await enqueue(writer, wiki.tenant_id, wiki.owner_id, SWEEP, subject=SWEEP)


async def sweep_all(database: Database, today: date) -> bool:
    """Enqueue sweeps for all wikis that were not swept today, in a transaction each. Return false if any was busy."""
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
