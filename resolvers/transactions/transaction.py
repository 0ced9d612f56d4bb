"""Every write is one transaction, opened here, and a wiki has one writer at a time.

They queue in their process first, then for the owner's row. A transfer alone waits for a second wiki: it takes both in
the order of their ids, so none can deadlock; where a proposal took its wiki first, Postgres ends the wait of one.
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
from db.restricted import pooled, unrestricted
from db.scope import Scope
from db.sql import Statement, statements
from lib.lru import LRU

from ..errors import BadInput, CairnError, Conflict, NotFound, Unavailable
from ..model.pages import Page, find_page
from ..permissions import BEYOND, Action, authorise, check_sees, is_at_home
from ..proposals.gate import Held, ReviewRequired, pass_gate
from ..subscriptions.changes import ChangeKind, announce
from .db_errors import translated_db_errors
from .outbox import queue_deliveries
from .writer import LogLine, Writer

QUEUE_TIMEOUT = 10.0  # seconds
BUSY = "The wiki is locked by other writes. Try again in a moment."

Place = tuple[Database, UUID, UUID]


class WriteQueue:
    """A queue of those who hold or await the lock of one wiki."""

    __slots__ = ("length", "lock")

    def __init__(self) -> None:
        self.lock, self.length = asyncio.Lock(), 0


QUEUES: dict[Place, WriteQueue] = {}


class process_lock:
    """The only writer of the scope's wiki in this process, first come, first served."""

    __slots__ = ("place", "queue")

    def __init__(self, database: Database, scope: Scope) -> None:
        self.place: Place | None = None
        database = unrestricted(database)
        if isinstance(database, OneTransaction):
            if database.inside:  # those who queue may be waiting for what it has locked: it must not wait for them
                return
            database = unrestricted(database.database)
        self.place = database, scope.tenant_id, scope.owner_id

    async def __aenter__(self) -> None:
        if self.place is None:
            return
        queue = self.queue = QUEUES.setdefault(self.place, WriteQueue())
        queue.length += 1
        try:
            await (wait_for(queue.lock) if queue.length > 1 else queue.lock.acquire())  # at once: nobody else has it
        except BaseException:
            self.leave(self.place)
            raise

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        if self.place is not None:
            self.queue.lock.release()
            self.leave(self.place)

    def leave(self, place: Place) -> None:
        self.queue.length -= 1
        if not self.queue.length:
            del QUEUES[place]


async def wait_for(lock: asyncio.Lock) -> None:
    try:
        async with asyncio.timeout(QUEUE_TIMEOUT):
            await lock.acquire()
    except TimeoutError:
        raise Unavailable(BUSY) from None


MOST = 10_000  # pages of one database

REMEMBERED: WeakKeyDictionary[Database, LRU[UUID]] = WeakKeyDictionary()


def page_owners(database: Database) -> LRU[UUID]:
    """Return the cached owners of pages by (tenant, page). A page may be gone already: look before you write."""
    database = pooled(database)
    known = REMEMBERED.get(database)
    return REMEMBERED.setdefault(database, LRU(MOST)) if known is None else known


WRITING = statements("pages/writing")


async def finish(writer: Writer, action: Action) -> None:
    """Write everything that ends a write in one statement; on Citus a notification has to be one by itself.

    Raises Held for a write of pages that has to be reviewed. Settings and jobs of a wiki are for its admins alone.
    """
    found = writer.changes.found
    if None in found and found[None].kind is ChangeKind.ARCHIVED:
        await writer.run(WRITING["advance_archived"])
    page_ids = [page_id for page_id in found if page_id is not None]
    is_restating = bool(writer.touched or writer.counted)
    if writer.lines or page_ids or is_restating:
        closed = await writer.one(
            WRITING["close_restating" if is_restating else "close"],
            lines=[line_to_dict(line) for line in writer.lines],
            actor_kind=writer.scope.actor.kind.value,
            actor_id=writer.scope.actor.id,
            page_ids=page_ids,
            touched_ids=writer.touched,
            counted_ids=writer.counted,
        )
        await check_sees(writer, writer.scope, {line.page_id for line in writer.lines if line.page_id}, BEYOND)
        assert closed is not None, "the wiki is locked, so it is there"
        if action is not Action.ADMINISTER:
            await pass_gate(writer, closed["write_policy"])
        if closed["has_webhooks"]:
            await queue_deliveries(writer)
    announce(writer, writer.changes.all())


