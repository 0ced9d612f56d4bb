"""A page or a whole wiki is rebuilt from the sources that it cites."""

from uuid import UUID

import pytest

from compiler.compiler import Compiler
from compiler.extraction import ExtractivePlanner, ExtractiveWriter
from compiler.jobs.worker import runner_for
from compiler.rebuild import job
from resolvers.jobs.queue import claim, release
from resolvers.model.drafts import PageDraft, SectionDraft
from resolvers.pages.lifecycle import create_page, update_page
from resolvers.sources.compile_requests import rebuild_page, rebuild_wiki
from resolvers.sources.retain import retain_sources
from resolvers.sources.sources import SourceDraft
from tests.compiler.extraction.stories import TRIP
from tests.compiler.killed.crashes import random_sources, retain_drafts, rows
from tests.compiler.scripted_compiler import (
    ScriptedWriter,
    compile_all,
    pages_by_title,
    retain_texts,
    scripted_compiler,
)
from tests.wiki import Wiki

RULES = Compiler(ExtractivePlanner(), ExtractiveWriter())


async def retain_trip(wiki: Wiki) -> None:
    drafts = [
        SourceDraft("daily_note", source.ref, source.content, source.title, source.captured_at, dict(source.metadata))
        for source in TRIP
    ]
    await retain_sources(wiki.database, wiki.scope, drafts)


async def test_rebuilding_an_unchanged_wiki_changes_no_row(wiki: Wiki) -> None:
    await retain_trip(wiki)
    await compile_all(wiki, RULES)
    compiled = await rows(wiki)
    assert len(compiled["pages"]) >= 6
    await rebuild_wiki(wiki.database, wiki.scope)
    job = (await compile_all(wiki, RULES))[-1]
    assert await rows(wiki) == compiled
    assert (job["trigger"], job["metrics"]["pages_rebuilt"]) == ("rebuild", len(compiled["pages"]))


async def test_rebuilding_reverts_an_edit_and_keeps_it_in_the_history(wiki: Wiki) -> None:
    await retain_trip(wiki)
    await compile_all(wiki, RULES)
    compiled = {title: (page["body_md"], page["summary"]) for title, page in (await pages_by_title(wiki)).items()}
    edited = (await pages_by_title(wiki))["Franklin Barbecue"]
    await update_page(wiki.database, wiki.scope, edited["id"], body=edited["body_md"].replace("ribs", "beans"))
    await rebuild_page(wiki.database, wiki.scope, edited["id"])
    await compile_all(wiki, RULES)
    assert {
        title: (page["body_md"], page["summary"]) for title, page in (await pages_by_title(wiki)).items()
    } == compiled
    states = await wiki.rows("revisions", "version", page_id=edited["id"])
    assert [row["author_kind"] for row in states] == ["compiler", "user", "compiler"]
    assert states[-1]["edit_summary"] == "Rebuilt from 2 sources"


async def test_rebuilding_writes_only_citing_sections_each_from_its_sources(wiki: Wiki) -> None:
    draft = PageDraft("entity", "Momofuku", summary="Mine.", sections=[SectionDraft("Mine.", "related")])
    created = await create_page(wiki.database, wiki.scope, draft)
    first_id, second_id = await retain_texts(
        wiki, "to entity Momofuku # notes\nOne.", "to entity Momofuku # visits\nTwo."
    )
    await compile_all(wiki)
    writer = ScriptedWriter()
    await rebuild_page(wiki.database, wiki.scope, created.page_id)
    await compile_all(wiki, scripted_compiler(writer=writer))
    assert {task.slug: [source.id for source in task.sources] for task in writer.written} == {
        "notes": [first_id], "visits": [second_id],
    }  # fmt: skip
    assert all(task.body == "" for task in writer.written)
    page = await wiki.page(created.page_id)
    assert (page["version"], page["summary"]) == (2, "Mine.")
    assert "## Related\n\nMine." in page["body_md"]


