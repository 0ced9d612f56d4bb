"""A connection that listens for the notifications (NOTIFY) of transactions. It is reopened whenever it is lost."""

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from uuid import uuid4

import asyncpg

from lib.deadlines import wait_for_event

from .database import Database
from .sql import statements
from .waiters import Exhausted

BEATS = statements("webhooks/changes")["beat"]
log = logging.getLogger(__name__)

CHANNEL = "cairn_changes"
TIMEOUT = 10.0  # seconds for Postgres to answer
BEAT = 30.0  # seconds between two checks that notifications still arrive
PAUSES = (0.1, 0.5, 2.0, 5.0)  # seconds before each attempt to reconnect; the last one is used for all further attempts


class NotListening(Exception):
    """Raised if notifications do not arrive over this connection."""

    def __init__(self) -> None:
        super().__init__(
            "What is announced does not arrive. A pooler that shares connections takes LISTEN and forgets it: "
            "set CAIRN_LISTEN_URL to Postgres itself, and to the same database."
        )


class Listener:
    """Calls `heard` with the payload of each notification, and `resumed` when notifications may have been missed."""

    def __init__(
        self, database: Database, heard: Callable[[str], None], resumed: Callable[[], None], dsn: str | None = None
    ) -> None:
        """Prepare to listen. `dsn` is a direct DSN of the same database, if that of `database` is a pooler's."""
        self.database = database
        self.dsn = dsn or database.dsn
        self.heard = heard
        self.resumed = resumed
        self.own_channel = f"cairn_beat_{uuid4().hex}"
        self.listening = asyncio.Event()
        """Set while notifications arrive."""

    async def run(self) -> None:
        """Listen, and reconnect whenever the connection is lost, until cancelled."""
        failures = 0
        while True:
            try:
                await self.listen()
            except Exception as error:
                log.warning("Cannot listen for changes: %s", str(error) or type(error).__name__)
            failures = 0 if self.listening.is_set() else failures + 1
            self.listening.clear()
            await asyncio.sleep(PAUSES[min(failures, len(PAUSES) - 1)])

    async def listen(self) -> None:
        """Listen until the connection is lost."""
        settings = {"application_name": "cairn listening", "statement_timeout": str(int(TIMEOUT * 1000))}
        connection = await asyncpg.connect(
            self.dsn, timeout=TIMEOUT, command_timeout=TIMEOUT, statement_cache_size=0, server_settings=settings
        )
        try:
            lost, echoed = asyncio.Event(), asyncio.Event()
            connection.add_termination_listener(lambda *_: lost.set())
            await connection.add_listener(CHANNEL, lambda *arguments: self.heard(arguments[-1]))
            await connection.add_listener(self.own_channel, lambda *_: echoed.set())
            await self.check_arrival(echoed)
            self.listening.set()
            self.resumed()
            while not await wait_for_event(lost, BEAT):
                with suppress(Exhausted):  # that all connections of the pool are in use says nothing about this one
                    await self.check_arrival(echoed)
            log.warning("The connection that listens for changes was lost.")
        finally:
            connection.terminate()

    async def check_arrival(self, echoed: asyncio.Event) -> None:
        """Send a notification over another connection. Raises NotListening if it does not arrive.

        Without this, a lost peer, a pooler that ignores LISTEN, and a wrong database would go unnoticed.
        """
        echoed.clear()
        async with self.database.connection() as other:
            await other.value(BEATS, channel=self.own_channel)
        if not await wait_for_event(echoed, TIMEOUT):
            raise NotListening
