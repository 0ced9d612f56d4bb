"""Grounding: check which sentences of a section are supported by the sources that it cites."""

from collections.abc import Collection
from datetime import datetime
from typing import Any, NamedTuple
from urllib.parse import unquote
from uuid import UUID

from content.claims.claims import CITATION_MARK
from content.claims.grounding import Evidence, newest_support
from db.sql import statements
from lib.threads import offload

from ..transactions.writer import Writer

GROUNDING = statements("review/grounding")
PAGES_PER_BATCH = 20  # pages; up to 200 sources of 50,000 characters are read for each of their sections
CACHED_MAX = 1_000_000  # characters of cached source texts: further pages often cite the same sources


class CitedSection(NamedTuple):
    """A section with the labels, the texts and the times of the sources that it cites."""

    id: UUID
    body: str
    supported_at: list[datetime | None] | None
    """The stored result of the last check: for each sentence, when it was last supported."""
    labels: list[str]
    texts: list[str]
    moments: list[datetime]


async def ground(
    writer: Writer, page_ids: Collection[UUID], *, section_id: UUID | None = None, recheck: bool = False
) -> None:
    """Store for each sentence of the pages when a cited source last supported it.

    Only sections whose text changed since the last check are read, and the section `section_id`; with `recheck`, all
    sections are. Sections without citations are skipped.
    """
    pages = list(page_ids)
    changes: list[dict[str, Any]] = []
    cached: dict[UUID, str] = {}
    for start in range(0, len(pages), PAGES_PER_BATCH):
        values = {"page_ids": pages[start : start + PAGES_PER_BATCH], "section_id": section_id, "recheck": recheck}
        for section in await find_cited(writer, values, cached):
            moments = await offload(len(section.body) + sum(map(len, section.texts)), support_times, section)
            if moments != section.supported_at:
                changes.append({"section_id": section.id, "supported_at": moments})
        if sum(map(len, cached.values())) > CACHED_MAX:
            cached.clear()
    if changes:
        await writer.each(GROUNDING["write_support"], changes)


async def find_cited(writer: Writer, values: dict[str, Any], cached: dict[UUID, str]) -> list[CitedSection]:
    """Return the sections to check. `cached` has texts of sources by id; the texts that are read are added to it."""
    rows = await writer.all(GROUNDING["find_cited"], **values, known=list(cached))
    cached |= {row["id"]: row["text"] for row in rows if not row["is_section"]}
    return [
        CitedSection(
            row["id"],
            row["text"],
            row["supported_at"],
            row["labels"],
            [cached[id] for id in row["ids"]],
            row["moments"],
        )
        for row in rows
        if row["is_section"]
    ]


def support_times(section: CitedSection) -> list[datetime | None]:
    """Return for each sentence of a section when a source last supported it.

    The refs in the citation marks of a text are percent-encoded, those of `section.labels` are not.
    """
    marks = {unquote(label): label for label in CITATION_MARK.findall(section.body)}
    cited = zip(section.labels, section.texts, section.moments, strict=True)
    return newest_support(section.body, [Evidence(marks.get(ref, ref), text, at) for ref, text, at in cited])
