"""A source is forgotten: its words are gone everywhere, and what rested on others too is written from those."""

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
from tests.compiler.story import Scribe, Story, cited, compile_all, pages, retain, story
from tests.wiki import Wiki, check

WORD = "Zyxglorb"


async def forget(wiki: Wiki, source_id, reason: str | None = None, compiler: Compiler | None = None) -> dict:
    await forget_source(wiki.database, wiki.scope, source_id, reason)
    return (await compile_all(wiki, compiler))[-1]


async def test_its_words_are_in_no_table_any_more(wiki: Wiki) -> None:
    sources = await retain(
        wiki,
        f"page entity Momofuku\nThe {WORD} is good.\nhold Chef {WORD}\nhold Paula",
        "to entity Momofuku\nWe went twice.\nhold Paula",
        f"page entity {WORD} House\nA house.\nlink Momofuku > {WORD} House",
        place=WORD,
    )
    await compile_all(wiki, story(caps=Caps(batch=1)))
    assert {"pages.body_md", "revisions.body_md", "mentions.name", "sources.content"} <= await found_in(wiki, WORD)
    for source_id in (sources[0], sources[2]):
        job = await forget(wiki, source_id)
    assert await found_in(wiki, WORD) == {"sources.metadata"}, "the second note says where it is from"
    assert (job["trigger"], job["status"]) == ("forget", "succeeded")
    assert (await pages(wiki))["Momofuku"]["body_md"] == "## Overview\n\n- We went twice."
    assert await cited(wiki) == {("Momofuku", "overview", "day-1")}
    mention = await wiki.row("mentions")
    assert (mention["name"], mention["mention_count"], len(mention["contexts"])) == ("Paula", 1, 1)
    await forget(wiki, sources[1])
    assert not await found_in(wiki, WORD)
    assert not await pages(wiki)
    assert not await wiki.rows("mentions")
    assert not await wiki.rows("links")


async def test_errors_of_jobs_say_nothing_of_it_any_more(wiki: Wiki) -> None:
    class Quoting(Story):
        async def plan(self, sources, knowledge):
            raise ValueError(f"cannot read {sources[0].content}")

    (source_id,) = await retain(wiki, f"page entity Momofuku\nThe {WORD}.")
    (job,) = await compile_all(wiki, story(Quoting()))
    assert WORD in job["error"]
    await forget(wiki, source_id)
    assert not await found_in(wiki, WORD)
    assert all(row["error"] is None or "erased" in row["error"] for row in await wiki.rows("compile_jobs"))


async def test_a_tombstone_says_what_was_forgotten_when_by_whom_and_why(wiki: Wiki) -> None:
    (first,) = await retain(wiki, f"page entity Momofuku\nThe {WORD}.")
    (second,) = await retain(wiki, f"page entity Momofuku\nThe {WORD} again.")
    checksums = [row["checksum"] for row in await wiki.rows("sources")]
    await compile_all(wiki)
    forgotten = await forget_source(wiki.database, wiki.scope, first, "Mara asked for it.")
    assert forgotten.versions == 2, "and its newer version"
    await compile_all(wiki)
    for row, source_id, checksum in zip(await wiki.rows("sources"), (first, second), checksums, strict=True):
        assert (row["id"], row["kind"], row["ref"], row["checksum"]) == (source_id, "daily_note", "day-0", checksum)
        assert (row["title"], row["content"], row["metadata"]) == (None, "", {})
        assert (row["forgotten_by"], row["forgotten_reason"]) == ("user:marco", "Mara asked for it.")
        assert row["forgotten_at"] is not None
    again = await forget_source(wiki.database, wiki.scope, first)
    assert (again.versions, again.job_id) == (0, None)


