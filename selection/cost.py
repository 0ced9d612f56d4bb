"""What a plan may return at most: each list multiplies what is below it."""

from .binds import Fixed, Getter, Request


class Cost:
    """One list of a plan, and the lists in each of its items."""

    def __init__(self, size: Getter | None = None) -> None:
        """`item` counts one of its items, and the lists in it that are of the same size in every request."""
        self.size = Fixed(1) if size is None else size
        self.item = 1
        self.below: list[Cost] = []

    def add(self, size: Getter) -> "Cost":
        child = Cost(size)
        self.below.append(child)
        return child

    def of(self, request: Request) -> int:
        inside = self.item
        for child in self.below:
            inside += child.of(request)
        size: int = self.size(request)
        return size * inside

    def fold(self) -> None:
        """Count once what is the same in every request."""
        below, self.below = self.below, []
        for child in below:
            child.fold()
            if isinstance(child.size, Fixed) and not child.below:
                self.item += child.size.value * child.item
            else:
                self.below.append(child)
