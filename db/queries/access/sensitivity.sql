-- name: ceilings
-- The highest sensitivity that the caller may read, in the wikis where it is limited: by the role of a grant and, for a
-- credential of the role reader, in its own wikis. Levels are numbers from 1 (public) to 4 (secret). An unknown level
-- counts as secret.
SELECT o.id AS owner_id, max(CASE
    WHEN CAST(:is_reader AS boolean) OR g.role = 'reader'
    THEN array_position(ARRAY['public', 'internal', 'confidential', 'secret'], o.reader_ceiling)
    WHEN g.role = 'member'
    THEN array_position(ARRAY['public', 'internal', 'confidential', 'secret'], o.member_ceiling)
    ELSE 4
END) AS ceiling
FROM grants AS g
JOIN owners AS o ON o.tenant_id = :tenant_id AND o.id = g.owner_id
WHERE g.tenant_id = :tenant_id AND g.grantee_id = ANY(CAST(:owners AS uuid[]))
  AND g.owner_id <> ALL(CAST(:owners AS uuid[]))
GROUP BY o.id
UNION ALL
SELECT o.id, array_position(ARRAY['public', 'internal', 'confidential', 'secret'], o.reader_ceiling) AS ceiling
FROM owners AS o
WHERE o.tenant_id = :tenant_id AND o.id = ANY(CAST(:owners AS uuid[])) AND CAST(:is_reader AS boolean);

-- name: hidden_pages
-- Pages that are more sensitive than the caller may read.
SELECT p.id, p.owner_id FROM ceilings AS c
JOIN pages AS p ON p.tenant_id = :tenant_id AND p.owner_id = c.owner_id
WHERE lower(p.metadata ->> 'sensitivity') NOT IN ('', 'public', 'internal')
  AND coalesce(array_position(
      ARRAY['public', 'internal', 'confidential', 'secret'], lower(p.metadata ->> 'sensitivity')
  ), 4) > c.ceiling;

-- name: hidden_sources
-- Sources that are more sensitive than the caller may read.
SELECT s.id, s.owner_id FROM ceilings AS c
JOIN sources AS s ON s.tenant_id = :tenant_id AND s.owner_id = c.owner_id
WHERE lower(s.metadata ->> 'sensitivity') NOT IN ('', 'public', 'internal')
  AND coalesce(array_position(
      ARRAY['public', 'internal', 'confidential', 'secret'], lower(s.metadata ->> 'sensitivity')
  ), 4) > c.ceiling;

-- name: marked_sections
-- Sections that are too sensitive by a mark at the end of their heading, like {sensitivity=secret}.
SELECT s.id, s.page_id, s.owner_id FROM ceilings AS c
JOIN sections AS s ON s.tenant_id = :tenant_id AND s.owner_id = c.owner_id
WHERE strpos(lower(s.heading), '{sensitivity=') > 0
  AND coalesce(array_position(
      ARRAY['public', 'internal', 'confidential', 'secret'],
      substring(lower(s.heading) FROM '[{]sensitivity=([^}]*)[}]')
  ), 4) > c.ceiling;

-- name: hidden_sections
-- Marked sections, and sections that cite a hidden source or list a hidden page.
SELECT id, page_id, owner_id FROM marked_sections
UNION ALL
SELECT cited.section_id, cited.page_id, cited.owner_id FROM section_sources AS cited
WHERE cited.tenant_id = :tenant_id AND cited.source_id IN (SELECT id FROM hidden_sources)
UNION ALL
SELECT s.id, s.page_id, s.owner_id FROM hidden_pages AS h
JOIN links AS l ON l.tenant_id = :tenant_id AND l.to_page_id = h.id
JOIN sections AS s ON s.tenant_id = :tenant_id AND s.page_id = l.from_page_id
    AND strpos(CAST(s.aggregation AS text), CAST(h.id AS text)) > 0;

-- name: has_ceiling
-- Whether the caller's access is limited in any wiki, so that anything may be hidden.
SELECT EXISTS (SELECT FROM ceilings WHERE ceiling < 4) AS is_so;

-- name: has_hidden
-- Whether anything is hidden from the caller. Sections are hidden only because of a hidden page, a hidden source or a
-- mark.
SELECT EXISTS (SELECT FROM hidden_pages) OR EXISTS (SELECT FROM hidden_sources)
    OR EXISTS (SELECT FROM marked_sections) AS is_so;

