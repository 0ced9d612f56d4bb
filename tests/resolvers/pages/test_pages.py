"""Creating, updating and archiving pages."""

from datetime import UTC, datetime

import pytest

from db.ids import new_id
from db.scope import Role
from resolvers.errors import BadInput, Conflict, Forbidden, NotFound
from resolvers.model.drafts import PageDraft, SectionDraft
from resolvers.pages.aliases import add_alias, remove_alias
from resolvers.pages.hierarchy import set_parent
from resolvers.pages.lifecycle import archive_page, archive_scope, create_page, delete_page, unarchive_page, update_page
from resolvers.pages.sections import patch_section
from resolvers.pages.upsert import upsert_page
from resolvers.sources.sources import cite_source
from tests.wiki import Wiki

AUSTIN = PageDraft("topic", "Austin, Texas", body="The capital.\n\n## Food\n\nTacos.", summary="A city.", tags=["us"])


async def create(wiki: Wiki, title: str, body: str = "", type: str = "topic", **more: object):
    return (await create_page(wiki.database, wiki.scope, PageDraft(type, title, body=body, **more))).page_id


async def slugs(wiki: Wiki) -> list[str]:
    return [section["section_slug"] for section in await wiki.rows("sections", "position")]


async def test_a_new_page_has_its_fields_alias_and_activity(wiki: Wiki) -> None:
    saved = await create_page(wiki.database, wiki.scope, AUSTIN)
    page = await wiki.page(saved.page_id)
    assert (saved.version, saved.created, saved.changed) == (1, True, True)
    assert (page["slug"], page["summary"], page["tags"], page["status"]) == (
        "austin-texas",
        "A city.",
        ["us"],
        "active",
    )
    assert page["body_md"] == "The capital.\n\n## Food\n\nTacos."
    assert [row["alias"] for row in await wiki.rows("aliases")] == ["austin texas"]
    assert await wiki.actions() == ["page.created"]


async def test_a_page_without_text_has_the_empty_sections_of_its_type(wiki: Wiki) -> None:
    await create_page(wiki.database, wiki.scope, PageDraft("decision", "Which database"))
    assert (await slugs(wiki))[:3] == ["context", "decision", "rationale"]


async def test_a_slug_from_the_title_is_numbered_when_it_is_taken(wiki: Wiki) -> None:
    ids = [await create(wiki, "Austin") for _ in range(12)]
    found = [(await wiki.page(page_id))["slug"] for page_id in ids]
    assert found == ["austin", *(f"austin-{n}" for n in range(2, 13))]


async def test_pages_of_different_types_may_share_a_slug(wiki: Wiki) -> None:
    ids = [await create(wiki, "Austin", type=type) for type in ("topic", "entity")]
    assert {(await wiki.page(page_id))["slug"] for page_id in ids} == {"austin"}


async def test_a_former_slug_is_not_given_to_a_new_page(wiki: Wiki) -> None:
    page_id = await create(wiki, "Austin")
    await update_page(wiki.database, wiki.scope, page_id, slug="austin-texas")
    assert (await wiki.page(await create(wiki, "Austin")))["slug"] == "austin-2"


async def test_a_taken_slug_is_refused_with_the_title_of_its_page(wiki: Wiki) -> None:
    await create(wiki, "Austin")
    with pytest.raises(BadInput, match='belongs to the topic "Austin"') as refused:
        await create(wiki, "Other", slug="austin")
    assert refused.value.field == "slug"


