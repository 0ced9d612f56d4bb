"""Kills a worker at random moments, and compares the wiki, row by row, with one whose worker was not killed.

Run it with your own migrated database: `python -m tests.compiler.killed.crashes DSN KILLS [TRIGGER]`.
"""

import asyncio
import random
import sys
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from compiler.compiler import Caps
from compiler.jobs.worker import work_once
from resolvers.model.drafts import PageDraft
from resolvers.pages.lifecycle import create_page, update_page
from resolvers.sources.compile_requests import rebuild_wiki
from resolvers.sources.retain import retain_sources
from resolvers.sources.sources import SourceDraft, forget_source
from tests.compiler.killed.crashing_worker import run_worker
from tests.compiler.scripted_compiler import ScriptedWriter, compile_all, scripted_compiler
from tests.compiler.test_leaf_pass import word
from tests.forked import forked_process
from tests.waiting import within
from tests.wiki import Wiki, close_wiki, open_wiki

START = datetime(2026, 4, 1, 9, tzinfo=UTC)
CAPS = Caps(batch=3, new_pages=9)
RECLAIM = """
    UPDATE compile_jobs SET heartbeat_at = created_at - interval '1 hour', attempt = 0 WHERE status = 'running'
"""
OPEN = "SELECT count(*) FROM compile_jobs WHERE status IN ('pending', 'running')"
RUNNING = "SELECT count(*) FROM compile_jobs WHERE status = 'running'"

ROWS = {
    "pages": """
        SELECT p.type, p.slug, p.title, p.summary, p.body_md, p.status, p.tags, p.version, p.hubness_score
        FROM pages p WHERE p.tenant_id = $1 AND p.owner_id = $2 ORDER BY 1, 2""",
    "sections": """
        SELECT p.slug, s.section_slug, s.heading, s.body_md, s.position FROM sections s JOIN pages p ON p.id = s.page_id
        WHERE s.tenant_id = $1 AND s.owner_id = $2 ORDER BY 1, 5""",
    "lists": """
        SELECT p.slug, s.section_slug, s.last_source_at, g.slug,
            s.aggregation - ARRAY['linked_page_ids', 'dismissed_page_ids', 'promoted_page_id'],
            ARRAY(SELECT c.slug FROM pages c WHERE s.aggregation -> 'linked_page_ids' ? CAST(c.id AS text) ORDER BY 1),
            ARRAY(SELECT c.slug FROM pages c
                WHERE s.aggregation -> 'dismissed_page_ids' ? CAST(c.id AS text) ORDER BY 1)
        FROM sections s JOIN pages p ON p.id = s.page_id LEFT JOIN pages g ON g.id = s.promoted_page_id
        WHERE s.tenant_id = $1 AND s.owner_id = $2 AND s.aggregation IS NOT NULL ORDER BY 1, 2""",
    "placements": """
        SELECT c.slug, w.alias, w.name, w.bases, w.kind, w.tags, p.slug, w.section_slug, w.is_delegated
        FROM placements w JOIN pages c ON c.id = w.page_id LEFT JOIN pages p ON p.id = w.parent_page_id
        WHERE w.tenant_id = $1 AND w.owner_id = $2 ORDER BY 1, 2""",
    "citations": """
        SELECT p.slug, s.section_slug, e.ref FROM section_sources c JOIN pages p ON p.id = c.page_id
        JOIN sections s ON s.id = c.section_id JOIN sources e ON e.id = c.source_id
        WHERE c.tenant_id = $1 AND c.owner_id = $2 ORDER BY 1, 2, 3""",
    "aliases": """
        SELECT p.slug, a.alias, a.source FROM aliases a JOIN pages p ON p.id = a.page_id
        WHERE a.tenant_id = $1 AND a.owner_id = $2 ORDER BY 1, 2""",
    "links": """
        SELECT f.slug, t.slug, l.kind, ARRAY(
            SELECT coalesce('co_mention:' || e.ref, reason) FROM unnest(l.reasons) AS reason
            LEFT JOIN sources e ON reason = 'co_mention:' || e.id ORDER BY 1)
        FROM links l JOIN pages f ON f.id = l.from_page_id JOIN pages t ON t.id = l.to_page_id
        WHERE l.tenant_id = $1 AND l.owner_id = $2 ORDER BY 1, 2, 3""",
    "mentions": """
        SELECT m.alias, m.name, m.status, m.mention_count, m.cluster, p.slug, ARRAY(
            SELECT e.ref FROM sightings n JOIN sources e ON e.id = n.source_id WHERE n.mention_id = m.id ORDER BY 1)
        FROM mentions m LEFT JOIN pages p ON p.id = m.promoted_page_id
        WHERE m.tenant_id = $1 AND m.owner_id = $2 ORDER BY 1""",
    "revisions": """
        SELECT p.slug, r.version, r.title, r.summary, r.edit_summary, r.author_kind FROM revisions r
        JOIN pages p ON p.id = r.page_id WHERE r.tenant_id = $1 AND r.owner_id = $2 ORDER BY 1, 2""",
}


def random_sources(seed: int, length: int = 44) -> list[SourceDraft]:
    """Generate sources that create, extend and link pages, hold and promote mentions, and fill rollup sections."""
    chance, drafts = random.Random(seed), []
    for n in range(length):
        place, other = word(chance.randrange(18)), word(chance.randrange(18))
        text = (
            f"page entity {place} | {place} House\nNote {n} of **{other}**.\nhold Chef {word(n % 9)}\n"
            f"to entity {other} # visits\nVisit {n}.\nlink {place} > {other}\n"
            + (f"promote entity Chef {word(n % 9)}\nA cook, says {n}.\n" if n % 11 == 10 else "")
        )
        drafts.append(
            draft(n, text, city="Springfield", journal=f"Trip {'AB'[n % 2]}", tags=["park", ("music", "art")[n % 2]])
        )
    return drafts


