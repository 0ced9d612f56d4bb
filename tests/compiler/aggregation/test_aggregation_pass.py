"""Topics list the pages that belong to them, and a dense list is promoted to a topic of its own."""

from datetime import timedelta
from typing import Any

import pytest

from compiler.aggregate.aggregation_pass import aggregate
from compiler.compiler import Caps, Compiler
from compiler.extraction import ExtractivePlanner, ExtractiveWriter
from compiler.metrics import Metrics
from compiler.planner import NewPage, Plan, SectionProposal
from compiler.write.page_changes import PageChange
from db.scope import Role, Scope
from resolvers.errors import BadInput, CairnError, NotFound
from resolvers.jobs.queue import ask_for_compile
from resolvers.model.drafts import PageDraft, SectionDraft
from resolvers.model.pages import find_pages
from resolvers.pages.lifecycle import archive_page, create_page, delete_page
from resolvers.pages.merging import merge_pages
from resolvers.pages.sections import patch_section, suppress_promotion
from resolvers.sources.compile_requests import reset_cursor
from resolvers.transactions.transaction import writing
from tests.compiler.austin_journals import START, note, retain_notes, visit_notes
from tests.compiler.killed.crashes import rows
from tests.compiler.scripted_compiler import ScriptedPlanner, citations, compile_all, pages_by_title, scripted_compiler
from tests.recording_database import RecordingDatabase
from tests.wiki import Wiki

BY_RULES = Compiler(ExtractivePlanner(), ExtractiveWriter())


async def compile_notes(wiki: Wiki, *notes: tuple[str, dict[str, Any]], day: int = 0) -> dict[str, Any]:
    """Compile these texts, a day apart, with the scripted planner, and return the metrics of the last job."""
    drafts = [note(day + n, text, **metadata) for n, (text, metadata) in enumerate(notes)]
    await retain_notes(wiki, drafts)
    metrics: dict[str, Any] = (await compile_all(wiki))[-1]["metrics"]
    return metrics


def place(name: str, city: str = "Austin", **more: Any) -> tuple[str, dict[str, Any]]:
    return f"page entity {name}\nGood.", {"place": name, "city": city, **more}


async def stored_aggregation(wiki: Wiki, title: str, slug: str) -> dict[str, Any] | None:
    page = (await pages_by_title(wiki))[title]
    found = [row for row in await wiki.rows("sections", page_id=page["id"]) if row["section_slug"] == slug]
    return found[0]["aggregation"] if found else None


async def lists(wiki: Wiki, title: str) -> dict[str, list[str]]:
    """Return the titles that each rollup section of the page lists."""
    found = await pages_by_title(wiki)
    titles = {str(page["id"]): page["title"] for page in found.values()}
    return {
        row["section_slug"]: sorted(titles[id] for id in row["aggregation"]["linked_page_ids"])
        for row in await wiki.rows("sections", page_id=found[title]["id"])
        if row["aggregation"]
    }


async def test_a_topic_lists_the_pages_whose_metadata_name_it(wiki: Wiki) -> None:
    await create_page(wiki.database, wiki.scope, PageDraft("topic", "Austin, Texas"))
    metrics = await compile_notes(
        wiki, place("Franklin", tags=["food"]), place("Zilker", tags=["outdoors"]), place("Thinkery", tags="kids"),
        ("page entity Somebody\nOnce.", {"city": "Austin"}),
    )  # fmt: skip
    assert await lists(wiki, "Austin, Texas") == {"restaurants": ["Franklin"], "activities": ["Thinkery", "Zilker"]}
    page = (await pages_by_title(wiki))["Austin, Texas"]
    assert "## Activities\n\n- [**Thinkery**](/wiki/entity/thinkery) — Thinkery is a entity." in page["body_md"]
    assert metrics["deterministic_parents_derived"] == 3
    assert metrics["parent_sections_updated"] == 2
    assert await stored_aggregation(wiki, "Austin, Texas", "activities") == {
        "linked_page_ids": [str((await pages_by_title(wiki))[title]["id"]) for title in ("Thinkery", "Zilker")],
        "supporting_record_count": 2,
        "first_source_at": "2026-03-02T09:00:00Z",
        "last_source_at": "2026-03-03T09:00:00Z",
        "observed_tags": ["kids", "outdoors"],
        "promotion_status": "none",
        "promotion_score": (await stored_aggregation(wiki, "Austin, Texas", "activities") or {})["promotion_score"],
        "promoted_page_id": None,
        "line_digests": (await stored_aggregation(wiki, "Austin, Texas", "activities") or {})["line_digests"],
        "dismissed_page_ids": [],
        "tag": None,
        "is_whole": False,
    }
    assert {section for title, section, _ in await citations(wiki) if title == "Austin, Texas"} == set()