@pytest.mark.parametrize(
    ("draft", "field"),
    [
        (PageDraft("topic", " \n"), "title"),
        (PageDraft("topic", "!!!"), "title"),
        (PageDraft("topic", "a\0b"), "title"),
        (PageDraft("topic", "\ud800"), "title"),
        (PageDraft("topic", "x" * 501), "title"),
        (PageDraft("nonsense", "A"), "type"),
        (PageDraft("topic", "A", slug="No Slug"), "slug"),
        (PageDraft("topic", "A", slug="index"), "slug"),
        (PageDraft("topic", "A", summary="s" * 2001), "summary"),
        (PageDraft("topic", "A", tags=["ok", " "]), "tags.1"),
        (PageDraft("topic", "A", tags=[f"t{n}" for n in range(51)]), "tags"),
        (PageDraft("topic", "A", aliases=["?!"]), "aliases.0"),
        (PageDraft("topic", "A", status="gone"), "status"),
        (PageDraft("topic", "A", body="b\0"), "bodyMd"),
        (PageDraft("topic", "A", body="x" * 1_000_001), "bodyMd"),
        (PageDraft("topic", "A", body="".join(f"[[page {n}]]" for n in range(5001))), "bodyMd"),
        (PageDraft("topic", "A", body="b", sections=[]), "bodyMd"),
        (PageDraft("topic", "A", metadata={"a": {1, 2}}), "metadata"),
        (PageDraft("topic", "A", metadata={"a": "\0"}), "metadata"),
        (PageDraft("topic", "A", metadata={"a": "\ud800"}), "metadata"),
        (PageDraft("topic", "A", metadata={"a": "x" * 70_000}), "metadata"),
        (PageDraft("topic", "A", sections=[SectionDraft("x", "a"), SectionDraft("\0", "b")]), "sections.1.bodyMd"),
        (PageDraft("topic", "A", sections=[SectionDraft("x", "a"), SectionDraft("y", "a")]), "sections.1.sectionSlug"),
        (PageDraft("topic", "A", sections=[SectionDraft("x", "a"), SectionDraft("y")]), "sections.1.sectionSlug"),
        (PageDraft("topic", "A", sections=[SectionDraft("x", "Not a slug")]), "sections.0.sectionSlug"),
        (PageDraft("topic", "A", sections=[SectionDraft("a\n\n## Sneaky\n\nb", "a")]), "sections.0.bodyMd"),
        (
            PageDraft("topic", "A", sections=[SectionDraft("```\nopen", "a"), SectionDraft("y", "b")]),
            "sections.0.bodyMd",
        ),
    ],
)
async def test_bad_input_names_the_argument_and_writes_nothing(wiki: Wiki, draft: PageDraft, field: str) -> None:
    for write in (create_page, upsert_page):
        with pytest.raises(BadInput) as refused:
            await write(wiki.database, wiki.scope, draft)
        assert refused.value.field == field
    assert await wiki.rows("pages") == []
    assert await wiki.actions() == []


async def test_metadata_may_contain_an_escaped_nul(wiki: Wiki) -> None:
    metadata = {"said": r"\u0000", "big": 10**18, "float": 1e308, "nested": [None, True, {"a": 1.5}]}
    draft = PageDraft("topic", "A", metadata=metadata)
    page = await wiki.page((await create_page(wiki.database, wiki.scope, draft)).page_id)
    assert page["metadata"] == metadata
    assert not (await upsert_page(wiki.database, wiki.scope, draft)).changed


async def test_the_same_upsert_twice_changes_nothing(wiki: Wiki) -> None:
    first = await upsert_page(wiki.database, wiki.scope, AUSTIN)
    again = await upsert_page(wiki.database, wiki.scope, AUSTIN)
    assert (first.created, again.created, again.changed) == (True, False, False)
    assert (again.page_id, again.version) == (first.page_id, 1)
    assert await wiki.actions() == ["page.created"]


async def test_an_upsert_keeps_fields_that_the_draft_does_not_set(wiki: Wiki) -> None:
    await upsert_page(wiki.database, wiki.scope, AUSTIN)
    draft = PageDraft("topic", "AUSTIN", slug="austin-texas", sections=[SectionDraft("More tacos.", "food")])
    saved = await upsert_page(wiki.database, wiki.scope, draft)
    page = await wiki.page(saved.page_id)
    assert (page["title"], page["summary"], page["tags"], page["version"]) == ("AUSTIN", "A city.", ["us"], 2)
    assert page["body_md"] == "The capital.\n\n## Food\n\nMore tacos."


async def test_a_compile_unarchives_a_page_and_sets_its_compile_time(wiki: Wiki) -> None:
    page_id = await create(wiki, "Austin")
    await archive_page(wiki.database, wiki.scope, page_id)
    draft = PageDraft("topic", "Austin")
    assert not (await upsert_page(wiki.database, wiki.scope, draft)).changed
    assert (await wiki.page(page_id))["status"] == "archived"
    before = datetime.now(UTC)
    await upsert_page(wiki.database, wiki.scope, draft, mark_compiled=True)
    page = await wiki.page(page_id)
    assert (page["status"], page["version"]) == ("active", 1)
    assert page["last_compiled_at"] >= before


