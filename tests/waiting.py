"""Limits how long tests wait."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

SOON = 60.0  # seconds: far more than a busy machine takes


@asynccontextmanager
async def within(missing: str, seconds: float = SOON) -> AsyncIterator[None]:
    """Limit a wait. After `seconds` the test fails with a sentence that says what is `missing`."""
    bound = asyncio.timeout(seconds)
    try:
        async with bound:
            yield
    except TimeoutError:
        if not bound.expired():
            raise
        raise AssertionError(f"After {seconds:g} s {missing}.") from None
