"""The command `cairn`. What is slow to import is imported by the commands that need it."""

from .program import main

__all__ = ["main"]
