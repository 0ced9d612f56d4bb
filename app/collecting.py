"""The garbage collector of a process that serves.

It stops everything while it walks what lives. The contract, its types and all modules are a quarter of a million
objects that stay until the end: walked with the others they hold up the event loop for 100 ms and more each time.
"""

import gc


def keep_what_is_there() -> None:
    """Once, when a process begins to serve: nothing of it is looked at again."""
    gc.collect()
    gc.freeze()
