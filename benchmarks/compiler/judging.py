"""Compiles the judged wikis and compares their pages with the pages that a reader would want."""

import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import asyncpg
import orjson
import typer
import uvloop
from rich.console import Console
from rich.table import Table

from compiler.compiler import CAPS, Compiler
from compiler.extraction import ExtractivePlanner, ExtractiveWriter
from content.names import normalise
from db.scope import Scope
from resolvers.import_export.source_files import source_files
from resolvers.sources.sources import SourceDraft

from ..memory.scores import Interval, interval
from .costs import run_jobs
from .database import add_wiki, new_wiki, open_database, retain, temporary_server
from .judged import HALVES, HERE, UNSEEN, JudgedWiki, Label, held_out, wikis

WIDTH = 150
MEASURES = {"pages": "P pages", "decisions": "P decisions", "recall": "R names", "decided": "R decisions"}
GOALS = {"pages": 0.85, "decisions": 0.75, "recall": 0.70}
PAGES = """
    SELECT p.type, p.title, array_agg(a.alias) FILTER (WHERE a.alias IS NOT NULL) AS aliases FROM pages p
    LEFT JOIN aliases a ON a.tenant_id = $1 AND a.page_id = p.id
    WHERE p.tenant_id = $1 AND p.owner_id = $2 AND p.status = 'active' GROUP BY p.id, 1, 2 ORDER BY 1, 2"""
UNFINISHED = "SELECT coalesce(error, status) FROM compile_jobs WHERE status <> 'succeeded' ORDER BY created_at"


class JudgedPage(NamedTuple):
    """The parts of a page that are judged; `aliases` are normalised."""

    type: str
    title: str
    aliases: frozenset[str] = frozenset()


@dataclass(slots=True)
class Judged:
    """The result of compiling some wikis. A page without a label counts as unwanted."""

    name: str
    pages: list[bool] = field(default_factory=list)
    decisions: list[bool] = field(default_factory=list)
    recall: list[bool] = field(default_factory=list)
    decided: list[bool] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    unwanted: list[str] = field(default_factory=list)
    duplicates: list[str] = field(default_factory=list)

    def add(self, other: "Judged") -> None:
        for name in (*MEASURES, "missing", "unwanted", "duplicates"):
            getattr(self, name).extend(getattr(other, name))

    def share(self, measure: str) -> Interval:
        return interval([float(hit) for hit in getattr(self, measure)])


def judge(wiki: JudgedWiki, pages: Iterable[JudgedPage]) -> Judged:
    """Compare the pages of a wiki with its labels: each wanted name may have one page."""
    result = Judged(wiki.name)
    found: set[Label] = set()
    spelt: set[str] = set()
    for page in pages:
        label = label_of(wiki, page)
        is_decision = page.type == "decision"
        is_right = label is not None and label.is_wanted and label not in found
        (result.decisions if is_decision else result.pages).append(is_right)
        spelling = "".join(filter(str.isalnum, normalise(page.title)))
        if (label is not None and label in found) or spelling in spelt:
            result.duplicates.append(f"{wiki.name}: {page.title}")
        elif not is_right:
            result.unwanted.append(f"{wiki.name}: {page.title} ({page.type}{'' if label else ', not labelled'})")
        spelt.add(spelling)
        found.update({label} if label else ())
    for label in wiki.labels:
        if label.is_wanted:
            (result.decided if label.type == "decision" else result.recall).append(label in found)
            if label not in found:
                result.missing.append(f"{wiki.name}: {label.names[0]} ({label.type})")
    return result


def label_of(wiki: JudgedWiki, page: JudgedPage) -> Label | None:
    """Return the label of a page: the label that has its title, or else one that has an alias of the page."""
    if page.type == "decision":
        return next((label for label in wanted_first(wiki.decisions) if label.is_decided(page.title)), None)
    titled = (label for label in wiki.names if label.is_name(page.title))
    named = (label for label in wanted_first(wiki.names) if not page.aliases.isdisjoint(map(normalise, label.names)))
    return next(titled, None) or next(named, None)


def wanted_first(labels: Sequence[Label]) -> list[Label]:
    """Sort the labels: wanted labels first, and among them those with the longest first name."""
    return sorted(labels, key=lambda label: (not label.is_wanted, -len(label.names[0])))


