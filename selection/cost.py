"""What a plan may return at most: each list multiplies what is below it."""

from .binds import Getter, Request


class Cost:
    """One list of a plan, and the lists in each of its items."""

    def __init__(self, size: Getter = lambda request: 1) -> None:
        self.size = size
        self.below: list[Cost] = []

    def add(self, size: Getter) -> "Cost":
        child = Cost(size)
        self.below.append(child)
        return child

    def of(self, request: Request) -> int:
        size: int = self.size(request)
        return size * (1 + sum(child.of(request) for child in self.below))
