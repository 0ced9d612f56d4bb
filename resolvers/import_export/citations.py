"""The sources that notes cite: which of them the wiki has, and which citations its pages have already."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

from content.markdown.citations import CitationMark
from content.markdown.sections import parse
from content.names import section_slug
from content.notes.notes import Note
from db.database import Database
from db.scope import Scope
from db.sql import statements

from ..links.references import CO_MENTION, evidence

IMPORTS = statements("import_export/imports")
LEAD = "overview"


class SourceIds:
    """The ids of sources of the wiki, by ref, kind and version."""

    def __init__(self, rows: Iterable[Mapping[str, Any]], ids: Iterable[UUID] = ()) -> None:
        """Take the rows of sources, the newest version last, and the ids of further sources that exist."""
        self.ids = set(ids)
        self.by_ref: dict[str, dict[str, dict[int, UUID]]] = {}
        for row in rows:
            self.by_ref.setdefault(row["ref"], {}).setdefault(row["kind"], {})[row["version"]] = row["id"]

    def find(self, citation: CitationMark) -> UUID | None:
        """Return the cited source, or None.

        A citation without a kind needs a unique ref. Without a version it cites the newest version.
        """
        kinds = self.by_ref.get(citation.ref, {})
        kind = citation.kind or next(iter(kinds), None) if citation.kind or len(kinds) == 1 else None
        versions = kinds.get(kind, {}) if kind else {}
        return versions.get(citation.version) if citation.version else next(reversed(versions.values()), None)

    def reason(self, given: str) -> str | None:
        """Return the reason of a link, with evidence as the id of a source; None if the wiki lacks the source."""
        match evidence(given):
            case None:
                return given
            case UUID() as id:
                return given if id in self.ids else None
            case citation:
                found = self.find(citation)
                return f"{CO_MENTION}{found}" if found else None

    def find_citations(self, note: Note) -> dict[tuple[str, UUID], CitationMark]:
        """Return the citations whose sources the wiki has, by section and source; a section cites a source once."""
        found: dict[tuple[str, UUID], CitationMark] = {}
        beginning = first_section(note) if any(not citation.section for citation in note.sources) else LEAD
        for citation in note.sources:
            if source_id := self.find(citation):
                section = section_slug(citation.section) if citation.section else beginning
                found.setdefault((section, source_id), citation)
        return found

    def uncited(self, note: Note) -> list[dict[str, Any]]:
        """Return the citations whose sources the wiki lacks, as metadata."""
        cited = set(self.find_citations(note).values())
        return [citation.fields() for citation in note.sources if citation not in cited]


async def find_sources(database: Database, scope: Scope, notes: Iterable[Note]) -> SourceIds:
    """Return the sources of the wiki that these notes cite or name."""
    refs, ids = set[str](), set[UUID]()
    for note in notes:
        refs.update(citation.ref for citation in note.sources)
        named = [evidence(reason) for reasons in note.reasons.values() for reason in reasons]
        ids.update(item for item in named if isinstance(item, UUID))
        refs.update(item.ref for item in named if isinstance(item, CitationMark))
        refs.update(side.source[1] for mark in note.contradictions for side in (mark.older, mark.newer) if side.source)
        refs.update(
            source[1] for claim in note.superseded for source in (claim.stated_by, claim.overridden_by) if source
        )
    if not refs and not ids:
        return SourceIds(())
    async with database.connection() as connection:
        rows = await connection.all(IMPORTS["find_sources"], **scope.wiki_values, refs=sorted(refs))
        known = await connection.all(IMPORTS["find_sources_by_id"], **scope.wiki_values, ids=sorted(ids)) if ids else []
    return SourceIds(rows, (row["id"] for row in known))


def first_section(note: Note) -> str:
    """Return the slug of the first section, which gets the citations of the whole page."""
    return next((section.slug for section in parse(note.body)), LEAD)


Cited = tuple[int | None, int | None, str | None]
"""The first and last line of a source that a section cites, and a summary of them."""


def as_kept(citation: CitationMark) -> Cited:
    start, end = citation.line_start, citation.line_end
    return start, start if end is None else end, citation.summary


async def find_cited(database: Database, scope: Scope, page_ids: Sequence[UUID]) -> dict[tuple[UUID, str, UUID], Cited]:
    """Return the citations of these pages, by page, section and source."""
    if not page_ids:
        return {}
    async with database.connection() as connection:
        rows = await connection.all(IMPORTS["find_cited"], **scope.wiki_values, page_ids=page_ids)
    return {
        (row["page_id"], row["section_slug"], row["source_id"]): (row["line_start"], row["line_end"], row["summary"])
        for row in rows
    }