async def test_what_a_person_wrote_elsewhere_stays_and_what_was_said_meanwhile_is_erased(wiki: Wiki) -> None:
    made = await create_page(
        wiki.database, wiki.scope, PageDraft("entity", "Momofuku", sections=[SectionDraft("Mine.", "notes")])
    )
    (source_id,) = await retain(wiki, f"to entity Momofuku\nThe {WORD} is good.")
    await compile_all(wiki)
    await add_alias(wiki.database, wiki.scope, made.page_id, name="Momo")
    await update_page(wiki.database, wiki.scope, made.page_id, summary=f"Has a {WORD}.", tags=[WORD, "food"])
    await forget(wiki, source_id)
    assert not await found_in(wiki, WORD)
    page = await wiki.page(made.page_id)
    assert (page["body_md"], page["summary"], page["tags"]) == ("## Notes\n\nMine.", None, ["food"])
    states = await wiki.rows("revisions", "version")
    assert [row["erased_at"] is not None for row in states] == [True, True, True, False]
    assert [row["alias"] for row in await wiki.rows("aliases", "alias")] == ["momo", "momofuku"]
    with pytest.raises(NotFound, match="erased"):
        await restore_state(wiki.database, wiki.scope, made.page_id, 2)


async def test_a_page_that_cites_it_no_more_has_no_state_left_that_quotes_it(wiki: Wiki) -> None:
    said = f"The {WORD} was the best of all of them"
    (source_id,) = await retain(wiki, f"page entity Momofuku\n{said}.")
    await compile_all(wiki)
    page = (await pages(wiki))["Momofuku"]
    await update_page(wiki.database, wiki.scope, page["id"], body="## Other\n\nAll new.")
    await update_page(wiki.database, wiki.scope, page["id"], body="## Other\n\nAll new again.")
    await forget(wiki, source_id)
    assert not await found_in(wiki, WORD)
    assert (await wiki.page(page["id"]))["body_md"] == "## Other\n\nAll new again."


async def test_a_section_of_several_sources_is_written_from_the_others_and_a_list_follows(wiki: Wiki) -> None:
    one, two = await retain(wiki, f"page entity Momofuku\n{WORD}.", "to entity Momofuku\nTwo.")
    await compile_all(wiki)
    page = (await pages(wiki))["Momofuku"]
    await update_page(wiki.database, wiki.scope, page["id"], summary=f"A {WORD}.")
    listing = f"- [**Momofuku**](/wiki/entity/momofuku) — A {WORD}.\n- My own line."
    await create_page(wiki.database, wiki.scope, PageDraft("topic", "Toronto", body=f"## Places\n\n{listing}"))
    scribe = Scribe()
    await forget(wiki, one, compiler=story(scribe=scribe))
    assert [source.id for source in scribe.written[-1].sources] == [two]
    assert scribe.written[-1].body == ""
    found = (await pages(wiki))["Toronto"]["body_md"]
    assert found == "## Places\n\n- [**Momofuku**](/wiki/entity/momofuku)\n- My own line."


async def test_a_summary_that_outlived_one_source_is_gone_from_history_with_the_next(wiki: Wiki) -> None:
    sources = await retain(wiki, f"page entity Momofuku\n{WORD}.", "to entity Momofuku\nTwo.", "to entity Momofuku\n3.")
    await compile_all(wiki)
    page_id = (await pages(wiki))["Momofuku"]["id"]
    await update_page(wiki.database, wiki.scope, page_id, summary=f"A {WORD}.")
    await update_page(wiki.database, wiki.scope, page_id, tags=["food"])
    await forget(wiki, sources[1])
    assert (await wiki.page(page_id))["summary"] == f"A {WORD}."
    await forget(wiki, sources[0])
    assert not await found_in(wiki, WORD)


async def test_a_summary_of_a_person_stays_theirs(wiki: Wiki) -> None:
    one, _ = await retain(wiki, f"page entity Momofuku\n{WORD}.", "to entity Momofuku\nTwo.")
    await compile_all(wiki)
    page_id = (await pages(wiki))["Momofuku"]["id"]
    await update_page(wiki.database, wiki.scope, page_id, summary="My words.")
    await forget(wiki, one)
    await retain(wiki, "page entity Momofuku\nMore.", start=2)
    await compile_all(wiki)
    assert (await wiki.page(page_id))["summary"] == "My words."


async def test_what_agents_wrote_and_cited_is_taken_back_as_well(wiki: Wiki) -> None:
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


