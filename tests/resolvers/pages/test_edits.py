"""Edits of pages, appended texts, and concurrent editors."""

import asyncio

import pytest

from db.database import Database
from db.scope import Role
from resolvers.errors import BadInput, Conflict, Forbidden, NotFound
from resolvers.model.drafts import PageDraft
from resolvers.model.lookup import PageAddress
from resolvers.pages.edits import EditAmbiguous, EditFailed, append_to_page, edit_page
from resolvers.pages.lifecycle import create_page, update_page
from resolvers.sources.sources import SourceDraft, add_source, cite_source
from tests.wiki import Wiki

BODY = "Opened in 2019.\n\n## Menu\n\n- flat white\n    - oat\n- filter\n\n## Notes\n\n- filter"


@pytest.fixture
async def page(wiki: Wiki) -> PageAddress:
    draft = PageDraft("entity", "Harbour Coffee", body=BODY)
    return PageAddress((await create_page(wiki.database, wiki.scope, draft)).page_id)


async def body(wiki: Wiki) -> str:
    (row,) = await wiki.rows("pages")
    return str(row["body_md"])


async def test_an_edit_changes_the_body_and_makes_a_version(wiki: Wiki, page: PageAddress) -> None:
    edit = await edit_page(wiki.database, wiki.scope, page, old_text="2019", new_text="2018", summary="Right year")
    assert (edit.saved.version, edit.saved.changed, edit.note) == (2, True, None)
    assert edit.edited
    assert (edit.edited.matched_by, edit.edited.lines) == ("exact", (1,))
    assert await body(wiki) == BODY.replace("2019", "2018")
    assert (await wiki.rows("revisions", "version"))[-1]["edit_summary"] == "Right year"
    assert (await wiki.actions())[-1] == "page.edited"


async def test_an_edit_of_a_section_ignores_the_same_text_in_other_sections(wiki: Wiki, page: PageAddress) -> None:
    edit = {"old_text": "- filter", "new_text": "- batch brew"}
    with pytest.raises(EditAmbiguous) as refused:
        await edit_page(wiki.database, wiki.scope, page, **edit)
    assert refused.value.extensions == {"code": "EDIT_AMBIGUOUS", "count": 2, "lines": [7, 11]}
    await edit_page(wiki.database, wiki.scope, page, section_slug="notes", **edit)
    assert await body(wiki) == f"{BODY.removesuffix('filter')}batch brew"


async def test_a_section_under_a_new_heading_keeps_its_id_and_its_citations(wiki: Wiki, page: PageAddress) -> None:
    source = await add_source(wiki.database, wiki.scope, SourceDraft("document", "menu", "Flat white."))
    await cite_source(wiki.database, wiki.scope, page_id=page.page_id, section_slug="menu", source_id=source.source_id)
    ids = {row["section_slug"]: row["id"] for row in await wiki.rows("sections")}
    await edit_page(wiki.database, wiki.scope, page, old_text="## Menu", new_text="## Drinks")
    rows = await wiki.rows("sections")
    assert {row["section_slug"]: row["id"] for row in rows} == ids
    assert "Drinks" in {row["heading"] for row in rows}
    assert (await wiki.row("section_sources"))["section_id"] == ids["menu"]


async def test_a_section_with_a_new_heading_and_a_new_text_is_a_new_section(wiki: Wiki, page: PageAddress) -> None:
    ids = {row["section_slug"]: row["id"] for row in await wiki.rows("sections")}
    await edit_page(wiki.database, wiki.scope, page, old_text="## Menu\n\n- flat white", new_text="## Drinks\n\n- tea")
    after = {row["section_slug"]: row["id"] for row in await wiki.rows("sections")}
    assert set(after) == {"overview", "drinks", "notes"}
    assert after["drinks"] not in ids.values()
    assert (after["overview"], after["notes"]) == (ids["overview"], ids["notes"])


async def test_a_failed_edit_writes_nothing_and_shows_the_nearest_text(wiki: Wiki, page: PageAddress) -> None:
    with pytest.raises(EditFailed) as failed:
        await edit_page(wiki.database, wiki.scope, page, old_text="Opened in the year 2020", new_text="x")
    extensions = failed.value.extensions
    assert extensions["passesTried"] == ["exact", "lines", "whitespace", "indentation"]
    assert (extensions["nearest"]["text"], extensions["nearest"]["line"]) == ("Opened in 2019.", 1)
    assert len(await wiki.rows("revisions")) == 1


@pytest.mark.parametrize(
    ("edit", "field"),
    [
        ({"old_text": "", "new_text": "x"}, "oldText"),
        ({"old_text": "\t", "new_text": "x"}, "oldText"),
        ({"old_text": "2019", "new_text": "\0"}, "newText"),
        ({"old_text": "- filter", "new_text": "## Two", "section_slug": "notes"}, "newText"),
    ],
)
async def test_an_invalid_edit_is_refused_with_its_field(wiki: Wiki, page: PageAddress, edit, field: str) -> None:
    with pytest.raises(BadInput) as refused:
        await edit_page(wiki.database, wiki.scope, page, **edit)
    assert refused.value.field == field


