"""Stored texts that exceed a lowered bound are still read, indexed and compiled."""

from collections.abc import Iterable

import pytest

from compiler.compiler import Compiler
from compiler.extraction import ExtractivePlanner, ExtractiveWriter
from compiler.planner import SourceText
from content import limits
from resolvers.search.reindexing import reindex
from resolvers.sources.compile_requests import rebuild_wiki
from resolvers.sources.retain import retain_sources
from resolvers.sources.sources import SourceDraft
from tests.compiler.extraction.stories import TRIP
from tests.compiler.scripted_compiler import compile_all
from tests.full_wiki import create_full_pages
from tests.wiki import Wiki, check_derived_rows

RULES = Compiler(ExtractivePlanner(), ExtractiveWriter())
HALF = len(TRIP) // 2


async def retain(wiki: Wiki, stories: Iterable[SourceText]) -> None:
    drafts = [
        SourceDraft("daily_note", source.ref, source.content, source.title, source.captured_at, dict(source.metadata))
        for source in stories
    ]
    await retain_sources(wiki.database, wiki.scope, drafts)


@pytest.mark.parametrize("divisor", [2, 8, max(bound.maximum for bound in limits.BOUNDS)])
async def test_a_wiki_is_indexed_and_compiled_when_its_bounds_were_lowered(
    wiki: Wiki, monkeypatch: pytest.MonkeyPatch, divisor: int
) -> None:
    await retain(wiki, TRIP[:HALF])
    await compile_all(wiki, RULES)
    await create_full_pages(wiki.database, wiki.scope, ["e\u0301", "a, "])
    await retain(wiki, TRIP[HALF:])
    before = {page["id"] for page in await wiki.rows("pages")}
    for bound in limits.BOUNDS:
        if not bound.fixed:
            monkeypatch.setattr(bound, "maximum", max(3, bound.maximum // divisor))
    assert await reindex(wiki.database, wiki.scope.tenant_id, wiki.scope.owner_id, again=True) == len(before)
    jobs = await compile_all(wiki, RULES)
    await rebuild_wiki(wiki.database, wiki.scope)
    jobs += await compile_all(wiki, RULES)
    assert {job["status"] for job in jobs} == {"succeeded"}
    assert before <= {page["id"] for page in await wiki.rows("pages")}
    await check_derived_rows(wiki)
