"""Writers of one wiki take turns before they take a connection: else those who wait would leave none to other wikis.

Between processes the owner's row is the lock; see writing.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from uuid import UUID
from weakref import WeakValueDictionary

from db.database import Database
from db.one_transaction import OneTransaction
from db.scope import Scope

from .errors import Unavailable

PATIENCE = 10.0  # seconds
BUSY = "This wiki is being written by others. Try again in a moment."

# Only those who hold or await a lock keep it here.
LOCKS: WeakValueDictionary[tuple[Database, UUID, UUID], asyncio.Lock] = WeakValueDictionary()


@asynccontextmanager
async def turn(database: Database, scope: Scope) -> AsyncIterator[None]:
    """The only writer of the scope's wiki in this process, first come, first served."""
    if isinstance(database, OneTransaction):
        if database.inside:  # those who queue may be waiting for what it has locked: it must not wait for them
            yield
            return
        database = database.database
    place = database, scope.tenant_id, scope.owner_id
    lock = LOCKS.get(place)
    if lock is None:
        lock = LOCKS[place] = asyncio.Lock()
        await lock.acquire()  # at once: nobody else has it
    else:
        await wait_for(lock)
    try:
        yield
    finally:
        lock.release()


async def wait_for(lock: asyncio.Lock) -> None:
    try:
        async with asyncio.timeout(PATIENCE):
            await lock.acquire()
    except TimeoutError:
        raise Unavailable(BUSY) from None
