"""What a request came to when it came before: who sends the same again need not have it read again.

Nothing here depends on anything but what was sent, on the plan and on the caller's scope. What is for one scope is set
as one value and read as one, so that requests at the same time cannot mix theirs.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple
from weakref import ref

from graphql.execution.values import VariableValues

from .knowledge import Knowledge
from .lru import LRU


class Ready(NamedTuple):
    """What a plan needs, once its checks let this very scope pass.

    `parameters` are the statement's. Where steps have to run there are none; but where the statement finds what the
    step would, those that are not the step's own, beside what it knew when that held.
    """

    kept: "Kept"
    scope: Any
    cost: int
    parameters: Sequence[Any] | None
    knowledge: "ref[Knowledge] | None" = None

    def known(self) -> Knowledge | None:
        """Unless it was forgotten."""
        return None if self.knowledge is None else self.knowledge()


Readies = LRU[Ready]
"""By the identities of what was kept and of the scope: as long as an entry is there, so are both."""


class Kept:
    """A request's variables as they were read, and the plan for them, which is no longer there once it is forgotten."""

    __slots__ = ("plan", "readies", "shape", "variables")

    def __init__(self, plan: Any, shape: tuple[Any, ...], variables: VariableValues, readies: Readies) -> None:
        self.plan, self.shape, self.variables, self.readies = ref(plan), shape, variables, readies

    def is_for(self, plan: Any) -> bool:
        return self.plan() is plan

    def ready_for(self, scope: Any) -> Ready | None:
        return self.readies.find((id(self), id(scope)))

    def keep(
        self, scope: Any, cost: int, parameters: Sequence[Any] | None = None, knowledge: Knowledge | None = None
    ) -> Ready:
        ready = Ready(self, scope, cost, parameters, None if knowledge is None else ref(knowledge))
        return self.readies.keep((id(self), id(scope)), ready)


class Slot:
    """Where the engine keeps it, for a caller who knows when the same request comes again."""

    __slots__ = ("kept",)

    def __init__(self) -> None:
        self.kept: Kept | None = None
