"""Places and tags of a forgotten source disappear from rollup sections and from promoted pages."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from resolvers.model.drafts import PageDraft
from resolvers.pages.lifecycle import create_page
from resolvers.pages.sections import suppress_promotion
from resolvers.sources.retain import retain_sources
from resolvers.sources.sources import SourceDraft, forget_source
from tests.compiler.forgotten.forgetting import found_in
from tests.compiler.scripted_compiler import compile_all, pages_by_title
from tests.wiki import Wiki

WORD = "Zyxglorb"
START = datetime(2026, 4, 1, 9, tzinfo=UTC)
NAMES = [f"{letter}aro" for letter in "BCDFGHJKLMNPRSTV"]


def note(n: int, text: str, **metadata: Any) -> SourceDraft:
    return SourceDraft("daily_note", f"day-{n}", text, captured_at=START + timedelta(days=n), metadata=metadata)


async def retain_notes(wiki: Wiki, *notes: SourceDraft) -> list[UUID]:
    items = (await retain_sources(wiki.database, wiki.scope, list(notes))).items
    return [item.saved.source_id for item in items if item.saved]


async def forget(wiki: Wiki, *source_ids: UUID) -> None:
    for source_id in source_ids:
        await forget_source(wiki.database, wiki.scope, source_id)
    await compile_all(wiki)


async def test_a_topic_made_for_a_city_is_removed_with_its_last_page(wiki: Wiki) -> None:
    notes = [
        note(n, f"page entity {NAMES[n % 3]}\nSeen {n}.", city=WORD, tags=[WORD], place=WORD, journal=f"{WORD} trip")
        for n in range(6)
    ]
    source_ids = await retain_notes(wiki, *notes, note(6, f"to entity {NAMES[0]}\nHome.", city="Springfield"))
    await compile_all(wiki)
    assert {WORD, f"{WORD} trip"} <= (await pages_by_title(wiki)).keys()
    assert {"placements.name", "placements.alias", "placements.tags", "sections.aggregation"} <= await found_in(
        wiki, WORD
    )
    await forget(wiki, *source_ids[:6])
    assert not await found_in(wiki, WORD)
    assert list(await pages_by_title(wiki)) == [NAMES[0]]


async def test_a_topic_by_a_person_stays_and_lists_the_remaining_pages(wiki: Wiki) -> None:
    await create_page(wiki.database, wiki.scope, PageDraft("topic", "Springfield"))
    source_ids = await retain_notes(
        wiki,
        *(note(n, f"page entity {NAMES[0]}\nSeen {n}.", city="Springfield") for n in range(2)),
        note(2, f"page entity {WORD}\nIt is {WORD}.", city="Springfield"),
        note(3, f"to entity {WORD}\nAgain.", city="Springfield", tags=[WORD]),
    )
    await compile_all(wiki)
    assert WORD in (await pages_by_title(wiki))["Springfield"]["body_md"]
    await forget(wiki, *source_ids[2:])
    assert not await found_in(wiki, WORD)
    springfield = (await pages_by_title(wiki))["Springfield"]
    assert springfield["body_md"].count("\n- ") == 1
    assert f"- [**{NAMES[0]}**](/wiki/entity/baro) — {NAMES[0]} is a entity." in springfield["body_md"]
    (section,) = [row for row in await wiki.rows("sections", page_id=springfield["id"]) if row["aggregation"]]
    assert section["aggregation"]["supporting_record_count"] == 2
    assert section["last_source_at"] == START + timedelta(days=1)
    await forget(wiki, *source_ids[:2])
    assert list(await pages_by_title(wiki)) == ["Springfield"]
    assert "- [" not in (await pages_by_title(wiki))["Springfield"]["body_md"]


async def test_a_forgotten_tag_is_removed_from_promoted_pages_and_their_parts(wiki: Wiki) -> None:
    tagged = [note(n, f"to entity {NAMES[n]}\nMusic {n}.", tags=[WORD, "park"]) for n in range(6)]
    others = [
        note(n + 10, f"page entity {NAMES[n % 16]}\nVisit {n}.", city="Springfield", tags=["park"]) for n in range(32)
    ]
    source_ids = await retain_notes(wiki, *others, *tagged)
    await compile_all(wiki)
    before = await pages_by_title(wiki)
    assert f"## {WORD}" in before["Springfield Activities"]["body_md"]
    assert WORD in before["Springfield Activities"]["summary"]
    assert WORD in before["Springfield Activities"]["tags"]
    assert f"park, {WORD}" in before["Springfield"]["body_md"]
    await forget(wiki, *source_ids[32:])
    assert not await found_in(wiki, WORD)
    after = await pages_by_title(wiki)
    assert after.keys() == before.keys()
    assert after["Springfield Activities"]["body_md"].count("\n- ") == 16
    assert after["Springfield Activities"]["summary"] == "Activities: Springfield (park)."
    assert "16 pages about park, from" in after["Springfield"]["body_md"]


async def test_an_emptied_part_is_removed_though_its_promotion_is_suppressed(wiki: Wiki) -> None:
    tagged = [note(n, f"to entity {NAMES[n]}\nMusic {n}.", tags=[WORD, "park"]) for n in range(6)]
    others = [
        note(n + 10, f"page entity {NAMES[n % 16]}\nVisit {n}.", city="Springfield", tags=["park"]) for n in range(32)
    ]
    source_ids = await retain_notes(wiki, *others, *tagged)
    await compile_all(wiki)
    promoted = (await pages_by_title(wiki))["Springfield Activities"]
    await suppress_promotion(wiki.database, wiki.scope, promoted["id"], WORD.lower())
    await forget(wiki, *source_ids[32:])
    assert not await found_in(wiki, WORD)
    assert (await pages_by_title(wiki))["Springfield Activities"]["body_md"].count("\n- ") == 16
