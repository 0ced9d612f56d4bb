"""Work that does not hold the event loop: in a thread where it takes milliseconds, or one step ahead of its use."""

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
    """Return what `make` returns, made in a thread while other requests go on."""
    async with slot(COMPILING):
        return await asyncio.get_running_loop().run_in_executor(COMPILERS, make)


LONG = 5_000  # characters; up to here a thread costs more than it frees
# More at once would read no faster, since one of them runs at a time, and the loop would wait for each of them.
READERS = ThreadPoolExecutor(1, thread_name_prefix="long-texts")
READING = FairQueue(1)  # who has sent a hundred of them waits behind one of another, and not that one behind all

P = ParamSpec("P")


async def read_in_thread(size: int, reader: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Return what the reader makes of texts of `size` characters, in a thread if that is long."""
    return await run_in_thread(reader, *args, **kwargs) if size > LONG else reader(*args, **kwargs)


async def run_in_thread(reader: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Return what the reader makes, in the thread for long texts."""
    async with slot(READING):
        return await asyncio.get_running_loop().run_in_executor(READERS, partial(reader, *args, **kwargs))


async def one_ahead(makes: Iterable[Coroutine[Any, Any, T]]) -> AsyncIterator[T]:
    """Yield the result of each coroutine; the next one is at work while the last result is used."""
    upcoming: asyncio.Task[T] | None = None
    try:
        for make in makes:
            current, upcoming = upcoming, asyncio.create_task(make)
            if current:
                yield await current
        if upcoming:
            yield await upcoming
    finally:
        if upcoming:
            upcoming.cancel()
