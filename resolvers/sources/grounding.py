"""The sentences of sections held against the sources that they cite, whenever a page is written."""

from collections.abc import Collection
from datetime import datetime
from typing import Any, NamedTuple
from urllib.parse import unquote
from uuid import UUID

from content.claims.claims import MARKED
from content.claims.grounding import Evidence, newest_support
from db.sql import statements
from lib.threads import read_in_thread

from ..transactions.writer import Writer

GROUNDING = statements("review/grounding")
PAGES_PER_BATCH = 20  # of each of their sections up to 200 sources of 50,000 characters are read
KEPT_MAX = 1_000_000  # characters of the texts that are kept for the next pages, which often cite the same


class CitedSection(NamedTuple):
    """A section as it was read, with the sources that it is held against: their labels, texts and moments."""

    id: UUID
    body: str
    supported_at: list[datetime | None] | None
    labels: list[str]
    texts: list[str]
    moments: list[datetime]


async def ground(
    writer: Writer, page_ids: Collection[UUID], *, section_id: UUID | None = None, again: bool = False
) -> None:
    """Store when each sentence of these pages was last supported, as far as their sections cite sources.

    Only sections whose text was written since are read, besides the one named, or `again` all of them.
    """
    pages, found = list(page_ids), []
    known: dict[UUID, str] = {}
    for start in range(0, len(pages), PAGES_PER_BATCH):
        asked = {"page_ids": pages[start : start + PAGES_PER_BATCH], "section_id": section_id, "again": again}
        for section in await find_cited(writer, asked, known):
            moments = await read_in_thread(len(section.body) + sum(map(len, section.texts)), support_times, section)
            if moments != section.supported_at:
                found.append({"section_id": section.id, "supported_at": moments})
        if sum(map(len, known.values())) > KEPT_MAX:
            known.clear()
    if found:
        await writer.each(GROUNDING["write_support"], found)


async def find_cited(writer: Writer, asked: dict[str, Any], known: dict[UUID, str]) -> list[CitedSection]:
    """Return the sections that are to be held against their sources. Texts that are not known yet become so."""
    rows = await writer.all(GROUNDING["find_cited"], **asked, known=list(known))
    known |= {row["id"]: row["text"] for row in rows if not row["is_section"]}
    return [
        CitedSection(
            row["id"],
            row["text"],
            row["supported_at"],
            row["labels"],
            [known[id] for id in row["ids"]],
            row["moments"],
        )
        for row in rows
        if row["is_section"]
    ]


def support_times(section: CitedSection) -> list[datetime | None]:
    """Return when each sentence of a section was last supported. Its marks have the refs as an address has them."""
    marks = {unquote(label): label for label in MARKED.findall(section.body)}
    cited = zip(section.labels, section.texts, section.moments, strict=True)
    return newest_support(section.body, [Evidence(marks.get(ref, ref), text, at) for ref, text, at in cited])
