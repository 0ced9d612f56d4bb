-- name: judge_findings
-- Return the first findings of each check with their total number, muted and other findings separately. The arms of the
-- checks replace `findings`.
WITH judged AS (
    SELECT f.name, f.id, f.type, f.slug, f.title, f.detail, f.target, f.place, m.reason, m.author_kind, m.author_id,
           m.created_at AS muted_at, m.until, count(*) OVER of_check AS total,
           row_number() OVER (PARTITION BY f.name, m.subject IS NULL ORDER BY f.place) AS position
    FROM findings AS f
    LEFT JOIN lint_mutes AS m
        ON m.tenant_id = :tenant_id AND m.owner_id = :owner_id AND m.check_name = f.name
        AND m.subject = coalesce(CAST(f.id AS text), lower(f.title))
        AND (m.until IS NULL OR m.until > CAST(:now AS timestamptz))
    WINDOW of_check AS (PARTITION BY f.name, m.subject IS NULL)
)
SELECT name, id, type, slug, title, detail, target, reason, author_kind, author_id, muted_at, until, total FROM judged
WHERE position <= CAST(:limit AS integer)
ORDER BY name, position;

-- name: wrong_metadata
-- Metadata fields with an invalid value: not one of the allowed values, no date, or the type of another page.
SELECT p.id, p.type, p.slug, p.title, wrong.said AS detail, CAST(NULL AS text) AS target FROM pages AS p
CROSS JOIN LATERAL (
    SELECT field.name || ': "' || left(field.value, 60) || '" is none of low, medium, high' AS said
    FROM (VALUES ('confidence', p.metadata ->> 'confidence')) AS field (name, value)
    WHERE field.value <> ALL(ARRAY['low', 'medium', 'high'])
    UNION ALL
    SELECT field.name || ': "' || left(field.value, 60) || '" is none of public, internal, confidential, secret'
    FROM (VALUES ('sensitivity', p.metadata ->> 'sensitivity')) AS field (name, value)
    WHERE field.value <> ALL(ARRAY['public', 'internal', 'confidential', 'secret'])
    UNION ALL
    SELECT field.name || ': "' || left(field.value, 60) || '" is no date'
    FROM unnest(ARRAY[
        'created', 'created_at', 'updated', 'updated_at', 'expires', 'expires_at', 'valid_until', 'captured_at'
    ]) AS dated (name)
    CROSS JOIN LATERAL (VALUES (dated.name, p.metadata ->> dated.name)) AS field (name, value)
    WHERE field.value <> ''
      AND NOT (field.value ~ '^\d{4}-\d{2}-\d{2}' AND pg_input_is_valid(field.value, 'timestamp with time zone'))
    UNION ALL
    SELECT 'type: "' || left(p.metadata ->> 'type', 60) || '", and the page is of the type ' || p.type
    WHERE lower(p.metadata ->> 'type') <> p.type
) AS wrong
WHERE p.tenant_id = :tenant_id AND p.owner_id = :owner_id AND p.status = 'active' AND p.metadata <> '{}'
ORDER BY p.title, p.id, wrong.said;

-- name: missing_metadata
-- Pages without a field that more than half of the pages of their type have, for types with at least three pages.
WITH usual AS MATERIALIZED (
    SELECT p.type, field.name FROM pages AS p
    CROSS JOIN unnest(ARRAY['confidence', 'owner']) AS field (name)
    WHERE p.tenant_id = :tenant_id AND p.owner_id = :owner_id AND p.status = 'active'
    GROUP BY p.type, field.name
    HAVING count(*) >= 3 AND 2 * count(*) FILTER (WHERE p.metadata ->> field.name <> '') > count(*)
)
SELECT p.id, p.type, p.slug, p.title, string_agg(usual.name, ', ' ORDER BY usual.name) AS detail,
       CAST(NULL AS text) AS target
