"""Formats the figures of `compare` as tables and as JSON."""

from dataclasses import dataclass
from statistics import fmean
from typing import Any

from rich.table import Table

from .backend import Spent
from .costs import figures, ratio

SMALL = {"Cairn": "Cairn, in a tenth", "seed": "seed, in a tenth"}
"""The names of each search in the whole database, and in the one with a tenth of the pages."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The cost of one search, and whether it found anything."""

    spent: Spent
    is_any: bool


Answers = dict[str, list[Answer]]
"""The answers by kind of question."""
Found = dict[int, dict[str, Answers]]
"""The answers by size of the wiki and name of the search."""


def tables(found: Found) -> list[Table]:
    grown = [growth(systems) for systems in found.values() if set(SMALL.values()) <= set(systems)]
    return [*(by_kind(size, systems) for size, systems in found.items()), *grown]


def by_kind(size: int, systems: dict[str, Answers]) -> Table:
    table = Table("question", "search", title=f"one search of {size:,} pages: ms, p50 / p95")
    for title in ("CPU", "waited", "answered"):
        table.add_column(title, justify="right")
    for kind in next(iter(systems.values())):
        for name in (name for name in systems if name not in SMALL.values()):
            table.add_row(kind, name, *cells(systems[name][kind]))
        table.add_section()
    return table


def cells(answers: list[Answer]) -> tuple[str, str, str]:
    own = summary(answers)
    return (
        f"{own['cpu_p50']:.2f} / {own['cpu_p95']:.2f}",
        f"{own['wall_p50']:.2f} / {own['wall_p95']:.2f}",
        f"{own['answered']:.0%}",
    )


def growth(systems: dict[str, Answers]) -> Table:
    """Return a table of the smallest wiki's mean costs in a tenth of the pages and in the whole database."""
    table = Table("question", title="the same small wiki: ms of Postgres CPU, mean")
    for name in SMALL:
        table.add_column(f"{name}\nin a tenth", justify="right")
        table.add_column("\nin the whole", justify="right")
        table.add_column("\nratio", justify="right")
    for kind in systems["Cairn"]:
        pairs = [(spent(systems[small][kind]), spent(systems[name][kind])) for name, small in SMALL.items()]
        table.add_row(kind, *(cell for pair in pairs for cell in ratio(*pair)))
    return table


def spent(answers: list[Answer]) -> list[Spent]:
    return [answer.spent for answer in answers]


def summary(answers: list[Answer]) -> dict[str, float]:
    return {**figures(spent(answers)), "answered": fmean(answer.is_any for answer in answers)}


def as_json(found: Found) -> dict[str, Any]:
    return {
        str(size): {
            name: {kind: summary(answers) for kind, answers in kinds.items()} for name, kinds in systems.items()
        }
        for size, systems in found.items()
    }
