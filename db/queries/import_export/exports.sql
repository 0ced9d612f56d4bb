-- name: select_pages
-- Select pages of a wiki, each with all properties that a file of it has.
SELECT
    p.id, p.type, p.slug, p.title, p.summary, p.body_md, p.status, p.tags, p.metadata, p.created_at, p.updated_at,
    p.version, (
        SELECT '/wiki/' || up.type || '/' || up.slug FROM pages AS up
        WHERE up.tenant_id = :tenant_id AND up.owner_id = :owner_id AND up.id = p.parent_page_id
    ) AS parent,
    ARRAY(
        SELECT a.name FROM aliases AS a
        WHERE a.tenant_id = :tenant_id AND a.owner_id = :owner_id AND a.page_id = p.id
        ORDER BY a.alias
    ) AS names,
    ARRAY(
        SELECT CASE WHEN o.type = p.type THEN o.slug ELSE o.type || '/' || o.slug END FROM old_slugs AS o
        WHERE o.tenant_id = :tenant_id AND o.owner_id = :owner_id AND o.page_id = p.id
        ORDER BY o.type <> p.type, o.type, o.slug
    ) AS former_slugs,
    (
        SELECT jsonb_agg(jsonb_build_object(
            'page', '/wiki/' || other.type || '/' || other.slug, 'reasons', (
                SELECT coalesce(jsonb_agg(coalesce(
                    'co_mention:' || evidence.kind || '@' || evidence.version || '/' || evidence.ref, why
                )), '[]')
                FROM unnest(array_remove(l.reasons, 'text')) AS why
                LEFT JOIN sources AS evidence
                    ON evidence.tenant_id = :tenant_id AND evidence.owner_id = :owner_id
                    AND 'co_mention:' || evidence.id = why AND evidence.forgotten_at IS NULL
            )
        ) ORDER BY other.type, other.slug)
        FROM links AS l
        JOIN pages AS other
            ON other.tenant_id = :tenant_id AND other.owner_id = :owner_id AND other.id = l.to_page_id
        WHERE l.tenant_id = :tenant_id AND l.owner_id = :owner_id AND l.from_page_id = p.id AND l.kind = 'reference'
          AND l.reasons <> ARRAY['text']
    ) AS related,
    ARRAY(
        SELECT t.target FROM link_targets AS t
        WHERE t.tenant_id = :tenant_id AND t.owner_id = :owner_id AND t.from_page_id = p.id AND t.relation <> 'text'
          AND t.to_page_id IS NULL
        ORDER BY t.target
    ) AS unanswered,
    ARRAY(
        SELECT s.section_slug FROM sections AS s
        WHERE s.tenant_id = :tenant_id AND s.owner_id = :owner_id AND s.page_id = p.id
        ORDER BY s.position
    ) AS section_slugs,
    ARRAY(
        SELECT s.heading FROM sections AS s
        WHERE s.tenant_id = :tenant_id AND s.owner_id = :owner_id AND s.page_id = p.id
        ORDER BY s.position
    ) AS headings,
    (
        SELECT jsonb_agg(jsonb_build_object(
            'ref', source.ref, 'kind', source.kind, 'section', s.section_slug, 'version', source.version,
            'is_newest', NOT EXISTS (
                SELECT FROM sources AS newer
                WHERE newer.tenant_id = :tenant_id AND newer.owner_id = :owner_id AND newer.kind = source.kind
                  AND newer.ref = source.ref AND newer.version > source.version
            ),
            'line_start', c.line_start, 'line_end', c.line_end, 'summary', c.summary
        ) ORDER BY s.position, source.kind, source.ref, source.version)
        FROM section_sources AS c
        JOIN sections AS s ON s.tenant_id = :tenant_id AND s.owner_id = :owner_id AND s.id = c.section_id
        JOIN sources AS source
            ON source.tenant_id = :tenant_id AND source.owner_id = :owner_id AND source.id = c.source_id
            AND source.forgotten_at IS NULL
        WHERE c.tenant_id = :tenant_id AND c.owner_id = :owner_id AND c.page_id = p.id
    ) AS citations,
    (
        SELECT jsonb_agg(jsonb_build_object(
            'fact', c.fact, 'replacement', c.replacement, 'superseded_on', c.superseded_on, 'section', c.section_slug,
            'heading', c.heading, 'stated_kind', stating.kind, 'stated_ref', stating.ref,
            'overriding_kind', overriding.kind, 'overriding_ref', overriding.ref
        ) ORDER BY c.superseded_on, c.fact, overriding.kind, overriding.ref)
        FROM superseded_claims AS c
        LEFT JOIN sources AS stating
            ON stating.tenant_id = :tenant_id AND stating.owner_id = :owner_id AND stating.id = c.stated_by_id
        LEFT JOIN sources AS overriding
            ON overriding.tenant_id = :tenant_id AND overriding.owner_id = :owner_id
            AND overriding.id = c.overridden_by_id
        WHERE c.tenant_id = :tenant_id AND c.owner_id = :owner_id AND c.page_id = p.id AND c.withdrawn_at IS NULL
    ) AS superseded,
    (
        SELECT jsonb_agg(jsonb_build_object(
            'older', jsonb_build_object(
                'claim', c.older_claim, 'section', c.older_section_slug, 'on', c.older_on, 'support', c.older_support,
                'kind', older.kind, 'ref', older.ref
            ),
            'newer', jsonb_build_object(
                'claim', c.newer_claim, 'section', c.newer_section_slug, 'on', c.newer_on, 'support', c.newer_support,
                'kind', newer.kind, 'ref', newer.ref
            ),
            'resolution', c.resolution, 'reason', c.reason, 'resolved_at', c.resolved_at
        ) ORDER BY c.newer_on, c.older_claim, c.newer_claim)
        FROM contradictions AS c
        LEFT JOIN sources AS older
            ON older.tenant_id = :tenant_id AND older.owner_id = :owner_id AND older.id = c.older_source_id
        LEFT JOIN sources AS newer
            ON newer.tenant_id = :tenant_id AND newer.owner_id = :owner_id AND newer.id = c.newer_source_id
        WHERE c.tenant_id = :tenant_id AND c.owner_id = :owner_id AND c.page_id = p.id
    ) AS contradictions,
    (
        SELECT '/wiki/' || whole.type || '/' || whole.slug
        FROM merged_pages AS merged
        JOIN pages AS whole
            ON whole.tenant_id = :tenant_id AND whole.owner_id = :owner_id AND whole.id = merged.into_page_id
        WHERE merged.tenant_id = :tenant_id AND merged.owner_id = :owner_id AND merged.page_id = p.id
    ) AS merged_into,
    p.was_merged
