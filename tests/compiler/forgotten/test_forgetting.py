"""Forgetting a source erases its words everywhere, and rewrites sections from their other sources."""

import pytest

from compiler.compiler import Caps, Compiler
from compiler.extraction import ExtractivePlanner, ExtractiveWriter
from compiler.extraction.reading_cache import CACHE
from db.scope import Role
from resolvers.errors import Forbidden, NotFound
from resolvers.model.drafts import PageDraft, SectionDraft
from resolvers.pages.aliases import add_alias
from resolvers.pages.history import restore_state
from resolvers.pages.lifecycle import create_page, update_page
from resolvers.search.passages import reindex_passages, request_passage_reindex
from resolvers.sources.mentions import record_mention
from resolvers.sources.retain import retain_sources
from resolvers.sources.sources import (
    SourceDraft,
    SourceForgotten,
    add_source,
    cite_source,
    find_pages_repeating,
    forget_source,
)
from tests.compiler.forgotten.forgetting import found_in
from tests.compiler.scripted_compiler import (
    ScriptedPlanner,
    ScriptedWriter,
    citations,
    compile_all,
    pages_by_title,
    retain_texts,
    scripted_compiler,
)
from tests.wiki import Wiki, check_derived_rows

WORD = "Zyxglorb"


async def forget(wiki: Wiki, source_id, reason: str | None = None, compiler: Compiler | None = None) -> dict:
    await forget_source(wiki.database, wiki.scope, source_id, reason)
    return (await compile_all(wiki, compiler))[-1]


async def test_words_of_a_forgotten_source_are_in_no_table(wiki: Wiki) -> None:
    sources = await retain_texts(
        wiki,
        f"page entity Momofuku\nThe {WORD} is good.\nhold Chef {WORD}\nhold Paula",
        "to entity Momofuku\nWe went twice.\nhold Paula",
        f"page entity {WORD} House\nA house.\nlink Momofuku > {WORD} House",
        place=WORD,
    )
    await compile_all(wiki, scripted_compiler(caps=Caps(batch=1)))
    assert {"pages.body_md", "revisions.body_md", "mentions.name", "sources.content"} <= await found_in(wiki, WORD)
    for source_id in (sources[0], sources[2]):
        job = await forget(wiki, source_id)
    assert await found_in(wiki, WORD) == {"sources.metadata"}, "the metadata of the second note remain"
    assert (job["trigger"], job["status"]) == ("forget", "succeeded")
    assert (await pages_by_title(wiki))["Momofuku"]["body_md"] == "## Overview\n\n- We went twice."
    assert await citations(wiki) == {("Momofuku", "overview", "day-1")}
    mention = await wiki.row("mentions")
    assert (mention["name"], mention["mention_count"], len(mention["contexts"])) == ("Paula", 1, 1)
    await forget(wiki, sources[1])
    assert not await found_in(wiki, WORD)
    assert not await pages_by_title(wiki)
    assert not await wiki.rows("mentions")
    assert not await wiki.rows("links")


async def test_job_errors_that_quote_a_forgotten_source_are_erased(wiki: Wiki) -> None:
    class Quoting(ScriptedPlanner):
        async def plan(self, sources, knowledge):
            raise ValueError(f"cannot read {sources[0].content}")

    (source_id,) = await retain_texts(wiki, f"page entity Momofuku\nThe {WORD}.")
    (job,) = await compile_all(wiki, scripted_compiler(Quoting()))
    assert WORD in job["error"]
    await forget(wiki, source_id)
    assert not await found_in(wiki, WORD)
    assert all(row["error"] is None or "erased" in row["error"] for row in await wiki.rows("compile_jobs"))


async def test_a_tombstone_records_when_by_whom_and_why_a_source_was_forgotten(wiki: Wiki) -> None:
    (first,) = await retain_texts(wiki, f"page entity Momofuku\nThe {WORD}.")
    (second,) = await retain_texts(wiki, f"page entity Momofuku\nThe {WORD} again.")
    checksums = [row["checksum"] for row in await wiki.rows("sources")]
    await compile_all(wiki)
    forgotten = await forget_source(wiki.database, wiki.scope, first, "Mara asked for it.")
    assert forgotten.versions == 2, "its newer version is forgotten too"
    await compile_all(wiki)
    for row, source_id, checksum in zip(await wiki.rows("sources"), (first, second), checksums, strict=True):
        assert (row["id"], row["kind"], row["ref"], row["checksum"]) == (source_id, "daily_note", "day-0", checksum)
        assert (row["title"], row["content"], row["metadata"]) == (None, "", {})
        assert (row["forgotten_by"], row["forgotten_reason"]) == ("user:marco", "Mara asked for it.")
        assert row["forgotten_at"] is not None
    again = await forget_source(wiki.database, wiki.scope, first)
    assert (again.versions, again.job_id) == (0, None)


