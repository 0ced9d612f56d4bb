"""Rules compile a corpus of notes into the same pages, whatever the order, the batches and the crashes."""

import random
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from benchmarks.compiler.contents import read_contents
from benchmarks.compiler.costs import default_compiler, run_jobs
from benchmarks.compiler.crashes import compare_wikis
from benchmarks.compiler.database import new_wiki, open_database, retain
from benchmarks.compiler.notes import notes
from benchmarks.compiler.rows import Rows, differences, rows
from benchmarks.compiler.storm import run_storm
from compiler.compiler import CAPS
from compiler.jobs.worker import work_once
from resolvers.sources.grounding import PAGES_PER_BATCH
from tests.compiler.scripted_compiler import ScriptedPlanner, compile_all, scripted_compiler
from tests.compiler.scripted_compiler import retain_texts as retain_texts
from tests.compiler.test_leaf_pass import word
from tests.forked import start_server
from tests.recording_database import RecordingDatabase
from tests.wiki import Wiki, check_derived_rows

START = datetime(2026, 4, 1, 9, tzinfo=UTC)
EVIDENCE = ("planner", "co_mention", "deterministic")


@pytest.fixture(autouse=True)
def shared_fork_server() -> None:
    """Start the process from which all tests fork, before the benchmarks start one that preloads less."""
    start_server()


async def test_compiled_sections_cite_sources_and_no_page_is_duplicated(wiki: Wiki) -> None:
    await retain(wiki.database, wiki.scope, notes(80, 5))
    await run_jobs(wiki.database, default_compiler())
    found = await read_contents(wiki.database.dsn, wiki.scope)
    assert found.faults == []
    assert found.figures["sections"] == found.figures["cited"] > 60
    assert found.verbatim == found.quotes > 100
    assert found.hubs[0][2] >= 5
    await check_derived_rows(wiki)


async def test_killed_workers_leave_the_same_wiki_as_undisturbed_ones(dsn: str) -> None:
    database = await open_database(dsn)
    try:
        calm, wild, struck = await compare_wikis(database, 2, 50, 3, 0.1)
    finally:
        await database.close()
    assert struck >= 1, "how many it hits depends on how fast the machine is"
    assert differences(calm, wild) == []
    assert all(calm[name] for name in ("pages", "sections", "citations", "links", "mentions"))


async def test_concurrent_workers_read_each_source_exactly_once(dsn: str) -> None:
    result = await run_storm(dsn, workers=3, scopes=6, sources=90)
    assert result.faults == []
    assert result.jobs >= 6


async def test_order_and_size_of_batches_change_no_page_and_few_links(dsn: str) -> None:
    database, found = await open_database(dsn), []
    try:
        for batch, shuffle in ((50, None), (7, None), (1, None), (50, 1), (7, 2)):
            scope = await new_wiki(database, f"batch-{len(found)}", "mara")
            drafts = notes(45, 4, languages=("en",))
            if shuffle is not None:
                random.Random(shuffle).shuffle(drafts)
            await retain(database, scope, drafts)
            await run_jobs(database, default_compiler(caps=CAPS._replace(batch=batch)))
            found.append(await rows(dsn, scope))
    finally:
        await database.close()
    first, *others = found
    for other in others:
        assert {(row[0], row[2]) for row in other["pages"]} == {(row[0], row[2]) for row in first["pages"]}
        expected, links = by_evidence(first), by_evidence(other)
        assert len(expected ^ links) <= 0.1 * len(expected | links)


async def test_a_backfilled_journal_gets_the_same_pages_as_a_live_one(dsn: str) -> None:
    """Neither the dates of sources nor the time of compiling decide which names get pages."""
    database, found = await open_database(dsn), []
    try:
        for name, stretch, live in (("live", 1, True), ("backfill", 30, False), ("backwards", -30, False)):
            scope = await new_wiki(database, f"dates-{name}", "mara")
            drafts = [
                replace(draft, captured_at=START + stretch * (draft.captured_at - START))
                for draft in notes(45, 4, languages=("en",))
                if draft.captured_at
            ]
            for part in [[draft] for draft in drafts] if live else [drafts]:
                await retain(database, scope, part)
                await run_jobs(database, default_compiler())
            found.append({(row[0], row[2]) for row in (await rows(dsn, scope))["pages"]})
    finally:
        await database.close()
    live, *later = found
    assert len(live) > 10
    assert later == [live, live]


def by_evidence(found: Rows) -> set[tuple[str, str, str]]:
    """Return start, end and kind of reason of the links that do not come from the text of a section."""
    kinds = ((row[1], row[3], reason.partition(":")[0]) for row in found["links"] for reason in row[5])
    return {pair for pair in kinds if pair[2] in EVIDENCE}


@pytest.mark.parametrize("links", [True, False])
async def test_the_number_of_statements_does_not_depend_on_the_batch_size(wiki: Wiki, links: bool) -> None:
    database = RecordingDatabase(wiki.database.dsn)
    await database.open()

    async def batch(start: int, size: int) -> list[str]:
        await retain_texts(wiki, *(orders(n) for n in range(start, start + size)), start=start)
        before = len(await database.sent_statements())
        caps = CAPS._replace(new_pages=500, sections=500)
        assert await work_once(
            database, replace(scripted_compiler(ScriptedPlanner()), links_by_evidence=links, caps=caps), "test"
        )
        sent = [sent.sql for sent in (await database.sent_statements())[before:] if "search_" not in sent.sql]
        await compile_all(wiki)
        return sent

    await batch(0, 8)  # types, and the first page of a wiki
    await batch(60, 8)  # names that were seen twice, so that both of those that follow ask for a sweep
    few, many = await batch(10, 6), await batch(20, 40)
    await database.close()
    few_cited, many_cited = ([sql for sql in sent if "sources.moments" in sql] for sent in (few, many))
    assert len(many_cited) <= len(few_cited) + (40 - 6) // PAGES_PER_BATCH + 1
    assert len(many) - len(many_cited) <= len(few) - len(few_cited), sorted(set(many) - set(few))


def orders(n: int) -> str:
    """Return a source with a new page, an update of an older page, a link and mentions."""
    return (
        f"page entity {word(n)} | {word(n)} House\nNote {n} of **{word(n % 8)}**.\n"
        f"to entity {word(n % 8)} # visits\nVisit {n}.\n"
        f"link {word(n)} > {word(n % 8)}\nhold Chef {word(n)}\nhold Chef {word(n % 8)}"
    )
