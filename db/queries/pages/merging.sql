-- name: find_aliases
-- Return the aliases of a page as they were written.
SELECT name FROM aliases
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND page_id = :page_id
ORDER BY id;

-- name: move_slugs
-- Make the former slugs of a page former slugs of another page.
UPDATE old_slugs SET page_id = :into_id
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND page_id = :from_id;

-- name: copy_citations
-- Copy citations of a merged page to the sections that its sections were joined with.
INSERT INTO section_sources
    (tenant_id, owner_id, id, page_id, section_id, source_id, line_start, line_end, summary, created_at)
SELECT CAST(:tenant_id AS uuid), CAST(:owner_id AS uuid), given.id, CAST(:into_id AS uuid), given.section_id,
       cited.source_id, cited.line_start, cited.line_end, cited.summary, cited.created_at
FROM unnest(CAST(:ids AS uuid[]), CAST(:section_ids AS uuid[]), CAST(:cited_ids AS uuid[]))
    AS given (id, section_id, cited_id)
JOIN section_sources AS cited
    ON cited.tenant_id = :tenant_id AND cited.owner_id = :owner_id AND cited.id = given.cited_id
ON CONFLICT (tenant_id, section_id, source_id) DO NOTHING;

-- name: find_citations
-- Return the citations of a page with the slugs of their sections.
SELECT c.id, s.section_slug FROM section_sources AS c
JOIN sections AS s ON s.tenant_id = :tenant_id AND s.owner_id = :owner_id AND s.id = c.section_id
WHERE c.tenant_id = :tenant_id AND c.owner_id = :owner_id AND c.page_id = :page_id
ORDER BY c.id;

-- name: advance_sections
-- Set when the newest source that each section of a page cites was captured.
UPDATE sections AS s SET last_source_at = newest.captured_at
FROM (
    SELECT c.section_id, max(e.captured_at) AS captured_at FROM section_sources AS c
    JOIN sources AS e ON e.tenant_id = :tenant_id AND e.owner_id = :owner_id AND e.id = c.source_id
    WHERE c.tenant_id = :tenant_id AND c.owner_id = :owner_id AND c.page_id = :page_id
    GROUP BY c.section_id
) AS newest
WHERE s.tenant_id = :tenant_id AND s.owner_id = :owner_id AND s.id = newest.section_id
  AND s.last_source_at IS DISTINCT FROM newest.captured_at;

-- name: find_children
-- Return the children of a page.
SELECT id FROM pages
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND parent_page_id = :page_id
ORDER BY id;

-- name: move_children
-- Move the children of a page to another page.
UPDATE pages SET parent_page_id = :into_id, updated_at = :now
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND parent_page_id = :from_id;

-- name: delete_mirrors
-- Delete the links that mirror the hierarchy between a page and its children.
DELETE FROM links
WHERE tenant_id = :tenant_id AND owner_id = :owner_id
  AND ((from_page_id = :page_id AND kind = 'parent_of') OR (to_page_id = :page_id AND kind = 'child_of'));

-- name: find_asserted
-- Return the references from and to a page that have a reason other than `text`, with these reasons.
SELECT from_page_id, to_page_id, array_remove(reasons, 'text') AS reasons FROM links
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND kind = 'reference' AND reasons <> '{text}'
  AND (from_page_id = :page_id OR to_page_id = :page_id)
ORDER BY id;

-- name: loosen_links
-- Remove all reasons except `text` from the references to a page that have this reason.
UPDATE links SET reasons = '{text}'
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND kind = 'reference' AND to_page_id = :page_id
  AND 'text' = ANY(reasons) AND reasons <> '{text}';

-- name: drop_links
-- Delete the references to a page that do not have the reason `text`.
DELETE FROM links
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND kind = 'reference' AND to_page_id = :page_id
  AND NOT 'text' = ANY(reasons);

-- name: move_promotions
-- Move sections that were promoted to a page to another page.
UPDATE sections SET promoted_page_id = :into_id, updated_at = :now
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND promoted_page_id = :from_id;

-- name: move_listings
-- Replace a page in the lists of rollup sections by another page.
UPDATE sections SET aggregation = CAST(
    replace(CAST(aggregation AS text), CAST(:from_text AS text), CAST(:into_text AS text)) AS jsonb
), updated_at = :now
WHERE tenant_id = :tenant_id AND owner_id = :owner_id
  AND (
      jsonb_exists(aggregation -> 'linked_page_ids', CAST(:from_text AS text))
      OR aggregation ->> 'promoted_page_id' = CAST(:from_text AS text)
  );

