"""Whether a series of measurements has a trend: the slope of Theil and Sen, and the test of Mann and Kendall."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, combinations
from statistics import linear_regression, median

WARMING = 0.2
"""The share of a run that is left out at its beginning: caches and pools fill then."""
CERTAIN = 2.58
"""Standard deviations from which on a trend is taken for real: 1 of 100 flat series goes so far by chance."""
TOLERANCE = 0.1
"""The change over the whole run, as a share of the median, that still counts as flat."""


@dataclass(frozen=True, slots=True)
class Trend:
    """The trend of one series: its slope an hour, and its change over the minutes that were looked at."""

    name: str
    first: float
    median: float
    last: float
    per_hour: float
    change: float
    is_certain: bool

    @property
    def is_flat(self) -> bool:
        return not self.is_certain or abs(self.change) <= TOLERANCE * abs(self.median)

    @property
    def verdict(self) -> str:
        return "flat" if self.is_flat else "grows" if self.change > 0 else "falls"


def trend(name: str, minutes: Sequence[float | None]) -> Trend | None:
    """Return the trend of a series with one value a minute, or none; None where too few are left."""
    told = [(at, value) for at, value in enumerate(minutes) if value is not None and at >= WARMING * len(minutes)]
    if len(told) < 4:
        return None
    slopes = [(later - earlier) / (then - at) for (at, earlier), (then, later) in combinations(told, 2)]
    values = [value for _, value in told]
    slope = median(slopes)
    return Trend(
        name, values[0], median(values), values[-1], slope * 60, slope * (told[-1][0] - told[0][0]),
        abs(score(values)) >= CERTAIN,
    )  # fmt: skip


def score(values: Sequence[float]) -> float:
    """Return by how many standard deviations more pairs of values rise than fall."""
    rising = sum((later > earlier) - (later < earlier) for earlier, later in combinations(values, 2))
    count = len(values)
    deviation = math.sqrt(count * (count - 1) * (2 * count + 5) / 18)
    return (rising - math.copysign(1, rising)) / deviation if rising else 0.0


def trends(series: Mapping[str, Sequence[float | None]]) -> list[Trend]:
    return [one for name, minutes in series.items() if (one := trend(name, minutes))]


def growth(values: Sequence[float | None], sent: Sequence[int], requests: int) -> float | None:
    """Return by how much a value grows with so many requests, by a line through the second half of all requests."""
    so_far = [*accumulate(sent)]
    told = [(at, value) for at, value in zip(so_far, values, strict=True) if value is not None and at >= so_far[-1] / 2]
    if len({at for at, _ in told}) < 2:
        return None
    return linear_regression([at for at, _ in told], [value for _, value in told]).slope * requests


def percentile(values: Sequence[float], share: float) -> float | None:
    """Return the value below which that share of the values lies."""
    return sorted(values)[min(int(share * len(values)), len(values) - 1)] if values else None
