"""Reads the contents of a compiled wiki from its rows."""

from collections import Counter
from dataclasses import dataclass, field
from uuid import UUID

import asyncpg

from compiler.planner import SourceText
from compiler.quoting import mark
from db.scope import Scope

from ..planner.verbatim import is_verbatim, quotes

HUBS = 8
COUNTS = {
    "pages": "SELECT type, count(*) FROM pages WHERE {own} AND status = 'active' GROUP BY 1 ORDER BY 2 DESC",
    "links": "SELECT kind, count(*) FROM links WHERE {own} GROUP BY 1 ORDER BY 2 DESC",
    "reasons": """SELECT split_part(reason, ':', 1), count(*) FROM links, unnest(reasons) AS reason
        WHERE {own} GROUP BY 1 ORDER BY 2 DESC""",
    "mentions": "SELECT status, count(*) FROM mentions WHERE {own} GROUP BY 1 ORDER BY 1",
}
# The sections that rest on sources themselves. Rollup sections rest on the pages in them, and trajectory pages on the
# claims that they list.
SOURCED_TEXT = """{own} AND aggregation IS NULL AND NOT EXISTS (SELECT FROM pages AS p
        WHERE p.tenant_id = s.tenant_id AND p.id = s.page_id AND jsonb_exists(p.metadata, 'trajectory_of'))"""
FIGURES = {
    "sections": f"SELECT count(*) FROM sections AS s WHERE {SOURCED_TEXT}",
    "cited": f"""SELECT count(*) FROM sections AS s WHERE {SOURCED_TEXT} AND EXISTS (
        SELECT FROM section_sources AS c WHERE c.tenant_id = s.tenant_id AND c.section_id = s.id)""",
    "claims": "SELECT count(*) FROM superseded_claims WHERE {own} AND withdrawn_at IS NULL",
    "sourced_claims": """SELECT count(*) FROM superseded_claims WHERE {own} AND withdrawn_at IS NULL
        AND overridden_by_id IS NOT NULL""",
    "rollups": "SELECT count(*) FROM sections WHERE {own} AND aggregation IS NOT NULL",
    "promoted": """SELECT count(*) FROM sections
        WHERE {own} AND aggregation IS NOT NULL AND promoted_page_id IS NOT NULL""",
    "duplicates": """SELECT coalesce(sum(n - 1), 0) FROM (
        SELECT count(*) AS n FROM pages WHERE {own} AND status = 'active' GROUP BY type, lower(title)) AS titles""",
    "uncited_sources": """SELECT count(*) FROM sources AS e WHERE {own} AND NOT EXISTS (
        SELECT FROM section_sources AS c WHERE c.tenant_id = e.tenant_id AND c.source_id = e.id)""",
}


@dataclass(slots=True)
class Contents:
    """Counts of one wiki. `duplicates` are pages that share type and title with an older page."""

    counts: dict[str, dict[str, int]] = field(default_factory=dict)
    figures: dict[str, int] = field(default_factory=dict)
    hubs: list[tuple[str, str, int]] = field(default_factory=list)
    quotes: int = 0
    verbatim: int = 0

    @property
    def faults(self) -> list[str]:
        """Return a message for each rule that the contents break."""
        figures, contents = self.figures, []
        if figures["cited"] < figures["sections"]:
            contents.append(f"{figures['sections'] - figures['cited']} sections have no provenance")
        if figures["sourced_claims"] < figures["claims"]:
            contents.append(f"{figures['claims'] - figures['sourced_claims']} superseded claims have no source")
        if figures["duplicates"]:
            contents.append(f"{figures['duplicates']} pages share type and title with another")
        return contents


async def read_contents(dsn: str, scope: Scope) -> Contents:
    connection = await asyncpg.connect(dsn)
    own, arguments = "tenant_id = $1 AND owner_id = $2", (scope.tenant_id, scope.owner_id)
    try:
        contents = Contents()
        for name, sql in COUNTS.items():
            contents.counts[name] = {row[0]: row[1] for row in await connection.fetch(sql.format(own=own), *arguments)}
        for name, sql in FIGURES.items():
            contents.figures[name] = int(await connection.fetchval(sql.format(own=own), *arguments))
        hubs = f"""SELECT title, type, hubness_score FROM pages WHERE {own} AND status = 'active'
            ORDER BY hubness_score DESC, title LIMIT {HUBS}"""
        contents.hubs = [tuple(row) for row in await connection.fetch(hubs, *arguments)]
        await count_quotes(connection, scope, contents)
        return contents
    finally:
        await connection.close()


async def count_quotes(connection: asyncpg.Connection, scope: Scope, contents: Contents) -> None:
    """Count the quotes of all sections, and those that are verbatim in the source whose citation mark follows them."""
    arguments = (scope.tenant_id, scope.owner_id)
    rows = await connection.fetch(
        "SELECT id, ref, content FROM sources WHERE tenant_id = $1 AND owner_id = $2 ORDER BY version", *arguments
    )
    by_mark = {mark(source_text(row["id"], row["ref"])): row["content"] for row in rows}
    sections = await connection.fetch("SELECT body_md FROM sections WHERE tenant_id = $1 AND owner_id = $2", *arguments)
    for line in (line for row in sections for line in row["body_md"].splitlines()):
        label = line.rpartition(" ")[2]
        if label not in by_mark:
            continue
        for quote in quotes(line):
            contents.quotes += 1
            contents.verbatim += is_verbatim(quote, by_mark[label])


def source_text(id: UUID, ref: str) -> SourceText:
    return SourceText(id, "", ref, "", None)  # type: ignore[arg-type]


def links_per_100_pages(contents: Contents) -> Counter[str]:
    """Return the links of each kind per hundred pages."""
    pages = sum(contents.counts["pages"].values()) or 1
    return Counter({kind: round(100 * count / pages) for kind, count in contents.counts["links"].items()})