async def test_a_summary_places_a_page_in_a_topic(wiki: Wiki) -> None:
    await create_page(wiki.database, wiki.scope, PageDraft("topic", "Toronto"))
    (source,) = [await wiki.add_source()]
    section = SectionProposal("overview", (source,))
    extra = Plan((NewPage("entity", "Momofuku", (section,), "Korean-inspired restaurant in Toronto."),))
    await retain_notes(wiki, [note(0, "hold Nobody")])
    await compile_all(wiki, scripted_compiler(ScriptedPlanner(extra)))
    assert await lists(wiki, "Toronto") == {"restaurants": ["Momofuku"]}


async def test_a_topic_created_later_lists_earlier_pages(wiki: Wiki) -> None:
    await compile_notes(wiki, place("Franklin"), place("Zilker"))
    assert "Austin" not in await pages_by_title(wiki)
    await compile_notes(wiki, ("page topic Austin\nA city.", {}), day=2)
    assert await lists(wiki, "Austin") == {"places": ["Franklin", "Zilker"]}


async def test_a_city_of_three_pages_gets_a_topic(wiki: Wiki) -> None:
    await compile_notes(wiki, place("Franklin", "austin"), place("Zilker", "Austin"))
    metrics = await compile_notes(wiki, place("Thinkery", "Austin"), day=2)
    assert await lists(wiki, "Austin") == {"places": ["Franklin", "Thinkery", "Zilker"]}
    assert metrics["pages_created"] == 2


@pytest.mark.parametrize("kind", ["tag", "taken", "ignored"])
async def test_tags_taken_names_and_ignored_names_get_no_topic(wiki: Wiki, kind: str) -> None:
    from resolvers.sources.mentions import ignore_mention, record_mention

    if kind == "taken":
        await create_page(wiki.database, wiki.scope, PageDraft("entity", "Austin"))
    if kind == "ignored":
        source = await wiki.add_source()
        mention = await record_mention(wiki.database, wiki.scope, name="Austin", source_id=source)
        await ignore_mention(wiki.database, wiki.scope, mention.mention_id)
    city = "" if kind == "tag" else "Austin"
    await compile_notes(
        wiki, *(place(f"Place {n * 'x'}", city, tags=["Austin"] if kind == "tag" else []) for n in range(4))
    )
    assert {row["type"] for row in await wiki.rows("pages")} == {"entity"}


