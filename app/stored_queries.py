"""Stored queries: the GraphQL documents by which REST, the reader, the tools and the commands read a wiki.

They lie in the folder `queries` of the package that asks them, and share one engine, which holds their plans. What an
operator allows for documents of clients does not bind them.
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
    """The first error of an answer, with its own code and whatever else it says to programs."""

    def __init__(self, error: dict[str, Any]) -> None:
        super().__init__(error["message"])
        self.code = str(error["extensions"]["code"])
        self.shown: dict[str, Any] = error["extensions"]

    @property
    def extensions(self) -> dict[str, Any]:
        return self.shown


@cache
def stored_query(package: str, name: str) -> str:
    """Return the document queries/<name>.graphql of a package of `app`."""
    return files(f"app.{package}").joinpath(f"queries/{name}.graphql").read_text(encoding="utf-8")


@cache
def stored_query_engine() -> Engine:
    """Return the engine of stored queries: one for the whole process."""
    return make_engine()


def data_of(answer: Answer) -> dict[str, Any]:
    """Return the data of an answer. Raises QueryFailed for its first error."""
    shown = orjson.loads(answer.body)
    for error in shown.get("errors", ()):
        raise QueryFailed(error)
    data: dict[str, Any] = shown["data"]
    return data


async def run_stored_query(
    text: str, operation: str | None, variables: dict[str, Any], bounds: Bounds, context: Context
) -> Any:
    """Return the data of a stored query, paid from the context's account. Raises QueryFailed for its first error."""
    record_document(text, context)
    assert context.account is not None
    with span("operation"):
        request = GraphQLRequest(text, variables, operation)
        answer = await bounds.paid(stored_query_engine(), request, context, context.account)
    return await parse_in_thread(len(answer.body), lambda: data_of(answer))
