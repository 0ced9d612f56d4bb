"""A compile makes and updates pages from sources."""

import logging
from dataclasses import replace

import pytest

from compiler.compiler import Caps
from compiler.jobs.worker import work_once
from compiler.planner import HeldName, LinkProposal, NewPage, PageName, PageUpdate, Plan, SectionProposal
from content.names import normalise
from db.ids import new_id
from resolvers.errors import BadInput
from resolvers.model.drafts import PageDraft, SectionDraft
from resolvers.pages.lifecycle import archive_page, create_page
from resolvers.sources.mentions import record_mention
from tests.compiler.scripted_compiler import (
    ScriptedPlanner,
    ScriptedWriter,
    citations,
    compile_all,
    pages_by_title,
    retain_texts,
    scripted_compiler,
)
from tests.recording_database import RecordingDatabase
from tests.wiki import Wiki


async def test_a_source_becomes_a_page_that_cites_it(wiki: Wiki) -> None:
    (source_id,) = await retain_texts(wiki, "page entity Momofuku Daishō | Momo\nKorean food in Toronto.")
    (job,) = await compile_all(wiki)
    page = (await pages_by_title(wiki))["Momofuku Daishō"]
    assert page["body_md"] == "## Overview\n\n- Korean food in Toronto."
    assert (page["slug"], page["summary"], page["status"]) == (
        "momofuku-daisho", "Momofuku Daishō is a entity.", "active",
    )  # fmt: skip
    assert page["last_compiled_at"] is not None
    assert {row["alias"]: row["source"] for row in await wiki.rows("aliases")} == {
        "momofuku daisho": "compiler", "momo": "compiler",
    }  # fmt: skip
    assert (await wiki.row("section_sources"))["source_id"] == source_id
    assert (await wiki.row("sections"))["last_source_at"] is not None
    revision = await wiki.row("revisions")
    assert (revision["author_kind"], revision["author_id"]) == ("compiler", "cairn")
    assert job["status"] == "succeeded"
    counters = ("sources_read", "pages_created", "sections_written", "batches")
    assert {name: job["metrics"][name] for name in counters} == {
        "sources_read": 1, "pages_created": 1, "sections_written": 1, "batches": 1,
    }  # fmt: skip
    assert job["metrics"]["usage"] == {"input_tokens": 10}


async def test_an_update_changes_and_cites_only_its_section(wiki: Wiki) -> None:
    await retain_texts(wiki, "page entity Momofuku\nA restaurant.")
    await compile_all(wiki)
    await retain_texts(wiki, "to entity Momofuku # visits\nWe went on Tuesday.", "hold Somebody", start=1)
    await compile_all(wiki)
    page = (await pages_by_title(wiki))["Momofuku"]
    assert page["body_md"] == "## Overview\n\n- A restaurant.\n\n## Visits\n\n- We went on Tuesday."
    assert page["version"] == 2
    assert await citations(wiki) == {("Momofuku", "overview", "day-0"), ("Momofuku", "visits", "day-1")}


async def test_the_writer_is_given_every_source_of_the_section(wiki: Wiki) -> None:
    writer = ScriptedWriter()
    await retain_texts(wiki, "page entity Momofuku\nOne.")
    await compile_all(wiki, scripted_compiler(writer=writer))
    await retain_texts(wiki, "to entity Momofuku\nTwo.", start=1)
    await compile_all(wiki, scripted_compiler(writer=writer))
    last = writer.written[-1]
    assert [source.ref for source in last.sources] == ["day-0", "day-1"]
    assert (last.body, last.page_aliases, last.heading) == ("- One.", frozenset({"momofuku"}), "Overview")