async def test_a_dense_section_is_promoted_to_a_topic(wiki: Wiki) -> None:
    await retain_notes(wiki, visit_notes())
    jobs = await compile_all(wiki, BY_RULES)
    assert [job["status"] for job in jobs] == ["succeeded"] * len(jobs)
    assert sum(job["metrics"]["sections_promoted"] for job in jobs) == 1
    found = await pages_by_title(wiki)
    austin, grown = found["Austin"], found["Austin Activities"]
    assert (grown["type"], grown["parent_page_id"]) == ("topic", austin["id"])
    links = {(row["from_page_id"], row["to_page_id"], row["kind"]) for row in await wiki.rows("links")}
    assert {(austin["id"], grown["id"], "parent_of"), (grown["id"], austin["id"], "child_of")} <= links
    section = await wiki.row("sections", page_id=austin["id"], section_slug="activities")
    assert section["promoted_page_id"] == grown["id"]
    status = {name: section["aggregation"][name] for name in ("promotion_status", "promoted_page_id")}
    assert status == {"promotion_status": "promoted", "promoted_page_id": str(grown["id"])}
    assert section["aggregation"]["promotion_score"] >= 0.55
    assert section["body_md"].startswith("17 pages about kids, outdoors, music, from 25 sources. Among them:\n\n- [**")
    assert section["body_md"].endswith("\n\nSee: [Austin Activities](/wiki/topic/austin-activities)")
    listed = await lists(wiki, "Austin Activities")
    assert {slug: len(titles) for slug, titles in listed.items()} == {"activities": 10, "outdoors": 7}
    assert (await lists(wiki, "Lisbon")) == {
        "places": ["Castelo de São Jorge"], "restaurants": ["Taberna dos Mercadores"],
    }  # fmt: skip
    uncited = [
        row for row in await wiki.rows("sections") if row["aggregation"] is None
        and not await wiki.rows("section_sources", section_id=row["id"])
    ]  # fmt: skip
    assert uncited == [], "every section that is not a list cites its sources"


async def test_compiling_the_same_sources_again_changes_no_list(wiki: Wiki) -> None:
    await retain_notes(wiki, visit_notes())
    await compile_all(wiki, BY_RULES)
    before = await rows(wiki)
    seen = []
    for _ in range(2):
        await reset_cursor(wiki.database, wiki.scope)
        await ask_for_compile(wiki.database, wiki.scope)
        await compile_all(wiki, BY_RULES)
        seen.append(await rows(wiki))
    assert seen[0]["lists"] == before["lists"]
    assert seen[0]["placements"] == before["placements"]
    assert seen[1] == seen[0], "the first time adds links to pages that were made later"


async def test_lists_do_not_depend_on_order_and_size_of_batches(wiki: Wiki) -> None:
    other = await wiki.neighbour()
    small_batches = Compiler(ExtractivePlanner(), ExtractiveWriter(), Caps(batch=7, new_pages=200, sections=2_000))
    await retain_notes(wiki, visit_notes())
    await compile_all(wiki, BY_RULES)
    await retain_notes(other, visit_notes()[::-1])
    await compile_all(other, small_batches)
    for title in ("Lisbon", "Kids", "Austin Activities"):
        assert listed(await lists(wiki, title)) == listed(await lists(other, title)), title
    mine, others = await lists(wiki, "Austin"), await lists(other, "Austin")
    assert (mine.keys(), mine["people"], mine["restaurants"]) == (
        others.keys(),
        others["people"],
        others["restaurants"],
    )


def listed(sections: dict[str, list[str]]) -> set[str]:
    return {title for titles in sections.values() for title in titles}


async def test_later_pages_are_listed_on_the_promoted_page(wiki: Wiki) -> None:
    await retain_notes(wiki, visit_notes())
    await compile_all(wiki, BY_RULES)
    austin = (await pages_by_title(wiki))["Austin"]
    section = await wiki.row("sections", page_id=austin["id"], section_slug="activities")
    text = "Hiked at Turkey Creek RequestTrace. Turkey Creek RequestTrace is green."
    await retain_notes(wiki, [note(90, text, place="Turkey Creek RequestTrace", city="Austin", tags=["outdoors"])])
    await compile_all(wiki, BY_RULES)
    assert await wiki.row("sections", id=section["id"]) == section, "the promoted section is unchanged"
    assert "Turkey Creek RequestTrace" in (await lists(wiki, "Austin Activities"))["outdoors"]