async def test_sections_of_people_stay_and_revisions_that_quote_are_erased(wiki: Wiki) -> None:
    created = await create_page(
        wiki.database, wiki.scope, PageDraft("entity", "Momofuku", sections=[SectionDraft("Mine.", "notes")])
    )
    (source_id,) = await retain_texts(wiki, f"to entity Momofuku\nThe {WORD} is good.")
    await compile_all(wiki)
    await add_alias(wiki.database, wiki.scope, created.page_id, name="Momo")
    await update_page(wiki.database, wiki.scope, created.page_id, summary=f"Has a {WORD}.", tags=[WORD, "food"])
    await forget(wiki, source_id)
    assert not await found_in(wiki, WORD)
    page = await wiki.page(created.page_id)
    assert (page["body_md"], page["summary"], page["tags"]) == ("## Notes\n\nMine.", None, ["food"])
    states = await wiki.rows("revisions", "version")
    assert [row["erased_at"] is not None for row in states] == [True, True, True, False]
    assert [row["alias"] for row in await wiki.rows("aliases", "alias")] == ["momo", "momofuku"]
    with pytest.raises(NotFound, match="erased"):
        await restore_state(wiki.database, wiki.scope, created.page_id, 2)


async def test_revisions_of_a_page_that_no_longer_cites_the_source_are_erased(wiki: Wiki) -> None:
    sentence = f"The {WORD} was the best of all of them"
    (source_id,) = await retain_texts(wiki, f"page entity Momofuku\n{sentence}.")
    await compile_all(wiki)
    page = (await pages_by_title(wiki))["Momofuku"]
    await update_page(wiki.database, wiki.scope, page["id"], body="## Other\n\nAll new.")
    await update_page(wiki.database, wiki.scope, page["id"], body="## Other\n\nAll new again.")
    await forget(wiki, source_id)
    assert not await found_in(wiki, WORD)
    assert (await wiki.page(page["id"]))["body_md"] == "## Other\n\nAll new again."


async def test_a_section_is_rewritten_from_its_other_sources_and_lists_follow(wiki: Wiki) -> None:
    first_id, second_id = await retain_texts(wiki, f"page entity Momofuku\n{WORD}.", "to entity Momofuku\nTwo.")
    await compile_all(wiki)
    page = (await pages_by_title(wiki))["Momofuku"]
    await update_page(wiki.database, wiki.scope, page["id"], summary=f"A {WORD}.")
    listing = f"- [**Momofuku**](/wiki/entity/momofuku) — A {WORD}.\n- My own line."
    await create_page(wiki.database, wiki.scope, PageDraft("topic", "Toronto", body=f"## Places\n\n{listing}"))
    writer = ScriptedWriter()
    await forget(wiki, first_id, compiler=scripted_compiler(writer=writer))
    assert [source.id for source in writer.written[-1].sources] == [second_id]
    assert writer.written[-1].body == ""
    found = (await pages_by_title(wiki))["Toronto"]["body_md"]
    assert found == "## Places\n\n- [**Momofuku**](/wiki/entity/momofuku)\n- My own line."


async def test_a_summary_is_erased_from_history_with_the_source_that_it_quotes(wiki: Wiki) -> None:
    sources = await retain_texts(
        wiki, f"page entity Momofuku\n{WORD}.", "to entity Momofuku\nTwo.", "to entity Momofuku\n3."
    )
    await compile_all(wiki)
    page_id = (await pages_by_title(wiki))["Momofuku"]["id"]
    await update_page(wiki.database, wiki.scope, page_id, summary=f"A {WORD}.")
    await update_page(wiki.database, wiki.scope, page_id, tags=["food"])
    await forget(wiki, sources[1])
    assert (await wiki.page(page_id))["summary"] == f"A {WORD}."
    await forget(wiki, sources[0])
    assert not await found_in(wiki, WORD)


async def test_a_summary_by_a_person_stays(wiki: Wiki) -> None:
    source_id, _ = await retain_texts(wiki, f"page entity Momofuku\n{WORD}.", "to entity Momofuku\nTwo.")
    await compile_all(wiki)
    page_id = (await pages_by_title(wiki))["Momofuku"]["id"]
    await update_page(wiki.database, wiki.scope, page_id, summary="My words.")
    await forget(wiki, source_id)
    await retain_texts(wiki, "page entity Momofuku\nMore.", start=2)
    await compile_all(wiki)
    assert (await wiki.page(page_id))["summary"] == "My words."


