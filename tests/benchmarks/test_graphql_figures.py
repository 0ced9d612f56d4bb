"""The figures of a benchmark run become ratios, goals and error messages."""

import pytest
import typer

from benchmarks.graphql import wrk
from benchmarks.graphql.memory import MemorySample, growth
from benchmarks.graphql.operations import OPERATIONS
from benchmarks.graphql.report import Goal, Ratio, Round, per_second, ratio, server_us
from benchmarks.graphql.run import parse_only
from benchmarks.graphql.servers import NAMES, MissingProgram, check_connections

LIMITS = {"max_connections": 20, "superuser_reserved_connections": 3, "reserved_connections": 0}


def of(server: str, number: int, per_second: float, server_us: float = 100) -> Round:
    return Round("page", server, number, 1_000, 0, per_second, 1.0, 2.0, 500.0, server_us, None, 50.0, 51.0)


def test_ratios_compare_servers_within_the_same_round() -> None:
    """The second round was slow for both servers because of the machine, so it must not change the ratio."""
    figures = {"cairn": (300, 30, 200), "baseline": (100, 10, 100)}
    rounds = [of(server, number, one) for server, each in figures.items() for number, one in enumerate(each)]
    assert ratio(rounds, "page", "cairn", "baseline", per_second) == Ratio(3, 2, 3)


def test_rounds_missing_for_one_server_are_left_out_of_the_ratio() -> None:
    assert ratio([of("cairn", 0, 300)], "page", "cairn", "baseline", per_second) is None
    rounds = [of("cairn", 0, 300), of("cairn", 1, 100), of("baseline", 1, 100)]
    assert ratio(rounds, "page", "cairn", "baseline", per_second) == Ratio(1, 1, 1)


def test_an_unknown_figure_is_no_ratio() -> None:
    rounds = [of("cairn", 0, 300), of("baseline", 0, 100)]
    assert ratio(rounds, "page", "cairn", "baseline", lambda one: one.postgres_us) is None


def test_goals_are_minimums_or_maximums() -> None:
    assert Goal(("page",), "postgraphile", "req/s", per_second, 2.5).holds(Ratio(2.5, 1, 3))
    assert not Goal(("page",), "postgraphile", "req/s", per_second, 2.5).holds(Ratio(2.4, 1, 3))
    assert Goal(("page",), "baseline", "server µs", server_us, 1.25, is_maximum=True).holds(Ratio(1.25, 1, 3))
    assert not Goal(("page",), "baseline", "server µs", server_us, 1.25, is_maximum=True).holds(Ratio(1.3, 1, 3))


def test_the_output_of_wrk_is_parsed() -> None:
    output = 'figures 3000 1500000 2 600000 1500 9000 8\n200 {"er'
    assert wrk.read(output) == wrk.Load(3_000, 1.5, 2, 600_000, 1.5, 9.0, '200 {"er')


def test_wrk_output_without_figures_fails_with_its_message() -> None:
    with pytest.raises(wrk.LoadFailed, match="unable to connect"):
        wrk.read("unable to connect to 127.0.0.1:1")


def test_pools_larger_than_postgres_allows_are_refused() -> None:
    """A server without a connection answers with errors, and these would be measured as fast."""
    check_connections(LIMITS, ("strawberry", "postgraphile"), 4)
    with pytest.raises(MissingProgram, match="28 connections and Postgres has 17"):
        check_connections(LIMITS, NAMES, 4)


def test_memory_growth_is_measured_after_the_warm_up() -> None:
    samples = [
        MemorySample(0, 50),
        MemorySample(100_000, 90),
        MemorySample(400_000, 100),
        MemorySample(600_000, 101),
        MemorySample(800_000, 102),
    ]
    assert growth(samples) == pytest.approx(5)
    assert growth([MemorySample(0, 50), MemorySample(100, 90)]) == 0


def test_the_only_option_selects_servers_and_operations() -> None:
    assert parse_only("") == (NAMES, OPERATIONS)
    assert parse_only("page, list") == (NAMES, ("page", "list"))
    assert parse_only("cairn,baseline,link") == (("baseline", "cairn"), ("link",))
    assert parse_only("postgraphile") == (("cairn", "postgraphile"), OPERATIONS)
    with pytest.raises(typer.BadParameter, match="hasura"):
        parse_only("hasura")
