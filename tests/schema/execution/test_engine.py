"""The engine executes operations of the contract, with one test for each guaranteed behaviour."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from graphql import GraphQLNonNull, execute_sync, get_introspection_query, parse

from db.database import Database
from db.relations import graph, hierarchy, links, pages, references
from db.scope import Role
from resolvers.search.request import SearchRequest, SearchResult
from schema.root import GRAPHQL, make_engine
from selection import Engine
from selection.errors import OperationError
from tests.schema.executing import RecordingContext, error_code, execute_document, query_data
from tests.schema.world import CALLERS, Row, World, caller_scope


def active(world: World, owner: str = "alice") -> Row:
    return next(page for page in world.rows("pages", 1, owner) if page["status"] == "active")


# -- how many statements


async def test_several_roots_are_one_statement(engine: Engine, context: RecordingContext) -> None:
    text = "{ recentWikiPages { sections { heading } } wikiPages { totalCount nodes { backlinks { nodes { id } } } } }"
    await query_data(engine, context, text)
    assert len(context.statements) == 1


async def test_count_and_lookahead_run_only_when_selected(engine: Engine, context: RecordingContext) -> None:
    await query_data(engine, context, "{ wikiPages(first: 2) { nodes { id } } }")
    await query_data(engine, context, "{ wikiPages(first: 2) { nodes { id } pageInfo { hasNextPage } totalCount } }")
    plain, whole = context.statements
    assert "count(" not in plain
    assert "+ 1" not in plain
    assert whole.count("count(") == 2
    assert "+ 1" in whole


async def test_introspection_and_data_are_answered_together(engine: Engine, context: RecordingContext) -> None:
    answer = await query_data(engine, context, "{ __schema { queryType { name } } recentWikiPages(limit: 1) { id } }")
    assert answer["__schema"] == {"queryType": {"name": "Query"}}
    assert len(answer["recentWikiPages"]) == len(context.statements) == 1


@pytest.mark.parametrize(
    "text",
    [
        "{ __typename }",
        "{ ...A ... { b: __typename } } fragment A on Query { __typename }",
        get_introspection_query(),
        '{ __type(name: "WikiPage") { fields { name } } __schema { description } }',
    ],
)
async def test_pure_introspection_is_executed_once_without_sql(
    world_dsn: str, context: RecordingContext, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    engine, unopened = make_engine(), RecordingContext(Database(world_dsn), CALLERS[0])
    expected = execute_sync(GRAPHQL, parse(text)).data
    assert await query_data(engine, unopened, text) == expected
    monkeypatch.setattr("selection.compile.constant.execute", None)
    assert await query_data(engine, unopened, text) == expected


async def test_introspection_with_variables_is_executed_each_time(engine: Engine, context: RecordingContext) -> None:
    text = "query($n: String!) { __type(name: $n) { name } }"
    for name in ("WikiPage", "WikiSection"):
        assert await query_data(engine, context, text, n=name) == {"__type": {"name": name}}


async def test_an_object_may_have_more_than_fifty_fields(engine: Engine, context: RecordingContext) -> None:
    fields = " ".join(f"a{number}: title" for number in range(99))
    answer = await query_data(engine, context, f"{{ recentWikiPages(limit: 1) {{ {fields} }} }}")
    assert len(answer["recentWikiPages"][0]) == 99
    assert len(context.statements) == 1


async def test_eight_concurrent_operations_get_equal_answers(engine: Engine, context: RecordingContext) -> None:
    asking = (execute_document(engine, context, "{ recentWikiPages(limit: 3) { id parent { id } } }") for _ in range(8))
    answers = await asyncio.gather(*asking)
    assert all(answer == answers[0] for answer in answers)


# -- search


async def test_search_results_keep_the_order_of_the_search_step(engine: Engine, context: RecordingContext) -> None:
    text = 'query($t: ID!) { wikiSearch(tenantId: $t, query: "latte", limit: 50) { score page { id status } } }'
    hits = (await query_data(engine, context, text, t=str(context.scope.tenant_id)))["wikiSearch"]
    found = await context.search(SearchRequest("latte", 50))
    assert [(hit["page"]["id"], hit["score"]) for hit in hits] == [(str(hit.page_id), hit.score) for hit in found.hits]
    assert len(hits) > 2
    assert len(context.statements) == 1


@pytest.mark.parametrize("query", ["", "  ", "?!…"])
async def test_an_empty_search_runs_no_sql(world_dsn: str, engine: Engine, query: str) -> None:
    unopened = RecordingContext(Database(world_dsn), CALLERS[0])
    text = "query($q: String!) { a: mobileWikiSearch(query: $q) { score } b: mobileWikiSearch(query: $q) { score } }"
    assert await query_data(engine, unopened, text, q=query) == {"a": [], "b": []}
    assert unopened.statements == []


async def test_a_search_that_fails_stops_the_other_searches_of_its_operation(
    engine: Engine, context: RecordingContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    started, ended = asyncio.Event(), asyncio.Event()

    async def search(request: SearchRequest) -> SearchResult:
        if request.text == "latte":
            await started.wait()
            raise OperationError("The database cannot be reached.", extensions={"code": "UNAVAILABLE"})
        started.set()
        try:
            await asyncio.sleep(60)
        finally:
            ended.set()
        raise AssertionError

    monkeypatch.setattr(context, "search", search)
    text = '{ a: mobileWikiSearch(query: "latte") { score } b: mobileWikiSearch(query: "tea") { score } }'
    assert error_code(await execute_document(engine, context, text)) == "UNAVAILABLE"
    assert ended.is_set()


# -- interfaces


@pytest.mark.parametrize(
    ("type_", "table", "field"),
    [("WikiPage", "pages", "title"), ("WikiSection", "sections", "heading"), ("WikiSource", "sources", "ref")],
)
async def test_an_interface_becomes_its_concrete_type_in_bytes_and_values(
    engine: Engine, context: RecordingContext, world: World, type_: str, table: str, field: str
) -> None:
    row = world.rows(table, 1, "alice")[0]
    shown = f"{{ __typename id ... on {type_} {{ {field} }} }}"
    for more in ("", "__schema { queryType { name } }"):
        text = f"query($id: ID!) {{ node(id: $id) {shown} nodes(ids: [$id, $id]) {shown} {more} }}"
        answer = await query_data(engine, context, text, id=str(row["id"]))
        expected = {"__typename": type_, "id": str(row["id"]), field: row[field]}
        assert answer["node"] == expected
        assert answer["nodes"] == [expected, expected]


async def test_a_foreign_id_answers_like_an_unknown_id(engine: Engine, context: RecordingContext, world: World) -> None:
    """The ids are of another tenant, and of a wiki without a grant."""
    for row in (world.rows("pages", 2, "alice")[0], world.rows("pages", 1, "eve")[0]):
        answer = await query_data(engine, context, "query($id: ID!) { node(id: $id) { id } }", id=str(row["id"]))
        assert answer == {"node": None}


# -- refusals and faults


async def test_an_expensive_operation_is_refused_before_any_sql(engine: Engine, database: Database) -> None:
    context = RecordingContext(database, CALLERS[0], budget=5_000)
    deep = "children(limit: 100) { children(limit: 100) { children(limit: 100) { id } } }"
    for computed in ("", "excerpt"):
        answer = await execute_document(engine, context, f"{{ recentWikiPages(limit: 100) {{ {computed} {deep} }} }}")
        assert error_code(answer) == "LIMIT_EXCEEDED"
    assert context.statements == []


@pytest.mark.parametrize(
    "cursor", ["zz", "é", "W10=", "WyItaHVibmVzcyxpZCIsICJ4IiwgMV0=", "WyJ0aXRsZSxpZCIsICJhIiwgImIiXQ==", "bnVsbA=="]
)
async def test_an_invalid_cursor_is_an_error_with_a_path(
    engine: Engine, context: RecordingContext, cursor: str
) -> None:
    text = "query($cursor: String) { viewer { role } wikiPages(after: $cursor) { nodes { id } } }"
    answer = await execute_document(engine, context, text, cursor=cursor)
    assert error_code(answer) == "BAD_USER_INPUT"
    assert answer["errors"][0]["path"] == ["wikiPages"]


async def test_an_invalid_cursor_is_refused_when_only_the_count_is_selected(
    engine: Engine, context: RecordingContext
) -> None:
    answer = await execute_document(engine, context, '{ wikiPages(after: "zz") { totalCount } }')
    assert error_code(answer) == "BAD_USER_INPUT"


async def test_a_cursor_of_another_order_is_refused(engine: Engine, context: RecordingContext) -> None:
    text = "query($o: WikiPageOrder!, $a: String) { wikiPages(orderBy: $o, after: $a) { pageInfo { endCursor } } }"
    cursor = (await query_data(engine, context, text, o="TITLE"))["wikiPages"]["pageInfo"]["endCursor"]
    assert error_code(await execute_document(engine, context, text, o="HUBNESS", a=cursor)) == "BAD_USER_INPUT"


async def test_a_failed_root_field_leaves_the_others_intact(
    engine: Engine, context: RecordingContext, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Execution as bytes fails as a whole; execution as values makes only the failed root null."""
    fetch, failing = context.fetch, []

    async def flaky(sql: str, arguments: Sequence[Any], *more: Any) -> bytes | None:
        if "revisions" in sql:
            failing.append(sql)
            raise RuntimeError("the disk is gone")
        return await fetch(sql, arguments, *more)

    monkeypatch.setattr(context, "fetch", flaky)
    text = """query($id: ID!) { good: wikiNeighbourhood(pageId: $id) { page { id } }
        bad: wikiNeighbourhood(pageId: $id) { page { revisions { totalCount } } } }"""
    id = str(active(world)["id"])
    answer = await execute_document(engine, context, text, id=id)
    assert answer["data"] == {"good": {"page": {"id": id}}, "bad": None}
    assert answer["errors"][0]["path"] == ["bad"]
    assert error_code(answer) == "INTERNAL_SERVER_ERROR"
    assert "disk" not in str(answer)
    assert len(failing) == 2