async def test_the_same_words_are_not_kept_again_and_others_are(wiki: Wiki) -> None:
    first, again = SourceDraft("url", "u", f"{WORD}."), SourceDraft("url", "u", "Something else.")
    saved = await add_source(wiki.database, wiki.scope, first)
    await forget_source(wiki.database, wiki.scope, saved.source_id)
    with pytest.raises(SourceForgotten):
        await add_source(wiki.database, wiki.scope, first)
    refused, kept = (await retain_sources(wiki.database, wiki.scope, [first, again])).items
    assert refused.error
    assert refused.error.code == "SOURCE_FORGOTTEN"
    assert kept.saved
    assert (kept.saved.version, kept.saved.created) == (2, True)
    with pytest.raises(NotFound):
        await record_mention(wiki.database, wiki.scope, name="X", source_id=saved.source_id)
    await compile_all(wiki)


async def test_a_plan_that_read_it_before_writes_nothing_of_it(wiki: Wiki) -> None:
    source_id, _ = await retain(wiki, f"page entity Momofuku\nThe {WORD}.", "page entity Toronto\nA city.")

    class Forgetful(Scribe):
        async def write(self, task) -> str:
            if not self.written:
                self.written.append(task)
                await forget_source(wiki.database, wiki.scope, source_id)
            return await super().write(task)

    await compile_all(wiki, story(scribe=Forgetful()))
    assert list(await pages(wiki)) == ["Toronto"]
    assert not await found_in(wiki, WORD)


async def test_a_writer_that_fails_again_and_again_keeps_nothing_from_being_forgotten(wiki: Wiki) -> None:
    one, _ = await retain(wiki, f"page entity Momofuku\n{WORD}.", "to entity Momofuku\nTwo.")
    await compile_all(wiki)

    class Broken(Scribe):
        async def write(self, task) -> str:
            raise RuntimeError

    await forget(wiki, one, compiler=story(scribe=Broken()))
    assert await found_in(wiki, WORD)
    for _ in range(4):
        await wiki.look.execute("UPDATE compile_jobs SET run_after = created_at WHERE status = 'pending'")
        await compile_all(wiki, story(scribe=Broken()))
    assert not await found_in(wiki, WORD)
    body = (await pages(wiki))["Momofuku"]["body_md"]
    assert body.startswith("## Overview\n\n- ")
    assert "“to entity Momofuku Two.” [^day-1]" in body


async def test_only_who_may_delete_may_forget(wiki: Wiki) -> None:
    (source_id,) = await retain(wiki, "page entity Momofuku\nFood.")
    for role in (Role.READER, Role.MEMBER, Role.SERVICE):
        with pytest.raises(Forbidden):
            await forget_source(wiki.database, wiki.acting(role).scope, source_id)
    stranger = await wiki.neighbour(Role.MEMBER)
    with pytest.raises(NotFound):
        await forget_source(stranger.database, stranger.scope, source_id)
    assert (await wiki.row("sources"))["forgotten_at"] is None
    await compile_all(wiki)


async def test_names_that_others_say_too_are_held_as_those_alone_would_have_them(wiki: Wiki) -> None:
    rules = Compiler(ExtractivePlanner(), ExtractiveWriter())
    texts = ["We saw the Falcon.", f"We saw the Falcon with {WORD} Smith."]
    drafts = [SourceDraft("daily_note", f"d{n}", text) for n, text in enumerate(texts)]
    found = (await retain_sources(wiki.database, wiki.scope, drafts)).items
    await compile_all(wiki, rules)
    before = await wiki.row("mentions", alias="falcon")
    assert WORD.lower() in str(before["cluster"]).lower()
    assert found[1].saved.source_id in CACHE.cached
    await forget(wiki, found[1].saved.source_id, compiler=rules)
    assert found[1].saved.source_id not in CACHE.cached
    after = await wiki.row("mentions", alias="falcon")
    assert after["mention_count"] == 1
    assert after["cluster"]["co_mentions"] == {}
    assert not await found_in(wiki, WORD)
    alone = await wiki.neighbour()
    await retain_sources(alone.database, alone.scope, drafts[:1])
    await compile_all(alone, rules)
    assert after["cluster"]["marks"] == (await alone.row("mentions", alias="falcon"))["cluster"]["marks"]