async def test_a_proposed_page_that_exists_is_updated(wiki: Wiki) -> None:
    draft = PageDraft("entity", "Momofuku", summary="Mine.", aliases=["Momo"], sections=[SectionDraft("Old.", "notes")])
    await create_page(wiki.database, wiki.scope, draft)
    await retain_texts(
        wiki, "page entity Momo\nNew.", "page entity Momofukuu Restaurants\nx", "page topic Momofuku\nOther."
    )
    (job,) = await compile_all(wiki, scripted_compiler(ScriptedPlanner(is_blind=True)))
    assert {(row["type"], row["title"]) for row in await wiki.rows("pages")} == {
        ("entity", "Momofuku"), ("entity", "Momofukuu Restaurants"), ("topic", "Momofuku"),
    }  # fmt: skip
    mine = await wiki.row("pages", type="entity", title="Momofuku")
    assert (mine["summary"], mine["body_md"]) == ("Mine.", "## Notes\n\nOld.\n\n## Overview\n\n- day-0 names it.")
    assert job["metrics"]["alias_dedup_merged"] == 1
    assert job["metrics"]["duplicate_candidates_count"] == 1


async def test_similar_names_of_one_type_are_merged_unless_numbers_differ(wiki: Wiki) -> None:
    for type, title in (("entity", "Taberna dos Mercadores"), ("entity", "Taberna dos Mercadores Sala 12")):
        await create_page(wiki.database, wiki.scope, PageDraft(type, title))
    await retain_texts(
        wiki, "page entity Taberna dos Mercadore\nFish.", "page entity Taberna dos Mercadores Sala 13\nMeat.",
        "page topic Taberna dos Mercadores\nOther.",
    )  # fmt: skip
    (job,) = await compile_all(wiki)
    found = [(row["type"], row["title"]) for row in await wiki.rows("pages", "title, type")]
    assert sorted(found) == [
        ("entity", "Taberna dos Mercadores"), ("entity", "Taberna dos Mercadores Sala 12"),
        ("entity", "Taberna dos Mercadores Sala 13"), ("topic", "Taberna dos Mercadores"),
    ]  # fmt: skip
    assert job["metrics"]["fuzzy_dedupe_merges"] == 1
    assert ("Taberna dos Mercadores", "overview", "day-0") in await citations(wiki)


async def test_an_archived_page_of_the_same_slug_is_unarchived(wiki: Wiki) -> None:
    draft = PageDraft("entity", "Momofuku", sections=[SectionDraft("Old.", "notes")])
    page_id = (await create_page(wiki.database, wiki.scope, draft)).page_id
    await archive_page(wiki.database, wiki.scope, page_id)
    await retain_texts(wiki, "page entity Momofuku\nNew.")
    (job,) = await compile_all(wiki)
    page = await wiki.page(page_id)
    assert (page["status"], page["body_md"]) == ("active", "## Notes\n\nOld.\n\n## Overview\n\n- New.")
    assert job["metrics"]["pages_resurrected"] == 1


async def test_changes_of_less_than_five_percent_are_not_written(wiki: Wiki) -> None:
    long = "word " * 100
    await retain_texts(wiki, f"page entity Momofuku\n{long}")
    await compile_all(wiki)

    class Rewording(ScriptedWriter):
        async def write(self, task) -> str:
            return task.body.replace(" ", "\n", 3) + " 2"

    await retain_texts(wiki, "to entity Momofuku\nAgain.", start=1)
    (_, job) = await compile_all(wiki, scripted_compiler(writer=Rewording()))
    assert (await pages_by_title(wiki))["Momofuku"]["version"] == 1
    assert job["metrics"]["sections_skipped"] == 1
    assert ("Momofuku", "overview", "day-1") in await citations(wiki), (
        "the source is cited though the section is not written"
    )


