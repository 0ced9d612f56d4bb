"""Work that takes milliseconds of pure Python, done beside the event loop: reading documents and building plans.

One thread is enough: such work is done once for each document, and more of them would only take the loop's turns.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")

READERS = ThreadPoolExecutor(1, thread_name_prefix="plans")


async def apart(make: Callable[[], T]) -> T:
    """What it makes, while other requests go on."""
    return await asyncio.get_running_loop().run_in_executor(READERS, make)
