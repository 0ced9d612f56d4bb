"""Sweeps promote mentions with enough sources to pages, without new sources."""

import asyncio
from datetime import UTC, date, datetime, time, timedelta

import orjson
import pytest

from compiler.compiler import Caps
from compiler.jobs.periodic import DailySweep
from compiler.jobs.worker import runner_for, work_once
from compiler.planner import PageUpdate, Plan, SectionProposal
from resolvers.jobs.queue import claim, release
from resolvers.model.drafts import PageDraft
from resolvers.pages.lifecycle import create_page
from resolvers.proposals.gate import Policy, PolicyRule, WriterRole, checked_rules
from resolvers.proposals.proposals import accept_proposal, decline_proposal
from resolvers.sources.compile_requests import sweep, sweep_all
from resolvers.sources.held_names import find_nearest
from resolvers.sources.mentions import ignore_mention, record_mention
from resolvers.sources.sources import SourceDraft, add_source
from resolvers.tenants.tenants import set_compiling
from tests.compiler.scripted_compiler import (
    ScriptedPlanner,
    ScriptedWriter,
    citations,
    compile_all,
    pages_by_title,
    retain_texts,
    scripted_compiler,
)
from tests.wiki import Wiki

FIRST = datetime(2026, 4, 1, 12, tzinfo=UTC)


async def add_mentioning_sources(
    wiki: Wiki, name: str, *days: int, quote: str | None = "We ate at {}.", start: int = 0
) -> None:
    """Add a source for each of these days that mentions the name."""
    for n, day in enumerate(days, start):
        draft = SourceDraft("daily_note", f"{name} {n}", f"A day with {name}.", captured_at=FIRST + timedelta(day))
        source = await add_source(wiki.database, wiki.scope, draft)
        context = quote and f"{quote.format(name)} ({n})"
        await record_mention(wiki.database, wiki.scope, name=name, source_id=source.source_id, quote=context)


class Silent(ScriptedWriter):
    async def write(self, task) -> str:
        return ""


async def run_sweep(wiki: Wiki, **given) -> list:
    await sweep(wiki.database, wiki.scope)
    return await compile_all(wiki, scripted_compiler(**given))


async def test_a_name_seen_in_three_sources_becomes_a_page(wiki: Wiki) -> None:
    await add_mentioning_sources(wiki, "Chef João", 0, 15, 30)
    (job,) = await run_sweep(wiki, writer=Silent())
    page = (await pages_by_title(wiki))["Chef João"]
    assert (page["type"], page["slug"], page["summary"]) == ("entity", "chef-joao", "We ate at Chef João.")
    assert page["body_md"].splitlines()[0] == "## Notes"
    assert "- 2026-05-01: “We ate at Chef João. (2)” [^Chef%20João%202]" in page["body_md"]
    assert await citations(wiki) == {("Chef João", "notes", f"Chef João {n}") for n in range(3)}
    mention = await wiki.row("mentions")
    assert (mention["status"], mention["promoted_page_id"], mention["mention_count"]) == ("promoted", page["id"], 3)
    assert [row["alias"] for row in await wiki.rows("aliases")] == ["chef joao"]
    assert (job["trigger"], job["status"], job["metrics"]["mentions_promoted"]) == ("sweep", "succeeded", 1)


async def test_a_compile_queues_a_sweep_for_mentions_with_enough_sources(wiki: Wiki) -> None:
    await retain_texts(wiki, "hold Chef João", "hold Chef João")
    await compile_all(wiki)
    assert not await pages_by_title(wiki)
    await retain_texts(wiki, "hold Chef João\nhold Paula", start=2)
    jobs = await compile_all(wiki)
    assert [job["trigger"] for job in jobs] == ["retain", "retain", "sweep"]
    page = (await pages_by_title(wiki))["Chef João"]
    assert await citations(wiki) == {
        ("Chef João", slug, f"day-{n}") for slug in ("overview", "notes") for n in range(3)
    }
    assert (await wiki.row("mentions", alias="chef joao"))["promoted_page_id"] == page["id"]


