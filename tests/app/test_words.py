"""Tests that no error message of an API uses words of Python or pydantic instead of words of JSON."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from graphql import GraphQLError
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from app.http.errors import MESSAGES, argument_problem
from app.mcp.catalogue import TOOLS
from app.mcp.errors import bad_arguments
from app.rest.models import NewSources
from app.rest.routes.pages import NewPage
from app.settings import Settings
from schema.errors import in_json_words
from schema.root import make_engine
from tests.schema.executing import RecordingContext, execute_document
from tests.wiki import Wiki

PYTHON = re.compile(
    r"Input should|Value error|\b(None|True|False|NoneType|dict|str|tuple|Python)\b|<class|\bvalid string\b"
)
FIELDS = ("kind", "ref", "content", "captured_at", "title", "type", "tags", "aliases", "metadata", "other")
WRONG: list[Any] = [None, True, 7, -1, 1.5, "", "x", "x" * 5_000_000, [], [None], {}, {"a": None}, float("nan")]


def shown(run: Any, *given: Any) -> list[str]:
    try:
        run(*given)
    except ValidationError as error:
        return [argument_problem(fault) for fault in error.errors(include_url=False, include_input=False)]
    return []


def messages_of_rest() -> Iterator[str]:
    for model in (NewPage, NewSources):
        adapter: TypeAdapter[Any] = TypeAdapter(model)
        for wrong in WRONG:
            yield from shown(adapter.validate_python, wrong)
            for name in FIELDS:
                yield from shown(adapter.validate_python, {name: wrong})


def messages_of_tools() -> Iterator[str]:
    for tool in TOOLS:
        for wrong in WRONG:
            for name in [*tool.input_model.model_fields, "other"]:
                try:
                    tool.input_model.model_validate({name: wrong})
                except ValidationError as error:
                    yield str(bad_arguments(error))


def messages_of_settings() -> Iterator[str]:
    for name in Settings.model_fields:
        for wrong in ("x", "-1", "", "1.5", "true", "999999999999", "\x00"):
            yield from shown(Settings.model_validate, {name: wrong})


@pytest.mark.parametrize("messages_of", [messages_of_rest, messages_of_tools, messages_of_settings])
def test_error_messages_contain_no_words_of_python(messages_of: Any) -> None:
    messages = set(messages_of())
    assert len(messages) > 10
    assert [message for message in messages if PYTHON.search(message)] == []


def test_validation_messages_are_translated_or_shortened() -> None:
    assert argument_problem({"type": "int_type", "msg": "Input should be a valid integer"}) == MESSAGES["int_type"]
    assert (
        argument_problem({"type": "greater_than", "msg": "Input should be greater than 3"}) == "must be greater than 3"
    )
    assert argument_problem({"type": "something_new", "msg": "Input should be new"}) == "must be new"
    assert argument_problem({"type": "literal_error", "msg": "", "ctx": {"expected": "'a' or 'b'"}}) == "must be a or b"


@pytest.mark.parametrize(
    ("query", "values"),
    [
        ("query ($n: Int) { recentWikiPages(limit: $n) { id } }", {"n": True}),
        ("query ($n: Int!) { recentWikiPages(limit: $n) { id } }", {"n": None}),
        ("query ($t: [WikiPageType!]) { wikiPages(filter: {types: $t}) { nodes { id } } }", {"t": [None]}),
        ("query ($f: WikiPageFilter) { wikiPages(filter: $f) { nodes { id } } }", {"f": {"tags": [True], "x": None}}),
        ("query ($i: ID!) { node(id: $i) { id } }", {"i": {"a": None, "b": False}}),
        ("{ wikiPages(filter: null, orderBy: null) { nodes { id } } }", {}),
    ],
)
async def test_graphql_errors_show_values_as_json(wiki: Wiki, query: str, values: dict[str, Any]) -> None:
    answer = await execute_document(make_engine(), RecordingContext(wiki.database, wiki.scope, 10**6), query, **values)
    assert answer["errors"]
    for error in answer["errors"]:
        assert not PYTHON.search(error["message"]), error["message"]


@given(st.text(alphabet="None True'\"\\ False", max_size=60))
def test_quoted_text_of_a_client_is_unchanged_in_messages(text: str) -> None:
    message = GraphQLError(f"Expected {text!r} and None.").message
    assert in_json_words(message) == f"Expected {text!r} and null."