async def test_a_compile_cannot_archive_a_page(wiki: Wiki) -> None:
    with pytest.raises(BadInput, match="unarchives the page") as refused:
        await upsert_page(wiki.database, wiki.scope, PageDraft("topic", "A", status="archived"), mark_compiled=True)
    assert refused.value.field == "status"
    assert await wiki.rows("pages") == []


async def test_a_compile_without_changes_keeps_the_version(wiki: Wiki) -> None:
    await upsert_page(wiki.database, wiki.scope, AUSTIN, mark_compiled=True)
    saved = await upsert_page(wiki.database, wiki.scope, AUSTIN, mark_compiled=True)
    assert (saved.changed, saved.version) == (False, 1)
    assert await wiki.actions() == ["page.created", "page.compiled"]


async def test_an_upsert_adds_aliases_and_a_parent(wiki: Wiki) -> None:
    texas = await create(wiki, "Texas")
    await upsert_page(wiki.database, wiki.scope, AUSTIN)
    draft = PageDraft(
        "topic", "Austin, Texas", aliases=["ATX", "atx", "Bat City"], parent_id=texas, alias_source="import"
    )
    saved = await upsert_page(wiki.database, wiki.scope, draft)
    assert (saved.changed, saved.version) == (True, 1)
    assert {row["name"]: row["source"] for row in await wiki.rows("aliases", page_id=saved.page_id)} == {
        "Austin, Texas": "compiler", "ATX": "import", "Bat City": "import",
    }  # fmt: skip
    assert (await wiki.page(saved.page_id))["parent_page_id"] == texas
    assert not (await upsert_page(wiki.database, wiki.scope, draft)).changed
    assert await wiki.actions() == ["page.created", "page.created", "page.updated"]


async def test_a_write_from_a_stale_version_reports_the_current_version(wiki: Wiki) -> None:
    saved = await upsert_page(wiki.database, wiki.scope, AUSTIN)
    await update_page(wiki.database, wiki.scope, saved.page_id, title="Austin TX", expected_version=1)
    writes = [
        update_page(wiki.database, wiki.scope, saved.page_id, title="Other", expected_version=1),
        patch_section(wiki.database, wiki.scope, saved.page_id, section_slug="food", body="", expected_version=1),
        upsert_page(wiki.database, wiki.scope, AUSTIN, expected_version=1),
    ]
    for write in writes:
        with pytest.raises(Conflict) as refused:
            await write
        assert (refused.value.current_version, refused.value.page_id) == (2, saved.page_id)
    assert (await wiki.page(saved.page_id))["version"] == 2


async def test_only_given_fields_are_updated(wiki: Wiki) -> None:
    page_id = (await create_page(wiki.database, wiki.scope, AUSTIN)).page_id
    await update_page(wiki.database, wiki.scope, page_id, summary=None, tags=["tx", "us", "tx"], edit_summary="why")
    page = await wiki.page(page_id)
    assert (page["title"], page["summary"], page["tags"]) == ("Austin, Texas", None, ["tx", "us"])
    assert [row["edit_summary"] for row in await wiki.rows("revisions", "version")] == [None, "why"]


async def test_a_new_body_keeps_the_ids_and_citations_of_remaining_sections(wiki: Wiki) -> None:
    draft = PageDraft(
        "topic", "A", sections=[SectionDraft("One.", "notes", "Field notes"), SectionDraft("Two.", "more")]
    )
    page_id = (await create_page(wiki.database, wiki.scope, draft)).page_id
    source_id = await wiki.add_source()
    await cite_source(wiki.database, wiki.scope, page_id=page_id, section_slug="notes", source_id=source_id)
    before = {row["section_slug"]: row["id"] for row in await wiki.rows("sections")}
    await update_page(wiki.database, wiki.scope, page_id, body="Lead.\n\n## New\n\n## Field notes\n\nThree.")
    after = {row["section_slug"]: row["id"] for row in await wiki.rows("sections")}
    assert set(after) == {"overview", "new", "notes"}
    assert after["notes"] == before["notes"]
    assert [row["section_id"] for row in await wiki.rows("section_sources")] == [before["notes"]]


