"""Helpers that execute documents, and a context that records the resulting statements and searches."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

import orjson

from resolvers.context import Context
from resolvers.search.request import SearchRequest, SearchResult
from resolvers.search.source_search import SourceSearchRequest, SourceSearchResult
from selection import Engine


class RecordingContext(Context):
    """A context that records the SQL of its compiled reads, and the searches of its steps."""

    statements: list[str]
    searches: list[SearchRequest | SourceSearchRequest | UUID | None]

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.statements, self.searches = [], []

    async def fetch(self, sql: str, arguments: Sequence[Any], anew: bool = False) -> bytes | None:
        self.statements.append(sql)
        return await super().fetch(sql, arguments, anew)

    async def search(self, request: SearchRequest) -> SearchResult:
        self.searches.append(request)
        return await super().search(request)

    async def search_sources(self, request: SourceSearchRequest) -> SourceSearchResult:
        self.searches.append(request)
        return await super().search_sources(request)

    async def find_related(self, page_id: UUID, limit: int) -> list[tuple[UUID, float]]:
        self.searches.append(page_id)
        return await super().find_related(page_id, limit)

    async def hot_index(self, owner_id: UUID | None, limit: int) -> list[tuple[UUID, float]]:
        self.searches.append(owner_id)
        return await super().hot_index(owner_id, limit)


async def execute_document(engine: Engine, context: Context, text: str, **variables: Any) -> dict[str, Any]:
    """Execute a document and return the response body without its extensions."""
    answer: dict[str, Any] = orjson.loads((await engine.execute(text, variables, None, context)).body)
    answer.pop("extensions", None)
    return answer


async def query_data(engine: Engine, context: Context, text: str, **variables: Any) -> dict[str, Any]:
    """Execute a document and return its data. An error fails the test."""
    answer = await execute_document(engine, context, text, **variables)
    assert "errors" not in answer, answer
    found: dict[str, Any] = answer["data"]
    return found


def error_code(answer: dict[str, Any]) -> str:
    """Return the code of a response's only error."""
    (error,) = answer["errors"]
    found: str = error["extensions"]["code"]
    return found