async def test_a_null_in_a_non_null_field_propagates(
    context: RecordingContext, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = next(page for page in world.rows("pages", 1, "alice") if page["summary"] is None)
    field = GRAPHQL.type_map["WikiPage"].fields["summary"]  # type: ignore[attr-defined]
    monkeypatch.setattr(field, "type", GraphQLNonNull(field.type))
    answer = await execute_document(
        make_engine(),
        context,
        "query($id: ID!) { wikiNeighbourhood(pageId: $id) { page { title summary } } }",
        id=str(page["id"]),
    )
    assert answer["data"] == {"wikiNeighbourhood": None}
    assert answer["errors"][0]["path"] == ["wikiNeighbourhood", "page", "summary"]


@pytest.mark.parametrize(
    ("module", "field"),
    [
        (pages, "{ recentWikiPages { sourceCount } }"),
        (hierarchy, "{ recentWikiPages { ancestors { id } } }"),
        (links, "{ recentWikiPages { backlinks { totalCount } } }"),
        (references, "{ recentWikiPages { connectedPages { nodes { id } } } }"),
        (graph, "query($t: ID!) { wikiGraph(tenantId: $t) { nodes { edgeCount } } }"),
        (graph, "query($t: ID!) { wikiGraph(tenantId: $t) { edges { kind } } }"),
    ],
)
async def test_a_relation_without_a_tenant_predicate_never_runs(
    engine: Engine, context: RecordingContext, monkeypatch: pytest.MonkeyPatch, module: Any, field: str
) -> None:
    """The table is in an expression, a sub-select, a union or an arm of a CTE."""
    monkeypatch.setattr(module, "in_tenant", lambda query: query)
    variables = {"t": str(context.scope.tenant_id)} if "$t" in field else {}
    assert error_code(await execute_document(engine, context, field, **variables)) == "INTERNAL_SERVER_ERROR"
    assert context.statements == []


# -- texts


async def test_hostile_characters_are_returned_unchanged(
    engine: Engine, context: RecordingContext, database: Database, world: World
) -> None:
    """The text is read as bytes and as values, and is passed as an argument."""
    hostile = "".join(map(chr, range(1, 128))) + "\x85\xa0\u2028\u2029\ufeff\ufffd\U0001f418\U0010ffff \\u0041 \\n \"'"
    page = active(world)
    update = "UPDATE pages SET title = $1 WHERE tenant_id = $2 AND id = $3"
    async with database.connection() as connection:
        await connection.raw.execute(update, hostile, page["tenant_id"], page["id"])
    try:
        for more in ("", "excerpt"):
            text = f"query($id: ID!) {{ wikiNeighbourhood(pageId: $id) {{ page {{ title {more} }} }} }}"
            answer = await query_data(engine, context, text, id=str(page["id"]))
            assert answer["wikiNeighbourhood"]["page"]["title"] == hostile
        text = "query($s: String!) { recentWikiPages(limit: 1) { section(slug: $s) { id } } }"
        assert (await query_data(engine, context, text, s=hostile))["recentWikiPages"] == [{"section": None}]
    finally:
        async with database.connection() as connection:
            await connection.raw.execute(update, page["title"], page["tenant_id"], page["id"])


@pytest.mark.parametrize("text", ["\x00", "a\ud800"])
async def test_text_that_postgres_cannot_store_is_bad_input(
    engine: Engine, context: RecordingContext, text: str
) -> None:
    query = "query($s: String!) { recentWikiPages { section(slug: $s) { id } } }"
    assert error_code(await execute_document(engine, context, query, s=text)) == "BAD_USER_INPUT"


async def test_only_admins_see_compile_jobs(engine: Engine, database: Database) -> None:
    text = "query($t: ID!) { wikiCompileJobs(tenantId: $t) { id } }"
    for role in Role:
        context = RecordingContext(database, caller_scope(1, "alice", role))
        answer = await execute_document(engine, context, text, t=str(context.scope.tenant_id))
        if role is Role.ADMIN:
            assert len(answer["data"]["wikiCompileJobs"]) == 10
        else:
            assert error_code(answer) == "FORBIDDEN"
