"""The hot index of a wiki: a short index for the beginning of a prompt."""

from typing import Any

import strawberry

from db import relations
from db.access import FOUND
from selection import Step

from ..fields import OlderOwner, OwnerName, column, relation, source
from ..search.search_rows import Row, owner_named
from .pages import WikiPage

search = relations.search
SIZE = 5


@strawberry.type(description="A page that is at hand.")
class WikiHotEntry:
    page: WikiPage = relation(search.page, "The page.")
    score: float = column("Calls of the tools that its tags speak of, and how often it was read itself, in 30 days.")


async def find_hot(
    context: Any, parent: Any, wanted: frozenset[str], limit: int | None = None, **where: str | None
) -> list[Row]:
    owner_id = await owner_named(context, where)
    found: list[Row] = await context.hot_index(owner_id, SIZE if limit is None else limit)
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
        owner: OwnerName = None,
        owner_id: OlderOwner = None,
        user_id: OlderOwner = None,
        agent_id: OlderOwner = None,
    ) -> list[WikiHotEntry]: ...
