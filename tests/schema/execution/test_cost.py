"""Operations report the same cost whether they are compiled or run by graphql-core, and limits are enforced."""

from typing import Any

import orjson
import pytest

from db.database import Database
from db.scope import Role
from resolvers.context import Context
from schema.root import make_engine
from selection import Engine, Limits
from tests.schema.executing import RecordingContext, error_code, execute_document, query_data
from tests.schema.world import CALLERS, caller_scope

PYTHON = "excerpt"  # a field that only graphql-core can run


async def cost_of(engine: Engine, context: Context, text: str, **variables: Any) -> dict[str, Any]:
    answer: dict[str, Any] = orjson.loads((await engine.execute(text, variables, None, context)).body)
    cost: dict[str, Any] = answer["extensions"]["cost"]
    return cost


@pytest.mark.parametrize("more", ["", PYTHON])
@pytest.mark.parametrize(
    ("text", "cost"),
    [
        ("{ recentWikiPages(limit: 7) { title %s } }", 1 + 7),
        ("{ recentWikiPages(limit: 7) { %s backlinks(first: 3) { nodes { id } } } }", 1 + 7 + 7 * 3),
        ("{ a: recentWikiPages(limit: 7) { %s id } b: recentWikiPages(limit: 5) { id } }", 1 + 7 + 5),
        ("query($n: Int = 4) { recentWikiPages(limit: $n) { id %s } }", 1 + 4),
        ("{ recentWikiPages(limit: 7) @skip(if: true) { title %s } }", 1),
        ("{ recentWikiPages(limit: 7) { tags aliases %s } }", 1 + 7 + 7 * 5),
        ("{ recentWikiPages(limit: 7) { aliases(limit: 1) %s } }", 1 + 7 + 7),
        ("{ recentWikiPages(limit: 7) { sections { bodyMd } %s } }", 1 + 7 + 7 * 13),
        ("{ recentWikiPages(limit: 7) { sections(limit: 0) { bodyMd } %s } }", 1 + 7),
        ("query($n: Int = 8) { recentWikiPages(limit: 7) { sections(limit: $n) { id } %s } }", 1 + 7 + 7 * 2),
        (
            "{ recentWikiPages(limit: 7) { sections { sources(first: 3) { nodes { id } } } %s } }",
            1 + 7 * (1 + 13 + 150),
        ),
        ('{ mobileWikiSearch(query: "latte", limit: 3) { page { id %s } } }', 1 + 3 + 20),
    ],
)
async def test_answers_report_their_cost(
    engine: Engine, context: RecordingContext, more: str, text: str, cost: int
) -> None:
    assert await cost_of(engine, context, text % more) == {"requested": cost, "limit": 20_000}


LISTED = "id type slug title summary lastCompiledAt updatedAt"
SCREENS = {
    "recent pages": (f"{{ recentWikiPages {{ {LISTED} aliases tags }} }}", 1 + 50 * 6),
    "search": (f'{{ mobileWikiSearch(query: "latte") {{ score page {{ {LISTED} aliases }} }} }}', 21 + 20 * 6),
    "a page": (
        """query ($id: ID!) { node(id: $id) { ... on WikiPage {
            title bodyMd status tags aliases sourceMemoryCount sourceMemoryIds
            sections { id sectionSlug heading bodyMd position lastSourceAt }
            parent { id title } children { id title summary }
            promotedFromSection { sectionSlug sectionHeading parentPage { id title } } } } }""",
        1 + 5 + 10 + 13 + 50,
    ),
    "backlinks": (f"query ($id: ID!) {{ wikiBacklinks(pageId: $id) {{ {LISTED} aliases }} }}", 1 + 100 * 6),
    "connected": (f"query ($id: ID!) {{ wikiConnectedPages(pageId: $id) {{ {LISTED} aliases }} }}", 1 + 100 * 6),
}


@pytest.mark.parametrize("screen", SCREENS)
async def test_a_usual_screen_costs_less_than_a_twentieth_of_the_limit(
    engine: Engine, context: RecordingContext, screen: str
) -> None:
    text, cost = SCREENS[screen]
    variables = {"id": str(context.scope.owner_id)} if "$id" in text else {}
    assert await cost_of(engine, context, text, **variables) == {"requested": cost, "limit": 20_000}
    assert cost * 20 < 20_000


@pytest.mark.parametrize(
    "text",
    [
        "{ recentWikiPages(limit: 100) { backlinks(first: 100) { nodes { aliases } } } }",
        "{ recentWikiPages(limit: 100) { children(limit: 100) { sections(limit: 200) { bodyMd } } } }",
        "{ recentWikiPages(limit: 100) { "
        + " ".join(f"s{n}: sections(limit: 200) {{ bodyMd }}" for n in range(5))
        + "} }",
    ],
)
async def test_small_lists_of_many_rows_are_refused_before_any_sql(
    engine: Engine, context: RecordingContext, text: str
) -> None:
    assert error_code(await execute_document(engine, context, text)) == "LIMIT_EXCEEDED"
    assert not context.statements


async def test_a_refused_operation_reports_its_cost(engine: Engine, database: Database) -> None:
    context = RecordingContext(database, CALLERS[0], budget=100)
    text = "{ wikiPages(first: 50) { nodes { backlinks(first: 50) { nodes { id } } } } }"
    assert await cost_of(engine, context, text) == {"requested": 1 + 50 + 2500, "limit": 100}


async def test_an_invalid_document_reports_no_cost(engine: Engine, context: RecordingContext) -> None:
    assert set(orjson.loads((await engine.execute("{ nothing }", {}, None, context)).body)) == {"errors"}


