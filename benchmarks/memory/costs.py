"""Measures the cost of retaining generated passages, and of searching pages and passages compared with pages."""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import timedelta
from pathlib import Path
from time import perf_counter
from typing import Annotated

import orjson
import typer
import uvloop
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from db.database import Database
from resolvers.search.passages import reindex_passages

from ..compiler.costs import CONNECTION_NAME, analyse_tables
from ..processes import backends, process_tree
from ..search.backend import Spent, processor_of, watched
from ..search.cairn import scope_of
from ..search.costs import figures
from ..wikis import START, VOCABULARY, WEIGHTS, wiki, write_wikis
from ..wikis import Wiki as Corpus
from .conversations import Session
from .service import Service, Wiki, running, stderr

TURNS = 200  # turns of a generated conversation
SPEAKERS = ("Ines", "Joram", "Kaja", "Levin", "Mara", "Nuri")
GOAL = 1.5  # times the cost of pages alone
WARM_UP_QUESTIONS = 20  # questions that are asked before measuring
WIDTH = 110
PAGES = """query ($query: String!) {
  wikiSearchResults(query: $query, first: 10) { edges { score node { slug title } } }
}"""
BOTH = """query ($query: String!) {
  wikiSearchResults(query: $query, first: 10) { edges { score node { slug title } } }
  wikiSearchSources(query: $query, first: 10) { edges { score node { text lineStart source { ref } } } }
}"""


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost of one kind of search in milliseconds: CPU of the service and its Postgres, and elapsed time."""

    cpu_p50: float
    cpu_p95: float
    wall_p50: float
    wall_p95: float


@dataclass(frozen=True, slots=True)
class Found:
    """The result of a run. `before` is a search of pages before there are passages, `pages` the same search afterwards,
    and `both` searches pages and passages."""

    pages_count: int
    passages: int
    retained: float
    before: Cost
    pages: Cost
    both: Cost

    @property
    def ratio(self) -> float:
        return self.both.cpu_p95 / self.pages.cpu_p95


def costs(
    pages: Annotated[int, typer.Option(min=10, help="Pages of the wiki.")] = 2_000,
    passages: Annotated[int, typer.Option(min=TURNS, help="Turns of generated conversations.")] = 100_000,
    questions: Annotated[int, typer.Option(min=20, help="Different questions.")] = 200,
    json: Annotated[Path | None, typer.Option(help="A JSON file for all figures.")] = None,
) -> None:
    """Measure searches of pages and of evidence in one wiki. Fails if both cost over 1.5 times as much as pages."""
    with running() as service:
        found = measure(service, pages, passages, questions)
    Console(width=WIDTH).print(table(found), f"{found.ratio:.2f} times as much at p95; the goal is at most {GOAL}.")
    if json is not None:
        json.write_bytes(orjson.dumps(asdict(found) | {"ratio": found.ratio}, option=orjson.OPT_INDENT_2))
    raise typer.Exit(found.ratio > GOAL)


def measure(service: Service, pages: int, passages: int, count: int) -> Found:
    corpus, questions = wiki(1, 1, pages), draw_questions(count + WARM_UP_QUESTIONS)
    with Progress(console=stderr, disable=not stderr.is_terminal) as bars:
        bars.add_task("Writing pages", total=None)
        uvloop.run(write_pages(service.dsn, corpus))
        client = service.client_of(scope_of(corpus))
        before = cost(service, [(client, PAGES)], questions)[0]
        task = bars.add_task("Retaining", total=passages // TURNS)
        began = perf_counter()
        client.retain(list(conversations(passages)), lambda more: bars.advance(task, more))
        retained = perf_counter() - began
        uvloop.run(analyse_tables(service.dsn))
        check(client, questions)
        bars.add_task("Searching", total=None)
        alone, both = cost(service, [(client, PAGES), (client, BOTH)], questions)
    return Found(pages, passages // TURNS * TURNS, retained, before, alone, both)


async def write_pages(dsn: str, corpus: Corpus) -> None:
    """Write the pages and sources of the wiki, and the search index of the sources."""
    await write_wikis(dsn, [corpus])
    database = Database(dsn, size=1)
    await database.open()
    try:
        await reindex_passages(database, scope_of(corpus))
    finally:
        await database.close()


def check(client: Wiki, questions: Sequence[str]) -> None:
    """Raise RuntimeError if few questions find evidence, because a search that finds nothing is cheap."""
    found = sum(bool(client.search(text)) for text in questions)
    if found < 0.9 * len(questions):
        raise RuntimeError(f"Only {found} of {len(questions)} questions find any passage, so their cost says nothing.")


def cost(service: Service, ways: Sequence[tuple[Wiki, str]], questions: Sequence[str]) -> list[Cost]:
    """Send each question with all documents in turn, so that other work on the machine slows all equally."""
    spent: list[list[Spent]] = [[] for _ in ways]
    for text in questions[:WARM_UP_QUESTIONS]:
        for client, document in ways:
            client.ask(document, query=text)
    processor = clock(service)
    for text in questions[WARM_UP_QUESTIONS:]:
        for own, (client, document) in zip(spent, ways, strict=True):
            with watched(processor) as spent_once:
                client.ask(document, query=text)
            own.append(spent_once)
    return [Cost(**figures(own)) for own in spent]


def clock(service: Service) -> Callable[[], float]:
    """Return a function that reads the CPU milliseconds of the service's processes and of Postgres' backends for it."""
    return processor_of(*process_tree([service.server.pid]), *uvloop.run(backends(service.dsn, CONNECTION_NAME)))


def conversations(passages: int) -> Iterator[Session]:
    """Generate conversations of made-up words with the frequencies of the pages' words, each an hour after the last."""
    rng = random.Random(18)
    for number in range(passages // TURNS):
        speakers = rng.sample(SPEAKERS, 2)
        lines = [f"{speakers[turn % 2]}: {words(rng, 12)}{'?' if turn % 5 == 0 else '.'}" for turn in range(TURNS)]
        yield Session(f"generated-{number}", "\n".join(lines), START + timedelta(hours=number), ())


def draw_questions(count: int) -> list[str]:
    """Return questions of two to eight words, every fourth of which names a speaker."""
    rng = random.Random(19)
    texts = [words(rng, rng.randint(2, 8)) for _ in range(count)]
    return [f"{rng.choice(SPEAKERS)} {text}" if place % 4 == 0 else text for place, text in enumerate(texts)]


def words(rng: random.Random, count: int) -> str:
    return " ".join(rng.choices(VOCABULARY, cum_weights=WEIGHTS, k=count))


def table(found: Found) -> Table:
    counts = f"{found.pages_count:,} pages, {found.passages:,} passages retained in {found.retained:.1f} s"
    table = Table("search of", "CPU", "waited", title=f"{counts}: ms, p50 / p95")
    for name, own in (
        ("pages, before there are passages", found.before),
        ("pages", found.pages),
        ("pages and passages", found.both),
    ):
        table.add_row(
            name, f"{own.cpu_p50:.1f} / {own.cpu_p95:.1f}", f"{own.wall_p50:.1f} / {own.wall_p95:.1f}"
        )  # fmt: skip
    return table
