"""Tags that no page has any more, taken out of sections that once saw them, and out of what these have grown into.

A list says what its pages say whenever it is written. A section that has grown is not written again, so somebody has to
look for what it saw.
"""

from collections import defaultdict
from collections.abc import Collection
from dataclasses import replace
from uuid import UUID

from content.words import words
from resolvers.model import outline
from resolvers.model.drafts import SectionDraft
from resolvers.model.pages import Page, find_pages
from resolvers.transactions.writer import Writer

from .density import Aggregation, read
from .listing import said
from .promotion import about
from .stored import AGGREGATION, Spot, set_aggregations
from .storing import keep

NOTE = "Tags that no page has any more"


async def untag(writer: Writer, gone: Collection[str]) -> list[Page]:
    """Those tags of which one of these words is a part; the pages that say something else now."""
    observed = [row["tag"] for row in await writer.all(AGGREGATION["find_unborne_tags"])]
    lost = {tag for tag in observed if not set(gone).isdisjoint(words(tag))}
    if not lost:
        return []
    rows = await writer.all(AGGREGATION["find_observing"], tags=sorted(lost))
    known: dict[UUID, dict[str, Aggregation]] = defaultdict(dict)
    for row in rows:
        held = replace(read(row["aggregation"]), promoted_page_id=row["promoted_page_id"])
        known[row["page_id"]][row["section_slug"]] = held
    grown = {row["promoted_page_id"] for row in rows if row["promoted_page_id"]}
    changed = []
    for page in (await find_pages(writer, grown | known.keys())).values():
        after = without_saying(page, known[page.id], lost)
        if page.id in grown:
            after = without_tags(after, lost)
        if after != page:
            changed.append((page, after))
    spots: dict[Spot, Aggregation] = {
        (page_id, slug): observing(held, lost) for page_id, lists in known.items() for slug, held in lists.items()
    }
    await set_aggregations(writer, spots)
    return await keep(writer, changed, NOTE)


def observing(known: Aggregation, lost: Collection[str]) -> Aggregation:
    """Without these tags."""
    observed = tuple(tag for tag in known.observed_tags if tag not in lost)
    return replace(known, observed_tags=observed, tag=None if known.tag in lost else known.tag)


def without_saying(page: Page, known: dict[str, Aggregation], lost: Collection[str]) -> Page:
    """The line that says what a section was about says it without them.

    One that is called by them and says nothing goes, also where somebody suppressed its growing.
    """
    emptied = {slug for slug, held in known.items() if held.tag in lost}
    sections = tuple(one for one in page.sections if one.body.strip() or one.slug not in emptied)
    drafts = [
        SectionDraft(section.body.replace(said(held), said(observing(held, lost))), section.slug)
        for section in sections
        if (held := known.get(section.slug))
    ]
    return replace(page, sections=outline.merged(page.type, sections, drafts) if drafts else sections)


def without_tags(page: Page, lost: Collection[str]) -> Page:
    """A topic that has grown was given them as its own, and the first of them as what it is about."""
    tags = tuple(tag for tag in page.tags if tag not in lost)
    summary = page.summary and page.summary.replace(about(page.tags), about(tags))
    return replace(page, tags=tags, summary=summary)
