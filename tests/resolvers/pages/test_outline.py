"""Outlines: the ordered sections of a page, computed without a database."""

from contextlib import suppress

from hypothesis import given
from hypothesis import strategies as st

from content.markdown.sections import Section, parse, render
from resolvers.errors import BadInput
from resolvers.model import outline
from resolvers.model.drafts import SectionDraft
from resolvers.model.outline import LEAD, Outline
from resolvers.validation import UNSET

HEADINGS = st.sampled_from(["Notes", "notes", "Food", "東京", "Overview", "Lead", "a ## b", "`x`", "#"])
LINES = st.sampled_from(
    ["text", "", "## Food", "### Sub", "```", "    indented", "<!--", "-->", "- item", "~~~", "<div>"]
)
TEXTS = st.lists(LINES, max_size=6).map("\n".join) | st.text(max_size=40)
DRAFTS = st.builds(
    SectionDraft, TEXTS, slug=st.none() | st.sampled_from(["notes", "food", "x"]), heading=st.none() | HEADINGS
)


def assert_sound(sections: Outline) -> None:
    """Check that slugs are unique and that the rendered body parses to the same sections."""
    assert len({section.slug for section in sections}) == len(sections)
    found = [(section.heading, section.body) for section in parse(render(sections))]
    assert found == [(section.heading, section.body) for section in sections]


@given(TEXTS, TEXTS)
def test_any_body_makes_a_sound_outline(first: str, second: str) -> None:
    with suppress(BadInput):
        before = outline.from_body(first)
        assert_sound(before)
        assert_sound(outline.from_body(second, before))


@given(st.lists(DRAFTS, max_size=4))
def test_any_drafts_make_a_sound_outline_or_are_refused(drafts: list[SectionDraft]) -> None:
    with suppress(BadInput):
        assert_sound(outline.merge_drafts("topic", (), drafts))


@given(st.lists(DRAFTS, max_size=4), st.lists(DRAFTS, max_size=3))
def test_drafts_leave_other_sections_unchanged(drafts: list[SectionDraft], more: list[SectionDraft]) -> None:
    with suppress(BadInput):
        before = outline.merge_drafts("topic", (), drafts)
        after = {section.slug: section for section in outline.merge_drafts("topic", before, more)}
        named = {section.slug for section in outline.merge_drafts("topic", (), more)}
        if any(draft.slug is None and draft.heading is None for draft in more):  # the lead: none says nothing
            named.add(LEAD)
        assert all(after[section.slug] == section for section in before if section.slug not in named)


@given(st.lists(DRAFTS, max_size=4))
def test_an_outline_read_back_from_its_body_is_the_same(drafts: list[SectionDraft]) -> None:
    with suppress(BadInput):
        sections = outline.merge_drafts("topic", (), drafts)
        assert outline.from_body(render(sections), sections) == sections


@given(st.lists(DRAFTS, min_size=1, max_size=4), TEXTS, st.integers(0, 3))
def test_patching_moving_and_removing_keep_the_outline_sound(
    drafts: list[SectionDraft], text: str, position: int
) -> None:
    with suppress(BadInput):
        sections = outline.merge_drafts("topic", (), drafts)
        for section in sections:
            assert_sound(outline.remove_section(sections, section.slug))
        if sections:
            assert_sound(outline.patch_section("topic", sections, sections[-1].slug, text, UNSET))
            assert_sound(outline.move_section(sections, sections[-1].slug, position))


def test_sections_of_a_new_body_are_matched_by_heading_or_by_slug() -> None:
    sections = outline.merge_drafts(
        "topic", (), [SectionDraft("One.", "notes", "Field notes"), SectionDraft("Two.", "food")]
    )
    (field, food) = outline.from_body("## Field notes\n\nOne.\n\n## FOOD\n\nTwo.", sections)
    assert (field.slug, food) == ("notes", Section("food", "FOOD", "Two."))


def test_equal_headings_keep_their_own_slugs() -> None:
    sections = outline.from_body("## Notes\n\n1\n\n## Notes\n\n2\n\n## Notes\n\n3")
    assert [section.slug for section in sections] == ["notes", "notes_2", "notes_3"]
    assert outline.from_body("## Notes\n\n1\n\n## Notes\n\n2", sections) == sections[:2]


def slugs_after(before: str, after: str) -> list[str]:
    return [section.slug for section in outline.from_body(after, outline.from_body(before))]


def test_a_section_keeps_its_slug_under_a_new_heading_if_its_text_is_the_same() -> None:
    before = "Lead.\n\n## Menu\n\nTea.\n\n## Notes\n\nOpen."
    assert slugs_after(before, before.replace("Menu", "Drinks")) == ["overview", "menu", "notes"]
    assert slugs_after(before, "## Notes\n\nOpen.\n\n## Drinks\n\nTea.") == ["notes", "menu"]
    assert slugs_after(before, before.replace("Menu", "Drinks").replace("Tea", "Coffee")) == [
        "overview",
        "drinks",
        "notes",
    ]
    assert slugs_after(before, f"{before}\n\n## Drinks\n\nTea.") == ["overview", "menu", "notes", "drinks"]
    assert slugs_after(before, "## Intro\n\nLead.") == ["intro"], "the lead is no section with a heading"
    assert slugs_after(before, "Tea.") == ["overview"]


def test_sections_with_equal_or_no_text_get_new_slugs_under_new_headings() -> None:
    assert slugs_after("## A\n\nTea.\n\n## B\n\nTea.", "## C\n\nTea.\n\n## D\n\nTea.") == ["c", "d"]
    assert slugs_after("## A\n\nTea.", "## C\n\nTea.\n\n## D\n\nTea.") == ["c", "d"]
    assert slugs_after("## A\n\n## B\n\nTea.", "## C\n\n## B\n\nTea.") == ["c", "b"]


def test_amended_sections_with_new_headings_and_texts_keep_the_slugs_of_as_many_gone_sections() -> None:
    def amended(before: str, after: str) -> list[str]:
        sections = outline.keep_identities(outline.from_body(after), outline.from_body(before), in_order=True)
        return [section.slug for section in sections]

    before = "## A\n\nTea.\n\n## B\n\nBun.\n\n## C\n\nJam."
    assert amended(before, "## C\n\nJam.\n\n## D\n\n1\n\n## E\n\n2") == ["c", "a", "b"]
    assert amended(before, "## D\n\nBun.\n\n## E\n\n1\n\n## C\n\n2") == ["b", "a", "c"], "equal texts come first"
    assert amended(before, "## D\n\n1\n\n## C\n\nJam.") == ["d", "c"]
    assert amended("Tea.", "## D\n\nTea.") == ["overview"]
