"""What a request came to when it came before: who sends the same again need not have it read again.

Nothing here depends on anything but what was sent, on the plan and on the caller's scope. Each value is set once and
read once by a request, so that requests at the same time cannot mix theirs.
"""

from typing import Any, NamedTuple
from weakref import ref

from graphql.execution.values import VariableValues


class Ready(NamedTuple):
    """What a plan needs, once its checks let this very scope pass. `parameters` only where no step has to run."""

    scope: Any
    cost: int
    parameters: list[Any] | None


class Kept:
    """A request's variables as they were read, and the plan for them, which is no longer there once it is forgotten."""

    __slots__ = ("plan", "ready", "shape", "variables")

    def __init__(self, plan: Any, shape: tuple[Any, ...], variables: VariableValues) -> None:
        self.plan, self.shape, self.variables = ref(plan), shape, variables
        self.ready: Ready | None = None
        """For the scope that asked last."""

    def is_for(self, plan: Any) -> bool:
        return self.plan() is plan

    def ready_for(self, scope: Any) -> Ready | None:
        ready = self.ready
        return ready if ready is not None and ready.scope is scope else None


class Slot:
    """Where the engine keeps it, for a caller who knows when the same request comes again."""

    __slots__ = ("kept",)

    def __init__(self) -> None:
        self.kept: Kept | None = None
