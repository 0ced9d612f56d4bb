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

from compiler.metrics import Metrics
from resolvers.sources.sources import SourceDraft

from ..wikis import START
from .contents import Contents, contents, per_page
from .costs import Cost, Watch, compiled, look_at_tables, usual, watching
from .database import new_wiki, opened, retain, served
from .notes import notes
from .writings import Writing, posts, writings

QUARTERS = 4
WIDTH = 110
say = Console(stderr=True)


@dataclass(frozen=True, slots=True)
class Found:
    """The contents of the wiki, and the cost of each quarter of its sources."""

    wiki: Contents
    quarters: list[Cost]

    @property
    def cost(self) -> Cost:
        total = Cost()
        for one in self.quarters:
            total.add(one)
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
    with served() as dsn:
        found = uvloop.run(measured(dsn, drafts))
    Console(width=max(WIDTH, Console().width)).print(*tables(found), sep="\n")
    if json is not None:
        json.write_bytes(orjson.dumps(as_json(found), option=orjson.OPT_INDENT_2))
    if found.wiki.faults:
        say.print("; ".join(found.wiki.faults), style="red")
        raise typer.Exit(1)


def post(one: Writing) -> SourceDraft:
    number = int(one.name.rpartition("/")[2])
    return SourceDraft("url", one.name, one.text, captured_at=START + timedelta(hours=number))


async def measured(dsn: str, drafts: list[Any]) -> Found:
    """Retain and compile the sources quarter by quarter, to show how the cost grows with the wiki."""
    database = await opened(dsn)
    try:
        scope = await new_wiki(database, "bench", "mara")
        watch, quarters = await watching(database), []
        with Progress(console=say, disable=not say.is_terminal) as bars:
            task = bars.add_task("Compiling", total=len(drafts))
            for quarter in range(QUARTERS):
                part = drafts[len(drafts) * quarter // QUARTERS : len(drafts) * (quarter + 1) // QUARTERS]
                await retain(database, scope, part)
                quarters.append(await cost_of(database, watch, len(part), lambda n: bars.update(task, completed=n)))
        return Found(await contents(dsn, scope), quarters)
    finally:
        await database.close()


async def cost_of(database: Any, watch: Watch, sources: int, told: Any) -> Cost:
    await look_at_tables(database.dsn)
    done: dict[str, float] = {}

    def hear(metrics: Metrics) -> None:
        done["sources"] = metrics.counts["sources_read"]

    watch.start()
    jobs = await compiled(database, usual(hear))
    cost = watch.stop(sources, jobs)
    told(sources)
    return cost


def tables(found: Found) -> list[Table]:
    return [wiki_table(found.wiki), cost_table(found)]


def wiki_table(wiki: Contents) -> Table:
    figures, links = wiki.figures, per_page(wiki)
    table = Table("the wiki", "")
    table.add_row("pages", listed(wiki.counts["pages"]))
    table.add_row("links per page", ", ".join(f"{n / 100:.1f} {kind}" for kind, n in links.items()) or "none")
    table.add_row("reasons of links", listed(wiki.counts["reasons"]))
    table.add_row("sections with provenance", share(figures["cited"], figures["sections"]))
    table.add_row("superseded claims with a source", share(figures["sourced_claims"], figures["claims"]))
    table.add_row("rollup sections, of them promoted", f"{figures['rollups']}, {figures['promoted']}")
    table.add_row("quotes that are verbatim", share(wiki.verbatim, wiki.quotes))
    table.add_row("pages with the type and title of another", str(figures["duplicates"]))
    table.add_row("mentions", listed(wiki.counts["mentions"]))
    table.add_row("sources that no section cites", str(figures["uncited_sources"]))
    table.add_row("hubs", ", ".join(f"{title} ({type}) {score}" for title, type, score in wiki.hubs))
    return table


def cost_table(found: Found) -> Table:
    table = Table("sources", "jobs", "Python ms", "Postgres ms", "sources/s of CPU", "statements", "MB", "wall s")
    for name, one in [*((f"quarter {n + 1}", cost) for n, cost in enumerate(found.quarters)), ("all", found.cost)]:
        table.add_row(
            f"{name}: {one.sources:,}",
            str(one.jobs),
            f"{1000 * one.python / one.sources:.2f}",
            f"{1000 * one.postgres / one.sources:.2f}",
            f"{one.per_second:,.0f}",
            f"{one.statements / one.sources:.1f}",
            f"{one.resident:.0f}",
            f"{one.wall:.1f}",
        )
    return table


def listed(counts: dict[str, int]) -> str:
    return ", ".join(f"{count:,} {name}" for name, count in counts.items()) or "none"


def share(part: int, all: int) -> str:
    return f"{100 * part / all:.1f} % ({part:,} of {all:,})" if all else "none"


def as_json(found: Found) -> dict[str, Any]:
    return {"wiki": asdict(found.wiki), "quarters": [asdict(one) for one in found.quarters]}
