"""Token buckets never give out more tokens than they got."""

from hypothesis import given
from hypothesis import strategies as st

from resolvers.rate_limits import Bucket, Rate

RATES = st.builds(Rate, st.floats(0.01, 1e5), st.floats(1, 1e6))


@given(RATES, st.lists(st.tuples(st.floats(0, 1e6), st.floats(-10, 100)), max_size=50))
def test_taken_tokens_never_exceed_the_burst_and_the_refill(rate: Rate, requests: list[tuple[float, float]]) -> None:
    bucket, taken, now, latest = Bucket(rate, rate.burst, 0.0), 0.0, 0.0, 0.0
    for wanted, passed in requests:
        now += passed
        latest = max(latest, now)
        given = bucket.take(wanted, 0, latest)
        assert 0 <= given <= wanted
        taken += given
    assert taken <= (rate.burst + rate.per_second * latest) * (1 + 1e-9)


@given(RATES)
def test_an_unused_bucket_refills_to_its_burst(rate: Rate) -> None:
    bucket = Bucket(rate, rate.burst, 0.0)
    assert bucket.take(rate.burst, 0, 0.0) == rate.burst
    assert bucket.level(0.0) == 0
    assert bucket.level(rate.burst / rate.per_second * 2) == rate.burst


@given(RATES, st.floats(0, 1e7))
def test_a_debt_lowers_the_tokens_of_a_bucket(rate: Rate, owed: float) -> None:
    bucket = Bucket(rate, rate.burst, 0.0)
    assert bucket.take(1, owed, 0.0) == min(1, max(0.0, rate.burst - owed))
    assert bucket.level(0.0) <= rate.burst - owed


@given(RATES)
def test_a_portion_is_at_least_one_token_and_at_most_a_tenth(rate: Rate) -> None:
    assert 1 <= rate.portion() <= max(1, rate.burst / 10)