async def test_rebuilding_updates_the_lines_of_lists(wiki: Wiki) -> None:
    topic = await create_page(wiki.database, wiki.scope, PageDraft("topic", "Lisbon"))
    await retain_texts(wiki, "page entity Momofuku\nOne.", "to entity Momofuku\nTwo.", city="Lisbon")
    await compile_all(wiki)
    line = "- [**Momofuku**](/wiki/entity/momofuku) — "
    assert f"{line}Momofuku is a entity." in (await wiki.page(topic.page_id))["body_md"]
    child = (await pages_by_title(wiki))["Momofuku"]
    await update_page(wiki.database, wiki.scope, child["id"], summary="Mine.")
    await rebuild_page(wiki.database, wiki.scope, topic.page_id)
    await compile_all(wiki)
    assert f"{line}Mine." in (await wiki.page(topic.page_id))["body_md"]
    await update_page(wiki.database, wiki.scope, child["id"], summary="Mine again.")
    await rebuild_page(wiki.database, wiki.scope, child["id"])
    await compile_all(wiki)
    assert f"{line}Mine again." in (await wiki.page(topic.page_id))["body_md"]


async def test_rebuilding_a_wiki_of_many_batches_reverts_only_the_edit(wiki: Wiki) -> None:
    await retain_drafts(wiki, random_sources(5))
    await compile_all(wiki)
    compiled = await rows(wiki)
    edited = (await wiki.rows("pages"))[3]
    await update_page(wiki.database, wiki.scope, edited["id"], body=f"{edited['body_md']}\n- Wrong.")
    await rebuild_wiki(wiki.database, wiki.scope)
    await compile_all(wiki)
    built = await rows(wiki)
    changed = {row[1] for row in built["pages"] if row not in compiled["pages"]}
    assert changed == {edited["slug"]}
    after = await wiki.page(edited["id"])
    assert (after["body_md"], after["version"]) == (edited["body_md"], 3)
    assert built["lists"] == compiled["lists"]
    assert built["placements"] == compiled["placements"]


async def test_a_rebuild_goes_on_after_any_number_of_interruptions(wiki: Wiki, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job, "PAGES_PER_BATCH", 1)
    names = ("Austin", "Boston", "Chicago", "Denver", "El Paso", "Fresno", "Galveston", "Houston")
    await retain_texts(wiki, *(f"page entity {name}\nA city." for name in names))
    await compile_all(wiki)
    await rebuild_wiki(wiki.database, wiki.scope)
    for _ in names[1:]:
        claimed = await claim(wiki.database, "test")
        assert claimed
        attempt = runner_for(wiki.database, claimed, scripted_compiler())
        assert not await attempt.step()
        await release(wiki.database, claimed, attempt.metrics.stored)
    rebuilt = (await compile_all(wiki))[-1]
    assert (rebuilt["status"], rebuilt["metrics"].get("pages_rebuilt")) == ("succeeded", len(names))


@pytest.mark.parametrize("is_released", [False, True])
async def test_a_rebuild_that_is_requested_while_one_is_under_way_rebuilds_all_pages(
    wiki: Wiki, monkeypatch: pytest.MonkeyPatch, is_released: bool
) -> None:
    monkeypatch.setattr(job, "PAGES_PER_BATCH", 1)
    await retain_texts(wiki, "page entity Austin\nA city.", "page entity Boston\nA city.")
    await compile_all(wiki)
    await rebuild_wiki(wiki.database, wiki.scope)
    claimed = await claim(wiki.database, "test")
    assert claimed
    attempt = runner_for(wiki.database, claimed, scripted_compiler())
    assert not await attempt.step()
    passed = await wiki.page(UUID(attempt.metrics.reached))
    await update_page(wiki.database, wiki.scope, passed["id"], body=f"{passed['body_md']}\n- Wrong.")
    if is_released:
        await release(wiki.database, claimed, attempt.metrics.stored)
    second_id = await rebuild_wiki(wiki.database, wiki.scope)
    assert await rebuild_wiki(wiki.database, wiki.scope) == second_id
    while not is_released and not await attempt.step():
        pass
    await compile_all(wiki)
    assert (await wiki.page(passed["id"]))["body_md"] == passed["body_md"]


async def test_a_page_that_is_being_rebuilt_is_rebuilt_again_on_request(wiki: Wiki) -> None:
    await retain_texts(wiki, "page entity Austin\nA city.")
    await compile_all(wiki)
    page_id = (await pages_by_title(wiki))["Austin"]["id"]
    first_id = await rebuild_page(wiki.database, wiki.scope, page_id)
    assert await rebuild_page(wiki.database, wiki.scope, page_id) == first_id
    assert await claim(wiki.database, "test")
    assert await rebuild_page(wiki.database, wiki.scope, page_id) != first_id