-- name: withheld
-- Pages that the caller may not read entirely. Their history, and all that contains words of the whole page, is
-- withheld.
SELECT id AS page_id, owner_id FROM hidden_pages
UNION ALL
SELECT page_id, owner_id FROM hidden_sections;

-- name: find_withheld
-- Those of these pages that the caller may not read, or not entirely.
SELECT given.id, given.id IN (SELECT id FROM hidden_pages) AS is_hidden
FROM unnest(CAST(:page_ids AS uuid[])) AS given (id)
WHERE given.id IN (SELECT page_id FROM withheld);

-- name: pages
-- A page with hidden sections has the text of its other sections, and no summary.
SELECT
    p.tenant_id, p.owner_id, p.id, p.type, p.slug, p.title, p.status, p.tags, p.parent_page_id, p.hubness_score,
    p.version, p.metadata, p.last_compiled_at, p.created_at, p.updated_at, p.was_merged,
    CASE WHEN p.id NOT IN (SELECT page_id FROM hidden_sections) THEN p.summary END AS summary,
    CASE WHEN p.id NOT IN (SELECT page_id FROM hidden_sections) THEN p.body_md ELSE (
        SELECT coalesce(string_agg(
            concat_ws(chr(10) || chr(10), '## ' || nullif(s.heading, ''), nullif(s.body_md, '')),
            chr(10) || chr(10) ORDER BY s.position
        ), '')
        FROM sections AS s
        WHERE s.tenant_id = :tenant_id AND s.page_id = p.id AND s.id NOT IN (SELECT id FROM hidden_sections)
    ) END AS body_md
FROM pages AS p
WHERE p.tenant_id = :tenant_id AND p.id NOT IN (SELECT id FROM hidden_pages);

-- name: sections
SELECT
    t.tenant_id, t.owner_id, t.id, t.page_id, t.section_slug, t.heading, t.body_md, t.position, t.last_source_at,
    t.promoted_page_id, t.created_at, t.updated_at, t.supported_at,
    CASE WHEN t.aggregation IS NOT NULL AND NOT EXISTS (
        SELECT FROM hidden_pages AS h WHERE strpos(CAST(t.aggregation AS text), CAST(h.id AS text)) > 0
    ) THEN t.aggregation END AS aggregation
FROM sections AS t
WHERE t.tenant_id = :tenant_id AND t.page_id NOT IN (SELECT id FROM hidden_pages)
  AND t.id NOT IN (SELECT id FROM hidden_sections);

-- name: aliases
SELECT t.* FROM aliases AS t WHERE t.tenant_id = :tenant_id AND t.page_id NOT IN (SELECT id FROM hidden_pages);

-- name: old_slugs
SELECT t.* FROM old_slugs AS t WHERE t.tenant_id = :tenant_id AND t.page_id NOT IN (SELECT id FROM hidden_pages);

-- name: page_names
SELECT t.* FROM page_names AS t WHERE t.tenant_id = :tenant_id AND t.page_id NOT IN (SELECT id FROM hidden_pages);

-- name: page_positions
-- Positions of hidden pages, and of deleted pages, are seen by callers who could read the page before.
SELECT t.* FROM page_positions AS t
WHERE t.tenant_id = :tenant_id
  AND (t.deleted_sensitivity IS NOT NULL OR t.page_id NOT IN (SELECT id FROM hidden_pages))
  AND NOT EXISTS (
      SELECT FROM ceilings AS c
      WHERE c.owner_id = t.owner_id
        AND array_position(ARRAY['public', 'internal', 'confidential', 'secret'], t.deleted_sensitivity) > c.ceiling
  );

-- name: renamings
SELECT t.* FROM renamings AS t WHERE t.tenant_id = :tenant_id AND t.page_id NOT IN (SELECT id FROM hidden_pages);

-- name: lint_mutes
SELECT t.* FROM lint_mutes AS t
WHERE t.tenant_id = :tenant_id AND coalesce(t.page_id NOT IN (SELECT id FROM hidden_pages), TRUE);

-- name: tool_calls
SELECT t.* FROM tool_calls AS t
WHERE t.tenant_id = :tenant_id AND coalesce(t.page_id NOT IN (SELECT id FROM hidden_pages), TRUE);

-- name: merged_pages
SELECT t.* FROM merged_pages AS t
WHERE t.tenant_id = :tenant_id AND t.page_id NOT IN (SELECT id FROM hidden_pages)
  AND t.into_page_id NOT IN (SELECT id FROM hidden_pages);

