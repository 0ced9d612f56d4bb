"""Related pages, found by the most characteristic words of a page."""

from collections.abc import Sequence
from uuid import UUID

from content.search.words import ANALYSERS
from db.connection import Connection, Row
from db.database import Database
from db.scope import Scope
from db.sql import statements

from ..errors import NotFound
from ..permissions import Action, authorise
from .interpretation import InterpretedQuery
from .lexemes import scope_letter
from .ranking_query import RankingQuery, rare_enough
from .request import MAX_HITS
from .weights import BUDGET, WEIGHTS

PAGES = statements("pages/pages")
WORDS = statements("search/words")
TOPIC = 16  # lexemes that describe the topic of a page


async def find_related(database: Database, scope: Scope, page_id: UUID, limit: int) -> list[tuple[UUID, float]]:
    """Return the id and score of related active pages in the same wiki, the most similar first.

    The list is empty for a page that the caller may not read. The page that this one was merged into is not related.
    """
    async with database.searching() as connection:
        place = await connection.one(PAGES["find_merged"], tenant_id=scope.tenant_id, id=page_id)
        if place is None:
            return []
        owner_id, itself = place["owner_id"], {page_id, place["into_page_id"]}
        try:
            await authorise(connection, scope, owner_id, Action.READ)
        except NotFound:
            return []
        found = await find_near(
            connection, scope.in_owner(owner_id), page_id, max(1, min(limit, MAX_HITS)) + len(itself)
        )
    return [(id, score) for id, score in found if id not in itself][:limit]


async def find_near(connection: Connection, scope: Scope, page_id: UUID, size: int) -> list[tuple[UUID, float]]:
    where = scope.wiki_values
    topic = await connection.all(WORDS["find_topic"], **where, page_id=page_id, analysers=list(ANALYSERS), size=TOPIC)
    if not topic:
        return []
    interpreted, weights = read_topic(scope, topic)
    ranking_query = RankingQuery(name_ranges=(), weights=weights, total=sum(weights.values()))
    ranking_query.rare = rare_enough(
        interpreted, sorted(weights, key=lambda lexeme: (interpreted.found[lexeme], lexeme)), BUDGET
    )
    rows = await connection.all(
        ranking_query.statement, **where, **WEIGHTS | {"w_linked": 0.0}, **ranking_query.values(),
        analyser=interpreted.analyser, analysers=list(ANALYSERS), statuses=["active"], strict=False, since=None,
        until=None, pages=interpreted.pages, length=interpreted.mean_length, size=size,
    )  # fmt: skip
    return [(row["page_id"], row["score"]) for row in rows]


def read_topic(scope: Scope, topic: Sequence[Row]) -> tuple[InterpretedQuery, dict[str, float]]:
    """Return an interpreted query for the lexemes of a topic, and their weights."""
    analyser, pages, words = topic[0]["analyser"], max(topic[0]["pages"], 1), max(topic[0]["words"], 1)
    letter = scope_letter(scope.tenant_id, scope.owner_id, analyser)
    interpreted = InterpretedQuery(letter, analyser, pages, words / pages, [])
    interpreted.found = {row["lexeme"]: row["found"] for row in topic}
    return interpreted, {row["lexeme"]: float(row["weight"]) for row in topic}
