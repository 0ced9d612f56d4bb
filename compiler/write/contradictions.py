"""Claims of pages that contradict each other: found by rules in what is written, and recorded with the batch.

Nothing is rewritten for them: somebody decides. Where a newer source says that something changed, it is superseded
instead (`corrections`).
"""

import asyncio
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from content.claims import claims
from content.claims.contradictions import disagree, is_plain
from content.markdown.sections import Section
from content.search.words import words
from db.connection import Row
from db.ids import new_id
from db.sql import statements
from resolvers.pages.claims.contradictions import digest
from resolvers.transactions.writer import Writer

CONTRADICTIONS = statements("review/contradictions")
NEW_MAX, COMPARED_MAX, FOUND_MAX = 40, 60, 5  # statements and contradictions of one page in one batch


class Stated(NamedTuple):
    """A statement of a section, and the newest source that it cites."""

    text: str
    section_slug: str
    source_id: UUID
    at: datetime
    words: frozenset[str]


async def find_recorded(reader: Writer, page_ids: Collection[UUID]) -> frozenset[bytes]:
    """Return the digests of the contradictions of these pages, decided or not."""
    if not page_ids:
        return frozenset()
    rows = await reader.all(CONTRADICTIONS["find_of_pages"], page_ids=list(page_ids))
    return frozenset(row["digest"] for row in rows)


async def contradictions_in(
    page_id: UUID,
    sections: Iterable[Section],
    names: Collection[str],
    new: Collection[UUID],
    labelled: Mapping[str, Row],
    recorded: Collection[bytes],
) -> list[dict[str, Any]]:
    """Hold what the new sources state against the other statements of a page; return the contradictions as rows."""
    stated = find_statements(sections, labelled)
    found: dict[bytes, dict[str, Any]] = {}
    for one in [each for each in stated if each.source_id in new][:NEW_MAX]:
        await asyncio.sleep(0)
        for other in most_similar(one, stated):
            older, newer = sorted((one, other), key=lambda each: (each.at, each.source_id.int))
            key = digest(older.text, newer.text)
            if key not in recorded and key not in found and disagree(older.text, newer.text, names):
                found[key] = row_of(page_id, older, newer, key)
                if len(found) == FOUND_MAX:
                    return list(found.values())
    return list(found.values())


def find_statements(sections: Iterable[Section], labelled: Mapping[str, Row]) -> list[Stated]:
    """Return what sections quote from known sources and says plainly how something is, each quote once."""
    found: dict[str, Stated] = {}
    for section in sections:
        for said in claims.statements(section.body):
            rows = [labelled[label] for label in said.labels if label in labelled]
            if rows and said.text not in found and is_plain(said.text):
                newest = max(rows, key=lambda row: (row["captured_at"], row["id"].int))
                said_words = frozenset(words(said.text))
                found[said.text] = Stated(said.text, section.slug, newest["id"], newest["captured_at"], said_words)
    return list(found.values())


def most_similar(one: Stated, stated: Sequence[Stated]) -> list[Stated]:
    """Return the statements of other sources that share at least half of their words, those that share most first."""
    shared = [
        (len(one.words & other.words), other)
        for other in stated
        if other.source_id != one.source_id and 2 * len(one.words & other.words) >= len(one.words)
    ]
    return [other for _, other in sorted(shared, key=lambda pair: -pair[0])[:COMPARED_MAX]]


def row_of(page_id: UUID, older: Stated, newer: Stated, key: bytes) -> dict[str, Any]:
    """Return the contradiction as a row."""
    return {
        "id": new_id(),
        "page_id": page_id,
        "digest": key,
        "older_claim": older.text,
        "older_section_slug": older.section_slug,
        "older_source_id": older.source_id,
        "older_on": older.at,
        "newer_claim": newer.text,
        "newer_section_slug": newer.section_slug,
        "newer_source_id": newer.source_id,
        "newer_on": newer.at,
    }
