"""The hot index of a wiki: a short index for the beginning of a prompt."""

from typing import Any

import strawberry

from db import relations
from db.access import SEARCHED_PAGES
from selection import Step

from ..fields import OlderOwner, OwnerName, column, relation, source
from ..search.search_rows import Row
from .pages import WikiPage

search = relations.search
SIZE = 5


@strawberry.type(description="An entry of the hot index.")
class WikiHotEntry:
    page: WikiPage = relation(search.page, "The page.")
    score: float = column("Number of reads, and of calls of the tools named by its tags, in the last 30 days.")


async def find_hot(
    context: Any, parent: Any, wanted: frozenset[str], limit: int | None = None, **where: str | None
) -> list[Row]:
    owner_id = await context.owner_named(where)
    found: list[Row] = await context.hot_index(owner_id, SIZE if limit is None else limit)
    return found


HOT = Step(find_hot, search.SCORED, cost=SIZE)


@strawberry.type
class HotIndexQueries:
    @source(
        search.hits,
        (
            "The hot index of a wiki: the pages that agents read most, and references tagged with the "
            "tools that they call."
        ),
        access=SEARCHED_PAGES,
        step=HOT,
        limit=SIZE,
        max_limit=20,
        min_limit=1,
    )
    def wiki_hot_index(
        tenant_id: strawberry.ID | None = None,
        owner: OwnerName = None,
        owner_id: OlderOwner = None,
        user_id: OlderOwner = None,
        agent_id: OlderOwner = None,
    ) -> list[WikiHotEntry]: ...
