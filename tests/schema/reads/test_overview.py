"""Stubs follow the settings of a wiki, and the knowledge map and the activity log are paged."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

import pytest

from db.scope import Role
from resolvers.context import Context
from resolvers.model.drafts import PageDraft, SectionDraft
from resolvers.pages.lifecycle import archive_page, create_page, delete_page
from resolvers.sources.sources import cite_source
from schema.root import make_engine
from tests.schema.executing import error_code, execute_document
from tests.wiki import Wiki

ENGINE = make_engine()
STUBS = "query ($stub: Boolean) { wikiPages(filter: {isStub: $stub}) { totalCount nodes { title isStub } } }"
SET = """mutation ($least: Int) { updateWikiSettings(input: {minSourcesForSynthesis: $least}) {
    changed owner { minSourcesForSynthesis } userErrors { field code } } }"""
MAP = """query ($types: [WikiPageType!], $first: Int, $after: String, $owner: String) {
    found: wikiKnowledgeMap(types: $types, first: $first, after: $after, owner: $owner) { bodyMd nextCursor } }"""
LOG = """query ($first: Int, $after: String, $owner: String) {
    found: wikiActivityLog(first: $first, after: $after, owner: $owner) { bodyMd nextCursor } }"""


async def page(wiki: Wiki, title: str, *refs: str, type: str = "entity", **more: Any) -> UUID:
    draft = PageDraft(type, title, sections=[SectionDraft("Text.", "notes")], **more)
    page_id = (await create_page(wiki.database, wiki.scope, draft)).page_id
    for ref in refs:
        source_id = await wiki.add_source("daily_note", *ref.split("="))
        await cite_source(wiki.database, wiki.scope, page_id=page_id, section_slug="notes", source_id=source_id)
    return page_id


async def execute(wiki: Wiki, text: str, **variables: Any) -> Any:
    answer = await execute_document(ENGINE, Context(wiki.database, wiki.scope), text, **variables)
    assert "errors" not in answer, answer
    return answer["data"]


async def parts(wiki: Wiki, text: str, **variables: Any) -> Sequence[str]:
    """Return the texts of all parts of an overview, in order."""
    found, after = [], None
    while not found or after:
        part = (await execute(wiki, text, after=after, **variables))["found"]
        found.append(part["bodyMd"])
        after = part["nextCursor"]
    return found


async def test_a_page_is_a_stub_until_it_cites_a_second_source(wiki: Wiki) -> None:
    await page(wiki, "None")
    await page(wiki, "One", "a")
    await page(wiki, "Two versions of one", "b=First.", "b=Second.")
    await page(wiki, "Two", "c", "d")
    for stub, titles in ((True, ["None", "One", "Two versions of one"]), (False, ["Two"])):
        found = (await execute(wiki, STUBS, stub=stub))["wikiPages"]
        assert [node["title"] for node in found["nodes"]] == titles
        assert {node["isStub"] for node in found["nodes"]} == {stub}
        assert found["totalCount"] == len(titles)
    assert (await execute(wiki, STUBS, stub=None))["wikiPages"]["totalCount"] == 4


async def test_only_admins_set_the_minimum_number_of_sources(wiki: Wiki) -> None:
    done = (await execute(wiki, SET, least=5))["updateWikiSettings"]
    assert done == {"changed": True, "owner": {"minSourcesForSynthesis": 5}, "userErrors": []}
    assert (await execute(wiki, SET, least=5))["updateWikiSettings"]["changed"] is False
    assert (await execute(wiki, SET))["updateWikiSettings"]["owner"] == {"minSourcesForSynthesis": 5}
    for wrong in (0, 101, -1):
        (error,) = (await execute(wiki, SET, least=wrong))["updateWikiSettings"]["userErrors"]
        assert error == {"field": ["minSourcesForSynthesis"], "code": "BAD_USER_INPUT"}
    member = wiki.with_role(Role.MEMBER)
    assert (
        error_code(await execute_document(ENGINE, Context(member.database, member.scope), SET, least=4)) == "FORBIDDEN"
    )
    assert (await wiki.actions()).count("wiki.settings_updated") == 1


async def test_the_map_lists_pages_by_type_with_links_and_marks_stubs(wiki: Wiki) -> None:
    assert await parts(wiki, MAP) == ["# Knowledge map\n\nThere are no pages yet."]
    await page(wiki, "Water", "a", "b", type="topic", summary="Where it comes from. And more.")
    await page(wiki, "Priya", "a")
    gone = await page(wiki, "Gone")
    await archive_page(wiki.database, wiki.scope, gone)
    whole = (
        "# Knowledge map\n\nPages: 2 (1 entity, 1 topic).\n\n"
        "## Entity (1)\n\n- [**Priya**](/wiki/entity/priya) *(stub)*\n\n"
        "## Topic (1)\n\n- [**Water**](/wiki/topic/water) — Where it comes from."
    )
    assert await parts(wiki, MAP) == [whole]
    (topics,) = await parts(wiki, MAP, types=["TOPIC"])
    assert topics.startswith("# Knowledge map\n\nPages: 1 (1 topic).\n\n## Topic (1)\n\n- [**Water**]")
    assert "Priya" not in topics


async def test_a_paged_map_lists_each_page_once(wiki: Wiki) -> None:
    for type in ("topic", "entity", "project"):
        for number in range(5):
            await page(wiki, f"Page {number}", type=type)
    whole = [line for line in (await parts(wiki, MAP))[0].splitlines() if line.startswith("- ")]
    assert len(whole) == 15
    for size in (1, 4, 5, 7, 15):
        found = await parts(wiki, MAP, first=size)
        assert [line for part in found for line in part.splitlines() if line.startswith("- ")] == whole
        assert len(found) == -(-15 // size)
        assert sum("# Knowledge map" in part for part in found) == 1
    assert "## Entity, continued" in (await parts(wiki, MAP, first=4))[1]


async def test_the_log_lists_actions_newest_first_without_deleted_titles(wiki: Wiki) -> None:
    assert await parts(wiki, LOG) == ["# Activity log\n\nNothing has happened yet."]
    await page(wiki, "Priya", "secret-ref")
    gone = await page(wiki, "Gone secret")
    await delete_page(wiki.database, wiki.scope, gone)
    (text,) = await parts(wiki, LOG)
    lines = [line for line in text.splitlines() if line.startswith("- ")]
    actions = [line.split()[2] for line in lines]
    assert actions == list(reversed(await wiki.actions()))
    assert "[**Priya**](/wiki/entity/priya)" in text
    assert "secret" not in text, "of what is deleted nothing is told"
    for size in (1, 2, 3):
        found = await parts(wiki, LOG, first=size)
        assert [line for part in found for line in part.splitlines() if line.startswith("- ")] == lines


@pytest.mark.parametrize("text", [MAP, LOG])
async def test_invalid_cursors_sizes_and_foreign_wikis_are_refused(wiki: Wiki, text: str) -> None:
    context = Context(wiki.database, wiki.scope)
    for after in ("x", "é", "W10=", "WyJhIiwiYiJd", "WzEsMl0=", "WyJlbnRpdHkiLCJcdTAwMDAiXQ=="):
        assert error_code(await execute_document(ENGINE, context, text, after=after)) == "BAD_USER_INPUT"
    for first in (0, -1):
        assert error_code(await execute_document(ENGINE, context, text, first=first)) == "BAD_USER_INPUT"
    other = await wiki.neighbour(Role.MEMBER)
    stranger = Context(wiki.database, wiki.with_role(Role.MEMBER).scope)
    assert error_code(await execute_document(ENGINE, stranger, text, owner=str(other.scope.owner_id))) == "NOT_FOUND"
    assert (await execute(wiki, text, first=10**6))["found"]["nextCursor"] is None
