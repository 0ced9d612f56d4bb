"""When Python looks for cycles among what nobody needs any more.

It looks through all there is whenever much more has come and stayed. While a batch is at work much comes, and goes with
the batch: to look through it again and again was a fifth of what a source cost, and stopped everything meanwhile.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collected_later() -> Iterator[None]:
    """Not in here, unless somebody has put it off already."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