async def test_sections_that_agents_wrote_with_a_citation_are_removed(wiki: Wiki) -> None:
    saved = await add_source(wiki.database, wiki.scope, SourceDraft("url", "u", f"About {WORD}.", title=WORD))
    page = await create_page(
        wiki.database, wiki.scope,
        PageDraft("topic", "Toronto", sections=[SectionDraft(f"It has {WORD}.", "notes"), SectionDraft("x", "recent")]),
    )  # fmt: skip
    await cite_source(
        wiki.database, wiki.scope, page_id=page.page_id, section_slug="notes", source_id=saved.source_id,
        summary=f"That there is {WORD}.",
    )  # fmt: skip
    await record_mention(wiki.database, wiki.scope, name=WORD, source_id=saved.source_id, quote=f"See {WORD}.")
    await forget(wiki, saved.source_id)
    assert not await found_in(wiki, WORD)
    assert (await wiki.page(page.page_id))["body_md"] == "## Recent\n\nx"


async def test_a_forgotten_text_is_refused_and_a_new_version_is_stored(wiki: Wiki) -> None:
    first, second = SourceDraft("url", "u", f"{WORD}."), SourceDraft("url", "u", "Something else.")
    saved = await add_source(wiki.database, wiki.scope, first)
    await forget_source(wiki.database, wiki.scope, saved.source_id)
    with pytest.raises(SourceForgotten):
        await add_source(wiki.database, wiki.scope, first)
    refused, stored = (await retain_sources(wiki.database, wiki.scope, [first, second])).items
    assert refused.error
    assert refused.error.code == "SOURCE_FORGOTTEN"
    assert stored.saved
    assert (stored.saved.version, stored.saved.created) == (2, True)
    with pytest.raises(NotFound):
        await record_mention(wiki.database, wiki.scope, name="X", source_id=saved.source_id)
    await compile_all(wiki)


async def test_a_plan_made_before_forgetting_writes_nothing_of_the_source(wiki: Wiki) -> None:
    source_id, _ = await retain_texts(wiki, f"page entity Momofuku\nThe {WORD}.", "page entity Toronto\nA city.")

    class Forgetful(ScriptedWriter):
        async def write(self, task) -> str:
            if not self.written:
                self.written.append(task)
                await forget_source(wiki.database, wiki.scope, source_id)
            return await super().write(task)

    await compile_all(wiki, scripted_compiler(writer=Forgetful()))
    assert list(await pages_by_title(wiki)) == ["Toronto"]
    assert not await found_in(wiki, WORD)


async def test_a_source_is_forgotten_though_the_writer_always_fails(wiki: Wiki) -> None:
    source_id, _ = await retain_texts(wiki, f"page entity Momofuku\n{WORD}.", "to entity Momofuku\nTwo.")
    await compile_all(wiki)

    class Broken(ScriptedWriter):
        async def write(self, task) -> str:
            raise RuntimeError

    await forget(wiki, source_id, compiler=scripted_compiler(writer=Broken()))
    assert await found_in(wiki, WORD)
    for _ in range(4):
        await wiki.connection.execute("UPDATE compile_jobs SET run_after = created_at WHERE status = 'pending'")
        await compile_all(wiki, scripted_compiler(writer=Broken()))
    assert not await found_in(wiki, WORD)
    body = (await pages_by_title(wiki))["Momofuku"]["body_md"]
    assert body.startswith("## Overview\n\n- ")
    assert "“to entity Momofuku Two.” [^day-1]" in body


async def test_readers_members_and_services_cannot_forget_sources(wiki: Wiki) -> None:
    (source_id,) = await retain_texts(wiki, "page entity Momofuku\nFood.")
    for role in (Role.READER, Role.MEMBER, Role.SERVICE):
        with pytest.raises(Forbidden):
            await forget_source(wiki.database, wiki.with_role(role).scope, source_id)
    stranger = await wiki.neighbour(Role.MEMBER)
    with pytest.raises(NotFound):
        await forget_source(stranger.database, stranger.scope, source_id)
    assert (await wiki.row("sources"))["forgotten_at"] is None
    await compile_all(wiki)


async def test_mentions_are_recounted_from_the_other_sources_alone(wiki: Wiki) -> None:
    rules = Compiler(ExtractivePlanner(), ExtractiveWriter())
    texts = ["We saw the Falcon.", f"We saw the Falcon with {WORD} Smith."]
    drafts = [SourceDraft("daily_note", f"d{n}", text) for n, text in enumerate(texts)]
    items = (await retain_sources(wiki.database, wiki.scope, drafts)).items
    await compile_all(wiki, rules)
    before = await wiki.row("mentions", alias="falcon")
    assert WORD.lower() in str(before["cluster"]).lower()
    assert items[1].saved.source_id in CACHE.cached
    await forget(wiki, items[1].saved.source_id, compiler=rules)
    assert items[1].saved.source_id not in CACHE.cached
    after = await wiki.row("mentions", alias="falcon")
    assert after["mention_count"] == 1
    assert after["cluster"]["co_mentions"] == {}
    assert not await found_in(wiki, WORD)
    other = await wiki.neighbour()
    await retain_sources(other.database, other.scope, drafts[:1])
    await compile_all(other, rules)
    assert after["cluster"]["marks"] == (await other.row("mentions", alias="falcon"))["cluster"]["marks"]


