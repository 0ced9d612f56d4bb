"""The fault benchmark counts failed requests and the time until every client has recovered."""

from benchmarks.faults.load import NO_ANSWER, Load, RequestResult


def load_of(*results: RequestResult) -> Load:
    load = Load("", "", writers=1, readers=1)
    load.results = list(results)
    return load


def test_recovery_lasts_until_the_last_failed_client_succeeds() -> None:
    load = load_of(
        RequestResult(0, 0.0, 1.0, NO_ANSWER),  # before the fault
        RequestResult(0, 10.0, 11.0, NO_ANSWER),
        RequestResult(0, 11.0, 12.0, "200"),
        RequestResult(0, 13.0, 14.0, "503"),
        RequestResult(0, 14.0, 15.5, "200"),
        RequestResult(1, 10.0, 16.0, "200"),
    )
    assert load.failed(10.0) == {NO_ANSWER: 1, "503": 1}
    assert load.waits(10.0) == [1.0, 1.5, 6.0]
    assert load.recovered(10.0, 12.5) == 3.0


def test_recovery_is_zero_without_failures_and_infinite_after_a_last_one() -> None:
    assert load_of(RequestResult(0, 10.0, 16.0, "200")).recovered(10.0, 12.0) == 0.0
    assert load_of(RequestResult(0, 10.0, 16.0, "503")).recovered(10.0, 12.0) == float("inf")
