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
class Found:
    """The result of a run. `growth` has the costs of one wiki in a tenth of the pages and in all, asked in turn."""

    pages: int
    by_size: dict[int, Times]
    growth: list[Times]
    bytes_per_page: dict[str, Bytes]
    writing: Writing


def tables(found: Found) -> list[Table]:
    return [by_kind(found), growth(found), space(found), writing(found)]


def percentile(several: list[float], share: float) -> float:
    return sorted(several)[round(share * (len(several) - 1))]


def figures(spent: list[Spent]) -> dict[str, float]:
    processor, wall = [one.processor for one in spent], [one.wall for one in spent]
    return {
        "cpu_p50": percentile(processor, 0.5), "cpu_p95": percentile(processor, 0.95),
        "wall_p50": percentile(wall, 0.5), "wall_p95": percentile(wall, 0.95),
    }  # fmt: skip


def by_kind(found: Found) -> Table:
    """Return a table of the figures, in which those that miss their goal are marked with `!`."""
    table = Table("question", title=f"one search inside {found.pages:,} pages: ms, p50 / p95")
    for size in found.by_size:
        goals = " / ".join(f"{goal:g}" for goal in GOALS[size])
        table.add_column(f"{size:,} pages\nPostgres CPU ≤ {goals}", justify="right")
        table.add_column("\nwaited", justify="right")
    for kind in next(iter(found.by_size.values())):
        cells = []
        for size, times in found.by_size.items():
            own = figures(times[kind])
            mark = "" if is_met(kind, size, own) else " !"
            cells += [
                f"{own['cpu_p50']:.1f} / {own['cpu_p95']:.1f}{mark}",
                f"{own['wall_p50']:.1f} / {own['wall_p95']:.1f}",
            ]
        table.add_row(kind, *cells)
    return table


def is_met(kind: str, size: int, own: dict[str, float]) -> bool:
    p50, p95 = GOALS[size]
    return own["cpu_p50"] <= p50 and own["cpu_p95"] <= (max(p95, TYPO_GOAL) if kind in TYPOS else p95)


def growth(found: Found) -> Table:
    """Return a table of the smallest wiki's mean costs in a tenth of the pages and in the whole database."""
    small, large = found.growth
    table = Table(
        "question", "in a tenth", "in the whole", "ratio", title="the same small wiki: ms of Postgres CPU, mean"
    )
    for kind in small:
        table.add_row(kind, *ratio(small[kind], large[kind]))
    everything = [[one for times in each.values() for one in times] for each in (small, large)]
    table.add_row(f"all, goal ≤ {GROWTH_GOAL:g}", *ratio(*everything))
    return table


def ratio(small: list[Spent], large: list[Spent]) -> tuple[str, str, str]:
    before, after = (fmean(one.processor for one in spent) for spent in (small, large))
    return f"{before:.2f}", f"{after:.2f}", f"{after / before:.2f}"


def space(found: Found) -> Table:
    table = Table("table", "rows", "indexes", title=f"bytes per page: indexes ≤ {BYTES_GOAL:,}")
    for name, own in found.bytes_per_page.items():
        table.add_row(name, f"{own.rows:,.0f}", f"{own.indexes:,.0f}")
    each = found.bytes_per_page.values()
    table.add_row("all", f"{sum(own.rows for own in each):,.0f}", f"{sum(own.indexes for own in each):,.0f}")
    return table


def writing(found: Found) -> Table:
    own = found.writing
    table = Table("write of a page", "Postgres CPU", "waited", title=f"ms, mean: for search ≤ {WRITE_GOAL:g}")
    table.add_row("whole", f"{own.page.processor:.2f}", f"{own.page.wall:.2f}")
    table.add_row("of it, for search", f"{own.search.processor:.2f}", f"{own.search.wall:.2f}")
    table.add_row("words of the text, in Python", "", f"{own.reading:.2f}")
    return table


def as_json(found: Found) -> dict[str, Any]:
    def of(times: Times) -> dict[str, dict[str, float]]:
        return {kind: figures(spent) for kind, spent in times.items()}

    return {
        "pages": found.pages,
        "sizes": {str(size): of(times) for size, times in found.by_size.items()},
        "growth": dict(zip(("tenth", "whole"), map(of, found.growth), strict=True)),
        "bytesPerPage": {name: asdict(own) for name, own in found.bytes_per_page.items()},
        "writing": asdict(found.writing),
    }
