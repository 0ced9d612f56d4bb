"""The sources that notes cite: those that the wiki knows are cited, the others stay with the page's metadata."""

from collections.abc import Iterable, Mapping
from typing import Any
from uuid import UUID

from content.citations import Citation
from content.notes import Note
from content.sections import parse
from content.slugs import section_slug
from db.database import Database
from db.scope import Scope
from db.sql import statements

IMPORTS = statements("imports")
LEAD = "overview"


class Sources:
    """The known ones, by ref, kind and version."""

    def __init__(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """`rows` come with the newest version last."""
        self.by_ref: dict[str, dict[str, dict[int, UUID]]] = {}
        for row in rows:
            self.by_ref.setdefault(row["ref"], {}).setdefault(row["kind"], {})[row["version"]] = row["id"]

    def find(self, citation: Citation) -> UUID | None:
        """The one of the kind that is asked for, or the only one of that ref; its newest version, if none is given."""
        kinds = self.by_ref.get(citation.ref, {})
        kind = citation.kind or next(iter(kinds), None) if citation.kind or len(kinds) == 1 else None
        versions = kinds.get(kind, {}) if kind else {}
        return versions.get(citation.version) if citation.version else next(reversed(versions.values()), None)

    def cited(self, note: Note) -> dict[tuple[str, UUID], Citation]:
        """What can be cited, by section and source: a section rests on a source once."""
        found: dict[tuple[str, UUID], Citation] = {}
        for citation in note.sources:
            if source_id := self.find(citation):
                found.setdefault((section(citation, note), source_id), citation)
        return found

    def uncited(self, note: Note) -> list[dict[str, Any]]:
        """The rest, as metadata."""
        cited = list(self.cited(note).values())
        return [citation.fields() for citation in note.sources if citation not in cited]


async def find_sources(database: Database, scope: Scope, notes: Iterable[Note]) -> Sources:
    """Those that these notes cite, as far as the wiki has them."""
    refs = {citation.ref for note in notes for citation in note.sources}
    if not refs:
        return Sources(())
    async with database.connection() as connection:
        return Sources(await connection.all(IMPORTS["find_sources"], **wiki(scope), refs=sorted(refs)))


def wiki(scope: Scope) -> Mapping[str, Any]:
    return {"tenant_id": scope.tenant_id, "owner_id": scope.owner_id}


def section(citation: Citation, note: Note) -> str:
    """The section that it is for; a citation for the whole page stands at its beginning."""
    if citation.section:
        return section_slug(citation.section)
    return next((section.slug for section in parse(note.body)), LEAD)
