"""Immutable sources, and the sections that cite them."""

from datetime import UTC, datetime, timedelta, timezone

import asyncpg
import pytest

from db.ids import new_id
from resolvers.errors import BadInput, NotFound
from resolvers.model.drafts import PageDraft, SectionDraft
from resolvers.pages.lifecycle import create_page
from resolvers.sources.sources import SourceDraft, add_source, cite_source
from tests.wiki import Wiki

NOTE = SourceDraft(
    "daily_note", "2026-11-21", "Tacos at noon.\nRain.\n", captured_at=datetime(2026, 11, 21, tzinfo=UTC)
)


@pytest.fixture
async def page_id(wiki: Wiki):
    draft = PageDraft("topic", "Austin", sections=[SectionDraft("Tacos.", "food")])
    return (await create_page(wiki.database, wiki.scope, draft)).page_id


async def test_adding_the_same_source_again_adds_no_row(wiki: Wiki) -> None:
    first = await add_source(wiki.database, wiki.scope, NOTE)
    again = await add_source(wiki.database, wiki.scope, NOTE)
    assert (first.version, first.created) == (1, True)
    assert (again.source_id, again.version, again.created) == (first.source_id, 1, False)
    assert await wiki.actions() == ["source.added"]


async def test_new_content_supersedes_the_old(wiki: Wiki) -> None:
    first = await add_source(wiki.database, wiki.scope, NOTE)
    second = await add_source(wiki.database, wiki.scope, SourceDraft(NOTE.kind, NOTE.ref, "Sun."))
    third = await add_source(wiki.database, wiki.scope, NOTE)
    assert [second.version, third.version] == [2, 3]
    rows = {row["id"]: row for row in await wiki.rows("sources")}
    assert rows[second.source_id]["supersedes_id"] == first.source_id
    assert rows[first.source_id]["content"] == "Tacos at noon.\nRain.\n"


@pytest.mark.parametrize(
    ("draft", "field"),
    [
        (SourceDraft("gossip", "r", "c"), "kind"),
        (SourceDraft("url", " ", "c"), "ref"),
        (SourceDraft("url", "r" * 501, "c"), "ref"),
        (SourceDraft("url", "r", " \n"), "content"),
        (SourceDraft("url", "r", "c\0"), "content"),
        (SourceDraft("url", "r", "c", captured_at=datetime.max), "capturedAt"),
        (SourceDraft("url", "r", "c", captured_at=datetime.max.replace(tzinfo=UTC)), "capturedAt"),
        (SourceDraft("url", "r", "c", captured_at=datetime(1, 12, 31, tzinfo=UTC)), "capturedAt"),
        (SourceDraft("url", "r", "c", metadata={"x": object()}), "metadata"),
    ],
)
async def test_invalid_sources_are_refused(wiki: Wiki, draft: SourceDraft, field: str) -> None:
    with pytest.raises(BadInput) as refused:
        await add_source(wiki.database, wiki.scope, draft)
    assert refused.value.field == field
    assert await wiki.rows("sources") == []


@pytest.mark.parametrize("given", [datetime(2, 1, 1), datetime(2026, 1, 1), datetime(9998, 12, 31, 23, 59, 59, 999999)])
@pytest.mark.parametrize("hours", [None, -14, 0, 14])
async def test_a_capture_time_without_a_time_zone_is_utc(wiki: Wiki, given: datetime, hours: int | None) -> None:
    zone = UTC if hours is None else timezone(timedelta(hours=hours))
    moment = given if hours is None else given.replace(tzinfo=zone)
    await add_source(wiki.database, wiki.scope, SourceDraft("url", "r", "c", captured_at=moment))
    assert (await wiki.row("sources"))["captured_at"] == given.replace(tzinfo=zone)


async def test_a_source_is_never_captured_at_infinity(wiki: Wiki) -> None:
    source_id = await wiki.add_source()
    with pytest.raises(asyncpg.CheckViolationError, match="sources_captured_ck"):
        await wiki.connection.execute("UPDATE sources SET captured_at = 'infinity' WHERE id = $1", source_id)


async def test_a_citation_stores_its_lines_and_dates_its_section(wiki: Wiki, page_id) -> None:
    source = await add_source(wiki.database, wiki.scope, NOTE)
    cited = {"page_id": page_id, "section_slug": "food", "source_id": source.source_id}
    await cite_source(wiki.database, wiki.scope, **cited)
    assert (await cite_source(wiki.database, wiki.scope, **cited, line_start=2, summary="It rained.")).changed
    assert not (await cite_source(wiki.database, wiki.scope, **cited, line_start=2, summary="It rained.")).changed
    row = await wiki.row("section_sources")
    assert (row["line_start"], row["line_end"], row["summary"]) == (2, 2, "It rained.")
    assert (await wiki.row("sections"))["last_source_at"] == NOTE.captured_at
    assert (await wiki.page(page_id))["version"] == 1
    assert (await wiki.actions())[2:] == ["source.cited", "source.cited"]


async def test_citing_an_older_source_keeps_the_date_of_the_section(wiki: Wiki, page_id) -> None:
    older = SourceDraft("url", "r", "c", captured_at=NOTE.captured_at - timedelta(days=1))
    for draft in (NOTE, older):
        source = await add_source(wiki.database, wiki.scope, draft)
        await cite_source(wiki.database, wiki.scope, page_id=page_id, section_slug="food", source_id=source.source_id)
    assert (await wiki.row("sections"))["last_source_at"] == NOTE.captured_at


@pytest.mark.parametrize(
    ("start", "end", "field"),
    [(0, None, "lineStart"), (3, None, "lineStart"), (2, 1, "lineEnd"), (1, 3, "lineEnd"), (None, 1, "lineStart")],
)
async def test_lines_outside_the_source_are_refused(wiki: Wiki, page_id, start, end, field) -> None:
    source = await add_source(wiki.database, wiki.scope, NOTE)
    with pytest.raises(BadInput) as refused:
        await cite_source(
            wiki.database, wiki.scope, page_id=page_id, section_slug="food", source_id=source.source_id,
            line_start=start, line_end=end,
        )  # fmt: skip
    assert refused.value.field == field


async def test_foreign_or_unknown_sources_and_sections_cannot_be_cited(wiki: Wiki, page_id) -> None:
    foreign = await add_source(wiki.database, (await wiki.neighbour()).scope, NOTE)
    own = await add_source(wiki.database, wiki.scope, NOTE)
    for source_id, section_slug in ((foreign.source_id, "food"), (new_id(), "food"), (own.source_id, "gone")):
        with pytest.raises(NotFound):
            await cite_source(
                wiki.database, wiki.scope, page_id=page_id, section_slug=section_slug, source_id=source_id
            )
