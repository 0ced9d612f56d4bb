"""Token buckets, as arithmetic: tokens come at a rate, lie in a bucket of a size, and are taken."""

from dataclasses import dataclass
from typing import NamedTuple


class Rate(NamedTuple):
    """Tokens a second, and how many a bucket holds: what may be taken at once after a rest."""

    per_second: float
    burst: float

    def portion(self) -> float:
        """What a process takes at a time: so much as comes in a second, and a small part of the whole."""
        return max(1.0, min(self.per_second, self.burst / 10))


@dataclass
class Bucket:
    """`tokens` lay in it at the moment `at`, in seconds of any clock that does not go backwards."""

    rate: Rate
    tokens: float
    at: float

    def level(self, now: float) -> float:
        return min(self.rate.burst, self.tokens + max(0.0, now - self.at) * self.rate.per_second)

    def take(self, wanted: float, owed: float, now: float) -> float:
        """As many of the wanted as there are, once what is owed is paid: that may leave less than nothing."""
        level = self.level(now) - owed
        taken = min(wanted, max(0.0, level))
        self.tokens, self.at = level - taken, now
        return taken
