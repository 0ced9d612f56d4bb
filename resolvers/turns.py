"""Writers of one wiki take turns before they take a connection: else those who wait would leave none to other wikis.

Between processes the owner's row is the lock; see writing.
"""

import asyncio
from types import TracebackType
from uuid import UUID

from db.database import Database
from db.one_transaction import OneTransaction
from db.scope import Scope

from .errors import Unavailable

PATIENCE = 10.0  # seconds
BUSY = "This wiki is being written by others. Try again in a moment."

Place = tuple[Database, UUID, UUID]


class Queue:
    """Those who hold or await the lock of one wiki."""

    __slots__ = ("length", "lock")

    def __init__(self) -> None:
        self.lock, self.length = asyncio.Lock(), 0


QUEUES: dict[Place, Queue] = {}


class turn:
    """The only writer of the scope's wiki in this process, first come, first served."""

    __slots__ = ("place", "queue")

    def __init__(self, database: Database, scope: Scope) -> None:
        self.place: Place | None = None
        if isinstance(database, OneTransaction):
            if database.inside:  # those who queue may be waiting for what it has locked: it must not wait for them
                return
            database = database.database
        self.place = database, scope.tenant_id, scope.owner_id

    async def __aenter__(self) -> None:
        if self.place is None:
            return
        queue = self.queue = QUEUES.setdefault(self.place, Queue())
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
        async with asyncio.timeout(PATIENCE):
            await lock.acquire()
    except TimeoutError:
        raise Unavailable(BUSY) from None