def line_to_dict(line: LogLine) -> dict[str, Any]:
    return {"id": line.id, "action": line.action, "page_id": line.page_id, "detail": line.detail}


PAGES = statements("pages/pages")
NO_WIKI = "There is no such wiki, or none that you may see."
FOUND = "SELECT 1"
NO_PAGE = "There is no such page, or none that you may see."
TARGET_REVIEWS = (
    "Writes of this role are reviewed in the wiki that the page would go to, and a transfer into it cannot be "
    "proposed. Nothing was written. Ask somebody whose writes are not reviewed there."
)


class TwoWikis(NamedTuple):
    """The writers of the wiki that a page leaves and of the one that it goes to, in one transaction."""

    here: Writer
    there: Writer


@asynccontextmanager
async def writing(database: Database, scope: Scope, action: Action = Action.WRITE) -> AsyncIterator[Writer]:
    """Open a transaction in the scope's wiki, allowed and alone. Callers who may not write never wait for others."""
    async with read_connection(database) as connection:
        await authorise(connection, scope, scope.owner_id, action)
    async with locked_transaction(database, scope, action) as writer:
        yield writer


@asynccontextmanager
async def writing_page(
    database: Database, scope: Scope, page_id: UUID, action: Action = Action.WRITE
) -> AsyncIterator[tuple[Writer, Page]]:
    """Open a transaction as `writing` does in the page's wiki, with the page as it is now that nobody can change it."""
    async with writing_near_page(database, scope, page_id, action) as writer:
        page = await find_page(writer, page_id)
        if page is None:
            raise NotFound(NO_PAGE)
        await check_sees(writer, writer.scope, [page_id], NO_PAGE)
        yield writer, page


class writing_near_page:
    """A transaction as of `writing`, in the wiki where a page lay when it was last seen: it may be gone by now."""

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
        if owner_id is not None and is_at_home(self.scope, owner_id, self.action):
            return owner_id
        found = await find_owner_of(self.database, self.scope, PAGES["find_owner"], self.page_id, NO_PAGE, self.action)
        return known.put(key, found)


@asynccontextmanager
async def writing_row(
    database: Database, scope: Scope, find_owner: Statement, row_id: UUID, missing: str, action: Action = Action.WRITE
) -> AsyncIterator[Writer]:
    """Open a transaction as `writing` does in a row's wiki; one out of sight is `missing` as if it were not there."""
    owner_id = await find_owner_of(database, scope, find_owner, row_id, missing, action)
    async with locked_transaction(database, scope.in_owner(owner_id), action) as writer:
        yield writer


async def find_owner_of(
    database: Database, scope: Scope, find_owner: Statement, row_id: UUID, missing: str, action: Action
) -> UUID:
    """Return the owner of the wiki in which a row lies, where the caller may do this."""
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
    """Refuse a caller who would send much before a write could refuse it."""
    async with read_connection(database) as connection:
        await authorise(connection, scope, scope.owner_id, Action.WRITE)


@asynccontextmanager
async def read_connection(database: Database) -> AsyncIterator[Connection]:
    """Open a connection for what has to be known before a write."""
    with translated_db_errors():
        async with database.connection() as connection:
            yield connection


@asynccontextmanager
async def transaction(database: Database) -> AsyncIterator[Connection]:
    """Open a transaction: all of it or nothing, and errors of Postgres become ours."""
    with translated_db_errors():
        async with database.transaction() as connection:
            yield connection


@asynccontextmanager
async def locked_transaction(database: Database, scope: Scope, action: Action) -> AsyncIterator[Writer]:
    """Open a transaction as the wiki's one writer, until it ends. After waiting, permissions are checked anew.

    What the wiki's write policy asks to be reviewed is undone: raises Held.
    """
    with translated_db_errors():
        async with process_lock(database, scope), wiki_lock(database, scope) as connection:
            if connection.begun != FOUND:
                raise NotFound(NO_WIKI)
            await authorise(connection, scope, scope.owner_id, action)
            writer = Writer(connection, scope)
            yield writer
            await finish(writer, action)
            await writer.flush()


