"""Contradictions between claims of a page, found by rules in its new text and recorded with the batch.

A contradiction changes no text: a person decides it. Where a newer source says that something changed, the older claim
is superseded instead (`corrections`).
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
# New statements, older statements that each is compared with, and contradictions, of one page in one batch.
NEW_MAX, COMPARED_MAX, FOUND_MAX = 40, 60, 5


class CitedStatement(NamedTuple):
    """A statement of a section with its words, and the id and time of the newest source that it cites."""

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
    """Compare the statements of `new` sources with the other statements of a page; return contradictions as rows.

    `labelled` are the rows of sources by the label of their marks. Contradictions whose digests are `recorded` are left
    out.
    """
    statements = find_statements(sections, labelled)
    found: dict[bytes, dict[str, Any]] = {}
    for statement in [each for each in statements if each.source_id in new][:NEW_MAX]:
        await asyncio.sleep(0)
        for other in most_similar(statement, statements):
            older, newer = sorted((statement, other), key=lambda each: (each.at, each.source_id.int))
            key = digest(older.text, newer.text)
            if key not in recorded and key not in found and disagree(older.text, newer.text, names):
                found[key] = row_of(page_id, older, newer, key)
                if len(found) == FOUND_MAX:
                    return list(found.values())
    return list(found.values())


def find_statements(sections: Iterable[Section], labelled: Mapping[str, Row]) -> list[CitedStatement]:
    """Return the plain statements that sections quote from known sources, each once."""
    found: dict[str, CitedStatement] = {}
    for section in sections:
        for quote in claims.statements(section.body):
            rows = [labelled[label] for label in quote.labels if label in labelled]
            if rows and quote.text not in found and is_plain(quote.text):
                newest = max(rows, key=lambda row: (row["captured_at"], row["id"].int))
                quote_words = frozenset(words(quote.text))
                found[quote.text] = CitedStatement(
                    quote.text, section.slug, newest["id"], newest["captured_at"], quote_words
                )
    return list(found.values())


def most_similar(statement: CitedStatement, statements: Sequence[CitedStatement]) -> list[CitedStatement]:
    """Return the statements of other sources with at least half of this statement's words, the most similar first."""
    shared = [
        (len(statement.words & other.words), other)
        for other in statements
        if other.source_id != statement.source_id and 2 * len(statement.words & other.words) >= len(statement.words)
    ]
    return [other for _, other in sorted(shared, key=lambda pair: -pair[0])[:COMPARED_MAX]]


def row_of(page_id: UUID, older: CitedStatement, newer: CitedStatement, key: bytes) -> dict[str, Any]:
    """Return the contradiction as a row of its table."""
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