async def test_writing_the_body_of_a_page_back_changes_nothing(wiki: Wiki) -> None:
    sections = [SectionDraft("One.", "a", "Same"), SectionDraft("Two.", "b", "Same"), SectionDraft("", "c", "Empty")]
    page_id = (await create_page(wiki.database, wiki.scope, PageDraft("topic", "A", sections=sections))).page_id
    body = (await wiki.page(page_id))["body_md"]
    assert not (await update_page(wiki.database, wiki.scope, page_id, body=body)).changed


async def test_a_page_may_be_emptied(wiki: Wiki) -> None:
    page_id = (await create_page(wiki.database, wiki.scope, AUSTIN)).page_id
    await update_page(wiki.database, wiki.scope, page_id, body="")
    assert await slugs(wiki) == []


async def test_a_changed_slug_is_kept_as_a_former_slug_and_can_be_restored(wiki: Wiki) -> None:
    page_id = await create(wiki, "Austin")
    await update_page(wiki.database, wiki.scope, page_id, slug="atx")
    assert [row["slug"] for row in await wiki.rows("old_slugs", "slug")] == ["austin"]
    await update_page(wiki.database, wiki.scope, page_id, slug="austin")
    assert [row["slug"] for row in await wiki.rows("old_slugs", "slug")] == ["atx"]


async def test_a_slug_that_another_page_has_or_had_is_refused(wiki: Wiki) -> None:
    page_id = await create(wiki, "Austin")
    await update_page(wiki.database, wiki.scope, page_id, slug="atx")
    other = await create(wiki, "Other")
    for slug in ("austin", "atx"):
        with pytest.raises(BadInput, match="belongs to") as refused:
            await update_page(wiki.database, wiki.scope, other, slug=slug)
        assert refused.value.field == "slug"


async def test_a_new_title_keeps_the_old_one_as_an_alias(wiki: Wiki) -> None:
    page_id = await create(wiki, "Austin")
    await update_page(wiki.database, wiki.scope, page_id, title="Bat City")
    assert {row["alias"] for row in await wiki.rows("aliases")} == {"austin", "bat city"}


async def test_an_archived_page_keeps_its_rows_and_can_be_unarchived(wiki: Wiki) -> None:
    austin = await create(wiki, "Austin")
    reader = await create(wiki, "Reader", "See [[Austin]].")
    await archive_page(wiki.database, wiki.scope, reader)
    assert (await wiki.page(austin))["hubness_score"] == 0
    assert await wiki.references() == {(reader, austin): {"text"}}
    assert not (await archive_page(wiki.database, wiki.scope, reader)).changed
    await unarchive_page(wiki.database, wiki.scope, reader)
    page = await wiki.page(austin)
    assert (page["hubness_score"], page["version"]) == (1, 1)
    assert (await wiki.actions())[-2:] == ["page.archived", "page.unarchived"]


async def test_a_whole_wiki_is_archived_in_one_call(wiki: Wiki) -> None:
    await create(wiki, "Austin", "See [[Texas]].")
    await create(wiki, "Texas", status="archived")
    await create(wiki, "Dallas", "See [[Austin]].")
    other = await wiki.neighbour()
    other_page_id = await create(other, "Kept")
    assert await archive_scope(wiki.database, wiki.scope) == 2
    assert await archive_scope(wiki.database, wiki.scope) == 0
    assert {page["status"] for page in await wiki.rows("pages")} == {"archived"}
    assert (await other.page(other_page_id))["status"] == "active"
    assert (await wiki.actions())[3:] == ["wiki.archived"]


async def test_deleting_a_page_leaves_orphans_broken_links_and_activity(wiki: Wiki) -> None:
    texas = await create(wiki, "Texas", "See [[Dallas]].")
    dallas = await create(wiki, "Dallas", "In [[Texas]], near [[Austin]].")
    austin = await create(wiki, "Austin", "Capital of [[Texas]].", parent_id=texas)
    await delete_page(wiki.database, wiki.scope, texas)
    assert {page["id"] for page in await wiki.rows("pages")} == {dallas, austin}
    assert (await wiki.page(austin))["parent_page_id"] is None
    assert await wiki.targets(austin) == {"texas": None}
    assert await wiki.references() == {(dallas, austin): {"text"}}
    assert (await wiki.row("activity", action="page.deleted"))["detail"]["title"] == "Texas"


