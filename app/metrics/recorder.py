"""Counts requests and what their trails say."""

from starlette.types import Scope

from selection.trail import Trail

from . import names
from .numbers import Numbers

PATHS = frozenset({"/graphql", "/graphql/v0", "/graphiql", "/healthz", "/mcp", "/metrics", "/readyz"})


class Recorder:
    """A watcher of requests."""

    def __init__(self, numbers: Numbers) -> None:
        self.numbers = numbers

    def begin(self, trail: Trail, scope: Scope) -> None:
        self.numbers.add(names.IN_FLIGHT)

    def end(self, trail: Trail, scope: Scope, status: int) -> None:
        numbers, path = self.numbers, trail.path or known(scope["path"])
        numbers.add(names.IN_FLIGHT, amount=-1.0)
        numbers.add(names.REQUESTS, path, str(status))
        if not trail.is_stream:
            numbers.observe(names.REQUEST_SECONDS, path, seconds=trail.took)
        for code in trail.codes:
            numbers.add(names.ERRORS, code)
        self.parts(trail)

    def parts(self, trail: Trail) -> None:
        for part in trail.parts:
            match part.what:
                case "sql":
                    self.numbers.observe(names.SQL_SECONDS, seconds=part.took)
                case "wait":
                    self.numbers.observe(names.WAIT_SECONDS, seconds=part.took)
                case "operation":
                    type_ = trail.type or "none"
                    self.numbers.add(names.OPERATIONS, type_, outcome(trail), trail.way)
                    self.numbers.observe(names.OPERATION_SECONDS, type_, seconds=part.took)
                case _:
                    self.numbers.observe(names.PREPARING_SECONDS, part.what, seconds=part.took)


def known(path: str) -> str:
    """Clients can ask for any path; a few are worth a series."""
    return path if path in PATHS else "other"


def outcome(trail: Trail) -> str:
    """`refused` before execution, `failed` by a fault of ours, `errors` with errors that are the client's to mend."""
    if not trail.codes:
        return "ok"
    if trail.definition is None:
        return "refused"
    return "failed" if "INTERNAL_SERVER_ERROR" in trail.codes else "errors"
