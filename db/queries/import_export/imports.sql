-- name: find_imported
-- List the next pages, by type and slug, that were imported from a file, with the path of the file.
SELECT type, slug, id, metadata ->> 'imported_from' AS path FROM pages
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND (type, slug) > (:after_type, :after_slug)
  AND metadata ->> 'imported_from' IS NOT NULL
ORDER BY type, slug
LIMIT :size;

-- name: find_settings
-- Find the language of a wiki, and whether it has pages.
SELECT o.language, EXISTS (
    SELECT FROM pages AS p WHERE p.tenant_id = :tenant_id AND p.owner_id = :owner_id
) AS has_pages
FROM owners AS o WHERE o.tenant_id = :tenant_id AND o.id = :owner_id;

-- name: find_sources
-- List every version of each source with one of these refs, the newest last.
SELECT kind, ref, version, id FROM sources
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND ref = ANY(CAST(:refs AS text[]))
  AND forgotten_at IS NULL
ORDER BY kind, ref, version;

-- name: find_sources_by_id
-- Find those of these ids that are sources of the wiki.
SELECT id FROM sources
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND id = ANY(CAST(:ids AS uuid[])) AND forgotten_at IS NULL;

-- name: write_merged
-- Store which pages were merged into which others, as an export records it.
INSERT INTO merged_pages (tenant_id, owner_id, page_id, into_page_id, created_at)
SELECT CAST(:tenant_id AS uuid), CAST(:owner_id AS uuid), given.page_id, given.into_id, CAST(:now AS timestamptz)
FROM unnest(CAST(:page_ids AS uuid[]), CAST(:into_ids AS uuid[])) AS given (page_id, into_id)
ON CONFLICT (tenant_id, page_id) DO NOTHING;

-- name: mark_merged
-- Mark the pages that were restored after a merge, as an export records it.
UPDATE pages SET was_merged = true
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND id = ANY(CAST(:page_ids AS uuid[])) AND NOT was_merged;

-- name: find_named
-- Find the page of each of these names: an active page before an archived one, then by slug, by former slug and by
-- alias, then the oldest page. An exact address is that of the page with its slug, even if that page is archived.
WITH wanted AS (
    SELECT n, type, slug, alias, is_exact
    FROM unnest(
        CAST(:types AS text[]), CAST(:slugs AS text[]), CAST(:aliases AS text[]), CAST(:exact AS boolean[])
    ) WITH ORDINALITY AS given (type, slug, alias, is_exact, n)
), candidates AS (
    SELECT w.n, p.id, p.status <> 'active' AND NOT w.is_exact AS is_later, 1 AS rank
    FROM wanted AS w
    JOIN pages AS p ON p.tenant_id = :tenant_id AND p.owner_id = :owner_id AND p.slug = w.slug
    WHERE w.type IS NULL OR w.type = p.type
    UNION ALL
    SELECT w.n, p.id, p.status <> 'active', 2
    FROM wanted AS w
    JOIN old_slugs AS o ON o.tenant_id = :tenant_id AND o.owner_id = :owner_id AND o.slug = w.slug
    JOIN pages AS p ON p.tenant_id = :tenant_id AND p.owner_id = :owner_id AND p.id = o.page_id
    WHERE w.type IS NULL OR w.type = o.type
    UNION ALL
    SELECT w.n, p.id, p.status <> 'active', 3
    FROM wanted AS w
    JOIN aliases AS a ON a.tenant_id = :tenant_id AND a.owner_id = :owner_id AND a.alias = w.alias
    JOIN pages AS p ON p.tenant_id = :tenant_id AND p.owner_id = :owner_id AND p.id = a.page_id
    WHERE w.type IS NULL OR w.type = p.type
)
SELECT DISTINCT ON (n) n, id FROM candidates
ORDER BY n, is_later, rank, id;

-- name: find_ties
-- Find the parents of these pages, and the pages that they refer to with the reasons, except references in their texts.
SELECT p.id, p.parent_page_id, (
    SELECT jsonb_object_agg(l.to_page_id, to_jsonb(l.reasons)) FROM links AS l
    WHERE l.tenant_id = :tenant_id AND l.owner_id = :owner_id AND l.from_page_id = p.id AND l.kind = 'reference'
      AND l.reasons <> ARRAY['text']
) AS linked, EXISTS (
    SELECT FROM link_targets AS t
    WHERE t.tenant_id = :tenant_id AND t.owner_id = :owner_id AND t.from_page_id = p.id AND t.relation <> 'text'
) AS is_related
FROM pages AS p
WHERE p.tenant_id = :tenant_id AND p.owner_id = :owner_id AND p.id = ANY(CAST(:page_ids AS uuid[]));

-- name: find_cited
-- Find the citations of the sections of these pages.
SELECT s.page_id, s.section_slug, c.source_id, c.line_start, c.line_end, c.summary
FROM section_sources AS c
JOIN sections AS s ON s.tenant_id = :tenant_id AND s.owner_id = :owner_id AND s.id = c.section_id
WHERE c.tenant_id = :tenant_id AND c.owner_id = :owner_id AND c.page_id = ANY(CAST(:page_ids AS uuid[]));

