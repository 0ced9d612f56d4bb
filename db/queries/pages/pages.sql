-- name: find_owner
-- Return the owner of a page.
SELECT owner_id FROM pages WHERE tenant_id = :tenant_id AND id = :id;

-- name: find_merged
-- Return the owner of a page, and the page that it was merged into.
SELECT p.owner_id, m.into_page_id
FROM pages AS p
LEFT JOIN merged_pages AS m ON m.tenant_id = p.tenant_id AND m.owner_id = p.owner_id AND m.page_id = p.id
WHERE p.tenant_id = :tenant_id AND p.id = :id;

-- name: find_owners
-- Return the owners of pages.
SELECT id, owner_id FROM pages WHERE tenant_id = :tenant_id AND id = ANY(CAST(:ids AS uuid[]));

-- name: find_pages
-- Return pages for a write: with their sections as [slug, heading, text] in order, their aliases and former slugs, and
-- the language and search analysers of their wiki.
SELECT p.id, p.type, p.slug, p.title, p.summary, p.tags, p.metadata, p.status, p.parent_page_id, p.version,
       p.last_compiled_at,
       (
           SELECT json_agg(json_build_array(s.section_slug, s.heading, s.body_md) ORDER BY s.position, s.id)
           FROM sections AS s
           WHERE s.tenant_id = :tenant_id AND s.owner_id = :owner_id AND s.page_id = p.id
       ) AS sections,
       ARRAY(
           SELECT a.alias FROM aliases AS a
           WHERE a.tenant_id = :tenant_id AND a.owner_id = :owner_id AND a.page_id = p.id
       ) AS aliases,
       ARRAY(
           SELECT f.slug FROM old_slugs AS f
           WHERE f.tenant_id = :tenant_id AND f.owner_id = :owner_id AND f.page_id = p.id
       ) AS old_slugs,
       o.language,
       (
           SELECT json_agg(json_build_array(s.analyser, s.state)) FROM search_scopes AS s
           WHERE s.tenant_id = :tenant_id AND s.owner_id = :owner_id AND s.analyser < 100
       ) AS editions
FROM pages AS p
JOIN owners AS o ON o.tenant_id = :tenant_id AND o.id = :owner_id
WHERE p.tenant_id = :tenant_id AND p.owner_id = :owner_id AND p.id = ANY(CAST(:page_ids AS uuid[]));

-- name: find_all
-- Return the ids of all pages of a wiki.
SELECT id FROM pages WHERE tenant_id = :tenant_id AND owner_id = :owner_id;

-- name: find_by_slug
-- Return the page of a type that has or had a slug.
SELECT id FROM pages
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND type = :type AND slug = :slug
UNION
SELECT page_id FROM old_slugs
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND type = :type AND slug = :slug;

-- name: find_by_name
-- Return the page of a type with a name: an active page before an archived one, then by its slug, a former slug or an
-- alias.
SELECT p.id, p.type, p.slug, p.version, p.status
FROM (
    SELECT id, 1 AS rank FROM pages
    WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND type = :type AND slug = :slug
    UNION ALL
    SELECT page_id, 2 FROM old_slugs
    WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND type = :type AND slug = :slug
    UNION ALL
    SELECT page_id, 3 FROM aliases
    WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND alias = :alias
) AS found
JOIN pages AS p ON p.tenant_id = :tenant_id AND p.owner_id = :owner_id AND p.id = found.id
WHERE p.type = :type
ORDER BY p.status <> 'active', found.rank, p.id
LIMIT 1;

-- name: find_by_former_slug
-- Return the page of a type that had a slug and has another slug now.
SELECT p.id, p.slug, p.title, p.version FROM old_slugs AS o
JOIN pages AS p ON p.tenant_id = :tenant_id AND p.owner_id = :owner_id AND p.id = o.page_id
WHERE o.tenant_id = :tenant_id AND o.owner_id = :owner_id AND o.type = :type AND o.slug = :slug;

-- name: find_by_slugs
-- Return the pages of these types that have or had one of these slugs.
SELECT id, type, slug, status, FALSE AS is_former FROM pages
WHERE tenant_id = :tenant_id AND owner_id = :owner_id
  AND type = ANY(CAST(:types AS text[])) AND slug = ANY(CAST(:slugs AS text[]))
UNION ALL
SELECT p.id, o.type, o.slug, p.status, TRUE FROM old_slugs AS o
JOIN pages AS p ON p.tenant_id = :tenant_id AND p.owner_id = :owner_id AND p.id = o.page_id
WHERE o.tenant_id = :tenant_id AND o.owner_id = :owner_id
  AND o.type = ANY(CAST(:types AS text[])) AND o.slug = ANY(CAST(:slugs AS text[]));

-- name: find_taken_slugs
-- Return those of the slugs that a page of the type has or had, and the language and search analysers of the wiki.
SELECT
    ARRAY(
        SELECT slug FROM pages
        WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND type = :type AND slug = ANY(CAST(:slugs AS text[]))
        UNION
        SELECT slug FROM old_slugs
        WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND type = :type AND slug = ANY(CAST(:slugs AS text[]))
    ) AS taken,
    o.language,
    (
        SELECT json_agg(json_build_array(s.analyser, s.state)) FROM search_scopes AS s
        WHERE s.tenant_id = :tenant_id AND s.owner_id = :owner_id AND s.analyser < 100
    ) AS editions
FROM owners AS o
WHERE o.tenant_id = :tenant_id AND o.id = :owner_id;

-- name: update_page
-- Update the row of a page.
UPDATE pages
SET slug = :slug, title = :title, summary = :summary, body_md = :body_md, tags = :tags, metadata = :metadata,
    status = :status, version = :version, last_compiled_at = :last_compiled_at, updated_at = :now
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND id = :page_id;

