"""The streams of this process: their shared feed of changes, their maximum number, and their end at a shutdown."""

import asyncio
import signal
import threading
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import Any

import structlog

from db.database import Database
from db.listening import Listener
from db.scope import Scope as Wiki
from lib.deadlines import wait_for_event
from resolvers.auth.credentials import Credentials
from resolvers.rate_limits import Throttled
from resolvers.subscriptions.changes import read_payload
from resolvers.subscriptions.feed import Feed
from selection import Engine

from ..documents.store import Documents
from ..http.limits import Bounds
from ..http.request import Bodies
from ..settings import Settings
from .operations import Credential, Operations


@contextmanager
def on_stop_signal(stop: Callable[[], None]) -> Iterator[None]:
    """Call `stop` on the event loop at SIGINT or SIGTERM during the block, in addition to the existing handlers."""
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread can handle signals
        return
    loop = asyncio.get_running_loop()
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def handle(number: int, frame: Any) -> None:
        loop.call_soon_threadsafe(stop)
        handler = before[signal.Signals(number)]
        if callable(handler):
            handler(number, frame)

    for number, handler in before.items():
        if callable(handler):
            signal.signal(number, handle)
    try:
        yield
    finally:
        for number, handler in before.items():
            if signal.getsignal(number) is handle:
                signal.signal(number, handler)


log = structlog.get_logger()
LISTEN_TIMEOUT = 1.0
"""Seconds that a starting service waits for its LISTEN connection. After that it serves without it."""


class Streams:
    """The open streams of all transports."""

    def __init__(
        self,
        engine: Engine,
        database: Database,
        credentials: Credentials,
        settings: Settings,
        documents: Documents,
        bounds: Bounds,
    ) -> None:
        self.feed, self.credentials, self.settings, self.documents = Feed(), credentials, settings, documents
        self.bodies, self.limits = Bodies(settings.max_body), engine.limits
        self.operations = Operations(engine, database, self.feed, bounds, readers=max(1, settings.pool_size // 2))
        self.listener = Listener(database, self.publish, self.feed.resync, settings.listen_url)
        self.origins = frozenset(settings.cors_origins or ())
        self.stopping = asyncio.Event()
        self.open_streams: Counter[object] = Counter()

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        """Listen for changes during the block.

        Usually the service listens before it serves the first request, so that no subscriber misses a change.
        """
        listening = asyncio.create_task(self.listener.run())
        try:
            with on_stop_signal(self.stop):
                await wait_for_event(self.listener.listening, LISTEN_TIMEOUT)
                yield
        finally:
            self.stop()
            listening.cancel()
            with suppress(asyncio.CancelledError):
                await listening

    def count_open(self) -> int:
        """Return the number of open streams."""
        return self.open_streams.total()

    def stop(self) -> None:
        """End all streams now, so that a draining service does not wait for them."""
        self.feed.close()
        self.stopping.set()

    def publish(self, payload: str) -> None:
        """Pass the changes of a notification to the subscribers. Without any, the payload is not parsed."""
        if not self.feed.subscribers:
            return
        try:
            changes = read_payload(payload)
        except ValueError:
            log.warning("ignored an unknown notification", size=len(payload))
            return
        for change in changes:
            self.feed.publish(change)

    def credential(self, authorization: str | None, owner: str | None) -> Credential:
        return Credential(self.credentials, authorization, owner)

    @contextmanager
    def count_stream(self, wiki: Wiki) -> Iterator[None]:
        """Count a stream of this caller during the block. Raises Throttled if it has too many."""
        caller = (wiki.tenant_id, wiki.owners, wiki.actor)
        if self.open_streams[caller] >= self.settings.max_streams:
            raise Throttled(f"This credential has {self.settings.max_streams} streams open already. Close some.", 1)
        self.open_streams[caller] += 1
        try:
            yield
        finally:
            self.open_streams[caller] -= 1
            if not self.open_streams[caller]:
                del self.open_streams[caller]