FROM pages AS p
WHERE p.tenant_id = :tenant_id AND p.owner_id = :owner_id;

-- name: list_pages
-- List the next pages by type and slug, including archived ones.
-- after: select_pages
AND (p.type, p.slug) > (:after_type, :after_slug)
ORDER BY p.type, p.slug
LIMIT :size;

-- name: find_pages
-- Find the pages with these ids.
-- after: select_pages
AND p.id = ANY(CAST(:page_ids AS uuid[]))
ORDER BY p.type, p.slug;

-- name: find_settings
-- Find the language and the settings of a wiki.
SELECT language, score_boost, min_sources_for_synthesis, stale_after_days, oversize_characters, lint_min_pages, lint_every_days,
    lint_after_sources, requires_sensitivity
FROM owners WHERE tenant_id = :tenant_id AND id = :owner_id;

-- name: count_pages
-- Count the pages of a wiki, including archived ones.
SELECT count(*) FROM pages WHERE tenant_id = :tenant_id AND owner_id = :owner_id;

-- name: list_sources
-- List the next versions of sources of a wiki, except forgotten ones.
SELECT id, kind, ref, version, title, content, metadata, captured_at, EXISTS (
    SELECT FROM source_originals AS file
    WHERE file.tenant_id = :tenant_id AND file.owner_id = :owner_id AND file.source_id = sources.id
) AS has_original
FROM sources
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND forgotten_at IS NULL
  AND (kind, ref, version) > (:after_kind, :after_ref, CAST(:after_version AS integer))
ORDER BY kind, ref, version
LIMIT :size;

-- name: list_mentions
-- List the next mentions: ignored ones, and those that a source still contains; promoted ones only if their page
-- exists.
SELECT m.id, m.alias, m.status, m.name, m.suggested_type, m.first_seen_at, m.last_seen_at,
    p.type AS page_type, p.slug AS page_slug
FROM mentions AS m
LEFT JOIN pages AS p ON p.tenant_id = :tenant_id AND p.owner_id = :owner_id AND p.id = m.promoted_page_id
WHERE m.tenant_id = :tenant_id AND m.owner_id = :owner_id AND (m.status <> 'promoted' OR p.id IS NOT NULL)
  AND (m.alias, m.status) > (:after_alias, :after_status)
  AND (m.status = 'ignored' OR EXISTS (
      SELECT FROM sightings AS seen
      WHERE seen.tenant_id = :tenant_id AND seen.owner_id = :owner_id AND seen.mention_id = m.id
  ))
