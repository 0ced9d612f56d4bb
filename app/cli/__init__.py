"""The command `cairn`. Modules that are slow to import are imported inside the commands that need them."""

from .program import main

__all__ = ["main"]