async def test_nothing_is_promoted_while_sources_are_unread(wiki: Wiki) -> None:
    await retain_texts(wiki, *["hold Chef João"] * 3, "promote entity Chef João\nA cook.")
    jobs = await compile_all(wiki, scripted_compiler(caps=Caps(batch=1, sources=3)))
    assert [job["trigger"] for job in jobs] == ["retain", "retain"]
    assert "- A cook." in (await pages_by_title(wiki))["Chef João"]["body_md"]


async def test_the_third_recorded_mention_queues_a_sweep(wiki: Wiki) -> None:
    await add_mentioning_sources(wiki, "Chef João", 0, 400)
    assert not await wiki.rows("compile_jobs")
    await add_mentioning_sources(wiki, "Chef João", 4000, start=2)
    (job,) = await compile_all(wiki)
    assert (job["trigger"], job["metrics"]["mentions_promoted"]) == ("sweep", 1)


async def test_mentions_queue_no_job_if_compiling_is_disabled(wiki: Wiki) -> None:
    await set_compiling(wiki.database, wiki.scope.tenant_id, compiling=False)
    await add_mentioning_sources(wiki, "Chef João", 0, 1, 2)
    assert not await wiki.rows("compile_jobs")


async def test_a_promoted_page_is_written_from_sources_or_else_from_quotes(wiki: Wiki) -> None:
    await add_mentioning_sources(wiki, "Momofuku", 0, 1, 2)
    await add_mentioning_sources(wiki, "Franklin", 0, 1, 2, quote=None)
    await run_sweep(wiki)
    found = await pages_by_title(wiki)
    assert "- Momofuku 0 names it." in found["Momofuku"]["body_md"]
    await add_mentioning_sources(wiki, "Paula", 0, 1, 2, quote=None)
    await run_sweep(wiki, writer=Silent())
    assert "- 2026-04-03: named [^Paula%202]" in (await pages_by_title(wiki))["Paula"]["body_md"]


async def test_each_promoted_page_quotes_its_own_sources(wiki: Wiki) -> None:
    names = [f"Chef {letter}o" for letter in "BCDFGHJKLMNP"]
    for name in names:
        await add_mentioning_sources(wiki, name, 0, 1, 2)
    await run_sweep(wiki, writer=Silent())
    found = await pages_by_title(wiki)
    assert sorted(found) == names
    assert all(f"We ate at {name}. (0)" in found[name]["body_md"] for name in names)


async def test_a_page_made_by_a_sweep_is_listed_in_its_topic(wiki: Wiki) -> None:
    topic = await create_page(wiki.database, wiki.scope, PageDraft("topic", "Lisbon"))
    for n in range(3):
        draft = SourceDraft(
            "daily_note", f"day-{n}", "Chef João cooked.", captured_at=FIRST, metadata={"city": "Lisbon"}
        )
        source = await add_source(wiki.database, wiki.scope, draft)
        await record_mention(
            wiki.database, wiki.scope, name="Chef João", source_id=source.source_id, quote="He cooked."
        )
    await run_sweep(wiki)
    assert "- [**Chef João**](/wiki/entity/chef-joao)" in (await wiki.page(topic.page_id))["body_md"]


async def test_rare_and_ignored_mentions_are_not_promoted(wiki: Wiki) -> None:
    await add_mentioning_sources(wiki, "Twice", 0, 1)
    await add_mentioning_sources(wiki, "Unwanted", 0, 1, 2)
    unwanted = await wiki.row("mentions", alias="unwanted")
    await ignore_mention(wiki.database, wiki.scope, unwanted["id"])
    assert await sweep(wiki.database, wiki.scope) is None
    assert not await pages_by_title(wiki)


async def test_a_mention_that_became_an_alias_is_promoted_to_that_page(wiki: Wiki) -> None:
    await add_mentioning_sources(wiki, "Momo", 0, 1, 2)
    page = await create_page(wiki.database, wiki.scope, PageDraft("topic", "Momofuku", aliases=["Momo"]))
    await run_sweep(wiki, writer=Silent())
    assert list(await pages_by_title(wiki)) == ["Momofuku"]
    mention = await wiki.row("mentions")
    assert (mention["status"], mention["promoted_page_id"]) == ("promoted", page.page_id)
    assert ("Momofuku", "highlights", "Momo 0") in await citations(wiki)