async def test_introspection_costs_what_it_lists(engine: Engine, context: RecordingContext) -> None:
    assert (await cost_of(engine, context, "{ __typename }"))["requested"] == 1
    assert (await cost_of(engine, context, "{ __schema { queryType { name } } }"))["requested"] == 2
    assert (await cost_of(engine, context, "{ __schema { types { name } } }"))["requested"] > 100
    whole = "{ __schema { types { fields { name args { name } } } } }"
    assert 1000 < (await cost_of(engine, context, whole))["requested"] < 10_000


async def test_every_write_adds_ten_to_the_cost(engine: Engine, context: RecordingContext) -> None:
    writes = "{ ...W b: archiveWikiPage(input: {pageId: 7}) { changed } }"
    text = f"mutation {writes} fragment W on Mutation {{ a: archiveWikiPage(input: {{pageId: 7}}) {{ changed }} }}"
    assert (await cost_of(engine, context, text))["requested"] == 1 + 2 * 10


# -- rateLimit


async def test_rate_limit_is_a_field_like_any_other(engine: Engine, context: RecordingContext) -> None:
    selection = "rateLimit { limit cost remaining used resetAt kind: __typename }"
    free = {"limit": None, "remaining": None, "used": None, "resetAt": None, "kind": "WikiRateLimit"}
    answer = await query_data(
        engine, context, f"{{ recentWikiPages(limit: 2) {{ id }} again: {selection} {selection} }}"
    )
    assert answer["rateLimit"] == answer["again"] == free | {"cost": 3}
    assert len(context.statements) == 1
    answer = await query_data(engine, context, f"{{ recentWikiPages(limit: 2) {{ {PYTHON} }} {selection} }}")
    assert set(answer["rateLimit"]) == {*free, "cost"}
    assert len(context.statements) == 2


# -- errors


async def test_errors_above_the_limit_are_only_counted(database: Database) -> None:
    engine = make_engine(Limits(answer_errors=3))
    context = RecordingContext(database, CALLERS[0])
    text = "{" + " ".join(f'a{n}: viewer {{ scopes(after: "zz") {{ nodes {{ id }} }} }}' for n in range(10)) + "}"
    answer = await execute_document(engine, context, text)
    assert [error["extensions"].get("left") for error in answer["errors"]] == [None, None, None, 7]
    assert answer["errors"][-1]["extensions"]["code"] == "LIMIT_EXCEEDED"
    text = "{" + " ".join(f'a{n}: viewer {{ scopes(after: "zz") {{ nodes {{ id }} }} }}' for n in range(3)) + "}"
    assert len((await execute_document(engine, context, text))["errors"]) == 3


# -- variables


@pytest.mark.parametrize(
    ("variables", "is_refused"),
    [
        ({"v": ["x"] * 98}, False),
        ({"v": ["x"] * 100}, True),
        ({"v": [["x"] * 9] * 10}, True),
        ({"unknown": [{}] * 100}, True),
        ({"v": [[[]]]}, False),  # refused for what it is, not for how deep
        ({"v": [[[[]]]]}, True),
        ({"v": [{"a": [{"b": 1}]}]}, True),
    ],
)
async def test_variables_above_the_size_or_depth_limit_are_refused(
    database: Database, variables: dict[str, Any], is_refused: bool
) -> None:
    engine = make_engine(Limits(variable_values=100, variable_depth=4))
    context = RecordingContext(database, CALLERS[0])
    answer = await execute_document(engine, context, "query($v: [ID!]!) { nodes(ids: $v) { id } }", **variables)
    assert ("LIMIT_EXCEEDED" in str(answer)) == is_refused
    assert not (is_refused and context.statements)


# -- introspection by policy


async def test_typenames_are_allowed_without_introspection(engine: Engine, database: Database) -> None:
    context = Context(database, caller_scope(1, "alice", Role.MEMBER), may_introspect=False)
    assert await query_data(engine, context, "{ __typename viewer { __typename } }") == {
        "__typename": "Query", "viewer": {"__typename": "WikiViewer"}
    }  # fmt: skip
    for text in (
        "{ __schema { queryType { name } } }",
        '{ viewer { role } __type(name: "Query") { name } }',
        "{ ...A } fragment A on Query { ... { __schema { queryType { name } } } }",
        "{ viewer { role } __schema @skip(if: true) { queryType { name } } }",
    ):
        answer = await execute_document(engine, context, text)
        assert error_code(answer) == "FORBIDDEN"
        assert "data" not in answer


@pytest.mark.parametrize(
    ("text", "variables"),
    [
        ("{ wikiPagez { nodes { id } } }", {}),
        ("{ wikiPages(frist: 1) { nodes { id } } }", {}),
        ("{ wikiPages(orderBy: TITEL) { nodes { id } } }", {}),
        ("{ wikiPages(filter: {tag: 1}) { nodes { id } } }", {}),
        ("{ node(id: 1) { ... on WikiPag { id } } }", {}),
        ("{ node(id: 1) { title } }", {}),
        ("query($v: WikiPageOrder) { wikiPages(orderBy: $v) { nodes { id } } }", {"v": "TITEL"}),
        ("query($v: WikiPageFilter) { wikiPages(filter: $v) { nodes { id } } }", {"v": {"tag": 1}}),
    ],
)
async def test_suggestions_can_be_switched_off(
    engine: Engine, context: RecordingContext, text: str, variables: dict[str, Any]
) -> None:
    assert "Did you mean" in str(await execute_document(engine, context, text, **variables))
    closed = make_engine(Limits(suggestions=False))
    answer = await execute_document(closed, context, text, **variables)
    assert answer["errors"]
    assert "Did you mean" not in str(answer)