async def test_an_invalid_append_is_refused_with_its_field(wiki: Wiki, page: PageAddress) -> None:
    for section, text, field in (("No Slug", "x", "sectionSlug"), ("notes", "## Two", "text"), (None, " ", "text")):
        with pytest.raises(BadInput) as refused:
            await append_to_page(wiki.database, wiki.scope, page, text=text, section_slug=section)
        assert refused.value.field == field


async def test_an_edit_without_a_change_is_reported_as_unchanged(wiki: Wiki, page: PageAddress) -> None:
    edit = await edit_page(wiki.database, wiki.scope, page, old_text="2019", new_text="2019")
    assert (edit.saved.changed, edit.saved.version) == (False, 1)
    assert "nothing was written" in (edit.note or "")


async def test_a_page_is_addressed_by_id_or_by_type_and_slug(wiki: Wiki, page: PageAddress) -> None:
    await update_page(wiki.database, wiki.scope, page.page_id, slug="harbour")
    for slug in ("harbour", "harbour-coffee"):
        address = PageAddress(type="entity", slug=slug)
        await append_to_page(wiki.database, wiki.scope, address, text=f"By {slug}.")
    assert (await body(wiki)).endswith("By harbour.\n\nBy harbour-coffee.")
    for address in (PageAddress(type="entity"), PageAddress(), PageAddress(page.page_id, "entity", "harbour")):
        with pytest.raises(BadInput):
            await append_to_page(wiki.database, wiki.scope, address, text="x")


async def test_edits_from_another_wiki_or_by_readers_are_refused(wiki: Wiki, page: PageAddress) -> None:
    other = await wiki.neighbour(Role.MEMBER)
    here, reader = PageAddress(type="entity", slug="harbour-coffee"), wiki.with_role(Role.READER)
    for scope, address in ((other.scope, page), (other.scope, here), (other.scope.in_owner(wiki.scope.owner_id), here)):
        with pytest.raises(NotFound):
            await edit_page(wiki.database, scope, address, old_text="2019", new_text="x")
    own = PageAddress(page.page_id, in_wiki=True)
    with pytest.raises(NotFound):
        await edit_page(wiki.database, wiki.scope.in_owner(other.scope.owner_id), own, old_text="2019", new_text="x")
    with pytest.raises(Forbidden):
        await edit_page(wiki.database, reader.scope, page, old_text="2019", new_text="x")


async def test_text_is_appended_to_a_page_a_section_or_a_new_section(wiki: Wiki, page: PageAddress) -> None:
    append = {"text": "- cortado", "section_slug": "menu", "as_paragraph": False}
    await append_to_page(wiki.database, wiki.scope, page, **append)
    await append_to_page(wiki.database, wiki.scope, page, text="Quiet.", section_slug="visits")
    await append_to_page(wiki.database, wiki.scope, page, text="\nLoud.\n")
    menu, end = BODY.replace("filter\n\n##", "filter\n- cortado\n\n##"), "\n\n## Visits\n\nQuiet.\n\nLoud."
    assert await body(wiki) == menu + end
    with pytest.raises(BadInput, match="nothing to append"):
        await append_to_page(wiki.database, wiki.scope, page, text=" \n")


async def test_concurrent_edits_of_one_version_conflict_and_none_is_lost(
    dsn: str, wiki: Wiki, page: PageAddress
) -> None:
    """Two pools stand for two processes; an editor reads and retries after each conflict until its edit is written."""
    databases = [Database(dsn, size=4) for _ in range(2)]
    for database in databases:
        await database.open()
    conflicts = []

    async def editor(number: int) -> None:
        database = databases[number % 2]
        while True:
            version = await wiki_version(database, page, wiki)
            edit = {
                "old_text": "Opened in 2019.",
                "new_text": f"Opened in 2019. E{number}!",
                "expected_version": version,
            }
            try:
                await edit_page(database, wiki.scope, page, **edit)
                return
            except Conflict as conflict:
                conflicts.append((conflict.current_version or 0) - version)

    try:
        await asyncio.gather(*map(editor, range(32)))
    finally:
        for database in databases:
            await database.close()
    text = await body(wiki)
    assert all(f"E{number}!" in text for number in range(32))
    assert (await wiki.row("pages"))["version"] == 33
    assert conflicts
    assert min(conflicts) > 0, "a conflict names a version that is newer"


async def wiki_version(database: Database, page: PageAddress, wiki: Wiki) -> int:
    sql = "SELECT version FROM pages WHERE tenant_id = $1 AND id = $2"
    async with database.connection() as connection:
        return int(await connection.raw.fetchval(sql, wiki.scope.tenant_id, page.page_id))