async def test_an_update_that_adds_the_alias_of_a_mention_promotes_it(wiki: Wiki) -> None:
    page = await create_page(wiki.database, wiki.scope, PageDraft("entity", "Momofuku"))
    await add_mentioning_sources(wiki, "Momo", 0)
    (source_id,) = await retain_texts(wiki, "to entity Momofuku\nThey call it Momo.")
    update = PageUpdate(page.page_id, (SectionProposal("notes", (source_id,)),), aliases=("Momo",))
    (job,) = await compile_all(wiki, scripted_compiler(ScriptedPlanner(extra=Plan(updates=(update,)))))
    mention = await wiki.row("mentions")
    assert (mention["status"], mention["promoted_page_id"]) == ("promoted", page.page_id)
    assert job["metrics"]["mentions_promoted"] == 1


async def test_a_sweep_at_its_cap_leaves_the_rest_to_another_job(wiki: Wiki) -> None:
    for n in range(13):
        await add_mentioning_sources(wiki, f"Cook {chr(97 + n) * 3}", 0, 1, 2)
    jobs = await run_sweep(wiki, caps=Caps(new_pages=4))
    assert [job["status"] for job in jobs] == ["succeeded", "succeeded"]
    assert sum(job["metrics"]["mentions_promoted"] for job in jobs) == 13
    assert len(await pages_by_title(wiki)) == 13


async def test_mentions_recorded_during_a_sweep_are_counted(wiki: Wiki) -> None:
    await add_mentioning_sources(wiki, "Chef João", 0, 1, 2)
    await sweep(wiki.database, wiki.scope)
    running = asyncio.create_task(work_once(wiki.database, scripted_compiler(writer=ScriptedWriter(0.02)), "test"))
    await asyncio.gather(*(add_mentioning_sources(wiki, "Chef João", n, start=n) for n in range(3, 15)))
    await running
    mention = await wiki.row("mentions")
    assert (mention["status"], mention["mention_count"]) == ("promoted", 15)
    assert len(await wiki.rows("sightings", "source_id")) == 15


async def test_a_sweep_promotes_a_mention_whose_place_in_the_alphabet_it_has_passed(wiki: Wiki) -> None:
    await add_mentioning_sources(wiki, "Zelda", 0, 1, 2)
    job = await claim(wiki.database, "test")
    assert job
    running = runner_for(wiki.database, job, scripted_compiler())
    assert not await running.step()
    await add_mentioning_sources(wiki, "Adela", 0, 1, 2)
    while not await running.step():
        pass
    await compile_all(wiki)
    assert list(await pages_by_title(wiki)) == ["Adela", "Zelda"]


async def test_concurrent_workers_sweep_a_wiki_once_a_day(wiki: Wiki) -> None:
    await set_compiling(wiki.database, wiki.scope.tenant_id, compiling=False)
    other = await wiki.neighbour()
    for current in (wiki, other):
        await add_mentioning_sources(current, "Chef João", 0, 1, 2)
    today = date(2026, 11, 22)
    assert all(await asyncio.gather(*(sweep_all(wiki.database, today) for _ in range(5))))
    for current in (wiki, other):
        assert [job["trigger"] for job in await current.rows("compile_jobs")] == ["sweep"]
    await wiki.connection.execute("DELETE FROM compile_jobs")
    await sweep_all(wiki.database, today)
    assert not await wiki.rows("compile_jobs")
    await sweep_all(wiki.database, today + timedelta(1))
    assert await wiki.rows("compile_jobs")


async def test_the_daily_sweep_runs_at_its_hour_unless_disabled(wiki: Wiki) -> None:
    await set_compiling(wiki.database, wiki.scope.tenant_id, compiling=False)
    await add_mentioning_sources(wiki, "Chef João", 0, 1, 2)
    moment = datetime(2026, 11, 22, 2, 59, tzinfo=UTC)
    sweep = DailySweep(time(3), lambda: moment)
    await sweep.run_if_due(wiki.database)
    await DailySweep(None, lambda: moment + timedelta(1)).run_if_due(wiki.database)
    assert not await wiki.rows("compile_jobs")
    moment += timedelta(minutes=1)
    await sweep.run_if_due(wiki.database)
    assert await wiki.rows("compile_jobs")


