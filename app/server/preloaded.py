"""Imports the application in the process that workers are forked from, with the garbage collector disabled.

The collector would take a quarter of the import time, and would later write to memory that the workers share.
"""

import gc

gc.disable()

import app.asgi  # noqa: E402, F401 - imported while the collector is disabled

gc.freeze()
gc.enable()