@asynccontextmanager
async def writing_two(database: Database, scope: Scope, page_id: UUID, to_owner_id: UUID) -> AsyncIterator[TwoWikis]:
    """Open a transaction as the one writer of a page's wiki and of another, where the caller may write in both.

    The policy of the page's wiki is asked first: raises Held. What the other one would have reviewed is refused.
    """
    owner_id = await find_owner_of(database, scope, PAGES["find_owner"], page_id, NO_PAGE, Action.WRITE)
    if owner_id == to_owner_id:
        raise BadInput("The page is in this wiki already. Name another one.", "toOwner")
    async with read_connection(database) as connection:
        await authorise(connection, scope, to_owner_id, Action.WRITE)
    here = scope.in_owner(owner_id)
    there = replace(scope.in_owner(to_owner_id), review=None)
    first, second = sorted((here, there), key=lambda one: one.owner_id)
    with translated_db_errors():
        async with (
            process_lock(database, first),
            process_lock(database, second),
            wiki_lock(database, first) as connection,
        ):
            if connection.begun != FOUND:
                raise NotFound(NO_WIKI)
            await lock_wiki(connection, second)
            for one in (here, there):
                await authorise(connection, one, one.owner_id, Action.WRITE)
            both = TwoWikis(Writer(connection, here), Writer(connection, there))
            yield both
            for writer in both:
                try:
                    await finish(writer, Action.WRITE)
                except Held as held:
                    raise held if writer is both.here else ReviewRequired(TARGET_REVIEWS) from None
                await writer.flush()


class wiki_lock:
    """A transaction that begins by waiting for the writer of another process, as long as a statement may take."""

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
    """Lock the wiki as `locking` does, in a transaction that has begun."""
    try:
        found = await connection.value(WRITING["lock_wiki"], tenant_id=scope.tenant_id, owner_id=scope.owner_id)
    except (asyncpg.QueryCanceledError, asyncpg.LockNotAvailableError) as error:
        raise Unavailable(BUSY) from error
    if not found:
        raise NotFound(NO_WIKI)


def check_version(page: Page, expected: int | None) -> None:
    """Refuse to write over what the caller has not seen."""
    if expected is not None and expected != page.version:
        raise Conflict(
            f"You changed version {expected}, but {page.name} is at version {page.version} now. Read it again.",
            page.version,
            page.id,
        )


async def check_same_wiki(writer: Writer, page_id: UUID, field: str) -> None:
    """Refuse a page of another wiki; one that the caller may not even see is as unknown as any."""
    await check_own(writer, await writer.value(PAGES["find_owner"], id=page_id), field)
    await check_sees(writer, writer.scope, [page_id], NO_PAGE)


async def check_pair(writer: Writer, page_id: UUID, other_id: UUID, field: str) -> None:
    """Refuse two pages unless both lie in this wiki; `field` is where the client named the other one."""
    rows = await writer.all(PAGES["find_owners"], ids=[page_id, other_id])
    owners = {row["id"]: row["owner_id"] for row in rows}
    if owners.get(page_id) != writer.scope.owner_id:
        raise NotFound(NO_PAGE)
    await check_own(writer, owners.get(other_id), field)
    await check_sees(writer, writer.scope, [page_id, other_id], NO_PAGE)


async def check_own(writer: Writer, owner_id: UUID | None, field: str) -> None:
    """Refuse a page of another wiki as `check_same_wiki` does, by the owner of its wiki, None for no page."""
    if owner_id == writer.scope.owner_id:
        return
    if owner_id is None or not await visible(writer, owner_id):
        raise NotFound(NO_PAGE)
    raise BadInput("Both pages must lie in the same wiki.", field)


async def visible(writer: Writer, owner_id: UUID) -> bool:
    """Return whether the caller may read in that wiki."""
    try:
        await authorise(writer, writer.scope, owner_id, Action.READ)
    except CairnError:
        return False
    return True
