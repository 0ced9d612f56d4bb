"""The figures of a run: every round as it was, and medians with their spread for people."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from statistics import median

import orjson
from rich.table import Table


@dataclass(frozen=True)
class Round:
    """Some seconds of one read on one server. Times are of the processor, for one request, in microseconds."""

    operation: str
    server: str
    number: int
    requests: int
    errors: int
    per_second: float
    p50_ms: float
    p99_ms: float
    server_us: float
    postgres_us: float


def as_json(rounds: Sequence[Round]) -> bytes:
    return orjson.dumps([asdict(one) for one in rounds], option=orjson.OPT_INDENT_2)


def table(rounds: Sequence[Round]) -> Table:
    """A line for each read and server; the ratios are of Cairn to the floor, within each round."""
    shown = Table("read", "server", "server\nµs", "Postgres\nµs", "\nreq/s", "p50\nms", "p99\nms", "\nerrors",
                  "server µs\n× floor", "req/s\n× floor")  # fmt: skip
    for name in dict.fromkeys(one.operation for one in rounds):
        for server in ("floor", "cairn"):
            own = [one for one in rounds if (one.operation, one.server) == (name, server)]
            figures = [
                f"{median(one.server_us for one in own):.0f}",
                f"{median(one.postgres_us for one in own):.0f}",
                f"{median(one.per_second for one in own):.0f}",
                f"{median(one.p50_ms for one in own):.1f}",
                f"{median(one.p99_ms for one in own):.1f}",
                str(sum(one.errors for one in own)),
            ]
            ratios = [] if server == "floor" else [
                ratio(rounds, name, lambda one: one.server_us), ratio(rounds, name, lambda one: one.per_second)
            ]  # fmt: skip
            shown.add_row(name, server, *figures, *ratios)
    return shown


def ratio(rounds: Sequence[Round], name: str, figure: Callable[[Round], float]) -> str:
    """Median [least to most]: rounds next to each other in time are compared, because a machine is never quiet."""
    found = {(one.server, one.number): figure(one) for one in rounds if one.operation == name}
    each = [found["cairn", number] / value for (server, number), value in found.items() if server == "floor"]
    return f"{median(each):.2f}\n{min(each):.2f} to {max(each):.2f}"