-- name: placements
SELECT t.* FROM placements AS t
WHERE t.tenant_id = :tenant_id AND t.page_id NOT IN (SELECT id FROM hidden_pages)
  AND coalesce(t.parent_page_id NOT IN (SELECT id FROM hidden_pages), TRUE);

-- name: links
SELECT t.* FROM links AS t
WHERE t.tenant_id = :tenant_id AND t.from_page_id NOT IN (SELECT page_id FROM withheld)
  AND t.to_page_id NOT IN (SELECT id FROM hidden_pages);

-- name: link_targets
SELECT t.* FROM link_targets AS t
WHERE t.tenant_id = :tenant_id AND t.from_page_id NOT IN (SELECT page_id FROM withheld)
  AND coalesce(t.to_page_id NOT IN (SELECT id FROM hidden_pages), TRUE);

-- name: revisions
-- Of a page with hidden sections only the authors and times of revisions are readable, not their contents.
SELECT
    t.tenant_id, t.owner_id, t.id, t.page_id, t.version, t.author_kind, t.author_id, t.created_at, t.erased_at, t.tags,
    CASE WHEN kept.is_whole THEN t.title ELSE (
        SELECT p.title FROM pages AS p WHERE p.tenant_id = :tenant_id AND p.id = t.page_id
    ) END AS title,
    CASE WHEN kept.is_whole THEN t.summary END AS summary,
    CASE WHEN kept.is_whole THEN t.body_md ELSE '' END AS body_md,
    CASE WHEN kept.is_whole THEN t.edit_summary END AS edit_summary,
    CASE WHEN kept.is_whole THEN t.base_version END AS base_version,
    CASE WHEN kept.is_whole THEN t.base_starts END AS base_starts,
    CASE WHEN kept.is_whole THEN t.base_lengths END AS base_lengths,
    CASE WHEN kept.is_whole THEN t.base_texts END AS base_texts,
    CASE WHEN kept.is_whole THEN t.slug END AS slug,
    CASE WHEN kept.is_whole THEN t.metadata END AS metadata,
    CASE WHEN kept.is_whole THEN t.aliases END AS aliases,
    CASE WHEN kept.is_whole THEN t.facts_version END AS facts_version
FROM revisions AS t
CROSS JOIN LATERAL (SELECT t.page_id NOT IN (SELECT page_id FROM hidden_sections) AS is_whole) AS kept
WHERE t.tenant_id = :tenant_id AND t.page_id NOT IN (SELECT id FROM hidden_pages);

-- name: originals
SELECT t.* FROM originals AS t WHERE t.tenant_id = :tenant_id AND t.page_id NOT IN (SELECT page_id FROM withheld);

-- name: share_links
SELECT t.* FROM share_links AS t WHERE t.tenant_id = :tenant_id AND t.page_id NOT IN (SELECT page_id FROM withheld);

-- name: search_pages
SELECT t.* FROM search_pages AS t WHERE t.tenant_id = :tenant_id AND t.page_id NOT IN (SELECT page_id FROM withheld);

-- name: page_embeddings
SELECT t.* FROM page_embeddings AS t
WHERE t.tenant_id = :tenant_id AND t.page_id NOT IN (SELECT page_id FROM withheld);

-- name: superseded_claims
SELECT t.* FROM superseded_claims AS t
WHERE t.tenant_id = :tenant_id AND t.page_id NOT IN (SELECT page_id FROM withheld)
  AND coalesce(t.stated_by_id NOT IN (SELECT id FROM hidden_sources), TRUE)
  AND coalesce(t.overridden_by_id NOT IN (SELECT id FROM hidden_sources), TRUE);

-- name: contradictions
SELECT t.* FROM contradictions AS t
WHERE t.tenant_id = :tenant_id AND t.page_id NOT IN (SELECT page_id FROM withheld)
  AND coalesce(t.older_source_id NOT IN (SELECT id FROM hidden_sources), TRUE)
  AND coalesce(t.newer_source_id NOT IN (SELECT id FROM hidden_sources), TRUE);

-- name: section_sources
SELECT t.* FROM section_sources AS t
WHERE t.tenant_id = :tenant_id AND t.page_id NOT IN (SELECT id FROM hidden_pages)
  AND t.section_id NOT IN (SELECT id FROM hidden_sections) AND t.source_id NOT IN (SELECT id FROM hidden_sources);

-- name: sources
SELECT t.* FROM sources AS t WHERE t.tenant_id = :tenant_id AND t.id NOT IN (SELECT id FROM hidden_sources);

