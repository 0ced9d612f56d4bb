"""Mutations run one field after another, and their payloads have one plan for all inputs."""

from typing import Any

import orjson

from observability.trace import REQUEST_TRACE, RequestTrace
from resolvers.context import Context
from schema.root import make_engine
from selection import Engine
from tests.wiki import Wiki

A, C = (f'createWikiPage(input: {{type: TOPIC, title: "{title}"}}) {{ page {{ title }} }}' for title in "AC")
NOBODY = "00000000-0000-0000-0000-000000000000"


async def execute(engine: Engine, wiki: Wiki, text: str, **variables: Any) -> tuple[dict[str, Any], RequestTrace]:
    """Execute the document, and return the response body and the trace of its execution."""
    trace = RequestTrace("test")
    token = REQUEST_TRACE.set(trace)
    try:
        answer = await engine.execute(text, variables, None, Context(wiki.database, wiki.scope))
    finally:
        REQUEST_TRACE.reset(token)
    body: dict[str, Any] = orjson.loads(answer.body)
    return body, trace


async def test_mutations_run_in_order_until_a_non_null_field_fails(wiki: Wiki) -> None:
    unknown = f'archiveWikiPage(input: {{pageId: "{NOBODY}"}}) {{ changed }}'
    text = f"mutation {{ a: {A} b: {unknown} c: {C} }}"
    answer, trace = await execute(make_engine(), wiki, text)
    assert trace.way == "bytes"
    assert answer["data"] is None
    assert [(error["path"], error["extensions"]["code"]) for error in answer["errors"]] == [(["b"], "NOT_FOUND")]
    assert [page["title"] for page in await wiki.rows("pages")] == ["A"]


async def test_a_later_mutation_sees_the_writes_of_an_earlier_one(wiki: Wiki) -> None:
    again = 'upsertWikiPage(input: {type: TOPIC, title: "A", summary: "Once more."}) { created page { summary } }'
    answer, _ = await execute(make_engine(), wiki, f"mutation {{ {A} __typename {again} }}")
    assert answer["data"] == {
        "createWikiPage": {"page": {"title": "A"}},
        "__typename": "Mutation",
        "upsertWikiPage": {"created": False, "page": {"summary": "Once more."}},
    }


async def test_a_payload_with_a_computed_field_needs_no_graphql_core(wiki: Wiki) -> None:
    text = 'mutation { createWikiPage(input: {type: TOPIC, title: "A", bodyMd: "Hot."}) { page { title excerpt } } }'
    answer, trace = await execute(make_engine(), wiki, text)
    assert (answer["data"]["createWikiPage"]["page"], trace.way) == ({"title": "A", "excerpt": "Hot."}, "bytes")


async def test_a_failed_payload_read_is_a_field_error_and_the_write_stands(wiki: Wiki) -> None:
    text = """mutation ($last: Int) { createWikiPage(input: {type: TOPIC, title: "A"}) {
        changed page { childrenConnection(first: 1, last: $last) { totalCount } } } }"""
    answer, _ = await execute(make_engine(), wiki, text, last=1)
    assert answer["data"]["createWikiPage"] == {"changed": True, "page": None}
    (error,) = answer["errors"]
    assert error["path"] == ["createWikiPage", "page"]
    assert error["extensions"]["code"] == "BAD_USER_INPUT"
    assert [page["title"] for page in await wiki.rows("pages")] == ["A"]


async def test_inputs_with_different_content_share_one_plan(wiki: Wiki) -> None:
    engine = make_engine()
    text = """mutation ($input: UpsertWikiPageInput!, $links: Boolean!, $first: Int) {
        upsertWikiPage(input: $input) { page { title links(first: $first) @include(if: $links) { totalCount } } } }"""
    plans = []
    for more in ({}, {"summary": None}, {"tags": ["a"], "metadata": {}}, {"markCompiled": True}):
        given = {"type": "TOPIC", "title": "A", **more}
        answer, trace = await execute(engine, wiki, text, input=given, links=False)
        assert answer["data"] == {"upsertWikiPage": {"page": {"title": "A"}}}
        plans.append(len(trace.spans_of("plan")))
    assert plans == [1, 0, 0, 0]

    answer, trace = await execute(engine, wiki, text, input=given, links=True)
    assert answer["data"]["upsertWikiPage"]["page"]["links"] == {"totalCount": 0}
    assert len(trace.spans_of("plan")) == 1