ORDER BY m.alias, m.status
LIMIT :size;

-- name: list_sightings
-- List the next sources that contain a mention, with the stored quotes of the last few of them.
SELECT source.kind, source.ref, source.version, (
    SELECT context ->> 'quote' FROM mentions AS m, jsonb_array_elements(m.contexts) AS context
    WHERE m.tenant_id = :tenant_id AND m.owner_id = :owner_id AND m.id = :mention_id
      AND context ->> 'sourceId' = CAST(source.id AS text)
    LIMIT 1
) AS quote
FROM sightings AS seen
JOIN sources AS source
    ON source.tenant_id = :tenant_id AND source.owner_id = :owner_id AND source.id = seen.source_id
    AND source.forgotten_at IS NULL
WHERE seen.tenant_id = :tenant_id AND seen.owner_id = :owner_id AND seen.mention_id = :mention_id
  AND (source.kind, source.ref) > (:after_kind, :after_ref)
ORDER BY source.kind, source.ref
LIMIT :size;

-- name: list_addresses
-- List the next pages of a wiki, including archived ones, with the number of versions of each.
SELECT id, type, slug, version, metadata ->> 'imported_from' AS origin FROM pages
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND (type, slug) > (:after_type, :after_slug)
ORDER BY type, slug
LIMIT :size;

-- name: list_redirects
-- List the next slugs that redirect to a page that does not exist yet, except slugs that a page has by now.
SELECT r.slug, r.path, r.target FROM redirects AS r
WHERE r.tenant_id = :tenant_id AND r.owner_id = :owner_id AND r.slug > :after_slug
  AND NOT EXISTS (
      SELECT FROM pages AS p WHERE p.tenant_id = :tenant_id AND p.owner_id = :owner_id AND p.slug = r.slug
  )
ORDER BY r.slug
LIMIT :size;

-- name: find_originals
-- Find the original files of these pages, and the hashes of the pages at their import.
SELECT page_id, file, body_start, is_respelled, format, fields_hash, body_hash FROM originals
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND page_id = ANY(CAST(:page_ids AS uuid[]));

-- name: find_hashes
-- Compute the hashes of these pages: of their text, and of all other properties in a file. A relation counts by the
-- name in the file, so that the hash does not change when its page is created.
SELECT p.id, encode(sha256(convert_to(p.body_md, 'UTF8')), 'hex') AS body_hash,
    encode(sha256(convert_to(CAST(jsonb_build_array(
        p.type, p.slug, p.title, p.summary, p.tags, p.status, p.metadata,
        ARRAY(
            SELECT a.alias FROM aliases AS a
            WHERE a.tenant_id = :tenant_id AND a.owner_id = :owner_id AND a.page_id = p.id AND a.source <> 'compiler'
            ORDER BY a.alias
        ),
        ARRAY(
            SELECT t.target FROM link_targets AS t
            WHERE t.tenant_id = :tenant_id AND t.owner_id = :owner_id AND t.from_page_id = p.id
              AND t.relation <> 'text'
            ORDER BY t.target
        ),
        (
            SELECT u.parent_page_id FROM pages AS u
            WHERE u.tenant_id = :tenant_id AND u.owner_id = :owner_id AND u.id = p.id AND NOT EXISTS (
                SELECT FROM link_targets AS t
                WHERE t.tenant_id = :tenant_id AND t.owner_id = :owner_id AND t.from_page_id = u.id
                  AND t.relation = 'parent' AND t.to_page_id = u.parent_page_id
            )
        ),
        ARRAY(
            SELECT l.to_page_id FROM links AS l
            WHERE l.tenant_id = :tenant_id AND l.owner_id = :owner_id AND l.from_page_id = p.id
              AND l.kind = 'reference' AND 'manual' = ANY(l.reasons)
            ORDER BY l.to_page_id
        )
    ) AS text), 'UTF8')), 'hex') AS fields_hash
FROM pages AS p
WHERE p.tenant_id = :tenant_id AND p.owner_id = :owner_id AND p.id = ANY(CAST(:page_ids AS uuid[]));

-- name: find_text_targets
-- List the pages that the links in the texts of these pages lead to, by the targets of the links.
SELECT from_page_id, target, to_page_id FROM link_targets
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND from_page_id = ANY(CAST(:page_ids AS uuid[]))
  AND relation = 'text' AND to_page_id IS NOT NULL;