async def test_titles_in_bold_become_links_and_links_to_nowhere_become_text(wiki: Wiki) -> None:
    await retain_texts(
        wiki,
        "page entity Momofuku\nIn **Toronto**, see [[Nowhere]] and [this](/wiki/entity/gone) and [[Toronto]].",
        "page topic Toronto\nHas **Momofuku**, and **Toronto** itself.",
    )
    (job,) = await compile_all(wiki)
    found = await pages_by_title(wiki)
    assert found["Momofuku"]["body_md"].endswith(
        "- In [**Toronto**](/wiki/topic/toronto), see Nowhere and this and [[Toronto]]."
    )
    assert found["Toronto"]["body_md"].endswith("- Has [**Momofuku**](/wiki/entity/momofuku), and **Toronto** itself.")
    assert job["metrics"]["dropped"] == {"stray_link": 2}
    assert (found["Momofuku"]["id"], found["Toronto"]["id"]) in await wiki.references()


async def test_invalid_parts_of_a_plan_are_dropped_and_counted(wiki: Wiki) -> None:
    (source_id,) = await retain_texts(wiki, "page entity Momofuku\nFood.")
    unknown_id = new_id()
    foreign_id = await (await wiki.neighbour()).add_source()
    section = SectionProposal("overview", (source_id,))
    extra = Plan(
        (
            NewPage("gossip", "A", (section,)),
            NewPage("entity", " ??? ", (section,)),
            NewPage("entity", "B", (SectionProposal("overview", (unknown_id,)),)),
            NewPage(
                "entity",
                "C",
                (SectionProposal("overview", (source_id, foreign_id)), SectionProposal(" ", (source_id,))),
            ),
            NewPage("entity", "x" * 2000, (section,)),
            NewPage("entity", "D\0", (section,), summary="\0"),
        ),
        (PageUpdate(unknown_id, (section,)),),
        (HeldName("N", unknown_id, "q"), HeldName("!!", source_id, "q"), HeldName("Name", source_id, "q\0", "gossip")),
        (
            LinkProposal(PageName(id=unknown_id), PageName(type="entity", title="Momofuku"), (source_id,)),
            LinkProposal(PageName(type="entity", title="C"), PageName(type="entity", title="C"), (source_id,)),
            LinkProposal(PageName(type="entity", title="C"), PageName(type="entity", title="Momofuku"), (unknown_id,)),
        ),
    )
    (job,) = await compile_all(wiki, scripted_compiler(ScriptedPlanner(extra)))
    assert job["status"] == "succeeded"
    assert set(await pages_by_title(wiki)) == {"Momofuku", "C"}
    assert await citations(wiki) == {("Momofuku", "overview", "day-0"), ("C", "overview", "day-0")}
    assert (await wiki.row("mentions"))["suggested_type"] is None
    dropped = job["metrics"]["dropped"]
    assert dropped["unknown_type"] == 2
    assert dropped["blank_slug"] == 3
    assert dropped["unknown_page"] == 1
    assert dropped["unknown_source"] == 4
    assert dropped["bad_link"] == 2
    assert dropped["bad_alias"] == 1


@pytest.mark.parametrize("level", [logging.INFO, logging.DEBUG])
async def test_dropped_texts_are_logged_only_for_debugging(
    wiki: Wiki, caplog: pytest.LogCaptureFixture, level: int
) -> None:
    caplog.set_level(level)
    (source_id,) = await retain_texts(wiki, "page entity Momofuku\nFood.")
    page = NewPage("entity", "Toronto", (SectionProposal("overview", (source_id,)),), summary="The zylophon is red.\0")
    (job,) = await compile_all(wiki, scripted_compiler(ScriptedPlanner(Plan((page,)))))
    assert job["metrics"]["dropped"]["bad_summary"] == 1
    assert ("zylophon" in caplog.text) == (level == logging.DEBUG)


