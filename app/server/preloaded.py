"""Imports the application in the process that workers are forked from, without the garbage collector: it would take
a quarter of the time, and afterwards write to memory that the workers share."""

import gc

gc.disable()

import app.asgi  # noqa: E402, F401 - imported while it is disabled

gc.freeze()
gc.enable()
