"""The cost of an operation, in rows: those it may return at most, each list multiplying what is below it.

Fields weigh nothing: Postgres makes them of rows that it has read, and a document holds few. What is dearer than its
rows weighs as many as it is worth. Small items that Postgres finds side by side weigh less: `per_row` of them make one.
"""

from ..compile.parameters import Fixed, Getter, Request

OPERATION = 1
WRITE = 10
"""A field of Mutation: a transaction of a dozen statements."""


class Cost:
    """One list of a plan, and the lists in each of its items."""

    def __init__(self, size: Getter | None = None, per_row: int = 1) -> None:
        """Start a list; `fixed` counts what is in one of its items in every request."""
        self.size = Fixed(1) if size is None else size
        self.per_row = per_row
        self.fixed = 0
        self.below: list[Cost] = []

    def add(self, size: Getter, per_row: int = 1) -> "Cost":
        child = Cost(size, per_row)
        self.below.append(child)
        return child

    def of(self, request: Request) -> int:
        size: int = self.size(request)
        return self.rows(size) + size * self.inside(request)

    def rows(self, size: int) -> int:
        """Return how many rows so many of its items weigh, without what is in them; a part of a row counts as one."""
        return -(-size // self.per_row)

    def inside(self, request: Request) -> int:
        """Return the weight of what one of its items holds."""
        held = self.fixed
        for child in self.below:
            held += child.of(request)
        return held

    def fold(self) -> None:
        """Count once what is the same in every request."""
        below, self.below = self.below, []
        for child in below:
            child.fold()
            if isinstance(child.size, Fixed) and not child.below:
                self.fixed += child.rows(child.size.value) + child.size.value * child.fixed
            else:
                self.below.append(child)