async def test_a_mention_counts_once_per_source_and_can_be_promoted(wiki: Wiki) -> None:
    await retain_texts(wiki, "hold Chef João\nhold Chef Joao", "hold Chef João", "hold Other")
    await compile_all(wiki)
    row = await wiki.row("mentions", alias="chef joao")
    assert (row["mention_count"], row["status"], row["cluster"]) == (2, "open", {"seen": "day-1"})
    await retain_texts(wiki, "promote entity Chef João\nA cook.", start=3)
    (_, job) = await compile_all(wiki)
    row = await wiki.row("mentions", alias="chef joao")
    page = (await pages_by_title(wiki))["Chef João"]
    assert (row["status"], row["promoted_page_id"]) == ("promoted", page["id"])
    assert job["metrics"]["mentions_promoted"] == 1


async def test_an_ignored_mention_gets_no_page(wiki: Wiki) -> None:
    from resolvers.sources.mentions import ignore_mention

    source_id = await wiki.add_source()
    mention = await record_mention(wiki.database, wiki.scope, name="Chef João", source_id=source_id)
    await ignore_mention(wiki.database, wiki.scope, mention.mention_id)
    await retain_texts(wiki, "promote entity Chef João\nA cook.")
    (job,) = await compile_all(wiki)
    assert await pages_by_title(wiki) == {}
    assert job["metrics"]["dropped"]["ignored_name"] == 1


async def test_links_record_their_reasons(wiki: Wiki) -> None:
    city = {"city": "Toronto", "journal_id": "Trip"}
    await create_page(wiki.database, wiki.scope, PageDraft("topic", "Toronto, Ontario"))
    await create_page(wiki.database, wiki.scope, PageDraft("topic", "Trip"))
    first, _ = await retain_texts(
        wiki, "page entity Momofuku\nOne.\npage entity Canoe\nTwo.\nlink Canoe > Momofuku",
        "to entity Momofuku\nThree.", **city,
    )  # fmt: skip
    (job,) = await compile_all(wiki)
    titles = {row["id"]: row["title"] for row in await wiki.rows("pages")}
    links = {(titles[a], titles[b]): reasons for (a, b), reasons in (await wiki.references()).items()}
    assert links == {
        ("Canoe", "Momofuku"): {"planner", f"co_mention:{first}"},
        ("Momofuku", "Canoe"): {f"co_mention:{first}"},
        ("Momofuku", "Toronto, Ontario"): {"deterministic:city:toronto-ontario"},
        ("Momofuku", "Trip"): {"deterministic:journal:trip"},
        ("Toronto, Ontario", "Momofuku"): {"text"},
        ("Trip", "Momofuku"): {"text"},
    }
    metrics = job["metrics"]
    assert (metrics["links_written_deterministic"], metrics["links_written_co_mention"]) == (2, 2)
    assert (await pages_by_title(wiki))["Momofuku"]["hubness_score"] == 3


async def test_an_error_of_the_aggregation_is_a_metric_of_its_job(wiki: Wiki, monkeypatch: pytest.MonkeyPatch) -> None:
    async def broken(*_: object) -> None:
        raise BadInput("The lists could not be written.")

    await retain_texts(wiki, "page entity Momofuku\nOne.")
    with monkeypatch.context() as patched:
        patched.setattr("compiler.leaf_pass.aggregate", broken)
        await work_once(wiki.database, scripted_compiler(), "test")
    (job,) = await wiki.rows("compile_jobs")
    assert job["metrics"]["aggregation_error"] == "The lists could not be written."
    assert await pages_by_title(wiki) == {}, "the batch is whole or absent"
    await wiki.connection.execute("UPDATE compile_jobs SET run_after = now() WHERE id = $1", job["id"])
    (job,) = await compile_all(wiki)
    assert (job["status"], job["metrics"]["aggregation_error"]) == ("succeeded", None)


async def test_a_source_adds_at_most_ten_links(wiki: Wiki) -> None:
    await retain_texts(wiki, "\n".join(f"page entity Place {chr(65 + n) * 3}\nFood." for n in range(9)))
    await compile_all(wiki)
    assert len(await wiki.references()) == 10


