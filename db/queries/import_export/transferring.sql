-- name: find_names
-- Return the aliases and former slugs of a page, with the type if it differs, and the slugs of both owners.
SELECT
    ARRAY(
        SELECT a.name FROM aliases AS a
        WHERE a.tenant_id = :tenant_id AND a.owner_id = :owner_id AND a.page_id = :page_id
        ORDER BY a.id
    ) AS aliases,
    ARRAY(
        SELECT CASE WHEN o.type = :type THEN o.slug ELSE o.type || '/' || o.slug END FROM old_slugs AS o
        WHERE o.tenant_id = :tenant_id AND o.owner_id = :owner_id AND o.page_id = :page_id
        ORDER BY o.type, o.slug
    ) AS old_slugs,
    (SELECT w.slug FROM owners AS w WHERE w.tenant_id = :tenant_id AND w.id = :owner_id) AS space,
    (SELECT w.slug FROM owners AS w WHERE w.tenant_id = :tenant_id AND w.id = :to_owner_id) AS to_space;

-- name: find_taken
-- Return a page of this wiki that has or had one of these slugs, or has one of these aliases.
SELECT p.id, p.type, p.title, found.name, found.is_slug
FROM (
    SELECT id, slug AS name, true AS is_slug FROM pages
    WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND slug = ANY(CAST(:slugs AS text[]))
    UNION ALL
    SELECT page_id, slug, true FROM old_slugs
    WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND slug = ANY(CAST(:slugs AS text[]))
    UNION ALL
    SELECT page_id, alias, false FROM aliases
    WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND alias = ANY(CAST(:aliases AS text[]))
) AS found
JOIN pages AS p ON p.tenant_id = :tenant_id AND p.owner_id = :owner_id AND p.id = found.id
ORDER BY found.is_slug DESC, found.name, p.id
LIMIT 1;

-- name: find_linking
-- Return the other pages whose texts link to a page, with the targets of these links.
SELECT t.from_page_id AS id, array_agg(t.target) AS targets
FROM link_targets AS t
WHERE t.tenant_id = :tenant_id AND t.owner_id = :owner_id AND t.to_page_id = :page_id AND t.relation = 'text'
  AND t.from_page_id <> :page_id
GROUP BY t.from_page_id
ORDER BY t.from_page_id
LIMIT CAST(:limit AS integer);

-- name: find_linked
-- Return the targets of links in the text of a page to other pages, with the slugs of these pages.
SELECT t.target, p.slug
FROM link_targets AS t
JOIN pages AS p ON p.tenant_id = :tenant_id AND p.owner_id = :owner_id AND p.id = t.to_page_id
WHERE t.tenant_id = :tenant_id AND t.owner_id = :owner_id AND t.from_page_id = :page_id AND t.relation = 'text'
  AND p.id <> :page_id;

-- name: find_evidence
-- Return the sources that the sections, superseded claims and contradictions of a page cite, except forgotten ones.
SELECT s.id, s.kind, s.ref, s.version, s.checksum
FROM sources AS s
WHERE s.tenant_id = :tenant_id AND s.owner_id = :owner_id AND s.forgotten_at IS NULL AND s.id IN (
    SELECT c.source_id FROM section_sources AS c
    WHERE c.tenant_id = :tenant_id AND c.owner_id = :owner_id AND c.page_id = :page_id
    UNION ALL
    SELECT unnest(ARRAY[k.stated_by_id, k.overridden_by_id]) FROM superseded_claims AS k
    WHERE k.tenant_id = :tenant_id AND k.owner_id = :owner_id AND k.page_id = :page_id
    UNION ALL
    SELECT unnest(ARRAY[x.older_source_id, x.newer_source_id]) FROM contradictions AS x
    WHERE x.tenant_id = :tenant_id AND x.owner_id = :owner_id AND x.page_id = :page_id
)
ORDER BY s.kind, s.ref, s.version
LIMIT CAST(:limit AS integer);

-- name: find_versions
-- Return all versions of these sources that this wiki has.
SELECT s.id, s.kind, s.ref, s.version, s.checksum, s.forgotten_at IS NOT NULL AS is_forgotten
FROM unnest(CAST(:kinds AS text[]), CAST(:refs AS text[])) AS given (kind, ref)
JOIN sources AS s ON s.tenant_id = :tenant_id AND s.owner_id = :owner_id AND s.kind = given.kind AND s.ref = given.ref
ORDER BY s.kind, s.ref, s.version;

-- name: find_contents
-- Return sources with their contents.
SELECT id, kind, ref, version, title, content, checksum, metadata, captured_at FROM sources
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND id = ANY(CAST(:ids AS uuid[]))
ORDER BY kind, ref, version;

