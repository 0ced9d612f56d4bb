"""Each link stores the sections that contain it: when texts are saved, and for older texts by a worker."""

from uuid import UUID

from resolvers.model.drafts import PageDraft
from resolvers.pages.lifecycle import create_page, update_page
from resolvers.pages.link_places import place_links
from resolvers.pages.sections import patch_section, remove_section
from tests.wiki import Wiki, check_derived_rows

BODY = (
    "See [[Pool]].\n\n## Water\n\nThe [[pool]] and [[Lake]].\n\n## Food\n\n"
    "```\n[[Lake]]\n```\n\n## The [[Lake]]\n\nFar."
)


async def places(wiki: Wiki, page_id: UUID) -> dict[str, list[str] | None]:
    return {
        row["target"]: row["section_slugs"] for row in await wiki.rows("link_targets", "target", from_page_id=page_id)
    }


async def create(wiki: Wiki) -> UUID:
    return (await create_page(wiki.database, wiki.scope, PageDraft("topic", "Austin", body=BODY))).page_id


async def test_a_link_stores_the_sections_that_contain_the_link_in_order(wiki: Wiki) -> None:
    page_id = await create(wiki)
    assert await places(wiki, page_id) == {"pool": ["overview", "water"], "lake": ["water", "the_lake"]}
    await check_derived_rows(wiki)


async def test_the_sections_of_a_link_follow_changes_of_the_text(wiki: Wiki) -> None:
    page_id = await create(wiki)
    await patch_section(wiki.database, wiki.scope, page_id, section_slug="food", body="At the [[Lake]].")
    assert (await places(wiki, page_id))["lake"] == ["water", "food", "the_lake"]
    await remove_section(wiki.database, wiki.scope, page_id, section_slug="water")
    assert await places(wiki, page_id) == {"pool": ["overview"], "lake": ["food", "the_lake"]}
    await update_page(wiki.database, wiki.scope, page_id, body="## Last\n\n[[Lake]]")
    assert await places(wiki, page_id) == {"lake": ["last"]}
    await check_derived_rows(wiki)


async def test_a_worker_stores_the_sections_of_older_links(wiki: Wiki) -> None:
    page_id = await create(wiki)
    for number in range(60):
        draft = PageDraft("topic", f"Page {number}", body=f"## Here\n\n[[Austin]] and [[Page {number - 1}]]")
        await create_page(wiki.database, wiki.scope, draft)
    before = await wiki.rows("link_targets", "from_page_id, target")
    await wiki.connection.execute(
        "UPDATE link_targets SET section_slugs = NULL WHERE owner_id = $1", wiki.scope.owner_id
    )
    assert await place_links(wiki.database, wiki.scope.tenant_id) == 61
    assert await wiki.rows("link_targets", "from_page_id, target") == before
    assert await place_links(wiki.database, wiki.scope.tenant_id) == 0
    assert (await wiki.page(page_id))["version"] == 1
    await check_derived_rows(wiki)


async def test_a_link_missing_from_the_text_is_processed_once(wiki: Wiki) -> None:
    page_id = await create(wiki)
    await wiki.connection.execute(
        "UPDATE link_targets SET section_slugs = NULL, target = 'gone' WHERE from_page_id = $1 AND target = 'lake'",
        page_id,
    )
    assert await place_links(wiki.database, wiki.scope.tenant_id) == 1
    assert (await places(wiki, page_id))["gone"] == []
    assert await place_links(wiki.database, wiki.scope.tenant_id) == 0
    mended = "UPDATE link_targets SET target = 'lake', section_slugs = '{water,the_lake}' WHERE target = 'gone'"
    await wiki.connection.execute(mended)
