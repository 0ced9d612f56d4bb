"""Bodies that take milliseconds to read, read beside the event loop."""

import gc
from collections.abc import Callable
from typing import TypeVar

from selection.apart import apart

T = TypeVar("T")
AT_ONCE = 50_000  # bytes of JSON that are read in a few milliseconds, whatever they say


async def read(size: int, make: Callable[[], T]) -> T:
    """What it makes of so many bytes."""
    return await apart(lambda: uncollected(make)) if size > AT_ONCE else make()


def uncollected(make: Callable[[], T]) -> T:
    """Without the garbage collector, which looks at all that is being made again and again: 2 MB of lists take 20 ms
    instead of 300, and nobody else computes meanwhile, in whichever thread."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        return make()
    finally:
        if was_enabled:
            gc.enable()