-- name: rechain_sources
-- Let each version of these sources supersede the version before it. Return the versions that are superseded by another
-- one now.
UPDATE sources AS s SET supersedes_id = chain.before_id
FROM (
    SELECT v.id, lag(v.id) OVER (PARTITION BY v.kind, v.ref ORDER BY v.version) AS before_id
    FROM unnest(CAST(:kinds AS text[]), CAST(:refs AS text[])) AS given (kind, ref)
    JOIN sources AS v ON v.tenant_id = :tenant_id AND v.owner_id = :owner_id AND v.kind = given.kind
        AND v.ref = given.ref
) AS chain
WHERE s.tenant_id = :tenant_id AND s.owner_id = :owner_id AND s.id = chain.id
  AND s.supersedes_id IS DISTINCT FROM chain.before_id
RETURNING s.supersedes_id;

-- name: copy_blobs
-- Copy the blobs that these sources were read from to the other wiki, unless it has them. Return the copied ones.
INSERT INTO blobs (tenant_id, owner_id, hash, size, data, is_in_folder, created_at)
SELECT b.tenant_id, CAST(:to_owner_id AS uuid), b.hash, b.size, b.data, b.is_in_folder,
    CAST(:now AS timestamptz)
FROM blobs AS b
WHERE b.tenant_id = :tenant_id AND b.owner_id = :owner_id AND b.hash IN (
    SELECT o.hash FROM source_originals AS o
    WHERE o.tenant_id = :tenant_id AND o.owner_id = :owner_id AND o.source_id = ANY(CAST(:ids AS uuid[]))
)
ON CONFLICT (tenant_id, owner_id, hash) DO NOTHING
RETURNING hash, is_in_folder;

-- name: copy_originals
-- Copy the originals of sources to their copies in the other wiki.
INSERT INTO source_originals (tenant_id, owner_id, source_id, hash, media_type, address, flags)
SELECT o.tenant_id, CAST(:to_owner_id AS uuid), given.copy_id, o.hash, o.media_type, o.address, o.flags
FROM unnest(CAST(:ids AS uuid[]), CAST(:copy_ids AS uuid[])) AS given (id, copy_id)
JOIN source_originals AS o ON o.tenant_id = :tenant_id AND o.owner_id = :owner_id AND o.source_id = given.id;

-- name: find_taken_files
-- Return the first of these attachments at whose path the other wiki has a different file.
SELECT a.path FROM attachments AS a
JOIN attachments AS other
    ON other.tenant_id = :tenant_id AND other.owner_id = CAST(:to_owner_id AS uuid) AND other.path = a.path
    AND other.hash <> a.hash
WHERE a.tenant_id = :tenant_id AND a.owner_id = :owner_id AND a.path = ANY(CAST(:paths AS text[]))
ORDER BY a.path
LIMIT 1;

-- name: copy_attached_blobs
-- Copy the blobs of these attachments to the other wiki, unless it has them. Return the copied ones.
INSERT INTO blobs (tenant_id, owner_id, hash, size, data, is_in_folder, created_at)
SELECT b.tenant_id, CAST(:to_owner_id AS uuid), b.hash, b.size, b.data, b.is_in_folder,
    CAST(:now AS timestamptz)
FROM blobs AS b
WHERE b.tenant_id = :tenant_id AND b.owner_id = :owner_id AND b.hash IN (
    SELECT a.hash FROM attachments AS a
    WHERE a.tenant_id = :tenant_id AND a.owner_id = :owner_id AND a.path = ANY(CAST(:paths AS text[]))
)
ON CONFLICT (tenant_id, owner_id, hash) DO NOTHING
RETURNING hash, is_in_folder;

-- name: copy_attachments
-- Copy attachments to the same paths of the other wiki, unless it has them.
INSERT INTO attachments (tenant_id, owner_id, path, name, hash, media_type, width, height, created_at)
SELECT a.tenant_id, CAST(:to_owner_id AS uuid), a.path, a.name, a.hash, a.media_type, a.width, a.height, CAST(:now AS timestamptz)
FROM attachments AS a
WHERE a.tenant_id = :tenant_id AND a.owner_id = :owner_id AND a.path = ANY(CAST(:paths AS text[]))
ON CONFLICT (tenant_id, owner_id, path) DO NOTHING;

-- name: carry_page
-- Copy the time of creation of a page, and whether it was merged before, to its new row.
UPDATE pages AS p SET created_at = former.created_at, was_merged = former.was_merged
FROM pages AS former
WHERE p.tenant_id = :tenant_id AND p.owner_id = :to_owner_id AND p.id = :into_id
  AND former.tenant_id = :tenant_id AND former.owner_id = :owner_id AND former.id = :page_id;

