"""The soak benchmark distinguishes a series that grows from a flat one."""

import random

from benchmarks.soak.trends import growth, percentile, trend, trends


def noisy(start: float, step: float, spread: float, minutes: int = 60) -> list[float | None]:
    chance = random.Random(5)
    return [start + step * at + spread * chance.gauss(0, 1) for at in range(minutes)]


def test_noise_counts_as_flat_and_a_leak_as_growth() -> None:
    flat, leak = trend("flat", noisy(200, 0, 10)), trend("leak", noisy(200, 1, 10))
    assert flat is not None
    assert leak is not None
    assert (flat.verdict, leak.verdict) == ("flat", "grows")
    assert 40 <= leak.per_hour <= 80


def test_a_small_but_certain_change_counts_as_flat() -> None:
    found = trend("small", noisy(200, 0.1, 0.01))
    assert found is not None
    assert (found.is_certain, found.verdict) == (True, "flat")


def test_a_falling_series_is_reported_as_falling() -> None:
    found = trend("falls", noisy(200, -1, 1))
    assert found is not None
    assert found.verdict == "falls"


def test_trends_ignore_the_warm_up_and_missing_minutes() -> None:
    warming: list[float | None] = [1.0, 50.0, 100.0, 100.0, None, 100.0, 100.0, 100.0, 100.0, 100.0]
    found = trend("warm", warming)
    assert found is not None
    assert (found.first, found.verdict) == (100.0, "flat")
    assert trends({"none": [None] * 9, "few": [1.0, 2.0, 3.0]}) == []


def test_percentiles() -> None:
    values = [float(one) for one in range(100)]
    assert (percentile(values, 0.5), percentile(values, 0.99), percentile([], 0.5)) == (50.0, 99.0, None)


def test_growth_is_measured_over_the_second_half_of_the_requests() -> None:
    filling = [100.0, 150, 180, 190, 190, 190, 190]
    assert growth(filling, [1_000] * 7, 36_000) == 0
    assert growth([100.0, 101, None, 103, 104, 105], [500] * 6, 1_000) == 2
    assert growth([100.0], [10], 1_000) is None