-- name: move_lists
-- Copy the aggregations of the sections of a merged page to the sections that have their texts now.
UPDATE sections AS s SET aggregation = gone.aggregation, promoted_page_id = gone.promoted_page_id, updated_at = :now
FROM (
    SELECT given.into_slug, former.aggregation, former.promoted_page_id
    FROM unnest(CAST(:from_slugs AS text[]), CAST(:into_slugs AS text[])) AS given (from_slug, into_slug)
    JOIN sections AS former ON former.tenant_id = :tenant_id AND former.owner_id = :owner_id
        AND former.page_id = :from_id AND former.section_slug = given.from_slug AND former.aggregation IS NOT NULL
) AS gone
WHERE s.tenant_id = :tenant_id AND s.owner_id = :owner_id AND s.page_id = :into_id
  AND s.section_slug = gone.into_slug AND s.aggregation IS NULL;

-- name: move_listed
-- Move the placements of pages that a merged page lists to the sections that have its texts now.
UPDATE placements AS w SET parent_page_id = :into_id, section_slug = given.into_slug
FROM unnest(CAST(:from_slugs AS text[]), CAST(:into_slugs AS text[])) AS given (from_slug, into_slug)
WHERE w.tenant_id = :tenant_id AND w.owner_id = :owner_id AND w.parent_page_id = :from_id
  AND w.section_slug = given.from_slug;

-- name: copy_placements
-- Copy the placements of a page to another page.
INSERT INTO placements (
    tenant_id, owner_id, page_id, alias, name, bases, kind, tags, parent_page_id, section_slug, is_delegated
)
SELECT w.tenant_id, w.owner_id, CAST(:into_id AS uuid), w.alias, w.name, w.bases, w.kind, w.tags, w.parent_page_id,
       w.section_slug, w.is_delegated
FROM placements AS w
WHERE w.tenant_id = :tenant_id AND w.owner_id = :owner_id AND w.page_id = :from_id
  AND w.parent_page_id IS DISTINCT FROM :into_id
ON CONFLICT (tenant_id, owner_id, page_id, alias) DO NOTHING;

-- name: move_mentions
-- Move mentions that were promoted to a page to another page.
UPDATE mentions SET promoted_page_id = :into_id
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND promoted_page_id = :from_id;

-- name: find_merged
-- Return the page that a page was merged into.
SELECT into_page_id FROM merged_pages
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND page_id = :page_id;

-- name: move_merged
-- Record that pages which were merged into a page are now merged into another page.
UPDATE merged_pages SET into_page_id = :into_id
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND into_page_id = :from_id AND page_id <> :into_id;

-- name: write_merged
-- Record that a page was merged into another page.
INSERT INTO merged_pages (tenant_id, owner_id, page_id, into_page_id, created_at)
VALUES (:tenant_id, :owner_id, :page_id, :into_id, :now)
ON CONFLICT (tenant_id, page_id) DO UPDATE SET into_page_id = excluded.into_page_id;

-- name: find_merge_proposals
-- Return those of these pairs of pages for which a merge in either direction is proposed or was decided.
SELECT DISTINCT given.from_text, given.into_text
FROM unnest(CAST(:from_texts AS text[]), CAST(:into_texts AS text[])) AS given (from_text, into_text)
JOIN proposals AS p ON p.tenant_id = :tenant_id AND p.owner_id = :owner_id
WHERE p.operation = 'merge_pages' AND p.status <> 'expired' AND (
    (p.arguments ->> 'from_id' = given.from_text AND p.arguments ->> 'into_id' = given.into_text)
    OR (p.arguments ->> 'from_id' = given.into_text AND p.arguments ->> 'into_id' = given.from_text)
);

-- name: find_renaming
-- Return the newest source of two pages which says that the entity of the first is now called like the second.
WITH telling AS MATERIALIZED (
    SELECT s.id, s.kind, s.ref, s.captured_at, lower(s.content) AS content FROM sources AS s
    WHERE s.tenant_id = :tenant_id AND s.owner_id = :owner_id AND s.forgotten_at IS NULL
      AND s.id IN (
          SELECT c.source_id FROM section_sources AS c
          WHERE c.tenant_id = :tenant_id AND c.owner_id = :owner_id AND c.page_id IN (:from_id, :into_id)
      )
      AND EXISTS (
          SELECT FROM unnest(CAST(:forms AS text[])) AS form (words) WHERE position(form.words IN lower(s.content)) > 0
      )
)
SELECT telling.id, telling.kind, telling.ref, telling.captured_at
FROM telling
CROSS JOIN unnest(CAST(:forms AS text[])) AS form (words)
JOIN aliases AS once ON once.tenant_id = :tenant_id AND once.owner_id = :owner_id AND once.page_id = :from_id
JOIN aliases AS now ON now.tenant_id = :tenant_id AND now.owner_id = :owner_id AND now.page_id = :into_id
WHERE position(lower(once.name || form.words || now.name) IN telling.content) > 0
ORDER BY telling.captured_at DESC, telling.id
LIMIT 1;
