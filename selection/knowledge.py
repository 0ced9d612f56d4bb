"""What a step knows before the statement that shows what it finds: how the statement finds that by itself."""

from collections.abc import Mapping
from typing import Any


class Knowledge:
    """The parameters of the step's own selects, by their names.

    Whoever found it out keeps it for as long as that is worth it. Others hold it weakly, so that what is forgotten
    there takes no room here, and say by `is_used` that they go by it.
    """

    __slots__ = ("__weakref__", "is_used", "laid_out", "values")

    def __init__(self, values: Mapping[str, Any]) -> None:
        self.values, self.is_used = values, False
        self.laid_out: tuple[tuple[str, ...], tuple[Any, ...]] = (), ()

    def in_order(self, names: tuple[str, ...]) -> tuple[Any, ...]:
        """The values of these, laid out once for the statement that was the last to ask."""
        known, values = self.laid_out
        if known is not names:
            values = tuple(self.values[name] for name in names)
            self.laid_out = names, values
        return values
