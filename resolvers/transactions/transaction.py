"""Open the transactions of all writes. Each write is one transaction, and a wiki has one writer at a time.

Writers of a wiki queue inside their process first, then for the lock on the owner's row. Only a transfer locks two
wikis. It locks them in the order of their ids, so two transfers cannot deadlock. If the acceptance of a proposal has
locked its own wiki first, a deadlock is possible; Postgres detects it and aborts one of the two transactions.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from types import TracebackType
from typing import Any, NamedTuple
from uuid import UUID
from weakref import WeakKeyDictionary

import asyncpg

from db.connection import Connection
from db.database import Database
from db.one_transaction import OneTransaction
from db.scope import Scope
from db.sensitivity import pooled, unrestricted
from db.sql import Statement, statements
from lib.lru import LRU

from ..errors import BadInput, CairnError, Conflict, NotFound, Unavailable
from ..model.pages import Page, find_page
from ..permissions import PAGE_HIDDEN, Action, authorise, check_sees, is_allowed_in_own_wiki
from ..proposals.gate import HeldForReview, ReviewRequired, check_write_policy
from ..subscriptions.changes import ChangeKind, announce
from .db_errors import translated_db_errors
from .outbox import queue_deliveries
from .writer import LogLine, Writer

QUEUE_TIMEOUT = 10.0  # seconds
BUSY = "The wiki is locked by other writes. Try again in a moment."

WikiKey = tuple[Database, UUID, UUID]


class WriteQueue:
    """The writers of one wiki in this process: the lock, and how many writers hold it or wait for it."""

    __slots__ = ("length", "lock")

    def __init__(self) -> None:
        self.lock = asyncio.Lock()
        self.length = 0


QUEUES: dict[WikiKey, WriteQueue] = {}


class process_lock:
    """A context manager that makes the task the only writer of a wiki in this process, first come, first served."""

    __slots__ = ("key", "queue")

    def __init__(self, database: Database, scope: Scope) -> None:
        self.key: WikiKey | None = None
        database = unrestricted(database)
        while isinstance(database, OneTransaction):
            if database.inside:  # queued writers may wait for a wiki that it has locked, so it must not wait for them
                return
            database = unrestricted(database.database)
        self.key = database, scope.tenant_id, scope.owner_id

    async def __aenter__(self) -> None:
        if self.key is None:
            return
        queue = self.queue = QUEUES.setdefault(self.key, WriteQueue())
        queue.length += 1
        try:
            # The only writer in the queue gets the lock without waiting, so it needs no timeout.
            await (acquire_in_time(queue.lock) if queue.length > 1 else queue.lock.acquire())
        except BaseException:
            self.leave(self.key)
            raise

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        if self.key is not None:
            self.queue.lock.release()
            self.leave(self.key)

    def leave(self, key: WikiKey) -> None:
        self.queue.length -= 1
        if not self.queue.length:
            del QUEUES[key]


async def acquire_in_time(lock: asyncio.Lock) -> None:
    """Acquire the lock. Raises Unavailable after QUEUE_TIMEOUT."""
    try:
        async with asyncio.timeout(QUEUE_TIMEOUT):
            await lock.acquire()
    except TimeoutError:
        raise Unavailable(BUSY) from None


MAX_PAGE_OWNERS = 10_000  # cached pages of one database

PAGE_OWNERS: WeakKeyDictionary[Database, LRU[UUID]] = WeakKeyDictionary()


def page_owners(database: Database) -> LRU[UUID]:
    """Return the cached owners of pages by (tenant, page). A cached page may be deleted or transferred by now."""
    database = pooled(database)
    known = PAGE_OWNERS.get(database)
    return PAGE_OWNERS.setdefault(database, LRU(MAX_PAGE_OWNERS)) if known is None else known


WRITING = statements("pages/writing")


async def finish(writer: Writer, action: Action) -> None:
    """Write the activity log, page positions, hubness scores and webhook deliveries, and notify subscribers.

    Log, positions and scores are one statement; on Citus a notification has to be a statement by itself. Raises
    HeldForReview if the write policy requires a review of the write. Writes that need ADMINISTER are not subject to it.
    """
    found = writer.changes.found
    if None in found and found[None].kind is ChangeKind.ARCHIVED:
        await writer.run(WRITING["advance_archived"])
    page_ids = [page_id for page_id in found if page_id is not None]
    is_restating = bool(writer.touched or writer.stale_hubness)
    if writer.lines or page_ids or is_restating:
        closed = await writer.one(
            WRITING["close_restating" if is_restating else "close"],
            lines=[line_to_dict(line) for line in writer.lines],
            actor_kind=writer.scope.actor.kind.value,
            actor_id=writer.scope.actor.id,
            page_ids=page_ids,
            touched_ids=writer.touched,
            counted_ids=writer.stale_hubness,
        )
        written = {line.page_id for line in writer.lines if line.page_id and not line.is_consequence}
        await check_sees(writer, writer.scope, written, PAGE_HIDDEN)
        assert closed is not None, "the wiki is locked, so it exists"
        if action is not Action.ADMINISTER:
            await check_write_policy(writer, closed["write_policy"])
        if closed["has_webhooks"]:
            await queue_deliveries(writer)
    announce(writer, writer.changes.all())


def line_to_dict(line: LogLine) -> dict[str, Any]:
    return {"id": line.id, "action": line.action, "page_id": line.page_id, "detail": line.detail}


PAGES = statements("pages/pages")
NO_WIKI = "There is no such wiki, or none that you may see."
WIKI_LOCKED = "SELECT 1"  # the command tag of lock_wiki if it has found the wiki
NO_PAGE = "There is no such page, or none that you may see."
TARGET_REVIEWS = (
    "Writes of this role are reviewed in the wiki that the page would go to, and a transfer into it cannot be "
    "proposed. Nothing was written. Ask somebody whose writes are not reviewed there."
)


class TwoWikis(NamedTuple):
    """The writers of the wiki that a page leaves, `here`, and the wiki that it goes to, `there`, in one transaction."""

    here: Writer
    there: Writer


@asynccontextmanager
async def writing(database: Database, scope: Scope, action: Action = Action.WRITE) -> AsyncIterator[Writer]:
    """Open a transaction as the only writer of a wiki. Permissions are checked before the wait for the lock, too."""
    async with read_connection(database) as connection:
        await authorise(connection, scope, scope.owner_id, action)
    async with locked_transaction(database, scope, action) as writer:
        yield writer


@asynccontextmanager
async def writing_page(
    database: Database, scope: Scope, page_id: UUID, action: Action = Action.WRITE
) -> AsyncIterator[tuple[Writer, Page]]:
    """Open a transaction as `writing` does in the page's wiki, and read the page once the wiki is locked."""
    async with writing_near_page(database, scope, page_id, action) as writer:
        page = await find_page(writer, page_id)
        if page is None:
            raise NotFound(NO_PAGE)
        await check_sees(writer, writer.scope, [page_id], NO_PAGE)
        yield writer, page


