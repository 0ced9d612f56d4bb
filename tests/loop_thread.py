"""How long the event loop is held up, in the time that its own thread computes: a busy machine does not change it."""

import asyncio
import gc
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass


@dataclass
class Held:
    """The longest that nobody else got a turn, in seconds of processor time."""

    longest: float = 0.0


@asynccontextmanager
async def heartbeat() -> AsyncIterator[Held]:
    """Beats beside what is done inside. What the test run has piled up is kept from the garbage collector."""
    held = Held()
    gc.collect()
    gc.freeze()
    beating = asyncio.create_task(beat(held))
    try:
        yield held
        await asyncio.sleep(0.01)
    finally:
        beating.cancel()
        gc.unfreeze()


async def beat(held: Held) -> None:
    last = time.thread_time()
    while True:
        await asyncio.sleep(0.001)
        now = time.thread_time()
        held.longest, last = max(held.longest, now - last), now
