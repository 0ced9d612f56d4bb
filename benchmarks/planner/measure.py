"""Compares the pages of a compiled scope with labels and their quotes with sources, and measures time."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from benchmarks.planner.memory import MemoryWiki, Page
from benchmarks.planner.scopes import Expected, ScopeOfNotes
from benchmarks.planner.verbatim import is_verbatim, quotes
from compiler.extraction import ExtractivePlanner, ExtractiveWriter
from compiler.quoting import mark


@dataclass(slots=True)
class Result:
    """Counts of one scope. `given` and `found_given` count the pages that metadata name explicitly."""

    name: str
    notes: int
    pages: int = 0
    right: int = 0
    expected: int = 0
    found: int = 0
    typed: int = 0
    given: int = 0
    found_given: int = 0
    decisions: int = 0
    expected_decisions: int | None = None
    sections: int = 0
    cited: int = 0
    quotes: int = 0
    verbatim: int = 0
    seconds: float = 0.0
    missing: list[str] = field(default_factory=list)
    surplus: list[str] = field(default_factory=list)
    wrongly_typed: list[str] = field(default_factory=list)


async def measure(scope: ScopeOfNotes, batch: int = 50) -> tuple[Result, MemoryWiki]:
    """Compile the scope and compare the result with its labels. Seconds are CPU time of this process."""
    wiki = MemoryWiki(ExtractivePlanner(), ExtractiveWriter())
    start = time.process_time()
    await wiki.compile(scope.sources, batch)
    result = Result(scope.name, len(scope.sources), seconds=time.process_time() - start)
    pages = [page for page in wiki.all if page.card.type != "decision"]
    result.decisions, result.expected_decisions = len(wiki.all) - len(pages), scope.decisions
    _compare(result, pages, scope.expected)
    _check(result, wiki)
    return result, wiki


def _compare(result: Result, pages: Sequence[Page], expected: Sequence[Expected]) -> None:
    unmatched = list(pages)
    result.pages, result.expected = len(pages), len(expected)
    for expected_page in expected:
        result.given += expected_page.is_given
        page = next((page for page in unmatched if not page.card.aliases.isdisjoint(expected_page.names)), None)
        if page is None:
            result.missing.append(min(expected_page.names))
            continue
        unmatched.remove(page)
        result.found += 1
        result.found_given += expected_page.is_given
        if expected_page.type in (None, page.card.type):
            result.typed += 1
        else:
            result.wrongly_typed.append(page.card.title)
    result.right = len(pages) - len(unmatched)
    result.surplus = [page.card.title for page in unmatched]


def _check(result: Result, wiki: MemoryWiki) -> None:
    by_mark = {mark(source): source for source in wiki.known.values()}
    for section in (section for page in wiki.all for section in page.sections.values()):
        result.sections += 1
        result.cited += bool(section.source_ids and section.body)
        for line in section.body.splitlines():
            label = line.rpartition(" ")[2]
            if label not in by_mark:
                continue
            source = by_mark[label]
            for quote in quotes(line):
                result.quotes += 1
                result.verbatim += is_verbatim(quote, source.content)
