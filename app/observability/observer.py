"""Who looks at requests: each watcher is told when one begins and when it is over."""

from typing import Protocol

from starlette.types import Scope

from observability.trace import RequestTrace


class Watcher(Protocol):
    """Called on the event loop for every request: microseconds, and never an exception."""

    def begin(self, trace: RequestTrace, scope: Scope) -> None:
        """Before anything is read."""

    def end(self, trace: RequestTrace, scope: Scope, status: int) -> None:
        """When the last byte of the answer has been handed over."""
