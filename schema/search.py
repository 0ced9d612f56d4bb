"""Search: pages found, with how well and by which name."""

from typing import Any

import strawberry
from sqlalchemy import Double, Text, Uuid
from sqlalchemy.types import TypeEngine

from db import relations
from selection import Step

from .fields import column, expression, relation, source
from .pages import WikiPage

COLUMNS: dict[str, TypeEngine[Any]] = {"page_id": Uuid(), "score": Double(), "matched_alias": Text()}


@strawberry.type(description="A page that a search found.")
class WikiSearchHit:
    page: WikiPage = relation(relations.search.page, "The page.")
    score: float = column("How well it matches: comparable within one search only.")
    matched_alias: str | None = column("The alias that matched, when one did.")


@strawberry.type(description="A page that a search found, in the shape that mobile clients know.")
class MobileWikiSearchHit:
    page: WikiPage = relation(relations.search.page, "The page.")
    score: float = column("How well it matches: comparable within one search only.")
    matching_memory_ids: list[str] = expression(relations.search.no_memories, "Always empty: pages are searched.")


async def find(
    context: Any, parent: Any, query: str, limit: int | None = None, **where: str | None
) -> list[tuple[Any, ...]]:
    found: list[tuple[Any, ...]] = await context.search(query, limit, **where)
    return found


HITS = Step(find, COLUMNS)


@strawberry.type
class SearchQueries:
    @source(relations.search.hits, "Full-text search over one wiki; the best first.", step=HITS, most=50, least=1)
    def wiki_search(
        tenant_id: strawberry.ID,
        query: str,
        owner_id: strawberry.ID | None = None,
        user_id: strawberry.ID | None = None,
        agent_id: strawberry.ID | None = None,
    ) -> list[WikiSearchHit]: ...

    @source(relations.search.hits, "The same search for mobile clients.", step=HITS, most=50, least=1)
    def mobile_wiki_search(
        query: str,
        tenant_id: strawberry.ID | None = None,
        owner_id: strawberry.ID | None = None,
        user_id: strawberry.ID | None = None,
        agent_id: strawberry.ID | None = None,
    ) -> list[MobileWikiSearchHit]: ...
