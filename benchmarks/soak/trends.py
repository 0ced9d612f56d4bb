"""Tests whether a series of measurements has a trend, by the Theil–Sen slope and the Mann–Kendall test."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, combinations
from statistics import linear_regression, median

WARM_UP_SHARE = 0.2
"""The share of the run that is left out at its beginning, when caches and pools fill."""
CERTAIN_DEVIATIONS = 2.58
"""The standard deviations from which a trend counts as real: 1 of 100 flat series exceeds them by chance."""
TOLERANCE = 0.1
"""The change over the whole run, as a share of the median, that still counts as flat."""


@dataclass(frozen=True, slots=True)
class Trend:
    """The trend of one series: its slope per hour, and its change over the minutes that count."""

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
    """Return the trend of a series with one value or None per minute, or None if fewer than four values remain."""
    points = [
        (at, value) for at, value in enumerate(minutes) if value is not None and at >= WARM_UP_SHARE * len(minutes)
    ]
    if len(points) < 4:
        return None
    slopes = [(later - earlier) / (then - at) for (at, earlier), (then, later) in combinations(points, 2)]
    values = [value for _, value in points]
    slope = median(slopes)
    return Trend(
        name, values[0], median(values), values[-1], slope * 60, slope * (points[-1][0] - points[0][0]),
        abs(score(values)) >= CERTAIN_DEVIATIONS,
    )  # fmt: skip


def score(values: Sequence[float]) -> float:
    """Return how many more pairs of values rise than fall, in standard deviations."""
    rising = sum((later > earlier) - (later < earlier) for earlier, later in combinations(values, 2))
    count = len(values)
    deviation = math.sqrt(count * (count - 1) * (2 * count + 5) / 18)
    return (rising - math.copysign(1, rising)) / deviation if rising else 0.0


def trends(series: Mapping[str, Sequence[float | None]]) -> list[Trend]:
    return [found for name, minutes in series.items() if (found := trend(name, minutes))]


def growth(values: Sequence[float | None], sent: Sequence[int], requests: int) -> float | None:
    """Return a value's growth per `requests` requests: the slope of a line through the second half of all requests."""
    so_far = [*accumulate(sent)]
    points = [
        (at, value) for at, value in zip(so_far, values, strict=True) if value is not None and at >= so_far[-1] / 2
    ]
    if len({at for at, _ in points}) < 2:
        return None
    return linear_regression([at for at, _ in points], [value for _, value in points]).slope * requests


def percentile(values: Sequence[float], share: float) -> float | None:
    """Return the value below which that share of the values lies, or None if there are no values."""
    return sorted(values)[min(int(share * len(values)), len(values) - 1)] if values else None
