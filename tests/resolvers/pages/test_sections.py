"""Writes to single sections."""

import pytest

from resolvers.errors import BadInput, NotFound
from resolvers.model.drafts import PageDraft, SectionDraft
from resolvers.pages.lifecycle import create_page, update_page
from resolvers.pages.sections import move_section, patch_section, remove_section
from resolvers.sources.sources import cite_source
from tests.wiki import Wiki

LONG_SECRET = "## " + "Pay " * 60 + "{sensitivity=secret}\n\nMuch."
SECTIONS = [SectionDraft("Lead."), SectionDraft("One.", "notes"), SectionDraft("Two.", "visits", "Visits")]


@pytest.fixture
async def page_id(wiki: Wiki):
    draft = PageDraft("entity", "Cafe", sections=SECTIONS)
    return (await create_page(wiki.database, wiki.scope, draft)).page_id


async def outline(wiki: Wiki) -> list[tuple[str, str, str]]:
    rows = await wiki.rows("sections", "position")
    return [(row["section_slug"], row["heading"], row["body_md"]) for row in rows]


async def test_a_patch_changes_one_section_and_nothing_else(wiki: Wiki, page_id) -> None:
    before = {row["section_slug"]: row for row in await wiki.rows("sections")}
    saved = await patch_section(wiki.database, wiki.scope, page_id, section_slug="notes", body="\n\nNew.\n")
    after = {row["section_slug"]: row for row in await wiki.rows("sections")}
    assert (saved.version, after["notes"]["body_md"], after["notes"]["id"]) == (2, "New.", before["notes"]["id"])
    assert {slug: after[slug] for slug in ("overview", "visits")} == {s: before[s] for s in ("overview", "visits")}
    assert (await wiki.page(page_id))["body_md"] == "Lead.\n\n## Notes\n\nNew.\n\n## Visits\n\nTwo."
    assert await wiki.actions() == ["page.created", "section.patched"]


async def test_a_patch_without_a_change_keeps_the_version(wiki: Wiki, page_id) -> None:
    saved = await patch_section(wiki.database, wiki.scope, page_id, section_slug="notes", body="One.", heading="Notes")
    assert (saved.changed, saved.version) == (False, 1)


@pytest.mark.parametrize(("slug", "heading"), [("related", "Related"), ("opening_hours", "Opening hours")])
async def test_a_new_section_is_appended_with_the_heading_of_its_slug(wiki: Wiki, page_id, slug, heading) -> None:
    await patch_section(wiki.database, wiki.scope, page_id, section_slug=slug, body="Text.")
    assert (await outline(wiki))[-1] == (slug, heading, "Text.")


async def test_a_heading_changes_without_its_slug(wiki: Wiki, page_id) -> None:
    await patch_section(wiki.database, wiki.scope, page_id, section_slug="notes", heading="  Field   notes ")
    assert (await outline(wiki))[1] == ("notes", "Field notes", "One.")


async def test_an_emptied_lead_section_is_removed(wiki: Wiki, page_id) -> None:
    await patch_section(wiki.database, wiki.scope, page_id, section_slug="overview", body=" \n")
    assert [slug for slug, _, _ in await outline(wiki)] == ["notes", "visits"]


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"section_slug": "notes", "body": "a\n\n## Sneaky"}, "bodyMd"),
        ({"section_slug": "notes", "body": "```\nopen"}, "bodyMd"),
        ({"section_slug": "notes", "body": "nul\0"}, "bodyMd"),
        ({"section_slug": "notes", "body": LONG_SECRET}, "bodyMd"),
        ({"section_slug": "notes", "heading": "x" * 201}, "heading"),
        ({"section_slug": "notes", "heading": " "}, "bodyMd"),
        ({"section_slug": "Not A Slug", "body": "x"}, "sectionSlug"),
        ({"section_slug": "", "body": "x"}, "sectionSlug"),
    ],
)
async def test_an_invalid_section_is_refused(wiki: Wiki, page_id, change, field) -> None:
    with pytest.raises(BadInput) as refused:
        await patch_section(wiki.database, wiki.scope, page_id, **change)
    assert refused.value.field == field
    assert (await wiki.page(page_id))["version"] == 1


async def test_a_heading_that_is_too_long_for_its_sensitivity_is_refused(wiki: Wiki, page_id) -> None:
    with pytest.raises(BadInput, match="its sensitivity would hide nothing"):
        await create_page(wiki.database, wiki.scope, PageDraft("topic", "Pay", body=LONG_SECRET))
    with pytest.raises(BadInput, match="its sensitivity would hide nothing"):
        await update_page(wiki.database, wiki.scope, page_id, body=LONG_SECRET)
    await update_page(wiki.database, wiki.scope, page_id, body=LONG_SECRET.replace("{sensitivity=secret}", ""))


async def test_removing_a_section_deletes_its_citations(wiki: Wiki, page_id) -> None:
    source_id = await wiki.add_source()
    await cite_source(wiki.database, wiki.scope, page_id=page_id, section_slug="notes", source_id=source_id)
    await remove_section(wiki.database, wiki.scope, page_id, section_slug="notes")
    assert [slug for slug, _, _ in await outline(wiki)] == ["overview", "visits"]
    assert await wiki.rows("section_sources") == []


async def test_a_section_is_moved_to_a_position(wiki: Wiki, page_id) -> None:
    await move_section(wiki.database, wiki.scope, page_id, section_slug="visits", position=1)
    assert [slug for slug, _, _ in await outline(wiki)] == ["overview", "visits", "notes"]
    assert not (await move_section(wiki.database, wiki.scope, page_id, section_slug="visits", position=1)).changed


@pytest.mark.parametrize(("slug", "position"), [("visits", 0), ("overview", 2), ("visits", 3), ("visits", -1)])
async def test_a_position_out_of_range_or_of_the_lead_is_refused(wiki, page_id, slug, position) -> None:
    with pytest.raises(BadInput) as refused:
        await move_section(wiki.database, wiki.scope, page_id, section_slug=slug, position=position)
    assert refused.value.field == "position"


async def test_an_unknown_section_is_not_found(wiki: Wiki, page_id) -> None:
    with pytest.raises(NotFound):
        await remove_section(wiki.database, wiki.scope, page_id, section_slug="gone")
    with pytest.raises(NotFound):
        await move_section(wiki.database, wiki.scope, page_id, section_slug="gone", position=0)
