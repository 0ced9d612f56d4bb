"""The garbage collector of a service. Nobody else computes while it runs, so it never looks at much at once."""

import asyncio
import gc
from collections.abc import Sized

NEW = 700  # new objects, as usual in Python: the command line has it collect more seldom while it imports
BY_ITSELF = 1_000_000_000  # collections after which it would look at everything by itself: never
EVERY = 60.0  # seconds between two looks at everything
FEW = 100  # requests: those of a thousand are 80,000 objects, and take it 70 ms
PUT_OFF_MOST = 5  # times in a row that more requests than that put it off


class GarbageCollection:
    """Has the garbage collector look at everything once a minute, when few requests are running.

    What lives as long as the process is kept from it: the schema, its types and all modules are a quarter of a million
    objects, and take it 100 ms and more. It looks at what requests have made after every few of them: see Intake.
    """

    def __init__(self, requests: Sized) -> None:
        self.requests, self.put_off = requests, 0

    def start(self) -> None:
        gc.freeze()
        gc.set_threshold(NEW, gc.get_threshold()[1], BY_ITSELF)
        self.timer = asyncio.get_running_loop().call_later(EVERY, self.look)

    def look(self) -> None:
        self.timer = asyncio.get_running_loop().call_later(EVERY, self.look)
        self.put_off += 1
        if gc.isenabled() and (len(self.requests) <= FEW or self.put_off > PUT_OFF_MOST):
            self.put_off = 0
            gc.collect()

    def stop(self) -> None:
        self.timer.cancel()
