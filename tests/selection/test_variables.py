"""The fast coercion of variables agrees with graphql-core, which explains invalid variables."""

from typing import Any

import pytest
from graphql import OperationDefinitionNode, build_schema, parse
from hypothesis import given
from hypothesis import strategies as st

from selection.execute.operation import Invalid, Operation, coerce_any, coerce_plain
from selection.limits import Extent, Limits, measure_variables

SCHEMA = build_schema("""
    enum Kind { TOPIC ENTITY }
    input Pair { a: Int b: Int! = 7 kinds: [Kind!] = [TOPIC] }
    type Query { f(n: Int!, kinds: [Kind], ids: [ID!], pair: Pair, nested: [[Int]]): Int }
""")


def operation(declared: str) -> Operation:
    (definition,) = parse(f"query ({declared}) {{ __typename }}").definitions
    assert isinstance(definition, OperationDefinitionNode)
    return Operation(SCHEMA, definition, {})


@pytest.mark.parametrize("given", [
    {"n": 1, "kinds": ["TOPIC", "ENTITY"], "ids": ["a", 2]},
    {"n": 1, "kinds": [None, "TOPIC"], "ids": []},
    {"n": 1, "kinds": None, "ids": None},
])  # fmt: skip
def test_plain_coercion_reads_lists_of_scalars_and_enums(given: dict[str, Any]) -> None:
    query = operation("$n: Int!, $kinds: [Kind], $ids: [ID!]")
    found = coerce_plain(query, given)
    assert found is not None
    assert found.coerced == coerce_any(SCHEMA, query, given, Limits()).coerced


@pytest.mark.parametrize(("given", "message"), [
    ({"n": 1, "kinds": ["NONE"], "ids": []}, "NONE"),
    ({"n": 1, "kinds": [], "ids": [None]}, "null"),
    ({"n": 1, "kinds": [], "ids": [[1]]}, "ID"),
    ({"n": None, "kinds": [], "ids": []}, "null"),
])  # fmt: skip
def test_invalid_variables_are_explained_by_full_coercion(given: dict[str, Any], message: str) -> None:
    query = operation("$n: Int!, $kinds: [Kind], $ids: [ID!]")
    assert coerce_plain(query, given) is None
    with pytest.raises(Invalid) as raised:
        coerce_any(SCHEMA, query, given, Limits())
    assert message in str(raised.value.errors[0])


GIVEN = st.recursive(
    st.none() | st.integers(-3, 2**31 + 1) | st.sampled_from(["TOPIC", "x", True, 1.0]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.just("a"), inner, max_size=1),
    max_leaves=6,
)


@given(n=GIVEN, kinds=GIVEN, ids=GIVEN)
def test_plain_coercion_agrees_with_graphql_core(n: Any, kinds: Any, ids: Any) -> None:
    query, given = operation("$n: Int, $kinds: [Kind], $ids: [ID!]"), {"n": n, "kinds": kinds, "ids": ids}
    found = coerce_plain(query, given)
    try:
        full = coerce_any(SCHEMA, query, given, Limits())
    except Invalid:
        assert found is None
    else:
        assert found is None or (found.coerced == full.coerced and repr(found.coerced) == repr(full.coerced))


@pytest.mark.parametrize(("declared", "given"), [
    ("$kinds: [Kind]", {"kinds": "TOPIC"}),  # one value for a list of one
    ("$kinds: [Kind] = [TOPIC]", {}),
    ("$pair: Pair", {"pair": {"a": 1}}),
    ("$nested: [[Int]]", {"nested": [[1], 2]}),
])  # fmt: skip
def test_defaults_inputs_and_nested_lists_are_left_to_graphql_core(declared: str, given: dict[str, Any]) -> None:
    assert coerce_plain(operation(declared), given) is None


@pytest.mark.parametrize(("given", "expected"), [
    ({}, Extent(0, 0)),
    ({"a": "four", "b": 1, "c": None}, Extent(3, 7)),
    ({"a": ["four"], "b": {"c": "x"}}, Extent(4, 8)),
])  # fmt: skip
def test_the_extent_of_variables_counts_nested_values_and_names(given: dict[str, Any], expected: Extent) -> None:
    assert measure_variables(given, Limits()) == expected