async def test_a_job_at_its_cap_succeeds_and_another_job_continues(wiki: Wiki) -> None:
    caps = Caps(batch=4, sources=8, new_pages=6)
    await retain_texts(wiki, *(f"page entity {word(n)}\nIt is {n}." for n in range(20)))
    jobs = await compile_all(wiki, scripted_compiler(caps=caps))
    assert len(await pages_by_title(wiki)) == 20
    assert [job["status"] for job in jobs] == ["succeeded"] * len(jobs)
    assert [job["metrics"]["pages_created"] for job in jobs] == [4, 4, 4, 4, 4]
    buckets = [int(job["dedupe_key"].rpartition(":")[2]) for job in jobs]
    assert buckets == list(range(buckets[0], buckets[0] + 5))
    assert {job["trigger"] for job in jobs} == {"retain"}


async def test_a_batch_is_cut_at_the_cap_but_a_single_source_never_is(wiki: Wiki) -> None:
    many = "\n".join(f"page entity {word(n)}\nIt is {n}." for n in range(100, 110))
    await retain_texts(wiki, *(f"page entity {word(n)}\nIt is {n}." for n in range(8)), many)
    planner = ScriptedPlanner()
    jobs = await compile_all(wiki, scripted_compiler(planner, caps=Caps(batch=9, new_pages=5)))
    assert [job["metrics"]["pages_created"] for job in jobs] == [5, 3, 10]
    assert planner.plans == 5, "two of the five plans were cut"


async def test_a_source_retained_while_the_job_runs_is_read(wiki: Wiki) -> None:
    class Late(ScriptedPlanner):
        async def plan(self, sources, knowledge):
            if self.plans == 0:
                await retain_texts(wiki, "page entity Late\nIt came.", start=9)
            return await super().plan(sources, knowledge)

    await retain_texts(wiki, "page entity Early\nIt was.")
    jobs = await compile_all(wiki, scripted_compiler(Late()))
    assert set(await pages_by_title(wiki)) == {"Early", "Late"}
    assert len(jobs) == 1


async def test_an_edit_during_a_compile_is_not_lost(wiki: Wiki) -> None:
    await retain_texts(wiki, "page entity Momofuku\nFood.")
    await compile_all(wiki)
    page_id = (await pages_by_title(wiki))["Momofuku"]["id"]
    writer = ScriptedWriter()

    class Slow(ScriptedWriter):
        async def write(self, task) -> str:
            from resolvers.pages.sections import patch_section

            if not self.written:
                await patch_section(
                    wiki.database, wiki.scope, page_id, section_slug="overview", body="A person wrote this.\n"
                )
            return task.body + "\n" + await super().write(task)

    writer = Slow()
    await retain_texts(wiki, "to entity Momofuku\nMore food.", start=1)
    await compile_all(wiki, scripted_compiler(writer=writer))
    assert [task.body for task in writer.written] == ["- Food.", "A person wrote this."]
    assert "A person wrote this." in (await wiki.page(page_id))["body_md"]


async def test_the_statements_of_a_batch_do_not_grow_with_the_wiki(wiki: Wiki) -> None:
    database = RecordingDatabase(wiki.database.dsn)
    await database.open()
    listening = replace(wiki, database=database)

    async def batch(start: int) -> int:
        await retain_texts(wiki, *(f"page entity {word(start + n)}\nIt is {n}." for n in range(5)), start=start)
        before = len(await database.sent_statements())
        await compile_all(listening)
        return len(await database.sent_statements()) - before

    first = await batch(0)
    await retain_texts(wiki, *(f"page entity {word(n)}\nIt is {n}." for n in range(100, 160)), start=100)
    await compile_all(wiki)
    assert await batch(300) <= first
    assert first <= 70 + 5 * 20
    await database.close()


def word(n: int) -> str:
    """Return a name that is unlike the names for other numbers."""
    letters = "".join("bcdfghjklm"[int(digit)] + "aeiou"[int(digit) % 5] for digit in f"{n:04}")
    return normalise(letters * 2).capitalize()
