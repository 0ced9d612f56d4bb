"""Runs work that takes milliseconds in threads, so that it does not block the event loop, and runs coroutines ahead."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, ParamSpec, TypeVar

from .fair_queue import FairQueue, slot

T = TypeVar("T")

COMPILERS = ThreadPoolExecutor(1, thread_name_prefix="plans")
COMPILING = FairQueue(1)


async def compile_in_thread(make: Callable[[], T]) -> T:
    """Call `make` in the thread for plans and return its value. Other requests go on meanwhile."""
    async with slot(COMPILING):
        return await asyncio.get_running_loop().run_in_executor(COMPILERS, make)


LONG = 5_000
"""Characters of a text up to which starting a thread costs more than it saves the event loop."""
# More threads would not be faster: only one runs at a time, and the event loop would wait for each of them.
READERS = ThreadPoolExecutor(1, thread_name_prefix="long-texts")
READING = FairQueue(1)  # the text of one tenant does not wait for a hundred texts of another

P = ParamSpec("P")


async def offload(size: int, reader: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Call `reader` and return its value; if its texts have more than LONG characters, call it in a thread."""
    return await run_in_thread(reader, *args, **kwargs) if size > LONG else reader(*args, **kwargs)


async def run_in_thread(reader: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Call `reader` in the thread for long texts and return its value."""
    async with slot(READING):
        return await asyncio.get_running_loop().run_in_executor(READERS, partial(reader, *args, **kwargs))


async def run_one_ahead(coroutines: Iterable[Coroutine[Any, Any, T]]) -> AsyncIterator[T]:
    """Yield the result of each coroutine, and run the next coroutine while the caller uses that result."""
    upcoming: asyncio.Task[T] | None = None
    try:
        for coroutine in coroutines:
            current, upcoming = upcoming, asyncio.create_task(coroutine)
            if current:
                yield await current
        if upcoming:
            yield await upcoming
    finally:
        if upcoming:
            upcoming.cancel()
