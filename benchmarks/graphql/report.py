"""Reports the figures of a run: every round as JSON, or medians with their spread as tables."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

import orjson
from rich.table import Table

from .servers import NAMES

Figure = Callable[["Round"], float | None]


@dataclass(frozen=True)
class Round:
    """Some seconds of load of one operation on one server. Times are CPU microseconds per request."""

    operation: str
    server: str
    number: int
    requests: int
    errors: int
    per_second: float
    p50_ms: float
    p99_ms: float
    bytes: float
    """The mean size of a response in bytes, without its head."""
    server_us: float
    postgres_us: float | None
    """None if a process of Postgres ended during the round, because its CPU time is lost then."""
    before_mb: float
    after_mb: float
    """The memory of the server's processes in MB, before and after the round."""


@dataclass(frozen=True)
class Ratio:
    """The ratio of two servers, taken within each round, because other work on the machine slows both equally."""

    median: float
    minimum: float
    maximum: float

    def __str__(self) -> str:
        return f"{self.median:.2f} [{self.minimum:.2f}–{self.maximum:.2f}]"


@dataclass(frozen=True)
class Goal:
    """The minimum or maximum ratio to another server that Cairn has to reach."""

    operations: tuple[str, ...]
    other: str
    name: str
    figure: Figure
    limit: float
    is_maximum: bool = False

    def holds(self, ratio: Ratio) -> bool:
        return ratio.median <= self.limit if self.is_maximum else ratio.median >= self.limit


def server_us(load_round: Round) -> float:
    return load_round.server_us


def per_second(load_round: Round) -> float:
    return load_round.per_second


GOALS = (
    # The ratio of a mutation is shown without a goal.
    Goal(("page", "search", "list", "graph"), "baseline", "server µs", server_us, 1.25, is_maximum=True),
    Goal(("page",), "postgraphile", "req/s", per_second, 2.0),
    Goal(("search",), "postgraphile", "req/s", per_second, 1.3),
    Goal(("list",), "postgraphile", "req/s", per_second, 2.2),
    Goal(("graph",), "postgraphile", "req/s", per_second, 1.4),
)


def ratio(rounds: Sequence[Round], operation: str, server: str, other: str, figure: Figure) -> Ratio | None:
    """Return the ratio of the first server to the second, or None if they have no round in common."""
    found = {
        (load_round.server, load_round.number): figure(load_round)
        for load_round in rounds
        if load_round.operation == operation
    }
    ratios = []
    for number in {number for _, number in found}:
        value, base = found.get((server, number)), found.get((other, number))
        if value is not None and base:
            ratios.append(value / base)
    return Ratio(median(ratios), min(ratios), max(ratios)) if ratios else None


def table(rounds: Sequence[Round]) -> Table:
    """Return a table with a row for each operation and server. Ratios are of Cairn to that server."""
    headings = ("", "", "server\nµs", "Postgres\nµs", "\nreq/s", "p50\nms", "p99\nms", "bytes", "MB", "errors",
                "Cairn's server µs\n× this", "Cairn's req/s\n× this")  # fmt: skip
    shown = Table(*headings)
    for operation in dict.fromkeys(load_round.operation for load_round in rounds):
        for server in NAMES:
            if of_server := [
                load_round for load_round in rounds if (load_round.operation, load_round.server) == (operation, server)
            ]:
                shown.add_row(operation, server, *figures(of_server), *ratios_to(rounds, operation, server))
        shown.add_section()
    return shown


def figures(of_server: Sequence[Round]) -> list[str]:
    return [
        format_median(of_server, server_us, "{:.0f}"),
        format_median(of_server, lambda load_round: load_round.postgres_us, "{:.0f}"),
        format_median(of_server, per_second, "{:,.0f}"),
        format_median(of_server, lambda load_round: load_round.p50_ms, "{:.1f}"),
        format_median(of_server, lambda load_round: load_round.p99_ms, "{:.1f}"),
        format_median(of_server, lambda load_round: load_round.bytes, "{:,.0f}"),
        f"{min(of_server, key=round_number).before_mb:.0f}→{max(of_server, key=round_number).after_mb:.0f}",
        str(sum(load_round.errors for load_round in of_server)),
    ]


def round_number(load_round: Round) -> int:
    return load_round.number


def format_median(of_server: Sequence[Round], figure: Figure, form: str) -> str:
    known = [value for load_round in of_server if (value := figure(load_round)) is not None]
    return form.format(median(known)) if known else "?"


def ratios_to(rounds: Sequence[Round], operation: str, server: str) -> list[str]:
    if server == "cairn":
        return ["", ""]
    return [str(ratio(rounds, operation, "cairn", server, figure) or "") for figure in (server_us, per_second)]


def goals(rounds: Sequence[Round]) -> Table:
    """Return a table of the goals and whether they were reached."""
    shown = Table("goal", "operation", "Cairn", "")
    for goal in GOALS:
        sign = "≤" if goal.is_maximum else "≥"
        for operation in goal.operations:
            if found := ratio(rounds, operation, "cairn", goal.other, goal.figure):
                wanted = f"{goal.name} {sign} {goal.limit} × {goal.other}"
                shown.add_row(wanted, operation, str(found), "reached" if goal.holds(found) else "not reached")
    return shown


def never_repeated(requests: Mapping[str, Sequence[object]]) -> str:
    """Return a sentence about the load: how many requests differ in more than their traceparent."""
    counts = ", ".join(f"{name} {len(drawn):,}" for name, drawn in requests.items())
    return f"No request was sent twice: each has a traceparent of its own. Requests with different variables: {counts}."


def as_json(rounds: Sequence[Round], about: Mapping[str, Any]) -> bytes:
    return orjson.dumps({**about, "rounds": [asdict(load_round) for load_round in rounds]}, option=orjson.OPT_INDENT_2)