FROM pages AS p
JOIN usual ON usual.type = p.type
WHERE p.tenant_id = :tenant_id AND p.owner_id = :owner_id AND p.status = 'active'
  AND coalesce(p.metadata ->> usual.name, '') = ''
GROUP BY p.tenant_id, p.id, p.type, p.slug, p.title
ORDER BY p.title, p.id;

-- name: unsaid_sensitivity
-- Pages without a sensitivity, if the settings of the wiki require one or another page has one.
SELECT p.id, p.type, p.slug, p.title, CAST(NULL AS text) AS detail, CAST(NULL AS text) AS target FROM pages AS p
WHERE p.tenant_id = :tenant_id AND p.owner_id = :owner_id AND p.status = 'active'
  AND coalesce(p.metadata ->> 'sensitivity', '') = ''
  AND (
      (SELECT o.requires_sensitivity FROM owners AS o WHERE o.tenant_id = :tenant_id AND o.id = :owner_id)
      OR (
          SELECT EXISTS (
              SELECT FROM pages AS said
              WHERE said.tenant_id = :tenant_id AND said.owner_id = :owner_id AND said.status = 'active'
                AND jsonb_exists(said.metadata, 'sensitivity')
          )
      )
  )
ORDER BY p.title, p.id;

-- name: unknown_sources
-- Citations in metadata of sources that the wiki does not have.
SELECT p.id, p.type, p.slug, p.title, cited.ref AS detail, cited.ref AS target FROM pages AS p
CROSS JOIN unnest(ARRAY['sources', 'source_refs']) AS field (name)
CROSS JOIN LATERAL jsonb_array_elements(
    CASE jsonb_typeof(p.metadata -> field.name)
        WHEN 'array' THEN p.metadata -> field.name
        WHEN 'string' THEN jsonb_build_array(p.metadata -> field.name)
        ELSE '[]'
    END
) AS item (value)
CROSS JOIN LATERAL (
    VALUES (
        CASE WHEN jsonb_typeof(item.value) = 'object' THEN coalesce(item.value ->> 'ref', item.value ->> 'uri')
             ELSE item.value #>> '{}' END
    )
) AS cited (ref)
WHERE p.tenant_id = :tenant_id AND p.owner_id = :owner_id AND p.status = 'active'
  AND jsonb_exists_any(p.metadata, ARRAY['sources', 'source_refs']) AND cited.ref <> ''
  AND NOT EXISTS (
      SELECT FROM unnest(ARRAY[
          'memory_unit', 'daily_note', 'document', 'artifact', 'journal_idea', 'url', 'run'
      ]) AS known (kind)
      JOIN sources AS s ON s.tenant_id = :tenant_id AND s.owner_id = :owner_id AND s.kind = known.kind
          AND s.ref = cited.ref
  )
ORDER BY p.title, p.id, cited.ref;