async def test_recompiling_from_scratch_gives_the_same_lists(wiki: Wiki) -> None:
    await retain_notes(wiki, visit_notes())
    await compile_all(wiki, BY_RULES)
    before = {title: await lists(wiki, title) for title in ("Austin", "Austin Activities", "Lisbon", "Kids")}
    await reset_cursor(wiki.database, wiki.scope, force=True)
    assert {page["status"] for page in await wiki.rows("pages")} == {"archived"}
    await ask_for_compile(wiki.database, wiki.scope)
    await compile_all(wiki, BY_RULES)
    assert {page["status"] for page in await wiki.rows("pages")} == {"active"}
    assert {title: await lists(wiki, title) for title in before} == before


async def compile_places(wiki: Wiki, number: int, start: int = 0, **metadata: Any) -> dict[str, Any]:
    """Compile so many places, two days apart, six of them seen twice, and return the metrics."""
    notes = []
    for n in range(start, start + number):
        name = "SectionKey " + "".join(chr(97 + int(digit)) for digit in str(n))
        for again in range(1 + (n - start < 6)):
            text = f"page entity {name}\nTime {again}."
            notes.append(note(2 * n + again, text, place=name, city="Austin", **metadata))
    await retain_notes(wiki, notes)
    jobs = await compile_all(wiki, scripted_compiler(caps=Caps(batch=100, new_pages=500, sections=5_000)))
    metrics: dict[str, Any] = jobs[-1]["metrics"]
    return metrics


async def test_sections_of_a_promoted_page_are_promoted_too(wiki: Wiki) -> None:
    await compile_places(wiki, 16, tags=["park"])
    await compile_places(wiki, 16, 16, tags=["park", "music"])
    await compile_places(wiki, 2, 32, tags=["park"])
    found = await pages_by_title(wiki)
    assert found["Austin Activities"]["parent_page_id"] == found["Austin"]["id"]
    assert found["Austin Music"]["parent_page_id"] == found["Austin Activities"]["id"]
    assert {slug: len(ids) for slug, ids in (await lists(wiki, "Austin Music")).items()} == {"music": 16}
    assert (await stored_aggregation(wiki, "Austin Activities", "music") or {})["promotion_status"] == "promoted"


async def test_admins_suppress_and_allow_the_promotion_of_a_section(wiki: Wiki) -> None:
    await compile_places(wiki, 10, tags=["park"])
    austin = (await pages_by_title(wiki))["Austin"]
    member = wiki.with_role(Role.MEMBER)
    with pytest.raises(CairnError, match="admin"):
        await suppress_promotion(wiki.database, member.scope, austin["id"], "activities")
    assert (await suppress_promotion(wiki.database, wiki.scope, austin["id"], "activities")).changed
    assert not (await suppress_promotion(wiki.database, wiki.scope, austin["id"], "activities")).changed
    await compile_places(wiki, 10, 10, tags=["park"])
    assert "Austin Activities" not in await pages_by_title(wiki)
    suppressed = await stored_aggregation(wiki, "Austin", "activities")
    assert suppressed is not None
    assert suppressed["promotion_status"] == "suppressed"
    assert len(suppressed["linked_page_ids"]) == 20, "a suppressed section still lists its pages"
    await suppress_promotion(wiki.database, wiki.scope, austin["id"], "activities", suppressed=False)
    await compile_places(wiki, 1, 20, tags=["park"])
    assert "Austin Activities" in await pages_by_title(wiki)
    with pytest.raises(BadInput, match="already promoted to a page"):
        await suppress_promotion(wiki.database, wiki.scope, austin["id"], "activities")
    for slug, error in (("nothing", NotFound), ("activities", NotFound)):
        page = austin["id"] if slug == "nothing" else (await pages_by_title(wiki))["SectionKey a"]["id"]
        with pytest.raises(error):
            await suppress_promotion(wiki.database, wiki.scope, page, slug)
    with pytest.raises(BadInput, match="not a rollup section"):
        await suppress_promotion(
            wiki.database, wiki.scope, (await pages_by_title(wiki))["SectionKey a"]["id"], "overview"
        )


