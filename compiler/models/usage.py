"""Usage of a model by requests, and its cost."""

from collections.abc import Mapping
from typing import NamedTuple

MILLION = 1_000_000


class Price(NamedTuple):
    """US dollars for a million tokens."""

    input: float
    output: float


class Usage(NamedTuple):
    """The usage of some requests, failed ones among them. `cost` in US dollars; None where no price is known."""

    requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = None

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.output_tokens

    def with_price(self, price: Price | None) -> "Usage":
        """Return the usage with the operator's price, where there is one."""
        if price is None:
            return self
        cost = (self.input_tokens * price.input + self.output_tokens * price.output) / MILLION
        return self._replace(cost=cost)

    @property
    def metrics(self) -> Mapping[str, float]:
        """Return the usage as a job's metrics have it."""
        counts = {name: number for name, number in self._asdict().items() if number}
        return counts | ({"cost": round(self.cost, 6)} if self.cost else {})
