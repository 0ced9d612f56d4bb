"""The interfaces of observers, which are called at the beginning and at the end of requests and of attempts at jobs."""

from typing import Protocol, runtime_checkable

from starlette.types import Scope

from observability.trace import RequestTrace


class Observer(Protocol):
    """An observer of requests. It runs on the event loop for every request: it must be fast, and must never raise."""

    def begin(self, trace: RequestTrace, scope: Scope) -> None:
        """Handle the beginning of a request, before its body is read."""

    def end(self, trace: RequestTrace, scope: Scope, status: int) -> None:
        """Handle the end of a request, after the last byte of the response was passed to the server."""


@runtime_checkable
class JobObserver(Protocol):
    """An observer of attempts at jobs."""

    def begin_job(self, trace: RequestTrace, trigger: str) -> None:
        """Handle the beginning of an attempt."""

    def end_job(self, trace: RequestTrace, trigger: str) -> None:
        """Handle the end of an attempt. The trace has an error if it failed or another worker took over the job."""
