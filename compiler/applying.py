"""A composition stored: pages, evidence, names and links of one batch, in the transaction that moves the cursor."""

from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID

from db.ids import new_id
from db.sql import statements
from resolvers.activity import record
from resolvers.hubness import refresh_hubness
from resolvers.mentions import sight
from resolvers.revisions import save
from resolvers.writer import Writer

from .composing import Composition, PageChange
from .metrics import Metrics
from .stored import COMPILING, Batch

LINKS = statements("links")
PLANNED = "planner"


async def apply(writer: Writer, batch: Batch, composition: Composition) -> Metrics:
    """Everything but the cursor; what was done."""
    metrics = Metrics() + composition.metrics
    for change in composition.changes:
        await store(writer, change, metrics, len(batch.sources))
    await cite(writer, composition.changes)
    await hold(writer, composition, metrics)
    await promote(writer, composition.changes, metrics)
    written = await link(writer, composition.links, PLANNED)
    metrics.add("links_written", written)
    await refresh_hubness(writer, [end for _, end in composition.links])
    metrics.add("batches")
    metrics.add("sources_read", len(batch.sources))
    await record(writer, "wiki.compiled", sources=len(batch.sources), pages=len(composition.changes))
    return metrics


async def store(writer: Writer, change: PageChange, metrics: Metrics, sources: int) -> None:
    """One page as it is now, compiled at this moment."""
    after = replace(change.after, last_compiled_at=writer.now)
    saved = await save(
        writer,
        change.before,
        after,
        edit_summary=f"Compiled from {sources} new source{'s' * (sources != 1)}",
        aliases=change.aliases,
        alias_source="compiler",
    )
    if change.before and change.before.status != "active":
        metrics.add("pages_resurrected")
    elif change.before and saved.changed:
        metrics.add("pages_updated")
    if saved.changed:
        action = "page.created" if change.before is None else "page.compiled"
        await record(writer, action, saved.page_id, version=saved.version)


async def cite(writer: Writer, changes: Sequence[PageChange]) -> None:
    """Each section rests on what was cited for it, and on nothing else."""
    cited = [
        (change.after.id, slug, source_id)
        for change in changes
        for slug, source_ids in change.cited.items()
        for source_id in source_ids
    ]
    if not cited:
        return
    values = {"page_ids": [page_id for page_id, _, _ in cited], "source_ids": [source_id for *_, source_id in cited]}
    await writer.run(COMPILING["cite"], **values, ids=[new_id() for _ in cited], slugs=[slug for _, slug, _ in cited])
    await writer.run(COMPILING["advance_sections"], **values)


async def hold(writer: Writer, composition: Composition, metrics: Metrics) -> None:
    """Names that have not earned a page: each source counts once for a name."""
    clusters = {}
    for held in composition.held:
        source = composition.sources[held.source_id]
        seen = await sight(writer, held.name, source, held.context or None, held.suggested_type)
        metrics.add("mentions_recorded", seen.changed)
        if held.cluster:
            clusters[seen.mention_id] = dict(held.cluster)
    if clusters:
        await writer.run(COMPILING["keep_clusters"], mention_ids=list(clusters), clusters=list(clusters.values()))


async def promote(writer: Writer, changes: Sequence[PageChange], metrics: Metrics) -> None:
    """Held names that became pages."""
    promoted = {alias: change.after.id for change in changes for alias in change.promotes}
    if promoted:
        await writer.run(COMPILING["absorb_sightings"], aliases=list(promoted))
        await writer.run(COMPILING["drop_absorbed"], aliases=list(promoted))
        done = await writer.run(COMPILING["promote"], aliases=list(promoted), page_ids=list(promoted.values()))
        metrics.add("mentions_promoted", done)


async def link(writer: Writer, pairs: Sequence[tuple[UUID, UUID]], reason: str) -> int:
    """One more reason for each of these references; how many did not have it."""
    if not pairs:
        return 0
    return await writer.run(
        LINKS["write_links"],
        ids=[new_id() for _ in pairs],
        from_page_ids=[start for start, _ in pairs],
        to_page_ids=[end for _, end in pairs],
        kinds=["reference" for _ in pairs],
        reason=reason,
    )
