"""Measures the quality of search: each collection in Cairn and its peers, with the same queries and judgements."""

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import orjson
import typer
import uvloop
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from db.embedded import EmbeddedServer
from db.migrate import migrate

from . import cairn, seed
from .collection import Collection, NoCollections, read_all
from .goals import GOALS, Goal
from .peers import PEERS, Search
from .scores import Score, scores

SHOWN = {
    "title": "success1", "alias": "success1", "accent": "success1", "typo1": "recall10", "typo2": "recall10",
    "typo_first": "recall10", "nonsense": "answered",
}  # fmt: skip
NAMES = {"ndcg10": "nDCG@10", "recall10": "recall@10", "success1": "first", "answered": "answered"}
Systems = dict[str, Callable[[Collection], Search]]
Scores = dict[str, dict[str, dict[str, Score]]]
"""The scores by search, collection and kind of query."""
WIDTH = 110  # characters that the tables need
stderr = Console(stderr=True)


def quality(
    data: Annotated[
        Path | None, typer.Option(help="The folder of collections.", show_default="beside the checkout")
    ] = None,
    collections: Annotated[str, typer.Option(help="Names, separated by commas; default: all.")] = "",
    kinds: Annotated[str, typer.Option(help="Kinds of query, separated by commas; default: all.")] = "",
    cap: Annotated[int | None, typer.Option(min=1, help="Maximum of queries of each kind, drawn at random.")] = None,
    json: Annotated[Path | None, typer.Option(help="A JSON file for all figures.")] = None,
) -> None:
    """Measure the quality of search in Cairn and its peers, against the goals and for each collection."""
    chosen = select_queries(list(read_all(data, names(collections))), names(kinds), cap)
    with migrated() as dsn, cairn.opened(dsn) as ours, seed.opened(dsn) as origin:
        scores_found = score_all({"Cairn": ours.load, "seed": origin.load, **PEERS}, chosen)
    Console(width=max(WIDTH, Console().width)).print(against_goals(scores_found), by_collection(scores_found), sep="\n")
    if json is not None:
        json.write_bytes(orjson.dumps(as_json(scores_found), option=orjson.OPT_INDENT_2))


def select_queries(collections: list[Collection], kinds: list[str], cap: int | None) -> list[Collection]:
    """Return the collections with the chosen queries. Raises NoCollections for kinds that no collection has."""
    known = {kind for collection in collections for kind in collection.kinds}
    if missing := [kind for kind in kinds if kind not in known]:
        raise NoCollections(
            f"There are no queries of the kind {', '.join(missing)}. There are {', '.join(sorted(known))}."
        )
    return [collection.of(kinds, cap) for collection in collections]


def names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


@contextmanager
def migrated() -> Iterator[str]:
    """Start a server with a migrated, empty database until the block ends."""
    with tempfile.TemporaryDirectory(prefix="cairn-bench-") as folder:
        Path(folder).chmod(0o755)
        with EmbeddedServer(Path(folder) / "data", durable=False) as dsn:
            uvloop.run(migrate(dsn))
            yield dsn


def score_all(systems: Systems, chosen: list[Collection]) -> Scores:
    """Score all searches on all collections. A peer whose library is not installed is left out with a message."""
    scores_found: Scores = {name: {} for name in systems}
    with Progress(console=stderr, disable=not stderr.is_terminal) as bars:
        task = bars.add_task("", total=sum(len(collection.queries) for collection in chosen) * len(systems))
        for collection in chosen:
            for name in list(scores_found):
                bars.update(task, description=f"{collection.name}: {name}")
                try:
                    search = systems[name](collection)
                except ImportError as error:
                    stderr.print(f"{name} is not measured: {error}. Try: pip install 'cairn-wiki[benchmarks]'")
                    del scores_found[name]
                    continue
                scores_found[name][collection.name] = scores(search, collection, lambda: bars.advance(task))
    return scores_found


def against_goals(scores_found: Scores) -> Table:
    ours, *peers = scores_found
    table = Table(
        "what", "goal", ours, "met", *peers, *(f"{name}: not installed" for name in PEERS if name not in scores_found)
    )
    for goal in GOALS:
        figures_reached = {name: goal.reached(figures) for name, figures in scores_found.items()}
        own = figures_reached[ours]
        if own is not None:
            others = [figure for name in peers if (figure := figures_reached[name]) is not None]
            met = "yes" if goal.is_met(own, others) else "NO"
            table.add_row(goal.what, wanted(goal), digits(own), met, *(digits(figures_reached[name]) for name in peers))
    return table


def wanted(goal: Goal) -> str:
    return f"{'≤' if goal.at_most else '≥'} {goal.goal:g}{', above peers' if goal.above_peers else ''}"


def by_collection(scores_found: Scores) -> Table:
    table = Table("collection", "kind", "measure", *scores_found)
    for name, kinds in scores_found["Cairn"].items():
        for kind in kinds:
            measure = SHOWN.get(kind, "ndcg10")
            figures = [getattr(figures[name][kind], measure) for figures in scores_found.values()]
            table.add_row(name, kind, NAMES[measure], *map(digits, figures))
        table.add_section()
    return table


def digits(figure: float | None) -> str:
    return "" if figure is None else f"{figure:.3f}"


def as_json(scores_found: Scores) -> dict[str, Any]:
    figures_reached = [
        {
            "what": goal.what,
            "goal": goal.goal,
            **{name: goal.reached(figures) for name, figures in scores_found.items()},
        }
        for goal in GOALS
    ]
    return {"goals": figures_reached, "collections": scores_found}
