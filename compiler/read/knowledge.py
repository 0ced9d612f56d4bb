"""What a planner may ask of the wiki, answered by Postgres."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from uuid import UUID

from db.database import Database
from db.scope import Scope
from resolvers.transactions.transaction import looking
from resolvers.transactions.writer import Writer

from ..planner import MentionCard, PageCard, SourceText
from .stored import find_cards, find_mentions, find_sources, names_among, source_of


class StoredKnowledge:
    """A `Knowledge` of one wiki: a statement or two for each question. It holds no connection between two of them."""

    def __init__(self, database: Database, scope: Scope) -> None:
        self.database, self.scope = database, scope

    async def pages(self, aliases: Collection[str]) -> Mapping[str, Sequence[PageCard]]:
        async with looking(self.database) as connection:
            reader = Writer(connection, self.scope)
            names = await names_among(reader, frozenset(aliases))
            cards = await find_cards(reader, aliases=names)
        found: dict[str, list[PageCard]] = defaultdict(list)
        for card in cards:
            for alias in card.aliases & names:
                found[alias].append(card)
        return dict(found)

    async def mentions(self, aliases: Collection[str]) -> Mapping[str, MentionCard]:
        async with looking(self.database) as connection:
            return await find_mentions(Writer(connection, self.scope), aliases)

    async def sources(self, ids: Collection[UUID]) -> Mapping[UUID, SourceText]:
        async with looking(self.database) as connection:
            rows = await find_sources(Writer(connection, self.scope), ids)
        return {id: source_of(row) for id, row in rows.items()}
