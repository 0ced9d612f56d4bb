"""Sources that are forgotten while jobs wait or run, and jobs that are interrupted while they forget."""

import pytest

from compiler.authors import ModelRefused
from compiler.forget import job
from compiler.jobs.worker import runner_for
from compiler.planner import NewPage, Plan, SectionProposal
from resolvers.jobs.queue import claim, release
from resolvers.sources.mentions import record_mention
from resolvers.sources.sources import SourceDraft, add_source, forget_source
from tests.compiler.forgotten.forgetting import found_in
from tests.compiler.scripted_compiler import (
    FailingWriter,
    ScriptedPlanner,
    ScriptedWriter,
    compile_all,
    pages_by_title,
    retain_texts,
    scripted_compiler,
)
from tests.wiki import Wiki

WORD = "Zyxglorb"
NAMES = ("Austin", "Boston", "Chicago", "Denver", "El Paso", "Fresno", "Galveston", "Houston")


async def mention(wiki: Wiki, name: str, *quotes: str) -> list:
    """Add a source for each of these quotes, which mentions the name; return their ids."""
    found = []
    for n, quote in enumerate(quotes):
        saved = await add_source(wiki.database, wiki.scope, SourceDraft("daily_note", f"day-{n}", quote))
        await record_mention(wiki.database, wiki.scope, name=name, source_id=saved.source_id, quote=quote)
        found.append(saved.source_id)
    return found


class Forgetful(ScriptedWriter):
    """A writer during whose first section a source is forgotten."""

    def __init__(self, wiki: Wiki, source_id) -> None:
        super().__init__()
        self.wiki, self.source_id = wiki, source_id

    async def write(self, task) -> str:
        if not self.written:
            self.written.append(task)
            await forget_source(self.wiki.database, self.wiki.scope, self.source_id)
        return await super().write(task)


async def test_a_sweep_that_runs_before_the_forgetting_does_not_quote_the_source(wiki: Wiki) -> None:
    *_, newest = await mention(
        wiki, "Chef Paula", "Chef Paula cooks.", "Chef Paula sings.", "Chef Paula left.", f"Chef Paula met the {WORD}."
    )
    await forget_source(wiki.database, wiki.scope, newest)
    jobs = await compile_all(wiki)
    assert [job["trigger"] for job in jobs] == ["sweep", "forget"]
    assert (await pages_by_title(wiki))["Chef Paula"]["summary"] == "Chef Paula left."
    assert not await found_in(wiki, WORD)


async def test_a_source_that_is_forgotten_during_a_sweep_is_not_quoted(wiki: Wiki) -> None:
    *_, newest = await mention(
        wiki, "Chef Paula", "Chef Paula cooks.", "Chef Paula sings.", "Chef Paula left.", f"Chef Paula met the {WORD}."
    )
    await compile_all(wiki, scripted_compiler(writer=Forgetful(wiki, newest)))
    assert (await pages_by_title(wiki))["Chef Paula"]["summary"] == "Chef Paula left."
    assert not await found_in(wiki, WORD)


async def test_a_plan_that_quotes_an_earlier_source_is_made_again_once_that_is_forgotten(wiki: Wiki) -> None:
    (earlier,) = await retain_texts(wiki, f"The {WORD} is good.")
    await compile_all(wiki)

    class Remembering(ScriptedPlanner):
        async def plan(self, sources, knowledge) -> Plan:
            known = (await knowledge.sources([earlier])).get(earlier)
            if known is None:
                return await super().plan(sources, knowledge)
            section = SectionProposal("overview", (earlier, sources[0].id))
            return Plan((NewPage("entity", "Momofuku", (section,), known.content),))

    await retain_texts(wiki, "page entity Momofuku\nFood.", start=1)
    await compile_all(wiki, scripted_compiler(Remembering(), Forgetful(wiki, earlier)))
    assert (await pages_by_title(wiki))["Momofuku"]["summary"] == "Momofuku is a entity."
    assert not await found_in(wiki, WORD)


async def test_a_source_is_forgotten_after_any_number_of_interruptions(
    wiki: Wiki, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job, "PAGES_PER_BATCH", 1)
    (source_id,) = await retain_texts(wiki, "\n".join(f"page entity {name}\nA {WORD}." for name in NAMES))
    await compile_all(wiki)
    await forget_source(wiki.database, wiki.scope, source_id)
    for _ in NAMES[1:]:
        claimed = await claim(wiki.database, "test")
        assert claimed
        attempt = runner_for(wiki.database, claimed, scripted_compiler())
        assert not await attempt.step()
        await release(wiki.database, claimed, attempt.metrics.stored)
    assert (await compile_all(wiki))[-1]["status"] == "succeeded"
    assert not await found_in(wiki, WORD)


async def test_stored_batches_do_not_let_a_forgetting_wait_longer_for_its_writer(wiki: Wiki) -> None:
    source_id, _ = await retain_texts(wiki, f"page entity Austin\nA {WORD}.", "to entity Austin\nA city.")
    await compile_all(wiki)
    await forget_source(wiki.database, wiki.scope, source_id)
    await wiki.connection.execute(
        "UPDATE compile_jobs SET attempt = 4, metrics = '{\"batches\": 9}' WHERE status = 'pending'"
    )
    assert (await compile_all(wiki, scripted_compiler(writer=FailingWriter())))[-1]["status"] == "succeeded"
    assert not await found_in(wiki, WORD)


async def test_a_source_is_forgotten_though_the_provider_refuses_the_key(wiki: Wiki) -> None:
    class Refused(ScriptedWriter):
        async def write(self, task) -> str:
            raise ModelRefused("The provider refuses the key.")

    source_id, _ = await retain_texts(wiki, f"page entity Austin\nA {WORD}.", "to entity Austin\nA city.")
    await compile_all(wiki)
    await forget_source(wiki.database, wiki.scope, source_id)
    await compile_all(wiki, scripted_compiler(writer=Refused()))
    for _ in range(4):
        await wiki.connection.execute("UPDATE compile_jobs SET run_after = now() WHERE status = 'pending'")
        await compile_all(wiki, scripted_compiler(writer=Refused()))
    assert not await found_in(wiki, WORD)
