-- name: find_outlines
-- Return the sections of these pages, and of the topics to which their sections were promoted, with their state.
WITH RECURSIVE standing AS (
    SELECT p.id FROM pages AS p
    WHERE p.tenant_id = :tenant_id AND p.owner_id = :owner_id AND p.id = ANY(CAST(:page_ids AS uuid[]))
    UNION
    SELECT grown.promoted_page_id FROM standing
    JOIN sections AS grown ON grown.tenant_id = :tenant_id AND grown.owner_id = :owner_id
        AND grown.page_id = standing.id AND grown.promoted_page_id IS NOT NULL
)
SELECT p.id AS page_id, p.status, s.section_slug, s.aggregation, s.promoted_page_id,
    EXISTS (
        SELECT FROM section_sources AS c
        WHERE c.tenant_id = :tenant_id AND c.owner_id = :owner_id AND c.section_id = s.id
    ) AS is_cited
FROM standing
JOIN pages AS p ON p.tenant_id = :tenant_id AND p.owner_id = :owner_id AND p.id = standing.id
LEFT JOIN sections AS s ON s.tenant_id = :tenant_id AND s.owner_id = :owner_id AND s.page_id = p.id
ORDER BY p.id, s.position, s.id;

-- name: find_listed
-- Return the active pages that each section lists, the oldest first.
SELECT given.n, w.id, w.type, w.slug, w.title, w.summary, w.tags
FROM unnest(CAST(:page_ids AS uuid[]), CAST(:slugs AS text[])) WITH ORDINALITY AS given (page_id, slug, n)
CROSS JOIN LATERAL (
    SELECT DISTINCT ON (placed.page_id) p.id, p.type, p.slug, p.title, p.summary, placed.tags
    FROM placements AS placed
    JOIN pages AS p ON p.tenant_id = :tenant_id AND p.owner_id = :owner_id AND p.id = placed.page_id
        AND p.status = 'active'
    WHERE placed.tenant_id = :tenant_id AND placed.owner_id = :owner_id AND placed.parent_page_id = given.page_id
      AND placed.section_slug = given.slug
    ORDER BY placed.page_id, placed.alias
    LIMIT :limit
) AS w
ORDER BY given.n, w.id;

-- name: find_support
-- Return the number of sources that the pages of each list cite, and their first and last time. The sources of each
-- page are read once, even if several lists have it, and versions of one source are recognised by a hash.
WITH told AS MATERIALIZED (
    SELECT c.page_id, array_agg(DISTINCT hashtextextended(e.kind || ' ' || e.ref, 0)) AS evidence,
        min(e.captured_at) AS first_at, max(e.captured_at) AS last_at
    FROM section_sources AS c
    JOIN sources AS e ON e.tenant_id = :tenant_id AND e.owner_id = :owner_id AND e.id = c.source_id
    WHERE c.tenant_id = :tenant_id AND c.owner_id = :owner_id AND c.page_id = ANY(CAST(:page_ids AS uuid[]))
    GROUP BY c.page_id
)
SELECT given.n, count(DISTINCT seen.evidence) AS sources, min(told.first_at) AS first_at, max(told.last_at) AS last_at
FROM unnest(CAST(:numbers AS integer[]), CAST(:page_ids AS uuid[])) AS given (n, page_id)
JOIN told ON told.page_id = given.page_id
CROSS JOIN LATERAL unnest(told.evidence) AS seen (evidence)
GROUP BY given.n;

-- name: count_sources
-- Return how many sources each page cites.
SELECT c.page_id, count(DISTINCT (e.kind, e.ref)) AS sources
FROM section_sources AS c
JOIN sources AS e ON e.tenant_id = :tenant_id AND e.owner_id = :owner_id AND e.id = c.source_id
WHERE c.tenant_id = :tenant_id AND c.owner_id = :owner_id AND c.page_id = ANY(CAST(:page_ids AS uuid[]))
GROUP BY c.page_id;

-- name: find_rollups
-- Return the rollup sections of these pages.
SELECT page_id, section_slug FROM sections
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND page_id = ANY(CAST(:page_ids AS uuid[]))
  AND aggregation IS NOT NULL;

-- name: set_aggregations
-- Store the state of rollup sections, and the topics to which they were promoted.
UPDATE sections AS s
SET aggregation = given.known, promoted_page_id = given.grown_id, last_source_at = given.last_at, updated_at = :now
FROM unnest(
    CAST(:page_ids AS uuid[]), CAST(:slugs AS text[]), CAST(:known AS jsonb[]), CAST(:grown_ids AS uuid[]),
    CAST(:last_at AS timestamptz[])
) AS given (page_id, slug, known, grown_id, last_at)
WHERE s.tenant_id = :tenant_id AND s.owner_id = :owner_id AND s.page_id = given.page_id
  AND s.section_slug = given.slug
  AND (s.aggregation, s.promoted_page_id) IS DISTINCT FROM (given.known, given.grown_id);

-- name: find_aggregation
-- Return the aggregation of a section.
SELECT aggregation FROM sections
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND page_id = :page_id AND section_slug = :slug;

-- name: set_status
-- Set the promotion status of a rollup section.
UPDATE sections
SET aggregation = jsonb_set(aggregation, '{promotion_status}', CAST(:status AS jsonb)), updated_at = :now
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND page_id = :page_id AND section_slug = :slug
  AND aggregation IS NOT NULL;

-- name: find_unborne_tags
-- Return the tags in the state of rollup sections that no listed or waiting page has any more.
SELECT DISTINCT observed.tag FROM sections AS s
CROSS JOIN LATERAL (
    SELECT jsonb_array_elements_text(s.aggregation -> 'observed_tags') UNION ALL SELECT s.aggregation ->> 'tag'
) AS observed (tag)
WHERE s.tenant_id = :tenant_id AND s.owner_id = :owner_id AND s.aggregation IS NOT NULL AND observed.tag IS NOT NULL
  AND NOT EXISTS (
      SELECT FROM placements AS w
      WHERE w.tenant_id = :tenant_id AND w.owner_id = :owner_id AND observed.tag = ANY(w.tags)
  )
ORDER BY observed.tag;

-- name: find_observing
-- Return the rollup sections with one of these tags in their state.
SELECT s.page_id, s.section_slug, s.aggregation, s.promoted_page_id FROM sections AS s
WHERE s.tenant_id = :tenant_id AND s.owner_id = :owner_id AND s.aggregation IS NOT NULL
  AND (
      s.aggregation ->> 'tag' = ANY(CAST(:tags AS text[]))
      OR EXISTS (
          SELECT FROM jsonb_array_elements_text(s.aggregation -> 'observed_tags') AS observed (tag)
          WHERE observed.tag = ANY(CAST(:tags AS text[]))
      )
  )
ORDER BY s.page_id, s.section_slug;
