"""The argument `owner` names a wiki by slug or id, wherever the three older arguments are accepted."""

from typing import Any

import pytest
from graphql import GraphQLArgument, GraphQLInputField, is_input_object_type

from db.scope import Role
from resolvers.auth.owners import Grant, grant
from resolvers.model.drafts import PageDraft
from resolvers.pages.lifecycle import create_page
from schema.root import GRAPHQL, make_engine
from tests.schema.executing import RecordingContext, error_code, execute_document, query_data
from tests.wiki import Wiki

ENGINE = make_engine()
OLDER = {"ownerId", "userId", "agentId"}
READ = """query ($t: ID!, $owner: String, $ownerId: ID) {
    wikiPages(owner: $owner, ownerId: $ownerId) { nodes { title } }
    wikiSearch(tenantId: $t, query: "kiln", owner: $owner, ownerId: $ownerId) { page { title } }
    wikiSuggest(prefix: "k", owner: $owner, ownerId: $ownerId) { name }
    wikiPage(tenantId: $t, type: TOPIC, slug: "kiln", owner: $owner, ownerId: $ownerId) { title }
    wikiGraph(tenantId: $t, owner: $owner, ownerId: $ownerId) { nodes { label } } }"""
WRITE = """mutation ($owner: String, $ownerId: ID) {
    createWikiPage(input: {type: TOPIC, title: "Glaze", owner: $owner, ownerId: $ownerId}) { page { ownerId } } }"""
COMPILE = "mutation ($t: ID!, $owner: String) { compileWikiNow(tenantId: $t, owner: $owner) { ownerId } }"
LINT = "query ($owner: String) { wikiLint(owner: $owner) { total } wikiHotIndex(owner: $owner) { score } }"


def elements() -> dict[str, dict[str, GraphQLArgument | GraphQLInputField]]:
    """Return the arguments of root fields and the fields of inputs by the name of their field or type."""
    found: dict[str, Any] = {}
    for root in (GRAPHQL.query_type, GRAPHQL.mutation_type, GRAPHQL.subscription_type):
        assert root is not None
        found |= {name: field.args for name, field in root.fields.items()}
    inputs = (type_ for type_ in GRAPHQL.type_map.values() if is_input_object_type(type_))
    return found | {type_.name: type_.fields for type_ in inputs}


NEWER = {"GrantWikiAccessInput", "RevokeWikiAccessInput", "wikiConnectedPrograms"}
"""Fields and inputs that never had the older names."""


def test_owner_exists_beside_the_older_arguments_which_are_deprecated() -> None:
    for place, given in elements().items():
        older = OLDER & given.keys()
        assert bool(older) == ("owner" in given) or place in NEWER, place
        assert all(given[name].deprecation_reason == "Use owner." for name in older), place
        assert "owner" not in given or given["owner"].deprecation_reason is None


@pytest.fixture
async def other(wiki: Wiki) -> Wiki:
    """Another wiki of the tenant, with a page."""
    other = await wiki.neighbour()
    await create_page(other.database, other.scope, PageDraft("topic", "Kiln", body="A kiln is hot."))
    return other


async def slug_of(wiki: Wiki) -> str:
    return str(await wiki.connection.fetchval("SELECT slug FROM owners WHERE id = $1", wiki.scope.owner_id))


async def execute(wiki: Wiki, text: str, **variables: Any) -> dict[str, Any]:
    return await execute_document(
        ENGINE, RecordingContext(wiki.database, wiki.scope), text, t=str(wiki.scope.tenant_id), **variables
    )


async def test_a_slug_and_an_id_name_the_same_wiki(wiki: Wiki, other: Wiki) -> None:
    by_older_name = (await execute(wiki, READ, ownerId=str(other.scope.owner_id)))["data"]
    assert by_older_name["wikiPage"] == {"title": "Kiln"}
    for name in (await slug_of(other), str(other.scope.owner_id), str(other.scope.owner_id).upper()):
        assert (await execute(wiki, READ, owner=name))["data"] == by_older_name
    own = (await execute(wiki, READ))["data"]
    assert (own["wikiPages"], own["wikiPage"]) == ({"nodes": []}, None)


async def test_a_read_by_slug_is_one_statement(wiki: Wiki, other: Wiki) -> None:
    context = RecordingContext(wiki.database, wiki.scope)
    text = "query ($owner: String) { wikiPages(owner: $owner) { nodes { title } } }"
    assert (await query_data(ENGINE, context, text, owner=await slug_of(other)))["wikiPages"]["nodes"] == [
        {"title": "Kiln"}
    ]
    assert len(context.statements) == 1


@pytest.mark.parametrize("name", ["nobody", "", "No Slug!", "é", "a" * 10_000, "00000000-0000-0000-0000-000000000000"])
async def test_an_unknown_owner_reads_as_an_empty_wiki(wiki: Wiki, other: Wiki, name: str) -> None:
    answer = await execute(wiki, READ, owner=name)
    assert "errors" not in answer
    assert not any(value["nodes"] if isinstance(value, dict) else value for value in answer["data"].values())
    assert error_code(await execute(wiki, WRITE, owner=name)) == "NOT_FOUND"
    assert error_code(await execute(wiki, COMPILE, owner=name)) == "NOT_FOUND"


async def test_writes_and_jobs_go_to_the_named_wiki(wiki: Wiki, other: Wiki) -> None:
    slug = await slug_of(other)
    assert (await execute(wiki, WRITE, owner=slug))["data"]["createWikiPage"]["page"]["ownerId"] == str(
        other.scope.owner_id
    )
    assert (await execute(wiki, COMPILE, owner=slug))["data"]["compileWikiNow"]["ownerId"] == str(other.scope.owner_id)
    assert "errors" not in await execute(wiki, LINT, owner=slug)


async def test_only_one_owner_argument_may_be_given(wiki: Wiki, other: Wiki) -> None:
    both = {"owner": await slug_of(wiki), "ownerId": str(other.scope.owner_id)}
    assert (
        error_code(
            await execute(
                wiki,
                "query ($owner: String, $ownerId: ID) { wikiPages(owner: $owner, ownerId: $ownerId) { nodes { id } } }",
                **both,
            )
        )
        == "BAD_USER_INPUT"
    )
    assert error_code(await execute(wiki, WRITE, **both)) == "BAD_USER_INPUT"


async def test_a_slug_gives_no_access_to_an_unreadable_wiki(wiki: Wiki, other: Wiki) -> None:
    member, slug = wiki.with_role(Role.MEMBER), await slug_of(other)
    text = "query ($owner: String) { wikiPages(owner: $owner) { nodes { title } } }"
    assert (await execute(member, text, owner=slug))["data"]["wikiPages"]["nodes"] == []
    assert error_code(await execute(member, WRITE, owner=slug)) == "NOT_FOUND"
    ends = {"owner_id": other.scope.owner_id, "grantee_id": wiki.scope.owner_id}
    await grant(wiki.database, wiki.scope.tenant_id, **ends, role=Grant.READER)
    assert (await execute(member, text, owner=slug))["data"]["wikiPages"]["nodes"] == [{"title": "Kiln"}]
    assert error_code(await execute(member, WRITE, owner=slug)) == "FORBIDDEN"