async def test_a_title_of_the_forgotten_source_is_replaced_by_another_name(wiki: Wiki) -> None:
    source_id, _, _ = await retain_texts(
        wiki,
        f"page entity {WORD} House | Momo | Mo\nThe {WORD}.",
        "to entity Momo\nWe went twice.",
        "page entity Baro\nNear **Momo**.",
    )
    await compile_all(wiki, scripted_compiler(Named(), caps=Caps(batch=1)))
    house = (await pages_by_title(wiki))[f"{WORD} House"]
    link, slug = f"[**{WORD} House**](/wiki/entity/{house['slug']})", house["slug"]
    draft = PageDraft("topic", "Toronto", body=f"## Places\n\n- {link}\n\nSee [[{slug}]].")
    await create_page(wiki.database, wiki.scope, draft)
    job = await forget(wiki, source_id)
    assert not await found_in(wiki, WORD)
    found = await pages_by_title(wiki)
    assert (found["Momo"]["id"], found["Momo"]["slug"]) == (house["id"], "momo")
    assert found["Toronto"]["body_md"] == "## Places\n\n- [**Momo**](/wiki/entity/momo)\n\nSee [[momo]]."
    targets = await wiki.rows("link_targets", "target", from_page_id=found["Toronto"]["id"])
    assert {row["to_page_id"] for row in targets} == {house["id"]}
    assert job["metrics"]["pages_retitled"] == 1
    assert [row["alias"] for row in await wiki.rows("aliases", "alias", page_id=house["id"])] == ["momo"], (
        "no other source names *Mo*"
    )
    await check_derived_rows(wiki)


async def test_a_page_without_another_name_becomes_untitled(wiki: Wiki) -> None:
    for n in range(2):
        source_id, _ = await retain_texts(
            wiki, f"page entity {WORD}{n}\nThe {WORD}.", f"to entity {WORD}{n}\nTwice.", start=2 * n
        )
        await compile_all(wiki)
        page = (await pages_by_title(wiki))[f"{WORD}{n}"]
        await update_page(wiki.database, wiki.scope, page["id"], body=f"{page['body_md']}\n\n## Mine\n\nI like it.")
        await wiki.connection.execute("UPDATE sources SET content = 'Somewhere.' WHERE ref = $1", f"day-{2 * n + 1}")
        await request_passage_reindex(wiki.database, wiki.scope)
        await reindex_passages(wiki.database, wiki.scope)
        await forget(wiki, source_id)
    assert not await found_in(wiki, WORD)
    assert [page["slug"] for page in await wiki.rows("pages", "slug")] == ["untitled-entity", "untitled-entity-2"]


async def test_words_that_other_sources_repeat_are_not_reported(wiki: Wiki) -> None:
    words = "We had lunch with Priya at the old place."
    source_id, _ = await retain_texts(wiki, f"page entity Momofuku\n{words}", f"to entity Momofuku\n{words}")
    await compile_all(wiki)
    job = await forget(wiki, source_id)
    assert words in (await pages_by_title(wiki))["Momofuku"]["body_md"]
    assert job["status"] == "succeeded"
    assert "repeating_page_ids" not in job["metrics"]


async def test_pages_of_people_that_repeat_the_source_are_reported(wiki: Wiki) -> None:
    page = await create_page(wiki.database, wiki.scope, PageDraft("entity", f"{WORD} House", aliases=["Momo"]))
    other = await create_page(
        wiki.database, wiki.scope, PageDraft("topic", "Toronto", body=f"## Mine\n\nThe {WORD} is as good as it gets.")
    )
    source_id, _ = await retain_texts(
        wiki, f"to entity {WORD} House\nThe {WORD} is as good as it gets.", "to entity Momo\nTwice."
    )
    await compile_all(wiki)
    job = await forget(wiki, source_id)
    assert f"{WORD} House" in await pages_by_title(wiki)
    assert set(job["metrics"]["repeating_page_ids"]) == {str(page.page_id), str(other.page_id)}
    repeating = await find_pages_repeating(wiki.database, wiki.scope, job["id"])
    assert repeating == [f"entity/{WORD.lower()}-house", "topic/toronto"]


class Named(ScriptedPlanner):
    """A planner that finds pages by any of their names."""

    def card(self, known, type: str, title: str):
        return next(iter(known.get(title.lower(), ())), None)
