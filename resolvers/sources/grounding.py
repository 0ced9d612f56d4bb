"""The sentences of sections held against the sources that they cite, whenever a page is written."""

from collections.abc import Collection
from datetime import datetime
from urllib.parse import unquote
from uuid import UUID

from content.claims.claims import MARKED
from content.claims.grounding import Evidence, supported_at
from db.database import Row
from db.sql import statements
from lib.threads import read_in_thread

from ..transactions.writer import Writer

GROUNDING = statements("review/grounding")
PAGES_AT_ONCE = 20  # of each of their sections up to 200 sources of 50,000 characters are read


async def ground(
    writer: Writer, page_ids: Collection[UUID], *, section_id: UUID | None = None, again: bool = False
) -> None:
    """Store when each sentence of these pages was last supported, as far as their sections cite sources.

    Only sections whose text was written since are read, besides the one named, or `again` all of them.
    """
    pages, found = list(page_ids), []
    for start in range(0, len(pages), PAGES_AT_ONCE):
        asked = {"page_ids": pages[start : start + PAGES_AT_ONCE], "section_id": section_id, "again": again}
        for row in await writer.all(GROUNDING["find_cited"], **asked):
            moments = await read_in_thread(len(row["body_md"]) + sum(map(len, row["texts"])), supported, row)
            if moments != row["supported_at"]:
                found.append({"section_id": row["id"], "supported_at": moments})
    if found:
        await writer.each(GROUNDING["write_support"], found)


def supported(row: Row) -> list[datetime | None]:
    """Return when each sentence of a section was last supported. Its marks have the refs as an address has them."""
    marks = {unquote(label): label for label in MARKED.findall(row["body_md"])}
    cited = zip(row["labels"], row["texts"], row["moments"], strict=True)
    return supported_at(row["body_md"], [Evidence(marks.get(ref, ref), text, at) for ref, text, at in cited])