async def test_the_log_does_not_name_a_deleted_page_that_not_all_readers_could_read(wiki: Wiki) -> None:
    here = wiki.database, wiki.scope
    ids = {level: await create(wiki, level, fields={"sensitivity": level}) for level in ("internal", "secret")}
    for level, id in ids.items():
        await add_alias(*here, id, name=f"Layoffs {level}")
        await remove_alias(*here, id, name=f"Layoffs {level}")
        await delete_page(*here, id)
    logged = {
        level: [row["detail"] for row in await wiki.rows("activity", "id", page_id=id)] for level, id in ids.items()
    }
    named = [{"name": "Layoffs internal"}] * 2
    assert logged["internal"][1:] == [*named, {"type": "topic", "slug": "internal", "title": "internal"}]
    assert logged["secret"][1:] == [{}, {}, {}]


async def test_a_link_to_a_deleted_page_resolves_to_another_of_its_slug(wiki: Wiki) -> None:
    reader = await create(wiki, "Reader", "[[Austin]]")
    first = await create(wiki, "Austin")
    second = await create(wiki, "Austin", type="entity")
    assert await wiki.targets(reader) == {"austin": first}
    await delete_page(wiki.database, wiki.scope, first)
    assert await wiki.targets(reader) == {"austin": second}


async def test_pages_of_other_wikis_are_refused_like_unknown_pages(wiki: Wiki) -> None:
    stranger = (await wiki.neighbour()).with_role(Role.MEMBER)
    page_id = await create(wiki, "Austin")
    messages = set()
    for target in (page_id, new_id()):
        for write in (archive_page, delete_page, update_page):
            with pytest.raises(NotFound) as refused:
                await write(stranger.database, stranger.scope, target)
            messages.add(refused.value.message)
    assert len(messages) == 1
    assert await wiki.actions() == ["page.created"]


async def test_members_may_not_delete(wiki: Wiki) -> None:
    page_id = await create(wiki, "Austin")
    member = wiki.with_role(Role.MEMBER)
    await update_page(member.database, member.scope, page_id, title="Bat City")
    for write in (delete_page(member.database, member.scope, page_id), archive_scope(member.database, member.scope)):
        with pytest.raises(Forbidden):
            await write


async def test_readers_may_not_write(wiki: Wiki) -> None:
    reader = wiki.with_role(Role.READER)
    with pytest.raises(Forbidden):
        await create(reader, "Austin")


async def test_a_write_in_another_wiki_stays_in_that_wiki(wiki: Wiki) -> None:
    other = await wiki.neighbour()
    page_id = await create(other, "Austin")
    await update_page(wiki.database, wiki.scope, page_id, title="Bat City")
    await add_alias(wiki.database, wiki.scope, page_id, name="ATX")
    assert await wiki.rows("activity") == []
    assert await other.actions() == ["page.created", "page.updated", "alias.added"]


async def test_a_write_that_fails_late_is_rolled_back(wiki: Wiki) -> None:
    with pytest.raises(NotFound):
        await create(wiki, "Austin", parent_id=new_id())
    for table in ("pages", "sections", "aliases", "revisions", "page_names", "search_pages", "activity"):
        assert await wiki.rows(table, "1") == []


async def test_an_upsert_without_a_parent_keeps_the_parent(wiki: Wiki) -> None:
    texas, austin = await create(wiki, "Texas"), await create(wiki, "Austin")
    await set_parent(wiki.database, wiki.scope, austin, parent_id=texas)
    await upsert_page(wiki.database, wiki.scope, PageDraft("topic", "Austin"))
    assert (await wiki.page(austin))["parent_page_id"] == texas


async def test_an_upsert_by_a_former_slug_without_a_version_is_a_conflict(wiki: Wiki) -> None:
    page_id = (await create_page(wiki.database, wiki.scope, PageDraft("topic", "ATX", body="Bats."))).page_id
    await update_page(wiki.database, wiki.scope, page_id, title="Austin", slug="austin")
    draft = PageDraft("topic", "ATX", body="Other.")
    with pytest.raises(Conflict, match='whose slug is "austin" now') as refused:
        await upsert_page(wiki.database, wiki.scope, draft)
    assert (refused.value.page_id, refused.value.current_version) == (page_id, 2)
    assert (await wiki.page(page_id))["title"] == "Austin"
    saved = await upsert_page(wiki.database, wiki.scope, draft, expected_version=2)
    assert (saved.page_id, (await wiki.page(page_id))["body_md"]) == (page_id, "Other.")
