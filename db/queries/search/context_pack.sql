-- name: find_loaded_pages
-- List the active pages that are loaded by a rule: all pages of the types context and standard, and products, entities
-- and concepts with one of these names. The limit is per wiki, by type and slug, and applies to each of the two groups.
SELECT own.*
FROM unnest(CAST(:owner_ids AS uuid[])) WITH ORDINALITY AS space (owner_id, place)
CROSS JOIN LATERAL (
    (SELECT p.id, p.type, p.slug, p.tags, p.metadata
    FROM pages AS p
    WHERE p.tenant_id = CAST(:tenant_id AS uuid) AND p.owner_id = space.owner_id AND p.status = 'active'
      AND p.type IN ('context', 'standard')
    ORDER BY p.type, p.slug
    LIMIT CAST(:limit AS integer))
    UNION ALL
    (SELECT DISTINCT p.id, p.type, p.slug, p.tags, p.metadata
    FROM page_names AS n
    JOIN pages AS p ON p.tenant_id = CAST(:tenant_id AS uuid) AND p.id = n.page_id
    WHERE n.tenant_id = CAST(:tenant_id AS uuid) AND n.owner_id = space.owner_id AND n.status = 'active'
      AND n.name = ANY(CAST(:names AS text[])) AND p.type IN ('product', 'entity', 'concept')
    ORDER BY p.type, p.slug
    LIMIT CAST(:limit AS integer))
) AS own
ORDER BY space.place, own.type, own.slug;

-- name: find_sections
-- List the sections of these pages in order, with their text cut to a limit, and with the superseded claims of their
-- page.
SELECT p.id AS page_id, p.owner_id, p.type, p.slug, p.title, s.id, s.section_slug, s.heading,
    left(s.body_md, CAST(:longest AS integer)) AS body, coalesce(s.last_source_at, p.updated_at) AS date, (
        SELECT jsonb_agg(jsonb_build_array(claim.fact, claim.replacement, claim.superseded_on))
        FROM (
            SELECT c.fact, c.replacement, c.superseded_on FROM superseded_claims AS c
            WHERE c.tenant_id = CAST(:tenant_id AS uuid) AND c.page_id = p.id AND c.withdrawn_at IS NULL
            ORDER BY c.superseded_on DESC, c.id DESC
            LIMIT CAST(:max_claims AS integer)
        ) AS claim
    ) AS claims
FROM pages AS p
JOIN sections AS s ON s.tenant_id = CAST(:tenant_id AS uuid) AND s.page_id = p.id
WHERE p.tenant_id = CAST(:tenant_id AS uuid) AND p.id = ANY(CAST(:page_ids AS uuid[]))
ORDER BY p.id, s.position, s.id;

-- name: find_passages
-- Find the lines of these passages, and the capture times of their sources.
SELECT p.source_id, p.position, p.line_start, p.line_end, s.kind, s.ref, s.captured_at
FROM unnest(CAST(:source_ids AS uuid[]), CAST(:positions AS integer[]), CAST(:analysers AS smallint[]))
    AS hit (source_id, position, analyser)
JOIN search_passages AS p
    ON p.tenant_id = CAST(:tenant_id AS uuid) AND p.source_id = hit.source_id AND p.position = hit.position
    AND p.analyser = hit.analyser
JOIN sources AS s ON s.tenant_id = CAST(:tenant_id AS uuid) AND s.id = hit.source_id AND s.forgotten_at IS NULL;
