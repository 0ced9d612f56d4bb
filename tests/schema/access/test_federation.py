"""As a federation subgraph, `_entities` finds the same rows as `nodes`, in one statement."""

from typing import Any

import pytest
from graphql import build_schema, is_object_type, parse

from db.scope import Scope
from schema.root import GRAPHQL
from selection import Engine
from tests.schema.executing import RecordingContext, execute_document, query_data
from tests.schema.reference.query import KINDS
from tests.schema.world import CALLERS, NOBODY, World

ENTITIES = "query($r: [_Any!]!) { _entities(representations: $r) { __typename ... on Node { id } } }"
NODES = "query($ids: [ID!]!) { nodes(ids: $ids) { __typename id } }"
UNKNOWN = "01234567-0000-7000-8000-000000000000"


def represent(kind: str, id: Any) -> dict[str, str]:
    return {"__typename": kind, "id": str(id)}


def own(world: World, kind: str, number: int = 0) -> dict[str, str]:
    """Return a representation of a row in the wiki of the first caller."""
    table = next(table for table, name in KINDS.items() if name == kind)
    rows = [row for row in world.tables[table] if row.get("owner_id", row["id"]) == CALLERS[0].owner_id]
    return represent(kind, rows[number]["id"])


async def test_entities_are_resolved_in_order_by_one_statement(
    engine: Engine, context: RecordingContext, world: World
) -> None:
    representations = [own(world, kind) for kind in (*KINDS.values(), "WikiPage")]
    assert (await query_data(engine, context, ENTITIES, r=representations))["_entities"] == representations
    assert len(context.statements) == 1


async def test_entities_resolve_with_their_nested_fields(
    engine: Engine, context: RecordingContext, world: World
) -> None:
    text = """query($r: [_Any!]!) { _entities(representations: $r) {
        ... on WikiPage { title backlinks(first: 2) { totalCount nodes { title } } } ... on WikiSource { ref } } }"""
    page, source = own(world, "WikiPage"), own(world, "WikiSource")
    found = (await query_data(engine, context, text, r=[source, page]))["_entities"]
    assert [set(one) for one in found] == [{"ref"}, {"title", "backlinks"}]
    assert len(context.statements) == 1


async def test_python_fields_of_entities_are_computed(engine: Engine, context: RecordingContext, world: World) -> None:
    text = "query($r: [_Any!]!) { _entities(representations: $r) { ... on WikiPage { id excerpt(length: 9) } } }"
    page, section = own(world, "WikiPage"), own(world, "WikiSection")
    (found, none, other) = (await query_data(engine, context, text, r=[page, represent("WikiPage", UNKNOWN), section]))[
        "_entities"
    ]
    assert (found["id"], len(found["excerpt"]) <= 10, none, other) == (page["id"], True, None, {})


@pytest.mark.parametrize("id", [UNKNOWN, "", "nonsense", 5, None])
async def test_an_unknown_id_is_null_beside_other_entities(
    engine: Engine, context: RecordingContext, world: World, id: Any
) -> None:
    page = own(world, "WikiPage")
    unknown = {"__typename": "WikiPage", "id": id}
    assert (await query_data(engine, context, ENTITIES, r=[unknown, page, unknown]))["_entities"] == [
        None,
        page,
        None,
    ]


async def test_an_id_of_another_type_is_null(engine: Engine, context: RecordingContext, world: World) -> None:
    section = own(world, "WikiSection")
    assert (await query_data(engine, context, ENTITIES, r=[represent("WikiPage", section["id"])]))["_entities"] == [
        None
    ]


@pytest.mark.parametrize("scope", CALLERS, ids=range(len(CALLERS)))
async def test_entities_show_a_caller_the_same_rows_as_nodes(
    engine: Engine, context: RecordingContext, world: World, scope: Scope
) -> None:
    """The rows of every tenant are requested, most of which belong to other callers."""
    context.scope = scope
    every = [represent(kind, row["id"]) for table, kind in KINDS.items() for row in world.tables[table]]
    shown = 0
    for start in range(0, len(every), 100):
        representations = every[start : start + 100]
        found = (await query_data(engine, context, ENTITIES, r=representations))["_entities"]
        assert found == (await query_data(engine, context, NODES, ids=[one["id"] for one in representations]))["nodes"]
        shown += sum(one is not None for one in found)
    assert (0 if scope is NOBODY else 1) <= shown < len(every)


async def test_a_representation_may_be_written_into_the_document(
    engine: Engine, context: RecordingContext, world: World
) -> None:
    text = """query($id: ID!) { _entities(representations: {__typename: "WikiPage", id: $id}) { __typename
        ... on WikiPage { id } } }"""
    for number in (0, 1):
        page = own(world, "WikiPage", number)
        assert (await query_data(engine, context, text, id=page["id"]))["_entities"] == [page]


@pytest.mark.parametrize(
    "representation", [{}, {"id": UNKNOWN}, {"__typename": "Query", "id": "1"}, {"__typename": {}}, "x", 1]
)
async def test_an_invalid_representation_is_refused_with_advice(
    engine: Engine, context: RecordingContext, representation: Any
) -> None:
    answer = await execute_document(engine, context, ENTITIES, r=[representation])
    assert answer["errors"][0]["extensions"]["code"] == "BAD_USER_INPUT"
    assert "__typename, which is one of WikiPage" in answer["errors"][0]["message"]
    assert context.statements == []


async def test_entities_cost_as_much_as_a_list_of_that_size(engine: Engine, context: RecordingContext) -> None:
    text = """query($r: [_Any!]!) { _entities(representations: $r) {
        ... on WikiPage { backlinks(first: 100) { nodes { id } } } } }"""
    answer = await execute_document(engine, context, text, r=[represent("WikiPage", UNKNOWN)] * 999)
    assert answer["errors"][0]["extensions"]["code"] == "LIMIT_EXCEEDED"
    assert answer["errors"][0]["extensions"]["cost"] == 1 + 999 * (1 + 100)
    context = RecordingContext(context.database, context.scope)
    answer = await execute_document(engine, context, ENTITIES, r=[represent("WikiPage", UNKNOWN)] * 1001)
    assert answer["errors"][0]["extensions"]["code"] == "BAD_USER_INPUT"
    assert context.statements == []


async def test_the_service_sdl_has_keys_and_no_federation_types(engine: Engine, context: RecordingContext) -> None:
    sdl = (await query_data(engine, context, "{ _service { sdl } }"))["_service"]["sdl"]
    parse(sdl)
    for kind in KINDS.values():
        assert f'extend type {kind} @key(fields: "id")' in sdl
    own = sdl[sdl.index('"""') :]
    query = build_schema(own).query_type
    assert query is not None
    assert GRAPHQL.query_type is not None
    assert set(query.fields) == set(GRAPHQL.query_type.fields) - {"_service", "_entities"}
    assert "_Any" not in sdl
    assert "_Entity" not in sdl
    assert context.statements == []


def test_every_node_type_is_an_entity() -> None:
    concrete = [type_ for type_ in GRAPHQL.type_map.values() if is_object_type(type_) and type_.interfaces]
    union: Any = GRAPHQL.type_map["_Entity"]
    assert {type_.name for type_ in concrete} == {type_.name for type_ in union.types} == set(KINDS.values())
