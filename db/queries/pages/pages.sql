-- name: find_owner
-- In whose wiki a page lies.
SELECT owner_id FROM pages WHERE tenant_id = :tenant_id AND id = :id;

-- name: find_merged
-- In whose wiki a page lies, and the page that it was merged into.
SELECT p.owner_id, m.into_page_id
FROM pages AS p
LEFT JOIN merged_pages AS m ON m.tenant_id = p.tenant_id AND m.owner_id = p.owner_id AND m.page_id = p.id
WHERE p.tenant_id = :tenant_id AND p.id = :id;

-- name: find_owners
-- In whose wikis pages lie.
SELECT id, owner_id FROM pages WHERE tenant_id = :tenant_id AND id = ANY(CAST(:ids AS uuid[]));

-- name: find_pages
-- Pages with their sections, [slug, heading, text] of each in order, their names, and their wiki's language and index:
-- what a write has to know.
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
-- Every page of a wiki.
SELECT id FROM pages WHERE tenant_id = :tenant_id AND owner_id = :owner_id;

-- name: find_by_slug
-- The page of a type that has this slug, or once had it.
SELECT id FROM pages
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND type = :type AND slug = :slug
UNION
SELECT page_id FROM old_slugs
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND type = :type AND slug = :slug;

-- name: find_called
-- The page of a type that a title would mean: by its slug, one that it had, or one of its names.
SELECT p.type, p.slug, p.version, p.status
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

-- name: find_heir
-- The page of a type that once had this slug and has another now.
SELECT p.id, p.slug, p.title, p.version FROM old_slugs AS o
JOIN pages AS p ON p.tenant_id = :tenant_id AND p.owner_id = :owner_id AND p.id = o.page_id
WHERE o.tenant_id = :tenant_id AND o.owner_id = :owner_id AND o.type = :type AND o.slug = :slug;

-- name: find_by_slugs
-- The pages of these types that have one of these slugs, or once had it.
SELECT id, type, slug, status, FALSE AS is_former FROM pages
WHERE tenant_id = :tenant_id AND owner_id = :owner_id
  AND type = ANY(CAST(:types AS text[])) AND slug = ANY(CAST(:slugs AS text[]))
UNION ALL
SELECT p.id, o.type, o.slug, p.status, TRUE FROM old_slugs AS o
JOIN pages AS p ON p.tenant_id = :tenant_id AND p.owner_id = :owner_id AND p.id = o.page_id
WHERE o.tenant_id = :tenant_id AND o.owner_id = :owner_id
  AND o.type = ANY(CAST(:types AS text[])) AND o.slug = ANY(CAST(:slugs AS text[]));

-- name: find_taken_slugs
-- Which of these slugs a page of the type has or once had, and the wiki's language and index.
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
-- Bring a page's own row to its new state.
UPDATE pages
SET slug = :slug, title = :title, summary = :summary, body_md = :body_md, tags = :tags, metadata = :metadata,
    status = :status, version = :version, last_compiled_at = :last_compiled_at, updated_at = :now
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND id = :page_id;

-- name: keep_slugs
-- Slugs that resolve to pages besides their own, as far as no page of the type has or had them.
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
-- A page takes up a slug that it had before.
DELETE FROM old_slugs
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND type = :type AND slug = :slug;

-- name: archive_all
-- Every active page of a wiki, out of sight.
UPDATE pages SET status = 'archived', updated_at = :now
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND status = 'active';

-- name: mark_merged
-- Pages that were merged into others and are brought back remember it.
UPDATE pages SET was_merged = true
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND id IN (
    SELECT m.page_id FROM merged_pages AS m
    WHERE m.tenant_id = :tenant_id AND m.owner_id = :owner_id AND m.page_id = ANY(CAST(:page_ids AS uuid[]))
);

-- name: drop_merged
-- Pages that were merged into others are of their own again.
DELETE FROM merged_pages
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND page_id = ANY(CAST(:page_ids AS uuid[]));

-- name: orphan_children
-- The children of a page that goes become parentless.
UPDATE pages SET parent_page_id = NULL, updated_at = :now
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND parent_page_id = :page_id
RETURNING id;

-- name: release_sections
-- Sections promoted to a page that goes are ordinary sections again.
UPDATE sections SET promoted_page_id = NULL, updated_at = :now
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND promoted_page_id = :page_id;

-- name: release_mentions
-- Mentions promoted to a page that goes keep their status and their history.
UPDATE mentions SET promoted_page_id = NULL
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND promoted_page_id = :page_id;

-- name: delete_page
-- The row, and by cascade everything that belongs to it.
DELETE FROM pages WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND id = :page_id;

-- name: keep_sensitivity
-- How sensitive a page was that is about to be deleted, beside its last change.
UPDATE page_positions SET deleted_sensitivity = CAST(:sensitivity AS text)
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND page_id = :page_id;

-- name: find_ancestor
-- Whether walking up from one page comes past another.
WITH RECURSIVE up AS (
    SELECT id, parent_page_id FROM pages
    WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND id = :page_id
    UNION
    SELECT p.id, p.parent_page_id FROM up JOIN pages AS p
        ON p.tenant_id = :tenant_id AND p.owner_id = :owner_id AND p.id = up.parent_page_id
)
SELECT id FROM up WHERE id = :ancestor_id;

-- name: set_parent
-- Where a page hangs in the hierarchy, whatever the file that it came from says.
WITH dropped AS (
    DELETE FROM link_targets
    WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND from_page_id = :page_id AND relation = 'parent'
)
UPDATE pages SET parent_page_id = CAST(:parent_id AS uuid), updated_at = :now
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND id = :page_id;

-- name: find_dependants
-- The pages whose hubness counts these pages: those they refer to, and their parents.
SELECT to_page_id AS id FROM links
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND from_page_id = ANY(CAST(:page_ids AS uuid[]))
  AND kind = 'reference'
UNION
SELECT parent_page_id FROM pages
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND id = ANY(CAST(:page_ids AS uuid[]))
  AND parent_page_id IS NOT NULL;