def draft(day: int, text: str, **metadata: Any) -> SourceDraft:
    return SourceDraft("daily_note", f"day-{day}", text, captured_at=START + timedelta(days=day), metadata=metadata)


async def retain_drafts(wiki: Wiki, drafts: list[SourceDraft]) -> None:
    await retain_sources(wiki.database, wiki.scope, drafts)


async def rows(wiki: Wiki) -> dict[str, list[tuple[Any, ...]]]:
    where = (wiki.scope.tenant_id, wiki.scope.owner_id)
    return {name: [tuple(row) for row in await wiki.connection.fetch(sql, *where)] for name, sql in ROWS.items()}


async def compile_sources(wiki: Wiki, seed: int) -> None:
    await retain_drafts(wiki, random_sources(seed))
    await compile_all(wiki, scripted_compiler(writer=ScriptedWriter(), caps=CAPS))


async def prepare_sweep(wiki: Wiki, seed: int) -> None:
    """Prepare a compiled wiki with many mentions that have earned a page; some are the name of a page by now."""
    await compile_sources(wiki, seed)
    names = [f"Cook {word(n)}" for n in range(24)]
    await retain_drafts(
        wiki, [draft(100 + n, "\n".join(f"hold {name}" for name in names[n % 2 :: 2])) for n in range(6)]
    )
    await run_all_but(wiki, "sweep")
    for name in names[::5]:
        await create_page(wiki.database, wiki.scope, PageDraft("entity", f"{name} of Springfield", aliases=[name]))


async def prepare_rebuild(wiki: Wiki, seed: int) -> None:
    """Prepare a compiled wiki with sections in which people wrote text that no source supports."""
    await compile_sources(wiki, seed)
    for page in (await wiki.rows("pages", "created_at, id"))[::3]:
        body = page["body_md"].replace("\n- ", "\n- Yes: ", 1)
        await update_page(wiki.database, wiki.scope, page["id"], body=body)
    await rebuild_wiki(wiki.database, wiki.scope)


async def prepare_forgetting(wiki: Wiki, seed: int) -> None:
    """Prepare a compiled wiki, some of whose sources are to be forgotten."""
    await compile_sources(wiki, seed)
    sources = await wiki.rows("sources", "created_at, id")
    for row in sources[3::7]:
        await forget_source(wiki.database, wiki.scope, row["id"])


async def prepare_retain(wiki: Wiki, seed: int) -> None:
    await retain_drafts(wiki, random_sources(seed))


RUNS: Mapping[str, Callable[[Wiki, int], Awaitable[None]]] = {
    "retain": prepare_retain,
    "sweep": prepare_sweep,
    "rebuild": prepare_rebuild,
    "forget": prepare_forgetting,
}
"""The functions that give a wiki open jobs of one kind, and no others."""


async def run_all_but(wiki: Wiki, trigger: str) -> None:
    """Run every job until only jobs with this trigger are open."""
    while await wiki.connection.fetchval(f"{OPEN} AND trigger <> $1", trigger):
        await work_once(wiki.database, scripted_compiler(writer=ScriptedWriter(), caps=CAPS), "calm")


async def run_undisturbed(wiki: Wiki, seed: int, trigger: str = "retain") -> dict[str, list[tuple[Any, ...]]]:
    await RUNS[trigger](wiki, seed)
    await compile_all(wiki, scripted_compiler(writer=ScriptedWriter(), caps=CAPS))
    return await rows(wiki)


async def run_with_kills(
    wiki: Wiki, seed: int, kills: int, trigger: str = "retain", longest: float = 0.25
) -> tuple[dict[str, list[tuple[Any, ...]]], int]:
    """Run the jobs with workers that are killed, and return the rows and how many of the workers had a job then."""
    chance, struck = random.Random(seed), 0
    await RUNS[trigger](wiki, seed)
    for _ in range(kills):
        process = forked_process(run_worker, args=(wiki.database.dsn, 0.002))
        process.start()
        async with within("no job was claimed"):
            while await wiki.connection.fetchval(OPEN) and not await wiki.connection.fetchval(RUNNING):
                await asyncio.sleep(0.002)
        await asyncio.sleep(chance.random() * longest)
        process.kill()
        await asyncio.to_thread(process.join)
        struck += await wiki.connection.fetchval(RUNNING)
        await wiki.connection.execute(RECLAIM)
        if not await wiki.connection.fetchval(OPEN):
            break
    await compile_all(wiki, scripted_compiler(writer=ScriptedWriter(), caps=CAPS))
    return await rows(wiki), struck


async def main(dsn: str, kills: int, trigger: str = "retain") -> None:
    seed = total = 0
    while total < kills:
        calm, wild = await open_wiki(dsn), await open_wiki(dsn)
        expected = await run_undisturbed(calm, seed, trigger)
        found, struck = await run_with_kills(wild, seed, 30, trigger)
        assert found == expected, f"seed {seed}"
        total, seed = total + struck, seed + 1
        print(f"seed {seed}: {struck} workers were killed at work, {total} in all; the wikis are the same", flush=True)
        await close_wiki(calm)
        await close_wiki(wild)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2]), *sys.argv[3:]))