class writing_near_page:
    """A transaction as of `writing`, in the wiki where the page was last seen: it may have moved or be deleted."""

    __slots__ = ("action", "alone", "database", "page_id", "scope")

    def __init__(self, database: Database, scope: Scope, page_id: UUID, action: Action = Action.WRITE) -> None:
        self.database, self.scope, self.page_id, self.action = database, scope, page_id, action

    async def __aenter__(self) -> Writer:
        self.alone = locked_transaction(self.database, self.scope.in_owner(await self.owner()), self.action)
        return await self.alone.__aenter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> bool | None:
        return await self.alone.__aexit__(kind, error, at)

    async def owner(self) -> UUID:
        known, key = page_owners(self.database), (self.scope.tenant_id, self.page_id)
        owner_id = known.get(key)
        if owner_id is not None and is_allowed_in_own_wiki(self.scope, owner_id, self.action):
            return owner_id
        found = await find_owner_of(self.database, self.scope, PAGES["find_owner"], self.page_id, NO_PAGE, self.action)
        return known.put(key, found)


@asynccontextmanager
async def writing_row(
    database: Database, scope: Scope, find_owner: Statement, row_id: UUID, missing: str, action: Action = Action.WRITE
) -> AsyncIterator[Writer]:
    """Open a transaction as `writing` does in the wiki of a row, whose owner the statement `find_owner` reads.

    Raises NotFound with the message `missing` if there is no such row, or if the caller may not read its wiki.
    """
    owner_id = await find_owner_of(database, scope, find_owner, row_id, missing, action)
    async with locked_transaction(database, scope.in_owner(owner_id), action) as writer:
        yield writer


