"""What is at hand in a wiki: a short index for the beginning of a prompt."""

from typing import Any

import strawberry

from db import relations
from db.access import FOUND
from selection import Step

from .fields import column, relation, source
from .pages import WikiPage
from .search_rows import Row, owner_named

search = relations.search
SIZE = 5


@strawberry.type(description="A page that is at hand.")
class WikiHotEntry:
    page: WikiPage = relation(search.page, "The page.")
    score: float = column("Calls of the tools that its tags speak of, and how often it was read itself, in 30 days.")


async def find_hot(
    context: Any, parent: Any, wanted: frozenset[str], limit: int | None = None, **where: str | None
) -> list[Row]:
    found: list[Row] = await context.hot_index(owner_named(where), SIZE if limit is None else limit)
    return found


HOT = Step(find_hot, search.SCORED, cost=SIZE)


@strawberry.type
class HotIndexQueries:
    @source(
        search.hits,
        "What agents have at hand in a wiki: pages they read, and references whose tags speak of the tools they call.",
        access=FOUND,
        step=HOT,
        limit=SIZE,
        most=20,
        least=1,
    )
    def wiki_hot_index(
        tenant_id: strawberry.ID | None = None,
        owner_id: strawberry.ID | None = None,
        user_id: strawberry.ID | None = None,
        agent_id: strawberry.ID | None = None,
    ) -> list[WikiHotEntry]: ...