-- name: edges
-- The pages that the metadata fields `supersedes` and `contradicts` name, at most 2,000. Prose in these fields is
-- ignored.
WITH RECURSIVE edges AS MATERIALIZED (
    SELECT p.id AS from_id, field.name AS relation, said.slug, other.id AS to_id FROM pages AS p
    CROSS JOIN unnest(ARRAY['supersedes', 'contradicts']) AS field (name)
    CROSS JOIN LATERAL jsonb_array_elements(
        CASE jsonb_typeof(p.metadata -> field.name)
            WHEN 'array' THEN p.metadata -> field.name
            WHEN 'string' THEN jsonb_build_array(p.metadata -> field.name)
            ELSE '[]'
        END
    ) AS item (value)
    CROSS JOIN LATERAL (
        VALUES (regexp_replace(item.value #>> '{}', '^(\[\[)?([a-z]+/)?|(\.md)?(\]\])?$', '', 'g'))
    ) AS said (slug)
    LEFT JOIN LATERAL (
        SELECT found.id FROM pages AS found
        WHERE found.tenant_id = :tenant_id AND found.owner_id = :owner_id AND found.slug = said.slug
        ORDER BY found.type <> p.type, found.id
        LIMIT 1
    ) AS other ON TRUE
    WHERE p.tenant_id = :tenant_id AND p.owner_id = :owner_id
      AND jsonb_exists_any(p.metadata, ARRAY['supersedes', 'contradicts'])
      AND said.slug ~ '^[a-z0-9]+(-[a-z0-9]+)*$'
    ORDER BY p.id, field.name, said.slug
    LIMIT 2000
)

-- name: broken_relations
-- after: edges
-- Related pages and parents that files name, and pages that a page supersedes or contradicts, that do not exist.
SELECT p.id, p.type, p.slug, p.title, named.relation || ': ' || named.target AS detail, named.target
FROM (
    SELECT t.from_page_id, t.relation, regexp_replace(t.target, '^' || t.relation || ': ', '') AS target
    FROM link_targets AS t
    WHERE t.tenant_id = :tenant_id AND t.owner_id = :owner_id AND t.to_page_id IS NULL AND t.space IS NULL
      AND t.relation <> 'text'
    UNION ALL
    SELECT e.from_id, e.relation, e.slug FROM edges AS e
    WHERE e.to_id IS NULL AND NOT EXISTS (
        SELECT FROM old_slugs AS once
        WHERE once.tenant_id = :tenant_id AND once.owner_id = :owner_id AND once.slug = e.slug
    )
) AS named
JOIN pages AS p ON p.tenant_id = :tenant_id AND p.owner_id = :owner_id AND p.id = named.from_page_id
    AND p.status = 'active'
ORDER BY p.title, p.id, named.relation, named.target;

-- name: contradiction_loops
-- after: edges
-- Pages that supersede or contradict themselves through a loop of up to eight steps.
, walks AS (
    SELECT e.from_id AS start_id, e.relation, e.to_id, 1 AS steps FROM edges AS e WHERE e.to_id IS NOT NULL
    UNION
    SELECT w.start_id, w.relation, e.to_id, w.steps + 1 FROM walks AS w
    JOIN edges AS e ON e.from_id = w.to_id AND e.relation = w.relation AND e.to_id IS NOT NULL
    WHERE w.steps < 8 AND w.to_id <> w.start_id
)
SELECT p.id, p.type, p.slug, p.title,
       w.relation || ' ' || string_agg(DISTINCT e.slug, ', ') || ', which leads back to it in '
       || min(w.steps) || CASE min(w.steps) WHEN 1 THEN ' step' ELSE ' steps' END AS detail,
       CAST(NULL AS text) AS target
FROM walks AS w
JOIN edges AS e ON e.from_id = w.start_id AND e.relation = w.relation AND EXISTS (
    SELECT FROM walks AS back
    WHERE back.start_id = e.to_id AND back.relation = e.relation AND back.to_id = w.start_id
)
JOIN pages AS p ON p.tenant_id = :tenant_id AND p.owner_id = :owner_id AND p.id = w.start_id
WHERE w.to_id = w.start_id
GROUP BY p.tenant_id, p.id, p.type, p.slug, p.title, w.relation
ORDER BY p.title, p.id, w.relation;

-- name: contradicting_pages
-- after: edges
-- Pages whose metadata says that they contradict another page, with the page that holds by the policy.
SELECT p.id, p.type, p.slug, p.title,
       'contradicts ' || other.type || '/' || other.slug || ': '
       || CASE WHEN judged.is_contested THEN 'the older one is of high confidence, so somebody has to weigh them'
               ELSE kept.called || ' holds by the policy, the newer one' END AS detail,
       CASE WHEN p.updated_at < other.updated_at THEN p.type || '/' || p.slug ELSE other.type || '/' || other.slug END
       AS target
FROM edges AS e
JOIN pages AS p ON p.tenant_id = :tenant_id AND p.owner_id = :owner_id AND p.id = e.from_id AND p.status = 'active'
JOIN pages AS other ON other.tenant_id = :tenant_id AND other.owner_id = :owner_id AND other.id = e.to_id
    AND other.status = 'active'
CROSS JOIN LATERAL (
    SELECT CASE WHEN p.updated_at < other.updated_at THEN other.type || '/' || other.slug
                ELSE p.type || '/' || p.slug END AS called,
           CASE WHEN p.updated_at < other.updated_at THEN p.metadata ELSE other.metadata END ->> 'confidence' AS older,
           CASE WHEN p.updated_at < other.updated_at THEN other.metadata ELSE p.metadata END ->> 'confidence' AS newer
) AS kept
CROSS JOIN LATERAL (
    VALUES (coalesce(kept.older, '') = 'high' AND coalesce(kept.newer, '') <> 'high')
) AS judged (is_contested)
WHERE e.relation = 'contradicts' AND e.to_id <> e.from_id
ORDER BY p.title, p.id, other.slug;

-- name: decision_options
-- Decisions without a text of the options that were considered.
SELECT p.id, p.type, p.slug, p.title, CAST(NULL AS text) AS detail, CAST(NULL AS text) AS target FROM pages AS p
WHERE p.tenant_id = :tenant_id AND p.owner_id = :owner_id AND p.status = 'active' AND p.type = 'decision'
  AND NOT EXISTS (
      SELECT FROM sections AS s
      WHERE s.tenant_id = :tenant_id AND s.owner_id = :owner_id AND s.page_id = p.id AND s.body_md <> ''
        AND (s.section_slug ~ 'option|alternativ' OR s.heading ~* 'option|alternativ')
  )
ORDER BY p.title, p.id;

-- name: concept_reasons
-- Pages without a text in a section that their type requires for stubs.
SELECT p.id, p.type, p.slug, p.title,
       string_agg(replace(needed.slug, '_', ' '), ', ' ORDER BY needed.place) AS detail,
       (array_agg(needed.slug ORDER BY needed.place))[1] AS target
FROM unnest(CAST(:required AS text[])) WITH ORDINALITY AS given (name, place)
CROSS JOIN LATERAL (
    VALUES (split_part(given.name, '/', 1), split_part(given.name, '/', 2), given.place)
) AS needed (type, slug, place)
JOIN pages AS p ON p.tenant_id = :tenant_id AND p.owner_id = :owner_id AND p.status = 'active' AND p.type = needed.type
WHERE NOT EXISTS (
    SELECT FROM sections AS s
    WHERE s.tenant_id = :tenant_id AND s.owner_id = :owner_id AND s.page_id = p.id
      AND s.section_slug = needed.slug AND s.body_md <> ''
)
GROUP BY p.tenant_id, p.id, p.type, p.slug, p.title
ORDER BY p.title, p.id;

-- name: stray_places
-- Pages whose category, or the folder that they were imported from, belongs to another type than theirs.
WITH kinds AS MATERIALIZED (
    SELECT type, ARRAY[type, type || 's', regexp_replace(type, 'y$', 'ies')] AS names
    FROM unnest(CAST(:types AS text[])) AS given (type)
)
SELECT p.id, p.type, p.slug, p.title, place.said || ' says ' || place.type AS detail, place.type AS target
FROM pages AS p
CROSS JOIN LATERAL (
    SELECT told.said, kind.type FROM (
        VALUES (1, 'the category', lower(p.metadata ->> 'category')),
               (2, 'the folder', lower(substring(p.metadata ->> 'imported_from' FROM '([^/]+)/[^/]*$')))
    ) AS told (place, said, name)
    JOIN kinds AS kind ON told.name = ANY(kind.names)
    ORDER BY told.place
    LIMIT 1
) AS place
WHERE p.tenant_id = :tenant_id AND p.owner_id = :owner_id AND p.status = 'active' AND place.type <> p.type
  AND jsonb_exists_any(p.metadata, ARRAY['category', 'imported_from'])
ORDER BY p.title, p.id;

-- name: plain_names
-- Names without a page that occur in at least as many pages as the settings of the wiki say. Only the 300 open mentions
-- with the most sources are checked, each in up to 100 pages that cite its sources.
SELECT CAST(NULL AS uuid) AS id, m.suggested_type AS type, CAST(NULL AS text) AS slug, m.name AS title,
       said.pages || ' pages say it' AS detail, m.name AS target
FROM (
    SELECT m.id, m.name, m.suggested_type FROM mentions AS m
    WHERE m.tenant_id = :tenant_id AND m.owner_id = :owner_id AND m.status = 'open'
    ORDER BY m.mention_count DESC, m.id
    LIMIT 300
) AS m
CROSS JOIN LATERAL (
    SELECT count(*) AS pages FROM (
        SELECT DISTINCT c.page_id FROM sightings AS seen
        JOIN section_sources AS c
            ON c.tenant_id = :tenant_id AND c.owner_id = :owner_id AND c.source_id = seen.source_id
        WHERE seen.tenant_id = :tenant_id AND seen.owner_id = :owner_id AND seen.mention_id = m.id
        LIMIT 100
    ) AS near
    JOIN pages AS p ON p.tenant_id = :tenant_id AND p.owner_id = :owner_id AND p.id = near.page_id
        AND p.status = 'active'
    WHERE position(lower(m.name) IN lower(p.body_md)) > 0
) AS said
WHERE said.pages >= (SELECT o.lint_min_pages FROM owners AS o WHERE o.tenant_id = :tenant_id AND o.id = :owner_id)
ORDER BY said.pages DESC, m.name;

-- name: unlinked_names
-- Titles that occur without a link in at least as many pages as the settings of the wiki say. Only the 100 pages with
-- the highest hubness scores are checked, each in up to 100 pages that the search index finds for the title.
SELECT hub.id, hub.type, hub.slug, hub.title, said.pages || ' pages say it without a link' AS detail,
       said.first AS target
FROM (
    SELECT p.id, p.type, p.slug, p.title FROM pages AS p
    WHERE p.tenant_id = :tenant_id AND p.owner_id = :owner_id AND p.status = 'active'
    ORDER BY p.hubness_score DESC, p.id DESC
    LIMIT 100
) AS hub
CROSS JOIN LATERAL (
    SELECT count(*) AS pages, min(p.type || '/' || p.slug) AS first FROM (
        SELECT near.page_id FROM (
            SELECT own.analyser, CAST(string_agg(quote_literal(word.lexeme), ' & ') AS tsquery) AS words
            FROM search_pages AS own
            CROSS JOIN LATERAL unnest(ts_filter(own.tsv, '{a}')) AS word
            WHERE own.tenant_id = :tenant_id AND own.owner_id = :owner_id AND own.page_id = hub.id
            GROUP BY own.analyser
            ORDER BY own.analyser DESC
            LIMIT 1
        ) AS title
        JOIN search_pages AS near ON near.tenant_id = :tenant_id AND near.owner_id = :owner_id
            AND near.analyser = title.analyser AND near.status = 'active' AND near.tsv @@ title.words
        WHERE near.page_id <> hub.id
        LIMIT 100
    ) AS near
    JOIN pages AS p ON p.tenant_id = :tenant_id AND p.owner_id = :owner_id AND p.id = near.page_id
    WHERE position(lower(hub.title) IN lower(p.body_md)) > 0
      AND NOT EXISTS (
          SELECT FROM links AS l
          WHERE l.tenant_id = :tenant_id AND l.owner_id = :owner_id AND l.from_page_id = p.id AND l.to_page_id = hub.id
      )
) AS said
WHERE said.pages >= (SELECT o.lint_min_pages FROM owners AS o WHERE o.tenant_id = :tenant_id AND o.id = :owner_id)
ORDER BY said.pages DESC, hub.title, hub.id;