async def find_owner_of(
    database: Database, scope: Scope, find_owner: Statement, row_id: UUID, missing: str, action: Action
) -> UUID:
    """Return the owner of a row's wiki, if the caller may do the action there. Raises NotFound, Forbidden."""
    async with read_connection(database) as connection:
        owner_id: UUID | None = await connection.value(find_owner, tenant_id=scope.tenant_id, id=row_id)
        if owner_id is None:
            raise NotFound(missing)
        try:
            await authorise(connection, scope, owner_id, action)
        except NotFound:
            raise NotFound(missing) from None
        return owner_id


async def check_may_write(database: Database, scope: Scope) -> None:
    """Raise NotFound or Forbidden if the caller may not write, before the caller uploads much data."""
    async with read_connection(database) as connection:
        await authorise(connection, scope, scope.owner_id, Action.WRITE)


@asynccontextmanager
async def read_connection(database: Database) -> AsyncIterator[Connection]:
    """Open a connection for reads before a write, and translate errors of Postgres."""
    with translated_db_errors():
        async with database.connection() as connection:
            yield connection


@asynccontextmanager
async def transaction(database: Database) -> AsyncIterator[Connection]:
    """Open a transaction, and translate errors of Postgres."""
    with translated_db_errors():
        async with database.transaction() as connection:
            yield connection


@asynccontextmanager
async def locked_transaction(database: Database, scope: Scope, action: Action) -> AsyncIterator[Writer]:
    """Open a transaction as the only writer of a wiki. Permissions are checked after the wait for the lock.

    Rolls back and raises HeldForReview if the wiki's write policy requires a review.
    """
    with translated_db_errors():
        async with process_lock(database, scope), wiki_lock(database, scope) as connection:
            if connection.begun != WIKI_LOCKED:
                raise NotFound(NO_WIKI)
            await authorise(connection, scope, scope.owner_id, action)
            writer = Writer(connection, scope)
            yield writer
            await finish(writer, action)
            await writer.flush()


@asynccontextmanager
async def writing_two(database: Database, scope: Scope, page_id: UUID, to_owner_id: UUID) -> AsyncIterator[TwoWikis]:
    """Open a transaction as the only writer of a page's wiki and of a second wiki, if the caller may write in both.

    Raises HeldForReview if the write policy of the page's wiki requires a review, and ReviewRequired without a proposal
    if only the policy of the second wiki does.
    """
    owner_id = await find_owner_of(database, scope, PAGES["find_owner"], page_id, NO_PAGE, Action.WRITE)
    if owner_id == to_owner_id:
        raise BadInput("The page is in this wiki already. Name another one.", "toOwner")
    async with read_connection(database) as connection:
        await authorise(connection, scope, to_owner_id, Action.WRITE)
    here = scope.in_owner(owner_id)
    there = replace(scope.in_owner(to_owner_id), review=None)
    first, second = sorted((here, there), key=lambda wiki_scope: wiki_scope.owner_id)
    with translated_db_errors():
        async with (
            process_lock(database, first),
            process_lock(database, second),
            wiki_lock(database, first) as connection,
        ):
            if connection.begun != WIKI_LOCKED:
                raise NotFound(NO_WIKI)
            await lock_wiki(connection, second)
            for wiki_scope in (here, there):
                await authorise(connection, wiki_scope, wiki_scope.owner_id, Action.WRITE)
            wikis = TwoWikis(Writer(connection, here), Writer(connection, there))
            yield wikis
            for writer in wikis:
                try:
                    await finish(writer, Action.WRITE)
                except HeldForReview as held:
                    raise held if writer is wikis.here else ReviewRequired(TARGET_REVIEWS) from None
                await writer.flush()


