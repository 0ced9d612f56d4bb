"""Links that follow from citations and metadata of sources. Each kind has its own reason, so it can be removed
alone."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import combinations
from uuid import UUID

import orjson

from content.names import normalise
from db.connection import Row
from resolvers.links.references import CO_MENTION, Reference
from resolvers.transactions.writer import Writer

from ..extraction.texts.metadata import cities, texts
from ..read.stored import COMPILING
from ..write.page_changes import PageChange

SOURCES_MIN = 2  # sources of a page that name the same place
PAIRS_MAX = 5  # pairs of pages of one source, which make ten directed links
Pair = tuple[UUID, UUID]
"""The two pages of a directed link."""


async def evident_references(writer: Writer, changes: Sequence[PageChange]) -> list[Reference]:
    """Return the links that follow from the evidence of the entities in these changes, with their reasons."""
    entities = [change.after.id for change in changes if change.after.type == "entity"]
    if not entities:
        return []
    found = {**await parents(writer, entities), **await entity_pairs(writer, changes)}
    return [(start, end, reason) for reason, pairs in found.items() for start, end in pairs]


async def parents(writer: Writer, entities: Sequence[UUID]) -> dict[str, list[Pair]]:
    """Return, by reason, pairs of an entity and the topic of the city or journal that its sources share."""
    places = find_shared_places(await writer.all(COMPILING["find_places"], page_ids=entities))
    names = sorted({name for _, _, name in places})
    if not names:
        return {}
    rows = await writer.all(COMPILING["find_parents"], places=names, aliases=[normalise(name) for name in names])
    topics = {row["place"]: (row["id"], row["slug"]) for row in rows}
    found: dict[str, list[Pair]] = defaultdict(list)
    for page_id, kind, name in places:
        if name in topics:
            topic_id, slug = topics[name]
            found[f"deterministic:{kind}:{slug}"].append((page_id, topic_id))
    return {reason: list(dict.fromkeys(pairs)) for reason, pairs in found.items()}


def find_shared_places(rows: Sequence[Row]) -> list[tuple[UUID, str, str]]:
    """Return (page, kind, name) of the cities and journals that at least SOURCES_MIN sources of a page name."""
    sources: Counter[tuple[UUID, str, str]] = Counter()
    for row in rows:
        said = orjson.loads(row["said"])
        named = {("city", name) for name in cities(said)} | {("journal", name) for name in texts(said, "journal_id")}
        for kind, name in named:
            sources[row["page_id"], kind, name] += row["sources"]
    return sorted(place for place, count in sources.items() if count >= SOURCES_MIN)


async def entity_pairs(writer: Writer, changes: Sequence[PageChange]) -> dict[str, list[Pair]]:
    """Return, by reason, the pairs of entities that cite the same source, in both directions, by order of slugs."""
    sources = sorted({id for change in changes for ids in change.cited.values() for id in ids})
    rows = await writer.all(COMPILING["find_companions"], source_ids=sources) if sources else []
    together: dict[UUID, list[UUID]] = defaultdict(list)
    for row in rows:
        together[row["source_id"]].append(row["page_id"])
    return {
        f"{CO_MENTION}{source_id}": [pair for one, other in pairs for pair in ((one, other), (other, one))]
        for source_id, page_ids in together.items()
        if (pairs := list(combinations(page_ids, 2))[:PAIRS_MAX])
    }