-- name: source_originals
SELECT t.* FROM source_originals AS t
WHERE t.tenant_id = :tenant_id AND t.source_id NOT IN (SELECT id FROM hidden_sources);

-- name: search_passages
SELECT t.* FROM search_passages AS t
WHERE t.tenant_id = :tenant_id AND t.source_id NOT IN (SELECT id FROM hidden_sources);

-- name: passage_embeddings
SELECT t.* FROM passage_embeddings AS t
WHERE t.tenant_id = :tenant_id AND t.source_id NOT IN (SELECT id FROM hidden_sources);

-- name: decision_questions
SELECT t.* FROM decision_questions AS t
WHERE t.tenant_id = :tenant_id AND coalesce(t.page_id NOT IN (SELECT id FROM hidden_pages), TRUE);

-- name: mentions
-- Names that a hidden source contains are hidden, because it may be the only source.
SELECT t.* FROM mentions AS t
WHERE t.tenant_id = :tenant_id AND coalesce(t.promoted_page_id NOT IN (SELECT id FROM hidden_pages), TRUE)
  AND t.id NOT IN (
      SELECT seen.mention_id FROM sightings AS seen
      WHERE seen.tenant_id = :tenant_id AND seen.source_id IN (SELECT id FROM hidden_sources)
  );

-- name: sightings
SELECT t.* FROM sightings AS t
WHERE t.tenant_id = :tenant_id AND t.source_id NOT IN (SELECT id FROM hidden_sources);

-- name: search_vocabulary
-- Words are neither completed nor corrected in a wiki with hidden texts, whose words could be among them.
SELECT t.* FROM search_vocabulary AS t
WHERE t.tenant_id = :tenant_id AND t.owner_id NOT IN (SELECT owner_id FROM withheld)
  AND t.owner_id NOT IN (SELECT owner_id FROM hidden_sources);

-- name: proposals
-- Proposals that change withheld pages or merge them, cite hidden sources, or contain a sensitivity above the caller's
-- ceiling, are hidden.
SELECT t.* FROM proposals AS t
WHERE t.tenant_id = :tenant_id AND coalesce(t.page_id NOT IN (SELECT page_id FROM withheld), TRUE)
  AND NOT EXISTS (
      SELECT FROM (
          SELECT t.arguments ->> 'from_id' AS id
          UNION ALL
          SELECT page.id #>> '{}' FROM jsonb_path_query(t.arguments, '$.from_ids[*]') AS page (id)
      ) AS merged
      WHERE merged.id IN (SELECT CAST(page_id AS text) FROM withheld)
  )
  AND NOT EXISTS (
      SELECT FROM (
          SELECT t.arguments ->> 'source_id' AS id
          UNION ALL
          SELECT source.id #>> '{}' FROM jsonb_path_query(t.arguments, '$.citations[*][1]') AS source (id)
      ) AS cited
      WHERE cited.id IN (SELECT CAST(id AS text) FROM hidden_sources)
  )
  AND NOT EXISTS (
      SELECT FROM ceilings AS c
      CROSS JOIN LATERAL (
          SELECT lower(t.arguments #>> '{draft,metadata,sensitivity}') AS level
          UNION ALL
          SELECT lower(t.arguments #>> '{metadata,sensitivity}')
          UNION ALL
          SELECT lower(t.arguments #>> '{draft,fields,sensitivity}')
          UNION ALL
          SELECT lower(t.arguments #>> '{fields,sensitivity}')
          UNION ALL
          SELECT marked.level[1]
          FROM regexp_matches(lower(concat_ws(' ', t.proposed_body, t.arguments)), '[{]sensitivity=([^}]*)[}]', 'g')
              AS marked (level)
      ) AS said
      WHERE c.owner_id = t.owner_id AND said.level <> ''
        AND coalesce(array_position(ARRAY['public', 'internal', 'confidential', 'secret'], said.level), 4) > c.ceiling
  );

-- name: activity
-- Log entries about hidden pages and sources, or that contain their ids, are hidden.
SELECT t.* FROM activity AS t
WHERE t.tenant_id = :tenant_id AND coalesce(t.page_id NOT IN (SELECT id FROM hidden_pages), TRUE)
  AND NOT EXISTS (SELECT FROM hidden_pages AS h WHERE strpos(CAST(t.detail AS text), CAST(h.id AS text)) > 0)
  AND NOT EXISTS (SELECT FROM hidden_sources AS h WHERE strpos(CAST(t.detail AS text), CAST(h.id AS text)) > 0);