-- name: count_links
-- Count the pages that these pages refer to, and the names in their texts that no page has.
SELECT (
    SELECT count(*) FROM links
    WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND from_page_id = ANY(CAST(:page_ids AS uuid[]))
      AND kind = 'reference'
) AS links, (
    SELECT count(*) FROM link_targets
    WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND from_page_id = ANY(CAST(:page_ids AS uuid[]))
      AND to_page_id IS NULL AND space IS NULL AND relation = 'text'
) AS broken;

-- name: keep_dates
-- Set the dates of files for pages that were not changed since they were created.
UPDATE pages AS p
SET created_at = coalesce(given.created_at, p.created_at), updated_at = coalesce(given.updated_at, p.updated_at)
FROM unnest(
    CAST(:page_ids AS uuid[]), CAST(:created AS timestamptz[]), CAST(:updated AS timestamptz[])
) AS given (page_id, created_at, updated_at)
WHERE p.tenant_id = :tenant_id AND p.owner_id = :owner_id AND p.id = given.page_id AND p.version = 1
  AND (p.created_at, p.updated_at) IS DISTINCT FROM
      (coalesce(given.created_at, p.created_at), coalesce(given.updated_at, p.updated_at));

-- name: find_sighting_sources
-- Find the sources with these kinds and refs, in the given version or else the newest, except forgotten ones.
SELECT given.n, s.id, s.kind, s.ref, s.version, s.captured_at
FROM unnest(CAST(:kinds AS text[]), CAST(:refs AS text[]), CAST(:versions AS integer[]))
    WITH ORDINALITY AS given (kind, ref, version, n)
CROSS JOIN LATERAL (
    SELECT id, kind, ref, version, captured_at FROM sources
    WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND kind = given.kind AND ref = given.ref
      AND (given.version IS NULL OR version = given.version) AND forgotten_at IS NULL
    ORDER BY version DESC
    LIMIT 1
) AS s
ORDER BY given.n;

-- name: ignore_each
-- Ignore mentions that an import has as ignored, and return how many were not ignored before.
UPDATE mentions SET status = 'ignored'
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND id = ANY(CAST(:mention_ids AS uuid[])) AND status = 'open';

-- name: promote_each
-- Promote the open mentions that an import has as promoted, if the page at their address has the name.
UPDATE mentions AS m SET status = 'promoted', promoted_page_id = p.id
FROM pages AS p
JOIN unnest(CAST(:aliases AS text[]), CAST(:types AS text[]), CAST(:slugs AS text[])) AS given (alias, type, slug)
    ON p.type = given.type AND p.slug = given.slug
WHERE m.tenant_id = :tenant_id AND m.owner_id = :owner_id AND m.alias = given.alias AND m.status = 'open'
  AND p.tenant_id = :tenant_id AND p.owner_id = :owner_id
  AND EXISTS (
      SELECT FROM aliases AS a
      WHERE a.tenant_id = :tenant_id AND a.owner_id = :owner_id AND a.page_id = p.id AND a.alias = given.alias
  )
RETURNING m.id, p.id AS page_id;

-- name: find_first_state
-- Find a page that was not changed since it was created, with its only revision.
SELECT p.id, p.title, p.summary, p.body_md, p.tags, r.edit_summary, r.author_kind, r.author_id, r.created_at
FROM pages AS p
JOIN revisions AS r ON r.tenant_id = :tenant_id AND r.owner_id = :owner_id AND r.page_id = p.id AND r.version = 1
WHERE p.tenant_id = :tenant_id AND p.owner_id = :owner_id AND p.type = :type AND p.slug = :slug AND p.version = 1;

-- name: number_page
-- Set the version of a page after its history was imported.
UPDATE pages SET version = CAST(:version AS integer)
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND id = :page_id;

-- name: number_first_state
-- Renumber the revision of the creation of a page, so that it follows the imported ones.
UPDATE revisions SET version = CAST(:version AS integer)
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND page_id = :page_id AND version = 1;

-- name: drop_first_state
-- Delete the revision of the creation of a page, which is a part of the imported history.
DELETE FROM revisions
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND page_id = :page_id AND version = 1;

-- name: find_file_hashes
-- Return the hashes of the original files of these pages.
SELECT page_id, encode(sha256(file), 'hex') AS file_hash FROM originals
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND page_id = ANY(CAST(:page_ids AS uuid[]));

-- name: write_originals
-- Store original files. If the same file is stored already, its row keeps the hashes of the first import.
INSERT INTO originals (tenant_id, owner_id, page_id, file, body_start, is_respelled, format, fields_hash, body_hash)
SELECT CAST(:tenant_id AS uuid), CAST(:owner_id AS uuid), given.page_id, given.file, given.body_start,
       given.is_respelled, given.format, given.fields_hash, given.body_hash
FROM unnest(
    CAST(:page_ids AS uuid[]), CAST(:files AS bytea[]), CAST(:body_starts AS integer[]),
    CAST(:are_respelled AS boolean[]), CAST(:formats AS text[]), CAST(:fields_hashes AS text[]),
    CAST(:body_hashes AS text[])
) AS given (page_id, file, body_start, is_respelled, format, fields_hash, body_hash)
ON CONFLICT (tenant_id, page_id) DO UPDATE
SET file = excluded.file, body_start = excluded.body_start, is_respelled = excluded.is_respelled,
    format = excluded.format, fields_hash = excluded.fields_hash, body_hash = excluded.body_hash
WHERE originals.file <> excluded.file OR originals.format <> excluded.format;
