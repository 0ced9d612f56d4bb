"""Merges of pages that are about the same thing, as a plan says.

Pages that only the compiler has written are merged in the transaction of the batch; other merges are proposed to a
reviewer.
"""

from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import replace
from uuid import UUID

from content.markdown.sections import Section
from db.connection import Row
from db.database import Database
from db.scope import Scope, Terms
from db.sql import statements
from resolvers.errors import BadInput
from resolvers.model.outline import Outline
from resolvers.model.pages import find_pages
from resolvers.pages.merging import Joined, arrange_sections, both, join_pages, merge_pages
from resolvers.proposals.gate import EVIDENCE_MAX
from resolvers.proposals.proposals import propose_change
from resolvers.transactions.transaction import read_connection
from resolvers.transactions.writer import Writer

from ..metrics import Metrics
from ..planner import Citations, PageMerge
from ..read.stored import find_page_citations, find_sources

MERGING = statements("pages/merging")
FIELD = "fromPageId"
# The sections into which a section is merged if the other page has none of the same slug, as pages of two types differ.
COUNTERPARTS = {
    "summary": ("overview",), "overview": ("summary",), "highlights": ("notes",), "recent": ("notes",),
    "notes": ("recent", "highlights"), "visits": ("notes", "recent"), "related": ("related_entities",),
    "related_entities": ("related",),
}  # fmt: skip


async def merge_compiled(
    writer: Writer, merges: Sequence[PageMerge], written: Collection[tuple[UUID, str]], metrics: Metrics
) -> None:
    """Merge the pages that only the compiler has written, unless they were merged before and restored.

    `written` are the (page, section slug) of this batch, whose text already covers the sources of both pages.
    """
    merged = set[UUID]()
    for merge, cited in await find_undecided(writer, merges):
        if not all(page.is_compiled for page in cited) or merged & {merge.from_id, merge.into_id}:
            continue
        pages = await find_pages(writer, [merge.from_id, merge.into_id])
        if len(pages) == 2:
            duplicate, into = pages[merge.from_id], pages[merge.into_id]
            slugs = {slug for page_id, slug in written if page_id == into.id}
            await join_pages(writer, duplicate, into, join_sections(into.sections, duplicate.sections, slugs))
            merged.add(duplicate.id)
            metrics.add("pages_merged")


async def find_undecided(
    reader: Writer, merges: Sequence[PageMerge]
) -> list[tuple[PageMerge, tuple[Citations, Citations]]]:
    """Return the merges for which no proposal waits or was decided, with the citations of both pages.

    Both pages must be active, and neither may have been merged before and then restored.
    """
    if not merges:
        return []
    cited = await find_page_citations(reader, {id for merge in merges for id in (merge.from_id, merge.into_id)})
    pairs = {
        "from_texts": [str(merge.from_id) for merge in merges],
        "into_texts": [str(merge.into_id) for merge in merges],
    }
    rows = await reader.all(MERGING["find_merge_proposals"], **pairs)
    proposed = {(row["from_text"], row["into_text"]) for row in rows}
    found = []
    for merge in merges:
        is_proposed = (str(merge.from_id), str(merge.into_id)) in proposed
        if {merge.from_id, merge.into_id} <= cited.keys() and not is_proposed:
            both = cited[merge.from_id], cited[merge.into_id]
            if not any(page.was_merged for page in both):
                found.append((merge, both))
    return found


def join_sections(sections: Outline, others: Outline, written: Collection[str]) -> Joined:
    """Join the sections of two pages. The sections in `written` already cover both pages, so they stay unchanged."""
    found = {section.slug: section for section in sections}
    places: dict[str, str] = {}
    added: list[Section] = []
    for other in others:
        slug = next((slug for slug in (other.slug, *COUNTERPARTS.get(other.slug, ())) if slug in found), None)
        if slug is None:
            added.append(other)
            continue
        places[other.slug] = slug
        if slug not in written:
            found[slug] = replace(found[slug], body=both(found[slug].body, other.body))
    return arrange_sections([*found.values()], added, places, sections)


async def propose_merges(database: Database, scope: Scope, merges: Sequence[PageMerge], *, all_of_them: bool) -> int:
    """Propose merges of pages that people have edited, or all merges; return how many were proposed.

    A merge is not proposed again while a proposal for it waits, or after one was decided.
    """
    if not merges:
        return 0
    async with read_connection(database) as connection:
        reader = Writer(connection, scope)
        wanted: dict[frozenset[UUID], PageMerge] = {}
        for merge, cited in await find_undecided(reader, merges):
            if all_of_them or not all(page.is_compiled for page in cited):
                wanted.setdefault(frozenset((merge.from_id, merge.into_id)), merge)
        if not wanted:
            return 0
        pages = await find_pages(reader, [id for pair in wanted for id in pair])
        sources = await find_sources(reader, {id for merge in wanted.values() for id in merge.source_ids})
    proposed = 0
    for merge in wanted.values():
        evidence = refs([sources[id] for id in sorted(merge.source_ids) if id in sources])
        names = f"{pages[merge.from_id].title} is {pages[merge.into_id].title}"
        who = " and ".join(evidence[:2]) or "the sources"
        terms = Terms(f"{names}, as {who} {'says' if len(evidence) == 1 else 'say'}", evidence)

        async def write(scope: Scope, merge: PageMerge = merge) -> object:
            return await merge_pages(database, scope, merge.from_id, merge.into_id)

        with suppress(BadInput):  # one of the pages has more names than the other can take, or is archived now
            await propose_change(database, scope, terms, write)
            proposed += 1
    return proposed


def refs(sources: Sequence[Row]) -> tuple[str, ...]:
    return tuple(f"{row['kind']}:{row['ref']}" for row in sources)[:EVIDENCE_MAX]
