"""The interface of observers, which are called when a request begins and when it is over."""

from typing import Protocol, runtime_checkable

from starlette.types import Scope

from observability.trace import RequestTrace


class Observer(Protocol):
    """An observer of requests, called on the event loop for every one: it takes microseconds, and never raises."""

    def begin(self, trace: RequestTrace, scope: Scope) -> None:
        """Handle the beginning of a request, before anything of it is read."""

    def end(self, trace: RequestTrace, scope: Scope, status: int) -> None:
        """Handle the end of a request, when the last byte of the answer has been handed over."""


@runtime_checkable
class JobObserver(Protocol):
    """An observer of attempts at jobs."""

    def begin_job(self, trace: RequestTrace, trigger: str) -> None:
        """Handle the beginning of an attempt."""

    def end_job(self, trace: RequestTrace, trigger: str) -> None:
        """Handle the end of an attempt. Its errors say whether it failed, or was lost to another worker."""
