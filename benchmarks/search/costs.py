"""Formats the figures of `latency` as tables and as JSON."""

from dataclasses import asdict, dataclass
from statistics import fmean
from typing import Any

from rich.table import Table

from .backend import Spent
from .questions import TYPOS
from .sizes import Bytes
from .writes import Writing

GOALS = {1_000: (4.0, 6.0), 10_000: (7.0, 9.0), 100_000: (12.0, 25.0)}  # ms of CPU, p50 and p95
TYPO_GOAL = 40.0  # ms, p95, in every wiki
GROWTH_GOAL, BYTES_GOAL, WRITE_GOAL = 1.2, 2_500, 1.0

Times = dict[str, list[Spent]]
"""The costs by kind of question."""


@dataclass(frozen=True, slots=True)
class Result:
    """The result of a run. `growth` has the costs of one wiki in a tenth of the pages and in all, asked in turn."""

    pages: int
    by_size: dict[int, Times]
    growth: list[Times]
    bytes_per_page: dict[str, Bytes]
    writing: Writing


def tables(result: Result) -> list[Table]:
    return [by_kind(result), growth(result), space(result), writing(result)]


def percentile(several: list[float], share: float) -> float:
    return sorted(several)[round(share * (len(several) - 1))]


def figures(spent: list[Spent]) -> dict[str, float]:
    processor, wall = [measurement.processor for measurement in spent], [measurement.wall for measurement in spent]
    return {
        "cpu_p50": percentile(processor, 0.5), "cpu_p95": percentile(processor, 0.95),
        "wall_p50": percentile(wall, 0.5), "wall_p95": percentile(wall, 0.95),
    }  # fmt: skip


def by_kind(result: Result) -> Table:
    """Return a table of the figures, in which those that miss their goal are marked with `!`."""
    table = Table("question", title=f"one search inside {result.pages:,} pages: ms, p50 / p95")
    for size in result.by_size:
        goals = " / ".join(f"{goal:g}" for goal in GOALS[size])
        table.add_column(f"{size:,} pages\nPostgres CPU ≤ {goals}", justify="right")
        table.add_column("\nwaited", justify="right")
    for kind in next(iter(result.by_size.values())):
        cells = []
        for size, times in result.by_size.items():
            measured = figures(times[kind])
            mark = "" if is_met(kind, size, measured) else " !"
            cells += [
                f"{measured['cpu_p50']:.1f} / {measured['cpu_p95']:.1f}{mark}",
                f"{measured['wall_p50']:.1f} / {measured['wall_p95']:.1f}",
            ]
        table.add_row(kind, *cells)
    return table


def is_met(kind: str, size: int, measured: dict[str, float]) -> bool:
    p50, p95 = GOALS[size]
    return measured["cpu_p50"] <= p50 and measured["cpu_p95"] <= (max(p95, TYPO_GOAL) if kind in TYPOS else p95)


def growth(result: Result) -> Table:
    """Return a table of the smallest wiki's mean costs in a tenth of the pages and in the whole database."""
    small, large = result.growth
    table = Table(
        "question", "in a tenth", "in the whole", "ratio", title="the same small wiki: ms of Postgres CPU, mean"
    )
    for kind in small:
        table.add_row(kind, *ratio(small[kind], large[kind]))
    everything = [[measurement for times in values.values() for measurement in times] for values in (small, large)]
    table.add_row(f"all, goal ≤ {GROWTH_GOAL:g}", *ratio(*everything))
    return table


def ratio(small: list[Spent], large: list[Spent]) -> tuple[str, str, str]:
    before, after = (fmean(measurement.processor for measurement in spent) for spent in (small, large))
    return f"{before:.2f}", f"{after:.2f}", f"{after / before:.2f}"


def space(result: Result) -> Table:
    table = Table("table", "rows", "indexes", title=f"bytes per page: indexes ≤ {BYTES_GOAL:,}")
    for name, measured in result.bytes_per_page.items():
        table.add_row(name, f"{measured.rows:,.0f}", f"{measured.indexes:,.0f}")
    values = result.bytes_per_page.values()
    table.add_row(
        "all",
        f"{sum(measured.rows for measured in values):,.0f}",
        f"{sum(measured.indexes for measured in values):,.0f}",
    )
    return table


def writing(result: Result) -> Table:
    measured = result.writing
    table = Table("write of a page", "Postgres CPU", "waited", title=f"ms, mean: for search ≤ {WRITE_GOAL:g}")
    table.add_row("whole", f"{measured.page.processor:.2f}", f"{measured.page.wall:.2f}")
    table.add_row("of it, for search", f"{measured.search.processor:.2f}", f"{measured.search.wall:.2f}")
    table.add_row("words of the text, in Python", "", f"{measured.reading:.2f}")
    return table


def as_json(result: Result) -> dict[str, Any]:
    def of(times: Times) -> dict[str, dict[str, float]]:
        return {kind: figures(spent) for kind, spent in times.items()}

    return {
        "pages": result.pages,
        "sizes": {str(size): of(times) for size, times in result.by_size.items()},
        "growth": dict(zip(("tenth", "whole"), map(of, result.growth), strict=True)),
        "bytesPerPage": {name: asdict(measured) for name, measured in result.bytes_per_page.items()},
        "writing": asdict(result.writing),
    }