async def test_edits_of_people_in_a_list_stay(wiki: Wiki) -> None:
    await compile_notes(wiki, place("Franklin"), place("Zilker"), place("Thinkery"))
    austin = (await pages_by_title(wiki))["Austin"]
    section = await wiki.row("sections", page_id=austin["id"])
    first, _, third = section["body_md"].splitlines()
    body = f"Ours.\n\n{first}\n{third.replace('Zilker is a entity', 'our garden')}"
    await patch_section(wiki.database, wiki.scope, austin["id"], section_slug="places", body=body)
    await compile_notes(wiki, place("Antones"), ("to entity Zilker # visits\nAgain.", {"city": "Austin"}), day=3)
    lines = (await wiki.row("sections", id=section["id"]))["body_md"].splitlines()
    assert lines[0] == "Ours."
    assert [line.partition("]")[0] for line in lines[2:]] == ["- [**Antones**", "- [**Franklin**", "- [**Zilker**"]
    assert lines[-1].endswith("— our garden.")


async def test_a_section_that_cites_sources_is_not_used_as_a_list(wiki: Wiki) -> None:
    await compile_notes(wiki, ("page topic Austin # places\nMany.", {}), place("Franklin"), place("Zilker"))
    assert await lists(wiki, "Austin") == {"places_2": ["Franklin", "Zilker"]}
    body = (await pages_by_title(wiki))["Austin"]["body_md"]
    assert "## Places\n\n- Many.\n\n## Places\n\n- [**Franklin**" in body


async def test_the_writer_does_not_write_rollup_sections(wiki: Wiki) -> None:
    await compile_notes(wiki, place("Franklin"), place("Zilker"), place("Thinkery"))
    before = (await pages_by_title(wiki))["Austin"]
    metrics = await compile_notes(wiki, ("to topic Austin # places\nMine.", {}), day=5)
    assert metrics["dropped"] == {"rollup_section": 1}
    assert (await pages_by_title(wiki))["Austin"]["body_md"] == before["body_md"]


async def test_archived_pages_are_not_listed_and_archived_topics_not_updated(wiki: Wiki) -> None:
    await compile_notes(wiki, place("Franklin"), place("Zilker"), place("Thinkery"))
    found = await pages_by_title(wiki)
    await archive_page(wiki.database, wiki.scope, found["Franklin"]["id"])
    await compile_notes(wiki, place("Antones"), day=3)
    assert await lists(wiki, "Austin") == {"places": ["Antones", "Thinkery", "Zilker"]}
    await archive_page(wiki.database, wiki.scope, found["Austin"]["id"])
    await compile_notes(wiki, place("Saxon"), day=4)
    assert "Saxon" not in (await lists(wiki, "Austin"))["places"]


async def test_lists_follow_merged_pages_and_drop_deleted_ones(wiki: Wiki) -> None:
    await compile_notes(wiki, place("Franklin"), place("Zilker"), place("Thinkery"))
    other = await create_page(wiki.database, wiki.scope, PageDraft("entity", "Franklin Barbecue"))
    found = await pages_by_title(wiki)
    await merge_pages(wiki.database, wiki.scope, found["Franklin"]["id"], other.page_id)
    await delete_page(wiki.database, wiki.scope, found["Zilker"]["id"])
    await compile_notes(wiki, place("Antones"), day=3)
    assert await lists(wiki, "Austin") == {"places": ["Antones", "Franklin Barbecue", "Thinkery"]}


@pytest.mark.parametrize("from_the_start", [False, True])
async def test_deleting_a_promoted_topic_suppresses_the_promotion(wiki: Wiki, from_the_start: bool) -> None:
    await compile_places(wiki, 16, tags=["park"])
    await delete_page(wiki.database, wiki.scope, (await pages_by_title(wiki))["Austin Activities"]["id"])
    if from_the_start:
        await reset_cursor(wiki.database, wiki.scope)
    await compile_places(wiki, 1, 16, tags=["park"])
    assert "Austin Activities" not in await pages_by_title(wiki)
    section = await wiki.row("sections", page_id=(await pages_by_title(wiki))["Austin"]["id"])
    assert section["aggregation"]["promotion_status"] == "suppressed"
    assert len(section["aggregation"]["linked_page_ids"]) == 17
    assert all(line.startswith("- [**SectionKey") for line in section["body_md"].splitlines())