async def test_a_doubted_mention_needs_evidence_besides_its_count(wiki: Wiki) -> None:
    """The cluster that a planner stores with a mention weighs the sources that it has read."""
    await add_mentioning_sources(wiki, "Sync", 0, 1, 2, 3)
    doubted = '{"marks": {"open": 4}, "sources": 4, "weight": 4, "read": 4, "evidence": 0, "lacks": "naming"}'
    await wiki.connection.execute("DELETE FROM compile_jobs")
    await wiki.connection.execute(f"UPDATE mentions SET cluster = '{doubted}'")
    assert await sweep(wiki.database, wiki.scope) is None
    total, (nearest,) = await find_nearest(wiki.database, wiki.scope, 3)
    assert (total, nearest.mention_count, nearest.evidence) == (1, 4, 0)
    assert nearest.missing == (
        "nothing says yet that it is a name; write it as [[Sync]] or #tag where a note is about it"
    )
    await add_mentioning_sources(wiki, "Sync", 4, 5, 6, start=4)
    assert await sweep(wiki.database, wiki.scope), "the planner has not read the three new sources"


async def test_an_invalid_cluster_of_a_mention_does_not_stop_a_sweep(wiki: Wiki) -> None:
    await add_mentioning_sources(wiki, "Sync", 0, 1, 2)
    await wiki.connection.execute("""UPDATE mentions SET cluster = '{"evidence": "much", "read": [], "lacks": {}}'""")
    await run_sweep(wiki, writer=Silent())
    assert list(await pages_by_title(wiki)) == ["Sync"]


async def review_compiler(wiki: Wiki) -> None:
    rules = checked_rules([PolicyRule(WriterRole.COMPILER, Policy.REVIEW)])
    await wiki.connection.execute("UPDATE owners SET write_policy = $1", orjson.dumps(rules).decode())


async def test_a_proposed_promotion_is_proposed_again_only_with_another_source(wiki: Wiki) -> None:
    await review_compiler(wiki)
    await add_mentioning_sources(wiki, "Chef João", 0, 1, 2)
    await run_sweep(wiki)
    (proposal,) = await wiki.rows("proposals")
    await run_sweep(wiki, writer=Silent())
    assert await wiki.rows("proposals") == [proposal], "it waits"
    await decline_proposal(wiki.database, wiki.scope, proposal["id"], "not yet")
    await run_sweep(wiki)
    assert [row["status"] for row in await wiki.rows("proposals")] == ["declined"]
    await add_mentioning_sources(wiki, "Chef João", 3, start=3)
    await run_sweep(wiki)
    assert [row["status"] for row in await wiki.rows("proposals")] == ["declined", "open"]


async def test_an_accepted_promotion_promotes_the_mention(wiki: Wiki) -> None:
    await review_compiler(wiki)
    await add_mentioning_sources(wiki, "Chef João", 0, 1, 2)
    await run_sweep(wiki)
    done = await accept_proposal(wiki.database, wiki.scope, (await wiki.row("proposals"))["id"])
    mention = await wiki.row("mentions")
    assert (mention["status"], mention["promoted_page_id"]) == ("promoted", done.page_id)
    assert await sweep(wiki.database, wiki.scope) is None


async def test_a_sweep_that_proposes_goes_on_after_any_number_of_interruptions(
    wiki: Wiki, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("compiler.sweep.NAMES_PER_BATCH", 1)
    await review_compiler(wiki)
    for number in range(7):
        await add_mentioning_sources(wiki, f"Cook {chr(97 + number) * 3}", 0, 1, 2)
    for number in range(1, 7):
        job = await claim(wiki.database, "test")
        assert job
        attempt = runner_for(wiki.database, job, scripted_compiler())
        while len(await wiki.rows("proposals")) < number:
            assert not await attempt.step()
        await release(wiki.database, job, attempt.metrics.stored)
    (done,) = await compile_all(wiki)
    assert (done["status"], done["metrics"]["pages_proposed"]) == ("succeeded", 7)
