-- name: drop_targets
-- What the changed texts of pages no longer point at.
DELETE FROM link_targets AS t
WHERE t.tenant_id = :tenant_id AND t.owner_id = :owner_id AND t.from_page_id = ANY(CAST(:changed AS uuid[]))
  AND NOT EXISTS (
      SELECT FROM unnest(CAST(:page_ids AS uuid[]), CAST(:targets AS text[])) AS given (page_id, target)
      WHERE given.page_id = t.from_page_id AND given.target = t.target
  )
RETURNING t.from_page_id;

-- name: write_targets
-- What the texts of pages point at, found or not.
INSERT INTO link_targets (tenant_id, owner_id, from_page_id, target, space, type, slug, alias)
SELECT CAST(:tenant_id AS uuid), CAST(:owner_id AS uuid), given.page_id, given.target, given.space, given.type,
       given.slug, given.alias
FROM unnest(
    CAST(:page_ids AS uuid[]), CAST(:targets AS text[]), CAST(:spaces AS text[]), CAST(:types AS text[]),
    CAST(:slugs AS text[]), CAST(:aliases AS text[])
) AS given (page_id, target, space, type, slug, alias)
ON CONFLICT (tenant_id, from_page_id, target) DO UPDATE
SET slug = excluded.slug, alias = excluded.alias
WHERE (link_targets.slug, link_targets.alias) IS DISTINCT FROM (excluded.slug, excluded.alias);

-- name: forget_page
-- The targets that point at a page that goes, before it goes.
UPDATE link_targets SET to_page_id = NULL
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND to_page_id = :page_id
RETURNING slug, alias;

-- name: resolve_targets
-- Find the pages for the targets of texts and for those that mean one of these names, whether or not they had one.
-- Active before archived, then a slug before a former slug before an alias, then the oldest page.
WITH affected AS (
    SELECT from_page_id, target, type, slug, alias FROM link_targets
    WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND space IS NULL
      AND (
          from_page_id = ANY(CAST(:page_ids AS uuid[]))
          OR slug = ANY(CAST(:slugs AS text[]))
          OR alias = ANY(CAST(:aliases AS text[]))
      )
), candidates AS (
    SELECT a.from_page_id, a.target, p.id, p.status, 1 AS rank
    FROM affected AS a
    JOIN pages AS p ON p.tenant_id = :tenant_id AND p.owner_id = :owner_id AND p.slug = a.slug
    WHERE a.type IS NULL OR a.type = p.type
    UNION ALL
    SELECT a.from_page_id, a.target, p.id, p.status, 2
    FROM affected AS a
    JOIN old_slugs AS o ON o.tenant_id = :tenant_id AND o.owner_id = :owner_id AND o.slug = a.slug
    JOIN pages AS p ON p.tenant_id = :tenant_id AND p.owner_id = :owner_id AND p.id = o.page_id
    WHERE a.type IS NULL OR a.type = p.type
    UNION ALL
    SELECT a.from_page_id, a.target, p.id, p.status, 3
    FROM affected AS a
    JOIN aliases AS n ON n.tenant_id = :tenant_id AND n.owner_id = :owner_id AND n.alias = a.alias
    JOIN pages AS p ON p.tenant_id = :tenant_id AND p.owner_id = :owner_id AND p.id = n.page_id
    WHERE a.type IS NULL OR a.type = p.type
), best AS (
    SELECT DISTINCT ON (from_page_id, target) from_page_id, target, id
    FROM candidates
    ORDER BY from_page_id, target, status <> 'active', rank, id
)
UPDATE link_targets AS t
SET to_page_id = best.id
FROM affected AS a
LEFT JOIN best ON best.from_page_id = a.from_page_id AND best.target = a.target
WHERE t.tenant_id = :tenant_id AND t.owner_id = :owner_id AND t.from_page_id = a.from_page_id AND t.target = a.target
  AND t.to_page_id IS DISTINCT FROM best.id
RETURNING t.from_page_id;

-- name: find_all_names
-- Every name that any text of a wiki points at.
SELECT DISTINCT slug, alias FROM link_targets
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND space IS NULL;