class wiki_lock:
    """A transaction that begins by locking the owner's row. Raises Unavailable after the statement time-out."""

    __slots__ = ("transaction",)

    def __init__(self, database: Database, scope: Scope) -> None:
        wiki = {"tenant_id": str(scope.tenant_id), "owner_id": str(scope.owner_id)}
        self.transaction = database.transaction(WRITING["lock_wiki"].render(wiki))

    async def __aenter__(self) -> Connection:
        try:
            return await self.transaction.__aenter__()
        except (asyncpg.QueryCanceledError, asyncpg.LockNotAvailableError) as error:
            raise Unavailable(BUSY) from error

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> bool | None:
        return await self.transaction.__aexit__(kind, error, at)


async def lock_wiki(connection: Connection, scope: Scope) -> None:
    """Lock the wiki as `wiki_lock` does, in a transaction that has already begun. Raises NotFound, Unavailable."""
    try:
        found = await connection.value(WRITING["lock_wiki"], tenant_id=scope.tenant_id, owner_id=scope.owner_id)
    except (asyncpg.QueryCanceledError, asyncpg.LockNotAvailableError) as error:
        raise Unavailable(BUSY) from error
    if not found:
        raise NotFound(NO_WIKI)


def check_version(page: Page, expected: int | None) -> None:
    """Raise Conflict if the page is not at the version that the caller expects, if the caller names a version."""
    if expected is not None and expected != page.version:
        raise Conflict(
            f"You changed version {expected}, but {page.name} is at version {page.version} now. Read it again.",
            page.version,
            page.id,
        )


async def check_same_wiki(writer: Writer, page_id: UUID, field: str) -> None:
    """Raise BadInput for a page of another wiki, or NotFound if the caller may not see the page."""
    await check_owner(writer, await writer.value(PAGES["find_owner"], id=page_id), field)
    await check_sees(writer, writer.scope, [page_id], NO_PAGE)


async def check_pair(writer: Writer, page_id: UUID, other_id: UUID, field: str) -> None:
    """Check that both pages are in this wiki, as `check_same_wiki` does. `field` is the argument of the other page."""
    rows = await writer.all(PAGES["find_owners"], ids=[page_id, other_id])
    owners = {row["id"]: row["owner_id"] for row in rows}
    if owners.get(page_id) != writer.scope.owner_id:
        raise NotFound(NO_PAGE)
    await check_owner(writer, owners.get(other_id), field)
    await check_sees(writer, writer.scope, [page_id, other_id], NO_PAGE)


async def check_owner(writer: Writer, owner_id: UUID | None, field: str) -> None:
    """Check the owner of a page as `check_same_wiki` does; None stands for a page that does not exist."""
    if owner_id == writer.scope.owner_id:
        return
    if owner_id is None or not await visible(writer, owner_id):
        raise NotFound(NO_PAGE)
    raise BadInput("Both pages must lie in the same wiki.", field)


async def visible(writer: Writer, owner_id: UUID) -> bool:
    """Return whether the caller may read the wiki of that owner."""
    try:
        await authorise(writer, writer.scope, owner_id, Action.READ)
    except CairnError:
        return False
    return True
