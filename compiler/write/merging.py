"""Pages that a plan says are about one thing: merged where only the compiler has written them, else proposed.

A merge is a part of the transaction of its batch: a worker that dies leaves both pages or one, and a batch that is
compiled again finds one.
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
from resolvers.proposals.decisions import propose_change
from resolvers.proposals.gate import EVIDENCE_MAX
from resolvers.transactions.transaction import read_connection
from resolvers.transactions.writer import Writer

from ..metrics import Metrics
from ..planner import Citations, PageMerge
from ..read.stored import find_page_citations, find_sources

MERGING = statements("pages/merging")
FIELD = "fromPageId"
# The sections that say the same of pages of two types.
COUNTERPARTS = {
    "summary": ("overview",), "overview": ("summary",), "highlights": ("notes",), "recent": ("notes",),
    "notes": ("recent", "highlights"), "visits": ("notes", "recent"), "related": ("related_entities",),
    "related_entities": ("related",),
}  # fmt: skip


async def merge_compiled(
    writer: Writer, merges: Sequence[PageMerge], written: Collection[tuple[UUID, str]], metrics: Metrics
) -> None:
    """Merge those pages that only the compiler has written and that nobody took apart.

    `written` are the sections of this batch, which say what both pages rest on.
    """
    merged = set[UUID]()
    for one, cited in await find_undecided(writer, merges):
        if not all(page.is_compiled for page in cited) or merged & {one.from_id, one.into_id}:
            continue
        pages = await find_pages(writer, [one.from_id, one.into_id])
        if len(pages) == 2:
            gone, into = pages[one.from_id], pages[one.into_id]
            slugs = {slug for page_id, slug in written if page_id == into.id}
            await join_pages(writer, gone, into, joined(into.sections, gone.sections, slugs))
            merged.add(gone.id)
            metrics.add("pages_merged")


async def find_undecided(
    reader: Writer, merges: Sequence[PageMerge]
) -> list[tuple[PageMerge, tuple[Citations, Citations]]]:
    """Return the merges that nobody was asked about, of active pages that nobody took apart, with what they cite."""
    if not merges:
        return []
    cited = await find_page_citations(reader, {id for one in merges for id in (one.from_id, one.into_id)})
    pairs = {"from_texts": [str(one.from_id) for one in merges], "into_texts": [str(one.into_id) for one in merges]}
    rows = await reader.all(MERGING["find_merge_proposals"], **pairs)
    asked = {(row["from_text"], row["into_text"]) for row in rows}
    found = []
    for one in merges:
        if {one.from_id, one.into_id} <= cited.keys() and (str(one.from_id), str(one.into_id)) not in asked:
            both = cited[one.from_id], cited[one.into_id]
            if not any(page.was_merged for page in both):
                found.append((one, both))
    return found


def joined(sections: Outline, others: Outline, written: Collection[str]) -> Joined:
    """Join the sections of two pages: those written from the evidence of both already say what the other did."""
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
    """Propose merges of pages that somebody has edited, or all of them; return how many.

    What waits already, or was declined, is not proposed again.
    """
    if not merges:
        return 0
    async with read_connection(database) as connection:
        reader = Writer(connection, scope)
        wanted: dict[frozenset[UUID], PageMerge] = {}
        for one, cited in await find_undecided(reader, merges):
            if all_of_them or not all(page.is_compiled for page in cited):
                wanted.setdefault(frozenset((one.from_id, one.into_id)), one)
        if not wanted:
            return 0
        pages = await find_pages(reader, [id for pair in wanted for id in pair])
        sources = await find_sources(reader, {id for one in wanted.values() for id in one.source_ids})
    proposed = 0
    for one in wanted.values():
        evidence = refs([sources[id] for id in sorted(one.source_ids) if id in sources])
        names = f"{pages[one.from_id].title} is {pages[one.into_id].title}"
        who = " and ".join(evidence[:2]) or "the sources"
        terms = Terms(f"{names}, as {who} {'says' if len(evidence) == 1 else 'say'}", evidence)

        async def write(scope: Scope, one: PageMerge = one) -> object:
            return await merge_pages(database, scope, one.from_id, one.into_id)

        with suppress(BadInput):  # one of the pages has more names than the other can take, or is archived now
            await propose_change(database, scope, terms, write)
            proposed += 1
    return proposed


def refs(sources: Sequence[Row]) -> tuple[str, ...]:
    return tuple(f"{row['kind']}:{row['ref']}" for row in sources)[:EVIDENCE_MAX]
