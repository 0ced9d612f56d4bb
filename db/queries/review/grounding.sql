-- name: find_cited
-- Return the sections of pages to check, with their texts and sources: the sections that cite sources and have not been
-- checked, or are `section_id`, or all that cite sources if `recheck` is set. The sources are those named in the text,
-- and the newest others. Then return the texts of these sources, except the known ones, each once. A long one is cut.
WITH cited AS MATERIALIZED (
    SELECT s.id, s.body_md, s.supported_at, sources.ids, sources.labels, sources.moments
    FROM sections AS s
    CROSS JOIN LATERAL (
        SELECT array_agg(ranked.id ORDER BY ranked.place) AS ids,
               array_agg(ranked.ref ORDER BY ranked.place) AS labels,
               array_agg(ranked.captured_at ORDER BY ranked.place) AS moments
        FROM (
            SELECT e.id, CASE WHEN length(e.ref) BETWEEN 1 AND 200 THEN e.ref ELSE CAST(e.id AS text) END AS ref,
                   e.captured_at, row_number() OVER (ORDER BY e.captured_at DESC, e.id DESC) AS place
            FROM section_sources AS c
            JOIN sources AS e ON e.tenant_id = :tenant_id AND e.owner_id = :owner_id AND e.id = c.source_id
            WHERE c.tenant_id = :tenant_id AND c.owner_id = :owner_id AND c.section_id = s.id
              AND e.forgotten_at IS NULL
        ) AS ranked
        WHERE ranked.place <= 20 OR (ranked.place <= 200 AND position(ranked.ref IN s.body_md) > 0)
    ) AS sources
    WHERE s.tenant_id = :tenant_id AND s.owner_id = :owner_id AND s.page_id = ANY(CAST(:page_ids AS uuid[]))
      AND (s.supported_at IS NULL OR CAST(:recheck AS boolean) OR s.id = CAST(:section_id AS uuid))
      AND sources.ids IS NOT NULL
)
SELECT true AS is_section, id, body_md AS text, supported_at, ids, labels, moments FROM cited
UNION ALL
SELECT false, e.id, left(e.content, 50000), NULL, NULL, NULL, NULL
FROM sources AS e
WHERE e.tenant_id = :tenant_id AND e.owner_id = :owner_id AND e.id = ANY(ARRAY(
    SELECT DISTINCT given.id FROM cited CROSS JOIN LATERAL unnest(cited.ids) AS given (id)
    WHERE given.id <> ALL(CAST(:known AS uuid[]))
));

-- name: write_support
-- Store for each sentence of a section when the newest source that supports it was captured.
UPDATE sections SET supported_at = CAST(:supported_at AS timestamptz[])
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND id = :section_id;
