"""Sweeps, rebuilds and forgetting use a model within its budget; forgetting does not wait for the model."""

from typing import Any

from compiler.models.meter import Budget
from compiler.models.models import Terms
from resolvers.sources.compile_requests import rebuild_page, rebuild_wiki, sweep
from resolvers.sources.sources import forget_source
from tests.compiler.forgotten.forgetting import found_in
from tests.compiler.models.scripted_model import ScriptedModel, page
from tests.compiler.scripted_compiler import compile_all, pages_by_title, retain_texts
from tests.compiler.test_sweep import add_mentioning_sources
from tests.wiki import Wiki

WORD = "Zyxglorb"
NAMES = [f"{letter}aro" for letter in "BCDFGHJKLMNPR"]


def planning(prompt: str) -> Any:
    return {"pages": [page(name, "s1") for name in NAMES if name in prompt]}


async def make_jobs_due(wiki: Wiki) -> None:
    await wiki.connection.execute("UPDATE compile_jobs SET run_after = created_at WHERE status = 'pending'")


async def test_the_model_rebuilds_a_page_and_its_usage_is_counted(wiki: Wiki) -> None:
    model = ScriptedModel(lambda prompt: {"pages": [page("Momofuku", "s1")]})
    await retain_texts(wiki, "Momofuku is a restaurant.")
    await compile_all(wiki, model.compiler())
    await rebuild_page(wiki.database, wiki.scope, (await pages_by_title(wiki))["Momofuku"]["id"])
    model.writing = lambda prompt: {"statements": [{"text": "Momofuku feeds people.", "sources": ["s1"]}]}
    job = (await compile_all(wiki, model.compiler()))[-1]
    assert (await pages_by_title(wiki))["Momofuku"]["body_md"] == "## Overview\n\nMomofuku feeds people. [^day-0]"
    assert job["metrics"]["usage"]["requests"] >= 1
    assert (await wiki.row("model_usage"))["requests"] == 2 + job["metrics"]["usage"]["requests"]


async def test_a_rebuild_above_the_budget_of_a_job_continues_in_another(wiki: Wiki) -> None:
    for n, name in enumerate(NAMES):
        await retain_texts(wiki, f"{name} is a restaurant.", start=n)
        await compile_all(wiki, ScriptedModel(planning).compiler())
    assert len(await pages_by_title(wiki)) == len(NAMES)
    await rebuild_wiki(wiki.database, wiki.scope)
    compiler = ScriptedModel(planning).compiler(Terms(budget=Budget(job_tokens=1)))
    await compile_all(wiki, compiler)
    await make_jobs_due(wiki)
    done = [job for job in await compile_all(wiki, compiler) if job["trigger"] == "rebuild"]
    assert [job["metrics"].get("pages_rebuilt") for job in done] == [10, 3]
    assert done[0]["metrics"]["stopped"].startswith("What a job may use")
    assert {job["status"] for job in done} == {"succeeded"}


async def test_rules_forget_a_source_if_the_budget_is_used_up(wiki: Wiki) -> None:
    source_ids = await retain_texts(wiki, f"Baro sells {WORD}.", "Baro is a restaurant.")
    plan = {"pages": [{"type": "entity", "title": "Baro", "sections": [{"slug": "notes", "sources": ["s1", "s2"]}]}]}
    await compile_all(wiki, ScriptedModel(lambda prompt: plan).compiler())
    assert "pages.body_md" in await found_in(wiki, WORD)
    await forget_source(wiki.database, wiki.scope, source_ids[0])
    model = ScriptedModel(planning)
    job = (await compile_all(wiki, model.compiler(Terms(budget=Budget(day_tokens=1)))))[-1]
    assert (job["trigger"], job["status"]) == ("forget", "succeeded")
    assert not model.prompts
    assert not await found_in(wiki, WORD)
    assert "Baro is a restaurant." in (await pages_by_title(wiki))["Baro"]["body_md"]


async def test_a_source_is_forgotten_though_the_model_is_unavailable(wiki: Wiki) -> None:
    source_ids = await retain_texts(wiki, f"Baro sells {WORD}.", "Baro is a restaurant.")
    plan = {"pages": [{"type": "entity", "title": "Baro", "sections": [{"slug": "notes", "sources": ["s1", "s2"]}]}]}
    await compile_all(wiki, ScriptedModel(lambda prompt: plan).compiler())
    await forget_source(wiki.database, wiki.scope, source_ids[0])
    unavailable = ScriptedModel(lambda prompt: ConnectionError("gone"), lambda prompt: ConnectionError("gone"))
    for _ in range(5):
        await make_jobs_due(wiki)
        job = (await compile_all(wiki, unavailable.compiler()))[-1]
    assert job["status"] == "succeeded"
    assert not await found_in(wiki, WORD)


async def test_a_sweep_above_the_daily_budget_continues_later(wiki: Wiki) -> None:
    await add_mentioning_sources(wiki, "Chef João", 0, 1, 2)
    await sweep(wiki.database, wiki.scope)
    model = ScriptedModel()
    await compile_all(wiki, model.compiler())
    assert model.prompts
    await add_mentioning_sources(wiki, "Chef Maria", 0, 1, 2)
    await sweep(wiki.database, wiki.scope)
    jobs = await compile_all(wiki, ScriptedModel().compiler(Terms(budget=Budget(day_tokens=1))))
    assert jobs[-2]["metrics"]["stopped"].startswith("What the tenant may use")
    assert (jobs[-1]["trigger"], jobs[-1]["status"]) == ("sweep", "pending")
    assert "Chef Maria" not in await pages_by_title(wiki)
    await make_jobs_due(wiki)
    await compile_all(wiki, ScriptedModel().compiler())
    assert "Chef Maria" in await pages_by_title(wiki)
