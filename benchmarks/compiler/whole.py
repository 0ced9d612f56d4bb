"""Compiles two years of notes, memories, ideas and documents into one wiki, from the first to the last."""

from dataclasses import asdict, dataclass
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any

import orjson
import typer
import uvloop
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from resolvers.sources.sources import SourceDraft

from ..wikis import START
from .contents import Contents, links_per_100_pages, read_contents
from .costs import Cost, Watch, analyse_tables, default_compiler, run_jobs, watch_database
from .database import new_wiki, open_database, retain, temporary_server
from .notes import notes
from .writings import Writing, posts, writings

QUARTERS = 4
WIDTH = 110
stderr = Console(stderr=True)


@dataclass(frozen=True, slots=True)
class Result:
    """The contents of the wiki, and the cost of each quarter of its sources."""

    wiki: Contents
    quarters: list[Cost]

    @property
    def cost(self) -> Cost:
        total = Cost()
        for cost in self.quarters:
            total.add(cost)
        return total


def whole(
    sources: Annotated[int, typer.Option(min=4, help="Number of sources.")] = 2_000,
    seed: Annotated[int, typer.Option(help="The same seed gives the same sources.")] = 1,
    documents: Annotated[bool, typer.Option(help="Include documents of the collections.")] = True,
    collection: Annotated[
        str, typer.Option(help="Compile posts cut from this collection, such as obs_zh, instead of notes.")
    ] = "",
    data: Annotated[
        Path | None, typer.Option(help="The folder of collections.", show_default="beside the checkout")
    ] = None,
    json: Annotated[Path | None, typer.Option(help="A JSON file for all figures.")] = None,
) -> None:
    """Compile sources and report contents and cost. Fails when a section has no provenance or a page exists twice."""
    if collection:
        drafts = list(map(post, posts(data, collection, sources)))
    else:
        drafts = notes(sources, seed, writings(data) if documents else ())
    with temporary_server() as dsn:
        result = uvloop.run(compile_quarters(dsn, drafts))
    Console(width=max(WIDTH, Console().width)).print(*tables(result), sep="\n")
    if json is not None:
        json.write_bytes(orjson.dumps(as_json(result), option=orjson.OPT_INDENT_2))
    if result.wiki.faults:
        stderr.print("; ".join(result.wiki.faults), style="red")
        raise typer.Exit(1)


def post(writing: Writing) -> SourceDraft:
    number = int(writing.name.rpartition("/")[2])
    return SourceDraft("url", writing.name, writing.text, captured_at=START + timedelta(hours=number))


async def compile_quarters(dsn: str, drafts: list[Any]) -> Result:
    """Retain and compile the sources quarter by quarter, to show how the cost grows with the wiki.

    `drafts` is emptied, so that the memory of the process is that of compiling.
    """
    database = await open_database(dsn)
    try:
        scope = await new_wiki(database, "bench", "mara")
        watch, quarters = await watch_database(database), []
        with Progress(console=stderr, disable=not stderr.is_terminal) as bars:
            task = bars.add_task("Compiling", total=len(drafts))
            for left in range(QUARTERS, 0, -1):
                size = len(drafts) // left
                await retain(database, scope, drafts[:size])
                del drafts[:size]
                quarters.append(await cost_of(database, watch, size, lambda n: bars.advance(task, n)))
        return Result(await read_contents(dsn, scope), quarters)
    finally:
        await database.close()


async def cost_of(database: Any, watch: Watch, sources: int, report_progress: Any) -> Cost:
    await analyse_tables(database.dsn)
    watch.start()
    jobs = await run_jobs(database, default_compiler())
    cost = watch.stop(sources, jobs)
    report_progress(sources)
    return cost


def tables(result: Result) -> list[Table]:
    return [wiki_table(result.wiki), cost_table(result)]


def wiki_table(wiki: Contents) -> Table:
    figures, links = wiki.figures, links_per_100_pages(wiki)
    table = Table("the wiki", "")
    table.add_row("pages", format_counts(wiki.counts["pages"]))
    table.add_row("links per page", ", ".join(f"{n / 100:.1f} {kind}" for kind, n in links.items()) or "none")
    table.add_row("reasons of links", format_counts(wiki.counts["reasons"]))
    table.add_row("sections with provenance", share(figures["cited"], figures["sections"]))
    table.add_row("superseded claims with a source", share(figures["sourced_claims"], figures["claims"]))
    table.add_row("rollup sections, of them promoted", f"{figures['rollups']}, {figures['promoted']}")
    table.add_row("quotes that are verbatim", share(wiki.verbatim, wiki.quotes))
    table.add_row("pages with the type and title of another", str(figures["duplicates"]))
    table.add_row("mentions", format_counts(wiki.counts["mentions"]))
    table.add_row("sources that no section cites", str(figures["uncited_sources"]))
    table.add_row("hubs", ", ".join(f"{title} ({type}) {score}" for title, type, score in wiki.hubs))
    return table


def cost_table(result: Result) -> Table:
    table = Table("sources", "jobs", "Python ms", "Postgres ms", "sources/s of CPU", "statements", "MB", "wall s")
    for name, cost_of_part in [
        *((f"quarter {n + 1}", cost) for n, cost in enumerate(result.quarters)),
        ("all", result.cost),
    ]:
        table.add_row(
            f"{name}: {cost_of_part.sources:,}",
            str(cost_of_part.jobs),
            f"{1000 * cost_of_part.python / cost_of_part.sources:.2f}",
            f"{1000 * cost_of_part.postgres / cost_of_part.sources:.2f}",
            f"{cost_of_part.per_second:,.0f}",
            f"{cost_of_part.statements / cost_of_part.sources:.1f}",
            f"{cost_of_part.resident:.0f}",
            f"{cost_of_part.wall:.1f}",
        )
    return table


def format_counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{count:,} {name}" for name, count in counts.items()) or "none"


def share(part: int, all: int) -> str:
    return f"{100 * part / all:.1f} % ({part:,} of {all:,})" if all else "none"


def as_json(result: Result) -> dict[str, Any]:
    return {"wiki": asdict(result.wiki), "quarters": [asdict(cost_of_part) for cost_of_part in result.quarters]}
