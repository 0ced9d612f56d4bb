"""Hooks of schemathesis: they draw ids that exist and ids that do not, and check every response."""

import os
from typing import Any

import schemathesis
from graphql import NameNode, ObjectFieldNode, ObjectValueNode, ValueNode
from hypothesis import strategies as st
from schemathesis.graphql import nodes

IDS = os.environ["CAIRN_IDS"].split()
KINDS = ("WikiPage", "WikiSection", "WikiSource", "Query")
KNOWN = {
    "BAD_REQUEST", "BAD_USER_INPUT", "CONFLICT", "FORBIDDEN", "GRAPHQL_PARSE_FAILED", "GRAPHQL_VALIDATION_FAILED",
    "LIMIT_EXCEEDED", "NOT_FOUND", "THROTTLED", "TIMEOUT", "UNAVAILABLE",
}  # fmt: skip


def written(value: Any) -> ValueNode:
    """Return a JSON value as a node of a GraphQL document."""
    match value:
        case None:
            return nodes.Null
        case bool():
            return nodes.Boolean(value)
        case int():
            return nodes.Int(value)
        case float():
            return nodes.Float(value)
        case list():
            return nodes.List([written(item) for item in value])
        case dict():
            fields = ((NameNode(value=name), written(item)) for name, item in value.items())
            return ObjectValueNode(fields=tuple(ObjectFieldNode(name=name, value=item) for name, item in fields))
    return nodes.String(value)


names = st.from_regex(r"\A[_A-Za-z][_0-9A-Za-z]{0,9}\Z")
leaves = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
values = st.recursive(leaves, lambda inner: st.lists(inner) | st.dictionaries(names, inner), max_leaves=10)
known = st.sampled_from(IDS)
ids = known | known | known | st.uuids().map(str) | st.text(max_size=10)
moments = st.datetimes().map(lambda moment: moment.isoformat()) | st.text(max_size=10)
representations = st.fixed_dictionaries({"__typename": st.sampled_from(KINDS), "id": ids})

schemathesis.graphql.scalar("ID", ids.map(nodes.String))
schemathesis.graphql.scalar("DateTime", moments.map(nodes.String))
schemathesis.graphql.scalar("JSON", values.map(written))
schemathesis.graphql.scalar("_Any", (representations | values).map(written))


@schemathesis.check
def answered(context: Any, response: Any, case: Any) -> None:
    """Check that a response is GraphQL: no server failure, valid JSON, and a known code in each error."""
    assert response.status_code in (200, 400), f"status {response.status_code}"
    answer = response.json()
    assert "data" in answer or answer.get("errors"), answer
    for error in answer.get("errors", ()):
        assert error["message"], error
        assert error["extensions"]["code"] in KNOWN, error