async def test_lists_of_a_merged_topic_continue_in_the_other_topic(wiki: Wiki) -> None:
    await compile_places(wiki, 16, tags=["park"])
    other = await create_page(wiki.database, wiki.scope, PageDraft("topic", "Things to do"))
    await merge_pages(wiki.database, wiki.scope, (await pages_by_title(wiki))["Austin Activities"]["id"], other.page_id)
    await compile_places(wiki, 2, 16, tags=["park"])
    assert len((await lists(wiki, "Things to do"))["activities"]) == 18
    assert {page["title"] for page in await wiki.rows("pages", type="topic", status="active")} == {
        "Austin", "Things to do",
    }  # fmt: skip


async def test_a_section_is_promoted_to_an_existing_topic_of_that_title(wiki: Wiki) -> None:
    ideas = SectionDraft("Mine.", heading="Ideas")
    existing = await create_page(wiki.database, wiki.scope, PageDraft("topic", "Austin Activities", sections=[ideas]))
    await compile_places(wiki, 16, tags=["park"])
    page = await wiki.page(existing.page_id)
    assert page["body_md"].startswith("## Ideas\n\nMine.\n\n## Activities\n\n- [**SectionKey a**]")
    assert page["parent_page_id"] == (await pages_by_title(wiki))["Austin"]["id"]


async def test_a_section_of_a_secret_topic_is_promoted_to_no_topic_that_more_callers_see(wiki: Wiki) -> None:
    await create_page(wiki.database, wiki.scope, PageDraft("topic", "Austin", fields={"sensitivity": "secret"}))
    await create_page(wiki.database, wiki.scope, PageDraft("topic", "Austin Music"))
    await compile_places(wiki, 16, tags=["park"])
    await compile_places(wiki, 16, 16, tags=["park", "music"])
    found = await pages_by_title(wiki)
    assert found["Austin Activities"]["metadata"]["sensitivity"] == "secret"
    assert (found["Austin Music"]["parent_page_id"], found["Austin Music"]["version"]) == (None, 1)


async def test_the_number_of_statements_does_not_depend_on_the_pages(wiki: Wiki, dsn: str) -> None:
    async def statements(scope: Scope, number: int) -> int:
        here = Wiki(wiki.database, scope, wiki.connection)
        await compile_notes(here, *(place(f"SectionKey {chr(97 + n) * 3}", tags=["food"]) for n in range(number)))
        await create_page(wiki.database, scope, PageDraft("topic", "Food"))
        listening = RecordingDatabase(dsn)
        await listening.open()
        try:
            async with writing(listening, scope) as writer:
                found = await find_pages(writer, {page["id"] for page in await here.rows("pages", type="entity")})
                changes = [PageChange(page, page, (), (), {}) for page in found.values()]
                before = len(await listening.sent_statements())
                await aggregate(writer, changes, Metrics())
                return len(await listening.sent_statements()) - before
        finally:
            await listening.close()

    few, more = await statements(wiki.scope, 3), await statements((await wiki.neighbour()).scope, 12)
    assert few == more
    assert few <= 45, "reads and lists, and what it takes to write one page"


async def test_the_first_source_may_be_a_hundred_years_old(wiki: Wiki) -> None:
    await compile_notes(wiki, place("Franklin"), place("Zilker"), place("Thinkery"))
    old = note(-36_500, "to entity Franklin # visits\nLong ago.", city="Austin")
    await retain_notes(wiki, [old])
    await compile_all(wiki)
    found = await stored_aggregation(wiki, "Austin", "places")
    assert found is not None
    assert found["first_source_at"] == (START - timedelta(days=36_500)).isoformat().replace("+00:00", "Z")
