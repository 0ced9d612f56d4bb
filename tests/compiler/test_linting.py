"""A worker lints wikis after a number of days or of sources, and changes no page."""

from datetime import UTC, datetime, time
from typing import Any

from compiler.jobs.periodic import DailySweep
from compiler.jobs.worker import work_once
from db.scope import Role
from resolvers.auth.wiki_settings import WikiSettings, update_wiki_settings
from resolvers.knowledge.lint_reports import lint_all, mute_finding
from resolvers.model.drafts import PageDraft
from resolvers.pages.lifecycle import create_page
from resolvers.sources.sources import forget_source
from tests.compiler.forgotten.forgetting import found_in
from tests.compiler.scripted_compiler import compile_all, retain_texts, scripted_compiler
from tests.wiki import Wiki


async def set_cadence(wiki: Wiki, **settings: Any) -> None:
    await update_wiki_settings(wiki.database, wiki.with_role(Role.ADMIN).scope, WikiSettings(**settings))


async def lint_jobs(wiki: Wiki) -> list[dict[str, Any]]:
    return await wiki.rows("compile_jobs", trigger="lint")


async def test_a_wiki_is_linted_once_per_period_unless_disabled(wiki: Wiki) -> None:
    await lint_all(wiki.database)
    assert not await lint_jobs(wiki), "a wiki without pages has no faults"
    await create_page(wiki.database, wiki.scope, PageDraft("topic", "A"))
    await set_cadence(wiki, lint_every_days=0)
    await lint_all(wiki.database)
    assert not await lint_jobs(wiki)
    await set_cadence(wiki, lint_every_days=7)
    await lint_all(wiki.database)
    await lint_all(wiki.database)
    assert len(await lint_jobs(wiki)) == 1
    before = await wiki.rows("pages")
    assert await work_once(wiki.database, scripted_compiler(), "worker")
    (report,) = await wiki.rows("lint_reports")
    assert (report["trigger"], report["found"]) == ("schedule", 2)
    assert (await lint_jobs(wiki))[0]["status"] == "succeeded"
    assert (await wiki.actions())[-1] == "lint.reported"
    assert await wiki.rows("pages") == before
    await lint_all(wiki.database)
    assert len(await lint_jobs(wiki)) == 1, "not again in that week"
    await wiki.connection.execute("UPDATE lint_reports SET created_at = now() - interval '8 days'")
    await lint_all(wiki.database)
    assert len(await lint_jobs(wiki)) == 2


async def test_the_daily_sweep_queues_lint_jobs_for_due_wikis(wiki: Wiki) -> None:
    await create_page(wiki.database, wiki.scope, PageDraft("topic", "A"))
    await DailySweep(time(3), lambda: datetime(2026, 11, 22, 4, tzinfo=UTC)).run_if_due(wiki.database)
    assert len(await lint_jobs(wiki)) == 1


async def test_a_wiki_is_linted_after_five_sources_are_compiled(wiki: Wiki) -> None:
    await retain_texts(wiki, *(f"page entity Momofuku\nOne {n}." for n in range(4)))
    await compile_all(wiki)
    assert not await wiki.rows("lint_reports")
    await retain_texts(wiki, "to entity Momofuku\nTwo.", start=4)
    await compile_all(wiki)
    await work_once(wiki.database, scripted_compiler(), "worker")
    (report,) = await wiki.rows("lint_reports")
    assert report["trigger"] == "sources"
    await retain_texts(wiki, "to entity Momofuku\nThree.", start=5)
    await compile_all(wiki)
    await work_once(wiki.database, scripted_compiler(), "worker")
    assert len(await wiki.rows("lint_reports")) == 1


async def test_forgetting_a_source_removes_mutes_of_its_names(wiki: Wiki) -> None:
    await retain_texts(wiki, "page entity Momofuku\nNoodles.", "hold Zanzibar")
    await compile_all(wiki)
    source = (await wiki.rows("sources", "created_at"))[-1]
    await mute_finding(wiki.database, wiki.scope, "plain_names", name="Zanzibar", reason="An island.")
    await mute_finding(wiki.database, wiki.scope, "plain_names", name="Momofuku", reason="A place.")
    await forget_source(wiki.database, wiki.scope, source["id"])
    await compile_all(wiki)
    assert [row["name"] for row in await wiki.rows("lint_mutes", "subject")] == ["Momofuku"]
    assert "lint_mutes.name" not in await found_in(wiki, "Zanzibar")