def judged(
    half: Annotated[str | None, typer.Option(help="Only this half: tune or held.")] = None,
    kind: Annotated[str | None, typer.Option(help="Only this kind of notes, such as chat.")] = None,
    model: Annotated[
        str | None, typer.Option(help="A model to compile with, such as openai:…; default: rules.")
    ] = None,
    batch: Annotated[int, typer.Option(min=1, help="Sources per batch.")] = CAPS.batch,
    unseen: Annotated[bool, typer.Option(help="Use the wikis that were not used when rules were chosen.")] = False,
    json: Annotated[
        bool, typer.Option("--json", help="Print figures as JSON, with missing and unwanted pages.")
    ] = False,
) -> None:
    """Compile labelled notes and report how many pages a reader would want, and how many of those are there."""
    if half not in (None, *HALVES):
        raise typer.BadParameter(f"{half} is neither {HALVES[0]} nor {HALVES[1]}.", param_hint="--half")
    chosen = [wiki for wiki in wikis(half, folder=UNSEEN if unseen else HERE) if kind in (None, wiki.kind)]
    if not chosen:
        raise typer.BadParameter(f"There are no notes of the kind {kind}.", param_hint="--kind")
    with temporary_server() as dsn:
        results = uvloop.run(compile_and_judge(dsn, chosen, compiler_of(model, batch)))
    report = totals(results)
    if json:
        print(orjson.dumps([as_json(result) for result in (*results, *report)], option=orjson.OPT_INDENT_2).decode())
    else:
        Console(width=max(WIDTH, Console().width)).print(table(report))


def compiler_of(model: str | None, batch: int) -> Compiler:
    """Return the product's compiler with rules only, or with a model whose plans the rules check."""
    planner, writer, caps = ExtractivePlanner(), ExtractiveWriter(), CAPS._replace(batch=batch)
    if model is None:
        return Compiler(planner, writer, caps)
    from compiler.models.models import Models  # 40 MB, which workers without a model do not load either

    return Compiler(planner, writer, caps, author_factory=Models(model, (), planner, writer))


async def compile_and_judge(dsn: str, chosen: Sequence[JudgedWiki], compiler: Compiler) -> list[Judged]:
    """Retain the files of each wiki as `cairn retain` reads them, compile them, and judge the pages.

    Raises SystemExit if a job did not succeed, for example because the model cannot be reached.
    """
    database = await open_database(dsn)
    try:
        first = await new_wiki(database, "bench", "first")
        scopes = {wiki.name: await add_wiki(database, first, wiki.name.replace("_", "-")) for wiki in chosen}
        for wiki in chosen:
            await retain(database, scopes[wiki.name], drafts(wiki))
        await run_jobs(database, compiler)
        if reasons := await unfinished_jobs(dsn):
            raise SystemExit(f"{len(reasons)} of {len(chosen)} wikis are not compiled. The first: {reasons[0]}")
        return [judge(wiki, await pages_of(dsn, scopes[wiki.name])) for wiki in chosen]
    finally:
        await database.close()


def drafts(wiki: JudgedWiki) -> list[SourceDraft]:
    with tempfile.TemporaryDirectory() as folder:
        wiki.write(Path(folder))
        found = list(source_files(Path(folder)))
    problems = [source for source in found if not isinstance(source, SourceDraft)]
    assert not problems, problems
    return [source for source in found if isinstance(source, SourceDraft)]


async def unfinished_jobs(dsn: str) -> list[str]:
    """Return the error, or else the status, of each job that did not succeed."""
    connection = await asyncpg.connect(dsn)
    try:
        return [str(row[0]) for row in await connection.fetch(UNFINISHED)]
    finally:
        await connection.close()


async def pages_of(dsn: str, scope: Scope) -> list[JudgedPage]:
    connection = await asyncpg.connect(dsn)
    try:
        rows = await connection.fetch(PAGES, scope.tenant_id, scope.owner_id)
    finally:
        await connection.close()
    return [JudgedPage(row["type"], row["title"], frozenset(row["aliases"] or ())) for row in rows]


def totals(results: Sequence[Judged]) -> list[Judged]:
    """Return the sums of each kind, of each half, and of all wikis."""
    kinds = list(dict.fromkeys(result.name.rpartition("_")[0] for result in results))
    held_names = held_out({wiki.kind for wiki in wikis()})
    parts = {kind: [result for result in results if result.name.rpartition("_")[0] == kind] for kind in kinds}
    parts |= {
        half: [result for result in results if (result.name in held_names) == (half == "held")] for half in HALVES
    }
    sums = []
    for name, part in (parts | {"all": list(results)}).items():
        total = Judged(name)
        for result in part:
            total.add(result)
        if part:
            sums.append(total)
    return sums


def table(report: Sequence[Judged]) -> Table:
    shown = Table("notes", *MEASURES.values(), "duplicates", title="with Wilson's 95 % intervals")
    for result in report:
        cells = [f"{share} of {share.count}" if (share := result.share(name)).count else "–" for name in MEASURES]
        shown.add_row(result.name, *cells, str(len(result.duplicates)))
    goals = (f"at least {GOALS[name]:.2f}" if name in GOALS else "" for name in MEASURES)
    shown.add_row("goal", *goals, "0")
    return shown


def as_json(result: Judged) -> dict[str, Any]:
    shares = {name: result.share(name) for name in MEASURES}
    figures = {
        name: {"share": share.mean, "low": share.low, "high": share.high, "count": share.count}
        for name, share in shares.items()
    }
    return {"name": result.name, **figures, "duplicates": result.duplicates} | (
        {} if "_" not in result.name else {"missing": result.missing, "unwanted": result.unwanted}
    )
