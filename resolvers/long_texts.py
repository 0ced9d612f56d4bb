"""Reading through a long text takes its time, and the other requests need not wait for that."""

import asyncio
from collections.abc import Callable
from typing import TypeVar

LONG = 50_000  # characters; up to here a thread costs more than it frees

T = TypeVar("T")


async def read_through(reader: Callable[[str], T], text: str) -> T:
    """What the reader makes of the text, read beside the event loop when it is long."""
    return await asyncio.to_thread(reader, text) if len(text) > LONG else reader(text)
