"""Stored queries: the GraphQL documents with which REST, the reader, the MCP tools and the commands read a wiki.

They are in the folder `queries` of the package that uses them, and share one engine, which caches their plans. The
limits that an operator sets for documents of clients do not apply to them.
"""

from functools import cache
from importlib.resources import files
from typing import Any

import orjson

from observability.trace import record_document, span
from resolvers.context import Context
from resolvers.errors import CairnError
from schema.root import make_engine
from selection.execute.engine import Answer, Engine

from .http.limits import Bounds
from .http.request import GraphQLRequest, parse_in_thread


class QueryFailed(CairnError):
    """A stored query failed. The exception has the message, the code and the extensions of the answer's first error."""

    def __init__(self, error: dict[str, Any]) -> None:
        super().__init__(error["message"])
        self.code = str(error["extensions"]["code"])
        self.error_extensions: dict[str, Any] = error["extensions"]

    @property
    def extensions(self) -> dict[str, Any]:
        return self.error_extensions


@cache
def stored_query(package: str, name: str) -> str:
    """Return the text of `queries/<name>.graphql` in a package of `app`."""
    return files(f"app.{package}").joinpath(f"queries/{name}.graphql").read_text(encoding="utf-8")


@cache
def stored_query_engine() -> Engine:
    """Return the engine of stored queries, which the whole process shares."""
    return make_engine()


def data_of(answer: Answer) -> dict[str, Any]:
    """Return the data of an answer. Raises QueryFailed if it has errors."""
    body = orjson.loads(answer.body)
    for error in body.get("errors", ()):
        raise QueryFailed(error)
    data: dict[str, Any] = body["data"]
    return data


async def run_stored_query(
    text: str, operation: str | None, variables: dict[str, Any], bounds: Bounds, context: Context
) -> Any:
    """Run a stored query, charge the account of the context, and return the data. Raises QueryFailed."""
    record_document(text, context)
    assert context.account is not None
    with span("operation"):
        request = GraphQLRequest(text, variables, operation)
        answer = await bounds.execute_and_charge(stored_query_engine(), request, context, context.account)
    return await parse_in_thread(len(answer.body), lambda: data_of(answer))
