"""A batch is cut to the sources whose pages and sections fit the caps."""

from datetime import UTC, datetime
from uuid import UUID

from compiler.plan.validation import Room, sources_that_fit
from compiler.planner import NewPage, PageUpdate, Plan, SectionProposal, SourceText

SOURCES = [SourceText(UUID(int=n), "note", f"n{n}", "", datetime(2026, 4, 1, tzinfo=UTC)) for n in range(1, 5)]


def section(slug: str, *sources: int) -> SectionProposal:
    return SectionProposal(slug, tuple(UUID(int=n) for n in sources))


A = NewPage("entity", "A", (section("overview", 1), section("notes", 3, 2)))
B = NewPage("entity", "B", (section("notes", 4, 9),))
PLAN = Plan((A, B), (PageUpdate(UUID(int=7), (section("notes", 3), section("recent", 8, 3, 4))),))


def test_pages_and_sections_count_for_their_first_new_source() -> None:
    assert [sources_that_fit(PLAN, SOURCES, Room(9, sections)) for sections in range(6)] == [0, 1, 2, 2, 3, 4]
    assert [sources_that_fit(PLAN, SOURCES, Room(pages, 99)) for pages in range(3)] == [0, 3, 4]


def test_pages_that_cite_no_new_source_count_from_the_beginning() -> None:
    plan = Plan((NewPage("entity", "A", (section("notes", 90),)),))
    assert sources_that_fit(plan, SOURCES, Room(0, 9)) == 0
    assert sources_that_fit(Plan(), SOURCES, Room(0, 0)) == 4
