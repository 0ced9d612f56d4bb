"""Storing a composition: pages, citations, mentions and links of a batch, in the transaction that moves the cursor.

The number of statements does not depend on the size of the batch.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from uuid import UUID

from db.database import Database
from db.ids import new_id
from db.scope import Scope, Terms
from resolvers.errors import BadInput
from resolvers.links.references import CO_MENTION, Reference, assert_references
from resolvers.model.drafts import PageDraft
from resolvers.model.pages import Saved
from resolvers.pages.claims.claims import close_contradictions, write_claims
from resolvers.pages.claims.contradictions import write_contradictions
from resolvers.pages.claims.trajectory import keep_trajectory
from resolvers.pages.stubs import write_cited
from resolvers.pages.update import save_all
from resolvers.proposals.gate import EVIDENCE_MAX
from resolvers.proposals.proposals import propose_change
from resolvers.sources.grounding import ground
from resolvers.sources.mentions import Sighted, promote_mentions, sight_all
from resolvers.transactions.writer import Writer, record, record_each

from ..link.evidence import evident_references
from ..metrics import Metrics
from ..read.stored import COMPILING, Batch
from .page_changes import Composition, PageChange

PLANNED = "planner"


async def apply(
    writer: Writer,
    batch: Batch,
    composition: Composition,
    *,
    links_by_evidence: bool = True,
    edit_summary: str | None = None,
) -> Metrics:
    """Store everything of a batch except for the cursor; return the metrics of the batch."""
    metrics = Metrics() + composition.metrics
    sources = len(batch.sources)
    edit_summary = edit_summary or f"Compiled from {sources} new source{'s' * (sources != 1)}"
    await store(writer, composition.changes, metrics, edit_summary)
    await cite(writer, composition)
    await ground(writer, [change.after.id for change in composition.changes])
    await supersede(writer, composition)
    await store_held_names(writer, composition, metrics)
    await promote(writer, composition.changes, metrics)
    references: list[Reference] = [(start, end, PLANNED) for start, end in composition.links]
    if links_by_evidence:
        references += await evident_references(writer, composition.changes)
    await link(writer, references, metrics)
    metrics.add("batches")
    metrics.add("sources_read", len(batch.sources))
    await record(writer, "wiki.compiled", sources=len(batch.sources), pages=len(composition.changes))
    return metrics


async def propose_pages(database: Database, scope: Scope, composition: Composition) -> int:
    """Propose each page of a composition as it would be stored; return how many proposals change a page."""
    proposed = 0
    for change in composition.changes:
        page, cited = change.after, [(slug, id) for slug, ids in change.cited.items() for id in ids]
        draft = PageDraft(
            page.type,
            page.title,
            page.slug,
            page.summary,
            page.body,
            aliases=change.aliases,
            tags=page.tags,
            metadata=page.metadata,
            alias_source="compiler",
            section_slugs=[section.slug for section in page.sections],
        )
        sources = {id: composition.sources[id] for _, id in cited}
        evidence = [f"{row['kind']}:{row['ref']}" for row in sources.values()][:EVIDENCE_MAX]
        terms = Terms(f"Compiled from {len(sources)} source{'s' * (len(sources) != 1)}", tuple(evidence))

        async def write(
            scope: Scope,
            draft: PageDraft = draft,
            cited: list[tuple[str, UUID]] = cited,
            promotes: tuple[str, ...] = change.promotes,
        ) -> Saved:
            return await write_cited(database, scope, draft, cited, promotes)

        with suppress(BadInput):  # the proposal would change nothing
            await propose_change(database, scope, terms, write)
            proposed += 1
    return proposed


async def store(writer: Writer, changes: Sequence[PageChange], metrics: Metrics, edit_summary: str) -> None:
    """Save the new states of the pages, with the present time as the time of their compilation."""
    states = [(change.before, replace(change.after, last_compiled_at=writer.now), change.aliases) for change in changes]
    saved = await save_all(
        writer,
        states,
        edit_summary=edit_summary,
        alias_source="compiler",
    )
    for change, page in zip(changes, saved, strict=True):
        if change.before and change.before.status != "active":
            metrics.add("pages_resurrected")
            await keep_trajectory(writer, change.after)
        elif change.before and page.changed:
            metrics.add("pages_updated")
    await record_each(writer, "page.created", [page for page in saved if page.created])
    await record_each(writer, "page.compiled", [page for page in saved if page.changed and not page.created])


async def cite(writer: Writer, composition: Composition) -> None:
    """Store the sources that the plan cites for each section, and the time of the newest of them."""
    cited = [
        (change.after.id, slug, source_id)
        for change in composition.changes
        for slug, source_ids in change.cited.items()
        for source_id in source_ids
    ]
    if not cited:
        return
    await writer.run(
        COMPILING["cite"],
        ids=[new_id() for _ in cited],
        page_ids=[page_id for page_id, _, _ in cited],
        slugs=[slug for _, slug, _ in cited],
        source_ids=[source_id for *_, source_id in cited],
    )
    newest: dict[tuple[UUID, str], datetime] = {}
    for page_id, slug, source_id in cited:
        at = composition.sources[source_id]["captured_at"]
        newest[page_id, slug] = max(at, newest.get((page_id, slug), at))
    await writer.run(
        COMPILING["advance_sections"],
        page_ids=[page_id for page_id, _ in newest],
        slugs=[slug for _, slug in newest],
        captured_at=list(newest.values()),
    )


async def supersede(writer: Writer, composition: Composition) -> None:
    """Record superseded claims and contradictions, and close contradictions of which a claim was superseded."""
    if composition.claims:
        await write_claims(writer, composition.claims)
        for row in composition.claims:
            await record(writer, "claim.superseded", row["page_id"], claimId=row["id"])
        superseding = {row["page_id"] for row in composition.claims}
        for change in composition.changes:
            if change.after.id in superseding:
                await keep_trajectory(writer, change.after)
    if composition.contradictions:
        await write_contradictions(writer, composition.contradictions)
        for row in composition.contradictions:
            await record(writer, "contradiction.recorded", row["page_id"], contradictionId=row["id"])
    if composition.claims:
        await close_contradictions(writer, composition.claims)


async def store_held_names(writer: Writer, composition: Composition, metrics: Metrics) -> None:
    """Store the sightings of names that have not earned a page. Each source counts once for a name."""
    seen = [
        Sighted(held.name, composition.sources[held.source_id], held.context or None, held.suggested_type, held.cluster)
        for held in composition.held
    ]
    metrics.add("mentions_recorded", await sight_all(writer, seen))


async def promote(writer: Writer, changes: Sequence[PageChange], metrics: Metrics) -> None:
    """Mark the mentions that became pages as promoted."""
    promoted = {alias: change.after.id for change in changes for alias in change.promotes}
    metrics.add("mentions_promoted", await promote_mentions(writer, promoted))


async def link(writer: Writer, references: Sequence[Reference], metrics: Metrics) -> None:
    """Store links with their reasons, and count them by the kind of reason."""
    for reason, written in (await assert_references(writer, references)).items():
        metrics.add(counter_of(reason), written)


def counter_of(reason: str) -> str:
    """Return the name of the counter for links with this reason."""
    if reason == PLANNED:
        return "links_written"
    return "links_written_co_mention" if reason.startswith(CO_MENTION) else "links_written_deterministic"
