"""The mentions that were sighted in a forgotten source: those without another sighting are deleted, the others are
counted again."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any
from uuid import UUID

import orjson

from content.names import normalise
from db.connection import Row
from db.database import Database
from db.scope import Scope
from db.sql import statements
from resolvers.transactions.writer import Writer

from ..authors import make_plan
from ..leaf_pass import Run
from ..metrics import Metrics
from ..planner import MentionCard, Plan, SourceText
from ..read.evidence import Forgotten, StoredKnowledge
from ..read.stored import find_sources, source_of
from ..rebuild.replan import result_or
from .request import ForgetRequest

FORGETTING = statements("sources/forgetting")
NAMES_PER_BATCH = 50
REREAD_MAX = 200  # sources that are planned again to count the mentions of a batch


async def find_sighted(reader: Writer, request: ForgetRequest) -> list[Row]:
    """Return the mentions of a batch that forgotten sources say, each with the other sources that say it."""
    return await reader.all(FORGETTING["find_seen"], source_ids=request.source_ids, size=NAMES_PER_BATCH)


async def find_shared(reader: Writer, request: ForgetRequest) -> tuple[set[str], list[SourceText]]:
    """Return the normalised names of the mentions to count again, and the other sources that say them.

    These are the open mentions for which the planner stored a `cluster`, and which another source says as well.
    """
    shared = [row for row in await find_sighted(reader, request) if row["has_cluster"] and row["source_ids"]]
    ids = list(dict.fromkeys(id for row in shared for id in row["source_ids"]))[:REREAD_MAX]
    sources = [source_of(row) for row in (await find_sources(reader, ids)).values()]
    return {row["alias"] for row in shared}, sources


async def plan_clusters(
    run: Run, aliases: Collection[str], sources: Sequence[SourceText], forgotten: Forgotten
) -> dict[str, Mapping[str, Any]]:
    """Return the `cluster` that the planner would store with each of these names if it had read only these sources."""
    if not sources:
        return {}
    knowledge = KnowledgeWithoutMentions(run.database, run.scope, aliases)
    plan = await result_or(run, forgotten, make_plan(run.authors.planner, sources, knowledge), Plan())
    return {alias: held.cluster for held in plan.held if (alias := normalise(held.name)) in aliases}


async def recount_names(
    writer: Writer, request: ForgetRequest, clusters: Mapping[str, Mapping[str, Any]], done: Metrics
) -> None:
    """Delete the mentions of a batch that no other source says, and remove the forgotten sources from the others."""
    rows = await find_sighted(writer, request)
    remaining = [row for row in rows if row["source_ids"]]
    lost = [row["id"] for row in rows if not row["source_ids"]]
    await writer.run(FORGETTING["drop_mentions"], mention_ids=lost)
    if remaining:
        ids = [row["id"] for row in remaining]
        await writer.run(FORGETTING["drop_sightings"], source_ids=request.source_ids, mention_ids=ids)
        await writer.run(
            FORGETTING["recount_mentions"],
            mention_ids=ids,
            contexts=[without(row["contexts"], request.forgotten.ids) for row in remaining],
            clusters=[clusters.get(row["alias"], {}) for row in remaining],
        )
    done.add("mentions_dropped", len(lost))


def without(contexts: Sequence[Mapping[str, Any]], source_ids: Collection[UUID]) -> str:
    """Return the quotes of all other sources, as JSON text.

    A list would become a row of a two-dimensional array when several are sent in one statement.
    """
    excluded = set(map(str, source_ids))
    return orjson.dumps([context for context in contexts if context["sourceId"] not in excluded]).decode()


class KnowledgeWithoutMentions(StoredKnowledge):
    """The knowledge of one wiki without the mentions of these names."""

    def __init__(self, database: Database, scope: Scope, aliases: Collection[str]) -> None:
        super().__init__(database, scope)
        self.aliases = aliases

    async def mentions(self, aliases: Collection[str]) -> Mapping[str, MentionCard]:
        return await super().mentions([alias for alias in aliases if alias not in self.aliases])
