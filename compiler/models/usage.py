"""The usage of a model, and its cost."""

from collections.abc import Mapping
from typing import NamedTuple

MILLION = 1_000_000


class Price(NamedTuple):
    """US dollars for a million input tokens and for a million output tokens."""

    input: float
    output: float


class Usage(NamedTuple):
    """The usage of some requests, including failed ones. `cost` is in US dollars, or None if no price is known."""

    requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = None

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.output_tokens

    def with_price(self, price: Price | None) -> "Usage":
        """Return the usage with its cost by the operator's price, if there is one."""
        if price is None:
            return self
        cost = (self.input_tokens * price.input + self.output_tokens * price.output) / MILLION
        return self._replace(cost=cost)

    @property
    def metrics(self) -> Mapping[str, float]:
        """Return the usage in the form of a job's metrics, without zeros."""
        counts = {name: number for name, number in self._asdict().items() if number}
        return counts | ({"cost": round(self.cost, 6)} if self.cost else {})
