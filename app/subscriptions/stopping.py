"""Hearing early that the process is to stop: the server tells the application only once every connection has ended."""

import asyncio
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def told_to_stop(stop: Callable[[], None]) -> Iterator[None]:
    """Calls `stop` in the event loop when SIGINT or SIGTERM comes, besides what these do already."""
    if threading.current_thread() is not threading.main_thread():
        yield  # only there can signals be listened to
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