async def test_a_title_that_only_it_said_gives_way_to_another_name_everywhere(wiki: Wiki) -> None:
    one, _, _ = await retain(
        wiki,
        f"page entity {WORD} House | Momo | Mo\nThe {WORD}.",
        "to entity Momo\nWe went twice.",
        "page entity Baro\nNear **Momo**.",
    )
    await compile_all(wiki, story(Named(), caps=Caps(batch=1)))
    made = (await pages(wiki))[f"{WORD} House"]
    link, slug = f"[**{WORD} House**](/wiki/entity/{made['slug']})", made["slug"]
    draft = PageDraft("topic", "Toronto", body=f"## Places\n\n- {link}\n\nSee [[{slug}]].")
    await create_page(wiki.database, wiki.scope, draft)
    job = await forget(wiki, one)
    assert not await found_in(wiki, WORD)
    found = await pages(wiki)
    assert (found["Momo"]["id"], found["Momo"]["slug"]) == (made["id"], "momo")
    assert found["Toronto"]["body_md"] == "## Places\n\n- [**Momo**](/wiki/entity/momo)\n\nSee [[momo]]."
    targets = await wiki.rows("link_targets", "target", from_page_id=found["Toronto"]["id"])
    assert {row["to_page_id"] for row in targets} == {made["id"]}
    assert job["metrics"]["pages_retitled"] == 1
    assert [row["alias"] for row in await wiki.rows("aliases", "alias", page_id=made["id"])] == ["momo"], (
        "as for *Mo*, nobody else says it"
    )
    await check(wiki)


async def test_a_page_without_any_other_name_has_none(wiki: Wiki) -> None:
    for n in range(2):
        one, _ = await retain(wiki, f"page entity {WORD}{n}\nThe {WORD}.", f"to entity {WORD}{n}\nTwice.", start=2 * n)
        await compile_all(wiki)
        page = (await pages(wiki))[f"{WORD}{n}"]
        await update_page(wiki.database, wiki.scope, page["id"], body=f"{page['body_md']}\n\n## Mine\n\nI like it.")
        await wiki.look.execute("UPDATE sources SET content = 'Somewhere.' WHERE ref = $1", f"day-{2 * n + 1}")
        await request_passage_reindex(wiki.database, wiki.scope)
        await reindex_passages(wiki.database, wiki.scope)
        await forget(wiki, one)
    assert not await found_in(wiki, WORD)
    assert [page["slug"] for page in await wiki.rows("pages", "slug")] == ["untitled-entity", "untitled-entity-2"]


async def test_what_other_sources_say_in_the_same_words_is_nobodys_to_be_told(wiki: Wiki) -> None:
    words = "We had lunch with Priya at the old place."
    one, _ = await retain(wiki, f"page entity Momofuku\n{words}", f"to entity Momofuku\n{words}")
    await compile_all(wiki)
    job = await forget(wiki, one)
    assert words in (await pages(wiki))["Momofuku"]["body_md"]
    assert job["status"] == "succeeded"
    assert "repeating_page_ids" not in job["metrics"]


async def test_names_that_people_gave_stay_and_are_told(wiki: Wiki) -> None:
    page = await create_page(wiki.database, wiki.scope, PageDraft("entity", f"{WORD} House", aliases=["Momo"]))
    other = await create_page(
        wiki.database, wiki.scope, PageDraft("topic", "Toronto", body=f"## Mine\n\nThe {WORD} is as good as it gets.")
    )
    one, _ = await retain(wiki, f"to entity {WORD} House\nThe {WORD} is as good as it gets.", "to entity Momo\nTwice.")
    await compile_all(wiki)
    job = await forget(wiki, one)
    assert f"{WORD} House" in await pages(wiki)
    assert set(job["metrics"]["repeating_page_ids"]) == {str(page.page_id), str(other.page_id)}
    repeating = await find_pages_repeating(wiki.database, wiki.scope, job["id"])
    assert repeating == [f"entity/{WORD.lower()}-house", "topic/toronto"]


class Named(Story):
    """Knows pages by any of their names."""

    def card(self, known, type: str, title: str):
        return next(iter(known.get(title.lower(), ())), None)
