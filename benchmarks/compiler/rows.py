"""Reads the rows of a wiki in a form in which they can be compared with those of a wiki made of the same sources.

Names, titles and refs replace ids. Times of storing are left out, but times that sections take from their sources are
compared. Link reasons that name a source name its ref.
"""

from typing import Any

import asyncpg

from db.scope import Scope

ROWS = {
    "pages": """
        SELECT p.type, p.slug, p.title, p.summary, p.body_md, p.status, p.tags, p.version, p.hubness_score
        FROM pages p WHERE p.tenant_id = $1 AND p.owner_id = $2 ORDER BY 1, 2""",
    "sections": """
        SELECT p.type, p.slug, s.section_slug, s.heading, s.body_md, s.position, s.last_source_at,
            s.aggregation - ARRAY['linked_page_ids', 'dismissed_page_ids', 'promoted_page_id']
        FROM sections s JOIN pages p ON p.tenant_id = $1 AND p.id = s.page_id
        WHERE s.tenant_id = $1 AND s.owner_id = $2 ORDER BY 1, 2, 6""",
    "citations": """
        SELECT p.type, p.slug, s.section_slug, e.kind, e.ref, e.version FROM section_sources c
        JOIN pages p ON p.tenant_id = $1 AND p.id = c.page_id
        JOIN sections s ON s.tenant_id = $1 AND s.id = c.section_id
        JOIN sources e ON e.tenant_id = $1 AND e.id = c.source_id
        WHERE c.tenant_id = $1 AND c.owner_id = $2 ORDER BY 1, 2, 3, 4, 5, 6""",
    "aliases": """
        SELECT p.type, p.slug, a.alias, a.name, a.source FROM aliases a
        JOIN pages p ON p.tenant_id = $1 AND p.id = a.page_id
        WHERE a.tenant_id = $1 AND a.owner_id = $2 ORDER BY 1, 2, 3""",
    "names": """
        SELECT p.type, p.slug, n.kind, n.name, n.status FROM page_names n
        JOIN pages p ON p.tenant_id = $1 AND p.id = n.page_id
        WHERE n.tenant_id = $1 AND n.owner_id = $2 ORDER BY 1, 2, 3, 4""",
    "links": """
        SELECT f.type, f.slug, t.type, t.slug, l.kind, ARRAY(
            SELECT coalesce('co_mention:' || e.ref, reason) FROM unnest(l.reasons) AS reason
            LEFT JOIN sources e ON e.tenant_id = $1 AND reason = 'co_mention:' || e.id ORDER BY 1)
        FROM links l JOIN pages f ON f.tenant_id = $1 AND f.id = l.from_page_id
        JOIN pages t ON t.tenant_id = $1 AND t.id = l.to_page_id
        WHERE l.tenant_id = $1 AND l.owner_id = $2 ORDER BY 1, 2, 3, 4, 5""",
    "targets": """
        SELECT f.type, f.slug, l.target, t.type, t.slug FROM link_targets l
        JOIN pages f ON f.tenant_id = $1 AND f.id = l.from_page_id
        LEFT JOIN pages t ON t.tenant_id = $1 AND t.id = l.to_page_id
        WHERE l.tenant_id = $1 AND l.owner_id = $2 ORDER BY 1, 2, 3""",
    "mentions": """
        SELECT m.alias, m.name, m.status, m.suggested_type, m.mention_count, m.cluster, m.first_seen_at,
            m.last_seen_at, p.type, p.slug, ARRAY(
                SELECT e.ref FROM sightings n JOIN sources e ON e.tenant_id = $1 AND e.id = n.source_id
                WHERE n.tenant_id = $1 AND n.mention_id = m.id ORDER BY 1)
        FROM mentions m LEFT JOIN pages p ON p.tenant_id = $1 AND p.id = m.promoted_page_id
        WHERE m.tenant_id = $1 AND m.owner_id = $2 ORDER BY 1, 3""",
    "revisions": """
        SELECT p.type, p.slug, r.version, r.title, r.summary, r.tags, r.edit_summary, r.author_kind FROM revisions r
        JOIN pages p ON p.tenant_id = $1 AND p.id = r.page_id
        WHERE r.tenant_id = $1 AND r.owner_id = $2 ORDER BY 1, 2, 3""",
    "log": """
        SELECT a.action, p.type, p.slug, a.detail FROM activity a
        LEFT JOIN pages p ON p.tenant_id = $1 AND p.id = a.page_id
        WHERE a.tenant_id = $1 AND a.owner_id = $2 AND a.action IN ('wiki.compiled', 'page.created', 'page.compiled')
        ORDER BY 1, 2, 3, 4""",
}  # fmt: skip
Rows = dict[str, list[tuple[Any, ...]]]


async def rows(dsn: str, scope: Scope) -> Rows:
    """Return the rows by table."""
    connection = await asyncpg.connect(dsn)
    try:
        where = (scope.tenant_id, scope.owner_id)
        return {name: [tuple(row) for row in await connection.fetch(sql, *where)] for name, sql in ROWS.items()}
    finally:
        await connection.close()


def differences(first: Rows, second: Rows) -> list[str]:
    """Return a message for each table that differs, with the first row that only one of the wikis has."""
    found = []
    for name in first:
        if first[name] != second[name]:
            only = [row for row in first[name] if row not in second[name]] or [
                row for row in second[name] if row not in first[name]
            ]
            found.append(f"{name}: {len(first[name])} and {len(second[name])} rows; {str(only[:1])[:300]}")
    return found
