"""Variables that are read at once are what graphql-core makes of them; what is wrong with one is told at length."""

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
def test_lists_of_scalars_and_enums_are_read_at_once(given: dict[str, Any]) -> None:
    asked = operation("$n: Int!, $kinds: [Kind], $ids: [ID!]")
    found = coerce_plain(asked, given)
    assert found is not None
    assert found.coerced == coerce_any(SCHEMA, asked, given, Limits()).coerced


@pytest.mark.parametrize(("given", "message"), [
    ({"n": 1, "kinds": ["NONE"], "ids": []}, "NONE"),
    ({"n": 1, "kinds": [], "ids": [None]}, "null"),
    ({"n": 1, "kinds": [], "ids": [[1]]}, "ID"),
    ({"n": None, "kinds": [], "ids": []}, "null"),
])  # fmt: skip
def test_what_is_wrong_is_told_at_length(given: dict[str, Any], message: str) -> None:
    asked = operation("$n: Int!, $kinds: [Kind], $ids: [ID!]")
    assert coerce_plain(asked, given) is None
    with pytest.raises(Invalid) as raised:
        coerce_any(SCHEMA, asked, given, Limits())
    assert message in str(raised.value.errors[0])


GIVEN = st.recursive(
    st.none() | st.integers(-3, 2**31 + 1) | st.sampled_from(["TOPIC", "x", True, 1.0]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.just("a"), inner, max_size=1),
    max_leaves=6,
)


@given(n=GIVEN, kinds=GIVEN, ids=GIVEN)
def test_scalars_and_lists_are_read_as_graphql_core_reads_them(n: Any, kinds: Any, ids: Any) -> None:
    asked, given = operation("$n: Int, $kinds: [Kind], $ids: [ID!]"), {"n": n, "kinds": kinds, "ids": ids}
    found = coerce_plain(asked, given)
    try:
        told = coerce_any(SCHEMA, asked, given, Limits())
    except Invalid:
        assert found is None
    else:
        assert found is None or (found.coerced == told.coerced and repr(found.coerced) == repr(told.coerced))


@pytest.mark.parametrize(("declared", "given"), [
    ("$kinds: [Kind]", {"kinds": "TOPIC"}),  # one value for a list of one
    ("$kinds: [Kind] = [TOPIC]", {}),
    ("$pair: Pair", {"pair": {"a": 1}}),
    ("$nested: [[Int]]", {"nested": [[1], 2]}),
])  # fmt: skip
def test_what_needs_more_than_reading_is_left_to_graphql_core(declared: str, given: dict[str, Any]) -> None:
    assert coerce_plain(operation(declared), given) is None


@pytest.mark.parametrize(("given", "expected"), [
    ({}, Extent(0, 0)),
    ({"a": "four", "b": 1, "c": None}, Extent(3, 7)),
    ({"a": ["four"], "b": {"c": "x"}}, Extent(4, 8)),
])  # fmt: skip
def test_what_is_nested_is_measured_as_what_is_not(given: dict[str, Any], expected: Extent) -> None:
    assert measure_variables(given, Limits()) == expected