-- name: drop_text_links
-- Text links that no target of the text stands for any more; one asserted for other reasons stays for those.
WITH stale AS (
    SELECT l.id, l.to_page_id FROM links AS l
    WHERE l.tenant_id = :tenant_id AND l.owner_id = :owner_id AND l.from_page_id = ANY(CAST(:page_ids AS uuid[]))
      AND l.kind = 'reference' AND 'text' = ANY(l.reasons)
      AND NOT EXISTS (
          SELECT 1 FROM link_targets AS t
          WHERE t.tenant_id = :tenant_id AND t.owner_id = :owner_id
            AND t.from_page_id = l.from_page_id AND t.to_page_id = l.to_page_id
      )
), deleted AS (
    DELETE FROM links AS l USING stale
    WHERE l.tenant_id = :tenant_id AND l.owner_id = :owner_id AND l.id = stale.id AND l.reasons = '{text}'
), loosened AS (
    UPDATE links AS l SET reasons = array_remove(l.reasons, 'text') FROM stale
    WHERE l.tenant_id = :tenant_id AND l.owner_id = :owner_id AND l.id = stale.id AND l.reasons <> '{text}'
)
SELECT to_page_id FROM stale;

-- name: find_missing_text_links
-- Pairs of pages that a text connects and that are not yet linked for that reason.
SELECT DISTINCT t.from_page_id, t.to_page_id FROM link_targets AS t
WHERE t.tenant_id = :tenant_id AND t.owner_id = :owner_id AND t.from_page_id = ANY(CAST(:page_ids AS uuid[]))
  AND t.to_page_id <> t.from_page_id
  AND NOT EXISTS (
      SELECT 1 FROM links AS l
      WHERE l.tenant_id = :tenant_id AND l.owner_id = :owner_id AND l.from_page_id = t.from_page_id
        AND l.to_page_id = t.to_page_id AND l.kind = 'reference' AND 'text' = ANY(l.reasons)
  );

-- name: find_linking
-- The texts after `reached_id` that call a page by one of these names, by their pages' ids; and how many there are.
SELECT t.from_page_id AS id, array_agg(t.target) AS targets, count(*) OVER () AS total
FROM link_targets AS t
WHERE t.tenant_id = :tenant_id AND t.owner_id = :owner_id AND t.to_page_id = :page_id
  AND (t.slug = :slug OR t.alias = :alias) AND t.from_page_id > CAST(:reached_id AS uuid)
GROUP BY t.from_page_id
ORDER BY t.from_page_id
LIMIT CAST(:most AS integer);

-- name: find_calling
-- All texts that call a page by one of these names, where its slug is, or was, that of another page as well.
SELECT t.from_page_id AS id, array_agg(t.target) AS targets
FROM link_targets AS t
WHERE t.tenant_id = :tenant_id AND t.owner_id = :owner_id AND t.to_page_id = :page_id
  AND (t.slug = :slug OR t.alias = :alias)
  AND (
      EXISTS (
          SELECT FROM pages AS p
          WHERE p.tenant_id = :tenant_id AND p.owner_id = :owner_id AND p.slug = :slug AND p.id <> :page_id
      )
      OR EXISTS (
          SELECT FROM old_slugs AS o
          WHERE o.tenant_id = :tenant_id AND o.owner_id = :owner_id AND o.slug = :slug AND o.page_id <> :page_id
      )
  )
GROUP BY t.from_page_id
ORDER BY t.from_page_id;

-- name: find_meant
-- The page that a link without a type means by this name, in the order of resolve_targets.
SELECT found.id FROM (
    SELECT id, status, 1 AS rank FROM pages
    WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND slug = :slug
    UNION ALL
    SELECT p.id, p.status, 2 FROM old_slugs AS o
    JOIN pages AS p ON p.tenant_id = :tenant_id AND p.owner_id = :owner_id AND p.id = o.page_id
    WHERE o.tenant_id = :tenant_id AND o.owner_id = :owner_id AND o.slug = :slug
    UNION ALL
    SELECT p.id, p.status, 3 FROM aliases AS n
    JOIN pages AS p ON p.tenant_id = :tenant_id AND p.owner_id = :owner_id AND p.id = n.page_id
    WHERE n.tenant_id = :tenant_id AND n.owner_id = :owner_id AND n.alias = :alias
) AS found
ORDER BY found.status <> 'active', found.rank, found.id
LIMIT 1;