-- name: keep_slugs
-- Insert former slugs of pages, except slugs that a page of the type has or had. Return the inserted ones.
INSERT INTO old_slugs (tenant_id, owner_id, type, slug, page_id, created_at)
SELECT CAST(:tenant_id AS uuid), CAST(:owner_id AS uuid), given.type, given.slug, given.page_id,
       CAST(:now AS timestamptz)
FROM unnest(CAST(:types AS text[]), CAST(:slugs AS text[]), CAST(:page_ids AS uuid[])) AS given (type, slug, page_id)
WHERE NOT EXISTS (
    SELECT FROM pages AS p
    WHERE p.tenant_id = :tenant_id AND p.owner_id = :owner_id AND p.type = given.type AND p.slug = given.slug
)
ON CONFLICT (tenant_id, owner_id, type, slug) DO NOTHING
RETURNING page_id, slug;

-- name: reclaim_slug
-- Delete a former slug, because its page has it as its slug again.
DELETE FROM old_slugs
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND type = :type AND slug = :slug;

-- name: archive_all
-- Archive all active pages of a wiki.
UPDATE pages SET status = 'archived', updated_at = :now
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND status = 'active';

-- name: mark_merged
-- Mark merged pages that are unarchived as having been merged.
UPDATE pages SET was_merged = true
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND id IN (
    SELECT m.page_id FROM merged_pages AS m
    WHERE m.tenant_id = :tenant_id AND m.owner_id = :owner_id AND m.page_id = ANY(CAST(:page_ids AS uuid[]))
);

-- name: drop_merged
-- Delete the records that pages were merged into others.
DELETE FROM merged_pages
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND page_id = ANY(CAST(:page_ids AS uuid[]));

-- name: orphan_children
-- Remove the parent of the children of a page that is deleted. Return the children.
UPDATE pages SET parent_page_id = NULL, updated_at = :now
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND parent_page_id = :page_id
RETURNING id;

-- name: return_placements
-- Place the pages that a deleted topic lists in the section that was promoted to it.
UPDATE placements AS w
SET parent_page_id = given.page_id, section_slug = given.section_slug, is_delegated = given.is_below
FROM (
    SELECT s.page_id, s.section_slug, EXISTS (
        SELECT 1 FROM sections AS whole
        WHERE whole.tenant_id = :tenant_id AND whole.owner_id = :owner_id AND whole.page_id = s.page_id
          AND CAST(whole.aggregation ->> 'is_whole' AS boolean)
    ) AS is_below
    FROM sections AS s
    WHERE s.tenant_id = :tenant_id AND s.owner_id = :owner_id AND s.promoted_page_id = :page_id
    ORDER BY s.page_id, s.section_slug
    LIMIT 1
) AS given
WHERE w.tenant_id = :tenant_id AND w.owner_id = :owner_id AND w.parent_page_id = :page_id AND w.is_delegated;

-- name: release_sections
-- Detach the sections that were promoted to a page that is deleted.
UPDATE sections SET promoted_page_id = NULL, updated_at = :now
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND promoted_page_id = :page_id;

-- name: release_mentions
-- Detach the mentions that were promoted to a page that is deleted. They keep their status.
UPDATE mentions SET promoted_page_id = NULL
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND promoted_page_id = :page_id;

-- name: delete_page
-- Delete a page, and by cascade everything that belongs to it.
DELETE FROM pages WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND id = :page_id;

-- name: keep_sensitivity
-- Store the sensitivity of pages that are deleted, or the lower one if it changes, with their positions in the change
-- feed. The least sensitive level is kept: all who could read a page once are told that it is gone.
UPDATE page_positions AS changed SET deleted_sensitivity = given.level
FROM unnest(CAST(:page_ids AS uuid[]), CAST(:levels AS text[])) AS given (page_id, level)
WHERE changed.tenant_id = :tenant_id AND changed.owner_id = :owner_id AND changed.page_id = given.page_id
  AND coalesce(
      array_position(ARRAY['public', 'internal', 'confidential', 'secret'], changed.deleted_sensitivity)
      > array_position(ARRAY['public', 'internal', 'confidential', 'secret'], given.level), TRUE
  );

-- name: clear_names_in_log
-- Remove the aliases of a page from the activity log.
UPDATE activity SET detail = detail - 'name'
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND page_id = :page_id
  AND action IN ('alias.added', 'alias.removed');

-- name: find_ancestor
-- Return whether a page is an ancestor of another page.
WITH RECURSIVE up AS (
    SELECT id, parent_page_id FROM pages
    WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND id = :page_id
    UNION
    SELECT p.id, p.parent_page_id FROM up JOIN pages AS p
        ON p.tenant_id = :tenant_id AND p.owner_id = :owner_id AND p.id = up.parent_page_id
)
SELECT id FROM up WHERE id = :ancestor_id;

-- name: set_parent
-- Set the parent of a page, and delete the parent that its imported file names.
WITH dropped AS (
    DELETE FROM link_targets
    WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND from_page_id = :page_id AND relation = 'parent'
)
UPDATE pages SET parent_page_id = CAST(:parent_id AS uuid), updated_at = :now
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND id = :page_id;

-- name: find_dependants
-- Return the pages whose hubness scores count these pages: the targets of their references, and their parents.
SELECT to_page_id AS id FROM links
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND from_page_id = ANY(CAST(:page_ids AS uuid[]))
  AND kind = 'reference'
UNION
SELECT parent_page_id FROM pages
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND id = ANY(CAST(:page_ids AS uuid[]))
  AND parent_page_id IS NOT NULL;