-- name: carry_sections
-- Copy the times and the aggregation of the sections of a page to its new sections, without the pages that they list,
-- which stay behind.
UPDATE sections AS s
SET created_at = former.created_at, updated_at = former.updated_at, last_source_at = former.last_source_at,
    aggregation = former.aggregation - CAST('{linked_page_ids,line_digests,promoted_page_id}' AS text[])
FROM sections AS former
WHERE s.tenant_id = :tenant_id AND s.owner_id = :to_owner_id AND s.page_id = :into_id
  AND former.tenant_id = :tenant_id AND former.owner_id = :owner_id AND former.page_id = :page_id
  AND former.section_slug = s.section_slug;

-- name: carry_aliases
-- Copy the source and the time of creation of the aliases of a page to its new aliases.
UPDATE aliases AS a SET name = former.name, source = former.source, created_at = former.created_at
FROM aliases AS former
WHERE a.tenant_id = :tenant_id AND a.owner_id = :to_owner_id AND a.page_id = :into_id
  AND former.tenant_id = :tenant_id AND former.owner_id = :owner_id AND former.page_id = :page_id
  AND former.alias = a.alias;

-- name: move_revisions
-- Move the revisions of a page.
UPDATE revisions SET owner_id = :to_owner_id, page_id = :into_id
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND page_id = :page_id;

-- name: move_original
-- Move the file that a page was imported from.
UPDATE originals SET owner_id = :to_owner_id, page_id = :into_id
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND page_id = :page_id;

-- name: move_relations
-- Move the relations that the file of a page names. Their pages in the other wiki are resolved later.
UPDATE link_targets SET owner_id = :to_owner_id, from_page_id = :into_id, to_page_id = NULL
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND from_page_id = :page_id AND relation <> 'text';

-- name: move_citations
-- Move the citations of a page to the copies of their sources.
UPDATE section_sources AS c SET owner_id = :to_owner_id, page_id = :into_id, section_id = s.id, source_id = given.copy_id
FROM section_sources AS own
JOIN unnest(CAST(:ids AS uuid[]), CAST(:copy_ids AS uuid[])) AS given (id, copy_id) ON given.id = own.source_id
JOIN sections AS former
    ON former.tenant_id = :tenant_id AND former.owner_id = :owner_id AND former.id = own.section_id
JOIN sections AS s
    ON s.tenant_id = :tenant_id AND s.owner_id = :to_owner_id AND s.page_id = :into_id
    AND s.section_slug = former.section_slug
WHERE c.tenant_id = :tenant_id AND c.owner_id = :owner_id AND c.page_id = :page_id
  AND own.tenant_id = :tenant_id AND own.owner_id = :owner_id AND own.id = c.id;

-- name: move_claims
-- Move the superseded claims of a page to the copies of their sources.
UPDATE superseded_claims AS k
SET owner_id = :to_owner_id, page_id = :into_id, stated_by_id = stating.copy_id, overridden_by_id = overriding.copy_id
FROM superseded_claims AS own
LEFT JOIN unnest(CAST(:ids AS uuid[]), CAST(:copy_ids AS uuid[])) AS stating (id, copy_id)
    ON stating.id = own.stated_by_id
LEFT JOIN unnest(CAST(:ids AS uuid[]), CAST(:copy_ids AS uuid[])) AS overriding (id, copy_id)
    ON overriding.id = own.overridden_by_id
WHERE k.tenant_id = :tenant_id AND k.owner_id = :owner_id AND k.page_id = :page_id
  AND own.tenant_id = :tenant_id AND own.owner_id = :owner_id AND own.id = k.id;

-- name: move_contradictions
-- Move the contradictions of a page to the copies of their sources.
UPDATE contradictions AS x
SET owner_id = :to_owner_id, page_id = :into_id, older_source_id = older.copy_id, newer_source_id = newer.copy_id
FROM contradictions AS own
LEFT JOIN unnest(CAST(:ids AS uuid[]), CAST(:copy_ids AS uuid[])) AS older (id, copy_id)
    ON older.id = own.older_source_id
LEFT JOIN unnest(CAST(:ids AS uuid[]), CAST(:copy_ids AS uuid[])) AS newer (id, copy_id)
    ON newer.id = own.newer_source_id
WHERE x.tenant_id = :tenant_id AND x.owner_id = :owner_id AND x.page_id = :page_id
  AND own.tenant_id = :tenant_id AND own.owner_id = :owner_id AND own.id = x.id;

-- name: move_proposals
-- Move the decided proposals about a page, which are a part of its history.
UPDATE proposals SET owner_id = :to_owner_id, page_id = :into_id
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND page_id = :page_id;
