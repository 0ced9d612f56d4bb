"""Measures how much evidence pages retain: the sources that the best sections cite, and the sections' length."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean
from typing import Annotated

import orjson
import typer
import uvloop
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from content.context_pack import excerpt, tokens
from content.search.words import words
from db.database import Database

from ..compiler.costs import default_compiler, run_jobs
from ..search.quality import names
from .conversations import Conversation, read_all
from .recall import ENOUGH, Data
from .scores import Interval, interval
from .service import Wiki, running, stderr

SECTIONS = 10
KEPT_GOAL, TOKENS_GOAL = 0.90, 0.1
WIDTH = 165
ALL = "all"
SEARCH = """query ($query: String!, $first: Int!) {
  wikiSearchResults(query: $query, first: $first) {
    edges {
      snippet { text highlights { start length } }
      section { bodyMd sources(first: 100) { nodes { ref } } }
    }
  }
}"""


@dataclass(frozen=True, slots=True)
class Answer:
    """Counts for one question.

    `judged` are the sessions that people judged to be evidence, `raw` those of them that raw search finds, `cited`
    those that the best sections cite, and `kept` those that are both found and cited. `cited_by_lines` are those of
    `kept` that the excerpts in wikiContext cite. `sources` are all sessions that the sections cite. Tokens are those of
    the sections, of the excerpts, of the first passages of raw search, and of its sessions.
    """

    kind: str
    judged: int
    raw: int
    cited: int
    kept: int
    cited_by_lines: int
    sources: int
    section_tokens: int
    line_tokens: int
    passage_tokens: int
    session_tokens: int


@dataclass(frozen=True, slots=True)
class Figures:
    """Means over several questions.

    `kept` is the share of the sessions found by raw search that the sections cite, and `cited_by_lines` the share that
    the excerpts in wikiContext cite. `raw` and `cited` are shares of the sessions judged to be evidence.
    """

    kept: Interval
    cited_by_lines: Interval
    raw: Interval
    cited: Interval
    sources: float
    section_tokens: float
    line_tokens: float
    passage_tokens: float
    session_tokens: float

    @property
    def ratio(self) -> float:
        return self.section_tokens / self.session_tokens

    @property
    def line_ratio(self) -> float:
        return self.line_tokens / self.session_tokens


def compiled(
    data: Data = None,
    conversations: Annotated[str, typer.Option(help="Names, separated by commas; default: all.")] = "",
    json: Annotated[Path | None, typer.Option(help="A JSON file for all figures.")] = None,
) -> None:
    """Compile conversations by rules, and search pages and sources for the answers to their questions.

    Measures how much of the evidence among the first ten sessions of raw search the ten best sections cite.
    """
    chosen = read_all(data, names(conversations))
    found: list[Answer] = []
    pages: dict[str, int] = {}
    with running() as service, Progress(console=stderr, disable=not stderr.is_terminal) as bars:
        task = bars.add_task("", total=sum(len(conversation.queries) for conversation in chosen))
        for conversation in chosen:
            bars.update(task, description=conversation.name)
            wiki = service.wiki(f"compiled-{conversation.name}".replace("_", "-"))
            wiki.retain(conversation.sources)
            uvloop.run(compile_wiki(service.dsn))
            pages[conversation.name] = wiki.ask("{ wikiPages { totalCount } }")["wikiPages"]["totalCount"]
            for answer in answers(wiki, conversation):
                found.append(answer)
                bars.advance(task)
    kinds = [ALL, *dict.fromkeys(answer.kind for answer in found)]
    figures = {kind: figures_of([answer for answer in found if kind in (ALL, answer.kind)]) for kind in kinds}
    Console(width=WIDTH).print(table(figures, pages), verdict(figures[ALL]))
    if json is not None:
        rows = {kind: asdict(own) | {"ratio": own.ratio, "line_ratio": own.line_ratio} for kind, own in figures.items()}
        json.write_bytes(orjson.dumps({"pages": pages, "figures": rows}, option=orjson.OPT_INDENT_2))


async def compile_wiki(dsn: str) -> None:
    database = Database(dsn, size=2)
    await database.open()
    try:
        await run_jobs(database, default_compiler())
    finally:
        await database.close()


def answers(wiki: Wiki, conversation: Conversation) -> list[Answer]:
    texts = {source.ref: source.content for source in conversation.sources}
    lines = {ref: text.split("\n") for ref, text in texts.items()}
    found = []
    for query in conversation.queries:
        judged = set(conversation.sessions.judged[query.id])
        hits = wiki.search(query.text, lambda hits: len({hit.ref for hit in hits}) >= ENOUGH)
        sessions = list(dict.fromkeys(hit.ref for hit in hits))[:ENOUGH]
        passages = ["\n".join(lines[hit.ref][hit.line_start - 1 : hit.line_end]) for hit in hits[:SECTIONS]]
        edges = wiki.ask(SEARCH, query=query.text, first=SECTIONS)["wikiSearchResults"]["edges"]
        sections = [edge["section"] for edge in edges if edge["section"]]
        matched_words = {
            word
            for edge in edges
            for highlight in (edge["snippet"] or {}).get("highlights", ())
            for word in words(edge["snippet"]["text"][highlight["start"] : highlight["start"] + highlight["length"]])
        }
        shown = [excerpt(section["bodyMd"], matched_words) or section["bodyMd"] for section in sections]
        cited = {node["ref"] for section in sections for node in section["sources"]["nodes"]}
        raw = judged & set(sessions)
        found.append(
            Answer(
                query.kind, len(judged), len(raw), len(judged & cited), len(raw & cited),
                sum(any(f"[^{ref}]" in text for text in shown) for ref in raw & cited), len(cited),
                sum(tokens(section["bodyMd"]) for section in sections), sum(map(tokens, shown)),
                sum(map(tokens, passages)), sum(tokens(texts[ref]) for ref in sessions),
            )
        )  # fmt: skip
    return found


def figures_of(some: Sequence[Answer]) -> Figures:
    return Figures(
        kept=interval([answer.kept / answer.raw for answer in some if answer.raw]),
        cited_by_lines=interval([answer.cited_by_lines / answer.raw for answer in some if answer.raw]),
        raw=interval([answer.raw / answer.judged for answer in some]),
        cited=interval([answer.cited / answer.judged for answer in some]),
        sources=fmean(answer.sources for answer in some),
        section_tokens=fmean(answer.section_tokens for answer in some),
        line_tokens=fmean(answer.line_tokens for answer in some),
        passage_tokens=fmean(answer.passage_tokens for answer in some),
        session_tokens=fmean(answer.session_tokens for answer in some),
    )


def table(figures: dict[str, Figures], pages: dict[str, int]) -> Table:
    page_counts = ", ".join(f"{name} {count}" for name, count in pages.items())
    table = Table(
        "kind", "n", "kept of what raw search finds", "by the lines", "raw R@10", "cited", "sources",
        "tokens: sections", "lines", "passages", "sessions",
        title=f"pages by conversation: {page_counts}",
    )  # fmt: skip
    for kind, own in figures.items():
        counts = (
            f"{count:,.0f}" for count in (own.section_tokens, own.line_tokens, own.passage_tokens, own.session_tokens)
        )
        table.add_row(
            kind,
            str(own.raw.count),
            str(own.kept),
            str(own.cited_by_lines),
            str(own.raw),
            str(own.cited),
            f"{own.sources:.1f}",
            *counts,
        )
    return table


def verdict(own: Figures) -> str:
    met = "met" if own.kept.mean >= KEPT_GOAL and own.line_ratio <= TOKENS_GOAL else "NOT met"
    return (
        f"{own.kept.mean:.3f} kept at {own.line_ratio:.3f} of the tokens in the lines that wikiContext gives, "
        f"{own.ratio:.3f} in whole sections; the goal is {KEPT_GOAL} at {TOKENS_GOAL}: {met}. "
        f"The lines themselves cite {own.cited_by_lines.mean:.3f}."
    )
