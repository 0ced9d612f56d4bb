"""`wikiSearchAll` shows readable pages and passages in one list, and costs more for each space."""

from typing import Any

import pytest

from db.database import Database
from db.scope import Role, Scope
from resolvers.auth.owners import Grant, grant
from resolvers.context import Context
from resolvers.model.drafts import PageDraft, SectionDraft
from resolvers.pages.lifecycle import create_page
from schema.root import make_engine
from tests.schema.executing import RecordingContext, execute_document, query_data
from tests.schema.world import CALLERS, World
from tests.wiki import Wiki

ENGINE = make_engine()
QUERY = """query ($q: String!, $in: [WikiSearchKind!], $spaces: [String!], $after: String, $first: Int) {
    wikiSearchAll(query: $q, in: $in, spaces: $spaces, first: $first, after: $after) {
        didYouMean spaces { slug } pageInfo { hasNextPage endCursor }
        edges: hits { score rawScore owner { id } matchedAlias section { heading } snippet { text }
            page { ownerId title } passage { text source { id ref } } } } }"""


async def search_all(context: Context, query: str, **variables: Any) -> dict[str, Any]:
    shown: dict[str, Any] = (await query_data(ENGINE, context, QUERY, q=query, **variables))["wikiSearchAll"]
    return shown


async def test_pages_and_passages_are_one_list(wiki: Wiki) -> None:
    sections = [SectionDraft("The old kiln cracked in the frost.", heading="Damage")]
    await create_page(wiki.database, wiki.scope, PageDraft("topic", "Pottery", sections=sections))
    source_id = await wiki.add_source("daily_note", "2026-03-02", "The old kiln cracked in the frost.\n")
    context = Context(wiki.database, wiki.with_role(Role.MEMBER).scope)
    shown = await search_all(context, "kiln frost")
    passage, page = shown["edges"]
    assert passage["passage"] == {
        "text": "The old kiln cracked in the frost.",
        "source": {"id": str(source_id), "ref": "2026-03-02"},
    }
    assert (passage["page"], passage["section"], passage["snippet"]["text"]) == (
        None, None, "The old kiln cracked in the frost."
    )  # fmt: skip
    assert (page["page"]["title"], page["passage"], page["section"]) == ("Pottery", None, {"heading": "Damage"})
    assert page["score"] == pytest.approx(0.9 * page["rawScore"])
    assert passage["score"] == passage["rawScore"]
    assert {edge["owner"]["id"] for edge in shown["edges"]} == {str(wiki.scope.owner_id)}
    only = await search_all(context, "kiln frost", **{"in": ["SOURCES"]})
    assert [edge["page"] for edge in only["edges"]] == [None]


@pytest.mark.parametrize("scope", CALLERS)
async def test_results_contain_no_row_of_an_unreadable_wiki(world: World, database: Database, scope: Scope) -> None:
    owners = await query_data(ENGINE, RecordingContext(database, scope), "{ wikiOwners(first: 100) { nodes { id } } }")
    readable = {owner["id"] for owner in owners["wikiOwners"]["nodes"]}
    slugs = {row["slug"]: str(row["id"]) for row in world.of_tenant(scope.tenant_id)["owners"]}
    of_source = {str(row["id"]): str(row["owner_id"]) for row in world.tables["sources"]}
    for query in ("latte", "mocha river", "ref"):
        shown = await search_all(RecordingContext(database, scope), query, first=50)
        assert {slugs[space["slug"]] for space in shown["spaces"]} <= readable
        for edge in shown["edges"]:
            inside = edge["page"]["ownerId"] if edge["page"] else of_source[edge["passage"]["source"]["id"]]
            assert inside == edge["owner"]["id"]
            assert inside in readable
    for slug, owner_id in slugs.items():
        for space in (slug, owner_id):
            answer = await execute_document(ENGINE, RecordingContext(database, scope), QUERY, q="latte", spaces=[space])
            if owner_id in readable:
                assert "errors" not in answer
            else:
                assert answer["errors"][0]["extensions"]["code"] == "NOT_FOUND"
                assert space in answer["errors"][0]["message"]


async def test_invalid_arguments_have_a_code_and_a_field(wiki: Wiki) -> None:
    context = Context(wiki.database, wiki.with_role(Role.MEMBER).scope)
    text = '{ wikiSearchAll(query: "kiln", %s) { hits { score } } }'
    for wrong, code, field in (
        ("in: []", "BAD_USER_INPUT", "in"),
        ("spaces: []", "BAD_USER_INPUT", "spaces"),
        ("in: [SOURCES], filter: {types: [TOPIC]}", "BAD_USER_INPUT", "filter"),
        ('in: [PAGES], sourceFilter: {refs: ["a"]}', "BAD_USER_INPUT", "sourceFilter"),
        ('after: "nonsense"', "BAD_USER_INPUT", "after"),
        ('spaces: ["moon"]', "NOT_FOUND", None),
        ('sourceFilter: {capturedAfter: "soon"}', "GRAPHQL_VALIDATION_FAILED", None),
        ('tenantId: "0199f0c2-5d3e-7c1a-9f00-3a5b8c2d1e4f"', "FORBIDDEN", None),
    ):
        (error,) = (await execute_document(ENGINE, context, text % wrong))["errors"]
        assert (error["extensions"]["code"], error["extensions"].get("field")) == (code, field), wrong


async def test_each_searched_space_adds_to_the_cost(wiki: Wiki) -> None:
    scope = wiki.with_role(Role.MEMBER).scope
    alone = Context(wiki.database, scope)
    await search_all(alone, "kiln")
    other = await wiki.neighbour()
    await wiki.connection.execute(
        "UPDATE owners SET slug = 'team', kind = 'shared' WHERE id = $1", other.scope.owner_id
    )
    owners = {"owner_id": other.scope.owner_id, "grantee_id": scope.owner_id}
    await grant(wiki.database, scope.tenant_id, **owners, role=Grant.READER)
    both = Context(wiki.database, scope)
    assert [space["slug"] for space in (await search_all(both, "kiln"))["spaces"]][1:] == ["team"]
    assert both.spent > alone.spent
