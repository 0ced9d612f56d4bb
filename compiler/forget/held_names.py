"""Names that were seen in a forgotten source: those that nothing else says go, the others are counted again."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import orjson

from content.names import normalise
from db.connection import Row
from db.sql import statements
from resolvers.transactions.writer import Writer

from ..authors import make_plan
from ..leaf_pass import Run
from ..metrics import Metrics
from ..planner import Citations, Knowledge, MentionCard, PageCard, Plan, SourceText
from ..read.evidence import Gone, StoredKnowledge
from ..read.stored import find_sources, source_of
from ..rebuild.replan import answer_or
from .wanted import ForgetRequest

FORGETTING = statements("sources/forgetting")
NAMES_PER_BATCH = 50
REREAD_MAX = 200  # sources that are planned again for the names which a forgotten one shared


async def find_seen(reader: Writer, wanted: ForgetRequest) -> list[Row]:
    """Find a few of these names, each with the other sources that say it."""
    return await reader.all(FORGETTING["find_seen"], source_ids=wanted.source_ids, size=NAMES_PER_BATCH)


async def find_shared(reader: Writer, wanted: ForgetRequest) -> tuple[set[str], list[SourceText]]:
    """Return the names with which a planner stores a cluster, and the other sources that say them."""
    shared = [row for row in await find_seen(reader, wanted) if row["has_cluster"] and row["source_ids"]]
    ids = list(dict.fromkeys(id for row in shared for id in row["source_ids"]))[:REREAD_MAX]
    sources = [source_of(row) for row in (await find_sources(reader, ids)).values()]
    return {row["alias"] for row in shared}, sources


async def clusters_of(
    run: Run, aliases: Collection[str], sources: Sequence[SourceText], gone: Gone
) -> dict[str, Mapping[str, Any]]:
    """Return the clusters that the planner would store with these names, had it read these sources alone."""
    if not sources:
        return {}
    knowledge = Unheld(StoredKnowledge(run.database, run.scope), aliases)
    plan = await answer_or(run, gone, make_plan(run.authors.planner, sources, knowledge), Plan())
    return {alias: held.cluster for held in plan.held if (alias := normalise(held.name)) in aliases}


async def recount_names(
    writer: Writer, wanted: ForgetRequest, clusters: Mapping[str, Mapping[str, Any]], done: Metrics
) -> None:
    rows = await find_seen(writer, wanted)
    held = [row for row in rows if row["source_ids"]]
    lost = [row["id"] for row in rows if not row["source_ids"]]
    await writer.run(FORGETTING["drop_mentions"], mention_ids=lost)
    if held:
        ids = [row["id"] for row in held]
        await writer.run(FORGETTING["drop_sightings"], source_ids=wanted.source_ids, mention_ids=ids)
        await writer.run(
            FORGETTING["recount_mentions"],
            mention_ids=ids,
            contexts=[without(row["contexts"], wanted.gone.ids) for row in held],
            clusters=[clusters.get(row["alias"], {}) for row in held],
        )
    done.add("mentions_dropped", len(lost))


def without(contexts: Sequence[Mapping[str, Any]], source_ids: Collection[UUID]) -> str:
    """Return the quotes of the others, as JSON: a list of lists would be an array of another kind."""
    gone = set(map(str, source_ids))
    return orjson.dumps([context for context in contexts if context["sourceId"] not in gone]).decode()


@dataclass(frozen=True, slots=True)
class Unheld:
    """A wiki that does not hold these names."""

    knowledge: Knowledge
    aliases: Collection[str]

    async def pages(self, aliases: Collection[str]) -> Mapping[str, Sequence[PageCard]]:
        return await self.knowledge.pages(aliases)

    async def names(self, most: int) -> Collection[str] | None:
        return await self.knowledge.names(most)

    async def mentions(self, aliases: Collection[str]) -> Mapping[str, MentionCard]:
        return await self.knowledge.mentions([alias for alias in aliases if alias not in self.aliases])

    async def sources(self, ids: Collection[UUID]) -> Mapping[UUID, SourceText]:
        return await self.knowledge.sources(ids)

    async def citations(self, page_ids: Collection[UUID]) -> Mapping[UUID, Citations]:
        return await self.knowledge.citations(page_ids)
