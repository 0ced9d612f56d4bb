-- name: broken_links
-- Links to pages that do not exist.
SELECT p.id, p.type, p.slug, p.title, t.target AS detail, t.target AS target FROM link_targets AS t
JOIN pages AS p ON p.tenant_id = :tenant_id AND p.owner_id = :owner_id AND p.id = t.from_page_id
    AND p.status = 'active'
WHERE t.tenant_id = :tenant_id AND t.owner_id = :owner_id AND t.to_page_id IS NULL AND t.space IS NULL
  AND t.relation = 'text'
ORDER BY p.title, p.id, t.target;

-- name: unknown_spaces
-- Links to a space that does not exist or that the caller may not read. The two cases are not distinguished.
SELECT p.id, p.type, p.slug, p.title, t.target AS detail, '[[' || t.target || ']]' AS target FROM link_targets AS t
JOIN pages AS p ON p.tenant_id = :tenant_id AND p.owner_id = :owner_id AND p.id = t.from_page_id
    AND p.status = 'active'
WHERE t.tenant_id = :tenant_id AND t.owner_id = :owner_id AND t.space IS NOT NULL
  AND NOT EXISTS (
      SELECT FROM owners AS o
      WHERE o.tenant_id = :tenant_id AND o.slug = t.space AND (
          CAST(:spans AS boolean) OR o.id = ANY(CAST(:owners AS uuid[])) OR EXISTS (
              SELECT FROM grants AS g
              WHERE g.tenant_id = :tenant_id AND g.owner_id = o.id AND g.grantee_id = ANY(CAST(:owners AS uuid[]))
          )
      )
  )
ORDER BY p.title, p.id, t.target;

-- name: broken_space_links
-- Links to pages that do not exist in a space that the caller may read.
SELECT p.id, p.type, p.slug, p.title, t.target AS detail, '[[' || t.target || ']]' AS target FROM link_targets AS t
JOIN pages AS p ON p.tenant_id = :tenant_id AND p.owner_id = :owner_id AND p.id = t.from_page_id
    AND p.status = 'active'
JOIN owners AS o ON o.tenant_id = :tenant_id AND o.slug = t.space AND (
    CAST(:spans AS boolean) OR o.id = ANY(CAST(:owners AS uuid[])) OR EXISTS (
        SELECT FROM grants AS g
        WHERE g.tenant_id = :tenant_id AND g.owner_id = o.id AND g.grantee_id = ANY(CAST(:owners AS uuid[]))
    )
)
WHERE t.tenant_id = :tenant_id AND t.owner_id = :owner_id
  AND NOT EXISTS (
      SELECT FROM pages AS found
      WHERE found.tenant_id = :tenant_id AND found.owner_id = o.id AND found.status = 'active'
        AND found.slug = t.slug AND (t.type IS NULL OR found.type = t.type)
  )
  AND NOT EXISTS (
      SELECT FROM old_slugs AS once
      JOIN pages AS found ON found.tenant_id = :tenant_id AND found.owner_id = o.id AND found.id = once.page_id
          AND found.status = 'active'
      WHERE once.tenant_id = :tenant_id AND once.owner_id = o.id AND once.slug = t.slug
        AND (t.type IS NULL OR once.type = t.type)
  )
  AND NOT EXISTS (
      SELECT FROM aliases AS a
      JOIN pages AS found ON found.tenant_id = :tenant_id AND found.owner_id = o.id AND found.id = a.page_id
          AND found.status = 'active' AND (t.type IS NULL OR found.type = t.type)
      WHERE a.tenant_id = :tenant_id AND a.owner_id = o.id AND a.alias = t.alias
  )
ORDER BY p.title, p.id, t.target;

-- name: private_links
-- Links from a shared space to the wiki of a user or agent, which do not work.
SELECT p.id, p.type, p.slug, p.title, t.target AS detail, '[[' || t.target || ']]' AS target FROM link_targets AS t
JOIN pages AS p ON p.tenant_id = :tenant_id AND p.owner_id = :owner_id AND p.id = t.from_page_id
    AND p.status = 'active'
JOIN owners AS own ON own.tenant_id = :tenant_id AND own.id = t.owner_id AND own.kind = 'shared'
JOIN owners AS o ON o.tenant_id = :tenant_id AND o.slug = t.space AND o.kind <> 'shared' AND (
    CAST(:spans AS boolean) OR o.id = ANY(CAST(:owners AS uuid[])) OR EXISTS (
        SELECT FROM grants AS g
        WHERE g.tenant_id = :tenant_id AND g.owner_id = o.id AND g.grantee_id = ANY(CAST(:owners AS uuid[]))
    )
)
WHERE t.tenant_id = :tenant_id AND t.owner_id = :owner_id
ORDER BY p.title, p.id, t.target;

-- name: contradictions
-- Open contradictions, with the resolution that the policy suggests.
SELECT p.id, p.type, p.slug, p.title,
       '"' || left(c.older_claim, 100) || '" or "' || left(c.newer_claim, 100) || '": ' || policy.said AS detail,
       c.id || ' ' || policy.resolution AS target
FROM contradictions AS c
JOIN pages AS p ON p.tenant_id = :tenant_id AND p.owner_id = :owner_id AND p.id = c.page_id AND p.status = 'active'
CROSS JOIN LATERAL (
    VALUES (c.older_on = c.newer_on OR (c.older_support >= 3 AND c.newer_support < 3))
) AS judged (is_contested)
CROSS JOIN LATERAL (
    SELECT CASE WHEN judged.is_contested THEN 'RESOLUTION' ELSE 'keep-newer' END AS resolution,
           CASE WHEN judged.is_contested THEN 'somebody has to weigh them'
                ELSE 'the newer one, by the policy' END AS said
) AS policy
WHERE c.tenant_id = :tenant_id AND c.owner_id = :owner_id AND c.status = 'open'
ORDER BY c.id DESC;

-- name: renamed_pages
-- Pairs of entities that seem to be one under two names: each cites at least three sources, they share at least half of
-- the sources of each, and a source newer than the first source of the old entity says that it is now called like the
-- new one.
WITH cited AS MATERIALIZED (
    SELECT DISTINCT c.page_id, c.source_id FROM section_sources AS c
    JOIN pages AS p ON p.tenant_id = :tenant_id AND p.owner_id = :owner_id AND p.id = c.page_id
        AND p.status = 'active' AND p.type = 'entity'
    WHERE c.tenant_id = :tenant_id AND c.owner_id = :owner_id
), counted AS MATERIALIZED (
    SELECT page_id, count(*) AS sources FROM cited GROUP BY page_id HAVING count(*) >= 3
), pair AS MATERIALIZED (
    SELECT one.page_id AS old_id, other.page_id AS new_id
    FROM cited AS one
    JOIN cited AS other ON other.source_id = one.source_id AND other.page_id <> one.page_id
    JOIN counted AS of_one ON of_one.page_id = one.page_id
    JOIN counted AS of_other ON of_other.page_id = other.page_id
    GROUP BY one.page_id, other.page_id, of_one.sources, of_other.sources
    HAVING 2 * count(*) >= greatest(of_one.sources, of_other.sources)
), telling AS MATERIALIZED (
    SELECT s.id, s.kind, s.ref, s.captured_at, said.content
    FROM sources AS s
    CROSS JOIN LATERAL (SELECT lower(s.content) AS content OFFSET 0) AS said  -- once, and not for each of the forms
    WHERE s.tenant_id = :tenant_id AND s.owner_id = :owner_id
      AND s.id IN (SELECT cited.source_id FROM pair JOIN cited ON cited.page_id = pair.old_id)
      AND EXISTS (
          SELECT FROM unnest(CAST(:forms AS text[])) AS form (words) WHERE position(form.words IN said.content) > 0
      )
), begun AS MATERIALIZED (
    SELECT cited.page_id, min(s.captured_at) AS captured_at
    FROM cited
    JOIN sources AS s ON s.tenant_id = :tenant_id AND s.owner_id = :owner_id AND s.id = cited.source_id
    WHERE cited.page_id IN (SELECT pair.old_id FROM pair)
    GROUP BY cited.page_id
), told AS MATERIALIZED (
    SELECT pair.old_id, pair.new_id, telling.id FROM telling
    JOIN cited ON cited.source_id = telling.id
    JOIN pair ON pair.old_id = cited.page_id
    UNION
    SELECT pair.old_id, pair.new_id, telling.id FROM telling
    JOIN cited ON cited.source_id = telling.id
    JOIN pair ON pair.new_id = cited.page_id
), said AS (
    SELECT DISTINCT ON (told.old_id, told.new_id) told.old_id, told.new_id, telling.kind, telling.ref
    FROM told
    JOIN telling ON telling.id = told.id
    JOIN begun ON begun.page_id = told.old_id AND telling.captured_at > begun.captured_at
    JOIN aliases AS once ON once.tenant_id = :tenant_id AND once.owner_id = :owner_id AND once.page_id = told.old_id
    JOIN aliases AS now ON now.tenant_id = :tenant_id AND now.owner_id = :owner_id AND now.page_id = told.new_id
    CROSS JOIN unnest(CAST(:forms AS text[])) AS form (words)
    WHERE position(lower(once.name || form.words || now.name) IN telling.content) > 0
    ORDER BY told.old_id, told.new_id, telling.captured_at DESC, telling.id
)
SELECT old.id, old.type, old.slug, old.title,
       said.kind || ':' || said.ref || ' says that it is ' || new.title || ' now. Merge: cairn merge ' || old.type
       || '/' || old.slug || ' ' || new.type || '/' || new.slug AS detail,
       new.type || '/' || new.slug AS target
FROM said
JOIN pages AS old ON old.tenant_id = :tenant_id AND old.owner_id = :owner_id AND old.id = said.old_id
JOIN pages AS new ON new.tenant_id = :tenant_id AND new.owner_id = :owner_id AND new.id = said.new_id
ORDER BY old.title, old.id, new.id;

-- name: similar_names
-- Pages of a type that may be about the same thing: their names differ only in spaces and signs, or one is the first
-- word of the name of exactly one other entity and both cite a common source.
WITH named AS MATERIALIZED (
    SELECT a.page_id, p.type, a.alias, translate(a.alias, ' ''-', '') AS letters
    FROM aliases AS a
    JOIN pages AS p ON p.tenant_id = :tenant_id AND p.owner_id = :owner_id AND p.id = a.page_id
        AND p.status = 'active' AND p.type IN ('entity', 'topic')
    WHERE a.tenant_id = :tenant_id AND a.owner_id = :owner_id
), begun AS (
    SELECT short.page_id AS short_id, min(CAST(long.page_id AS text)) AS long_id
    FROM named AS short
    JOIN named AS long ON long.type = short.type AND split_part(long.alias, ' ', 1) = short.alias
        AND long.alias <> short.alias AND long.page_id <> short.page_id
    WHERE short.type = 'entity'
    GROUP BY short.page_id HAVING count(DISTINCT long.page_id) = 1
), pair AS (
    SELECT DISTINCT greatest(one.page_id, other.page_id) AS short_id, least(one.page_id, other.page_id) AS long_id
    FROM named AS one
    JOIN named AS other ON other.type = one.type AND other.letters = one.letters AND other.alias <> one.alias
        AND other.page_id <> one.page_id
    WHERE one.letters <> ''
    UNION
    SELECT begun.short_id, CAST(begun.long_id AS uuid)
    FROM begun
    WHERE EXISTS (
        SELECT FROM section_sources AS c
        JOIN section_sources AS d ON d.tenant_id = :tenant_id AND d.owner_id = :owner_id AND d.source_id = c.source_id
            AND d.page_id = CAST(begun.long_id AS uuid)
        WHERE c.tenant_id = :tenant_id AND c.owner_id = :owner_id AND c.page_id = begun.short_id
    )
)
SELECT short.id, short.type, short.slug, short.title,
       'It may be ' || long.title || '. Merge: cairn merge ' || short.type || '/' || short.slug || ' ' || long.type || '/'
       || long.slug AS detail,
       long.type || '/' || long.slug AS target
FROM pair
JOIN pages AS short ON short.tenant_id = :tenant_id AND short.owner_id = :owner_id AND short.id = pair.short_id
JOIN pages AS long ON long.tenant_id = :tenant_id AND long.owner_id = :owner_id AND long.id = pair.long_id
ORDER BY short.title, short.id, long.id;

-- name: missing_pages
-- Names without a page that at least as many pages link to as the settings of the wiki say.
SELECT CAST(NULL AS uuid) AS id, named.type, named.slug, named.alias AS title,
       named.pages || ' pages link to it' AS detail, named.alias AS target
FROM (
    SELECT t.slug, max(t.type) AS type, max(t.alias) AS alias, count(DISTINCT t.from_page_id) AS pages
    FROM link_targets AS t
    JOIN pages AS p ON p.tenant_id = :tenant_id AND p.owner_id = :owner_id AND p.id = t.from_page_id
        AND p.status = 'active'
    WHERE t.tenant_id = :tenant_id AND t.owner_id = :owner_id AND t.to_page_id IS NULL AND t.space IS NULL
    GROUP BY t.slug
) AS named
WHERE named.pages >= (SELECT o.lint_min_pages FROM owners AS o WHERE o.tenant_id = :tenant_id AND o.id = :owner_id)
ORDER BY named.pages DESC, named.slug;

-- name: orphans
-- Pages without a parent that no other page links to.
SELECT p.id, p.type, p.slug, p.title, CAST(NULL AS text) AS detail, CAST(NULL AS text) AS target FROM pages AS p
WHERE p.tenant_id = :tenant_id AND p.owner_id = :owner_id AND p.status = 'active' AND p.parent_page_id IS NULL
  AND NOT EXISTS (
      SELECT FROM links AS l
      JOIN pages AS f ON f.tenant_id = :tenant_id AND f.owner_id = :owner_id AND f.id = l.from_page_id
          AND f.status = 'active'
      WHERE l.tenant_id = :tenant_id AND l.owner_id = :owner_id AND l.to_page_id = p.id
  )
ORDER BY p.title, p.id;

-- name: stale
-- Pages that were not changed for as many days as the settings of the wiki say, the longest first.
SELECT p.id, p.type, p.slug, p.title, 'since ' || to_char(p.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS detail,
       CAST(NULL AS text) AS target
FROM pages AS p
WHERE p.tenant_id = :tenant_id AND p.owner_id = :owner_id AND p.status = 'active'
  AND p.updated_at < CAST(:now AS timestamptz) - interval '1 day' * (
      SELECT o.stale_after_days FROM owners AS o WHERE o.tenant_id = :tenant_id AND o.id = :owner_id
  )
ORDER BY p.updated_at, p.id;

-- name: expired
-- Pages whose expiry date has passed.
SELECT p.id, p.type, p.slug, p.title, named.day AS detail, CAST(NULL AS text) AS target FROM pages AS p
CROSS JOIN LATERAL (
    VALUES (coalesce(p.metadata ->> 'expires', p.metadata ->> 'expires_at', p.metadata ->> 'valid_until'))
) AS named (day)
WHERE p.tenant_id = :tenant_id AND p.owner_id = :owner_id AND p.status = 'active'
  AND named.day ~ '^\d{4}-\d{2}-\d{2}'
  AND left(named.day, 10) < to_char(CAST(:now AS timestamptz) AT TIME ZONE 'UTC', 'YYYY-MM-DD')
ORDER BY named.day, p.id;

-- name: missing_sources
-- Pages with text that cite no source, except trajectories. Rollup sections do not count as text.
SELECT p.id, p.type, p.slug, p.title, CAST(NULL AS text) AS detail, CAST(NULL AS text) AS target FROM pages AS p
WHERE p.tenant_id = :tenant_id AND p.owner_id = :owner_id AND p.status = 'active'
  AND EXISTS (
      SELECT FROM sections AS s
      WHERE s.tenant_id = :tenant_id AND s.owner_id = :owner_id AND s.page_id = p.id AND s.body_md <> ''
        AND s.aggregation IS NULL
  )
  AND NOT jsonb_exists(p.metadata, 'trajectory_of')
  AND NOT EXISTS (
      SELECT FROM section_sources AS c
      WHERE c.tenant_id = :tenant_id AND c.owner_id = :owner_id AND c.page_id = p.id
  )
ORDER BY p.title, p.id;

-- name: duplicate_aliases
-- Names that several pages of a type have, each with one of the other pages.
SELECT named.id, named.type, named.slug, named.title, named.alias AS detail,
       named.type || '/' || CASE WHEN named.slug = named.first THEN named.last ELSE named.first END AS target
FROM (
    SELECT p.id, p.type, p.slug, p.title, a.alias, min(p.slug) OVER same AS first, max(p.slug) OVER same AS last
    FROM aliases AS a
    JOIN pages AS p ON p.tenant_id = :tenant_id AND p.owner_id = :owner_id AND p.id = a.page_id
        AND p.status = 'active'
    WHERE a.tenant_id = :tenant_id AND a.owner_id = :owner_id
    WINDOW same AS (PARTITION BY a.alias, p.type)
) AS named
WHERE named.first <> named.last
ORDER BY named.alias, named.id;

-- name: oversize
-- Pages with more characters than the settings of the wiki allow, the longest first.
SELECT p.id, p.type, p.slug, p.title, length(p.body_md) || ' characters' AS detail, CAST(NULL AS text) AS target
FROM pages AS p
WHERE p.tenant_id = :tenant_id AND p.owner_id = :owner_id AND p.status = 'active'
  AND length(p.body_md) > (
      SELECT o.oversize_characters FROM owners AS o WHERE o.tenant_id = :tenant_id AND o.id = :owner_id
  )
ORDER BY length(p.body_md) DESC, p.id;

-- name: missing_summaries
-- Pages without a summary.
SELECT p.id, p.type, p.slug, p.title, CAST(NULL AS text) AS detail, CAST(NULL AS text) AS target FROM pages AS p
WHERE p.tenant_id = :tenant_id AND p.owner_id = :owner_id AND p.status = 'active' AND coalesce(p.summary, '') = ''
ORDER BY p.title, p.id;

-- name: slug_drift
-- Pages whose slug does not match their title, except trajectories, whose slug follows from that of their page. Titles
-- with characters beyond ASCII are skipped. The slug `index` is reserved, so a page with that title has `index-page`.
SELECT p.id, p.type, p.slug, p.title, named.slug AS detail, named.slug AS target FROM pages AS p
CROSS JOIN LATERAL (
    SELECT CASE WHEN plain.slug = 'index' THEN 'index-page' ELSE plain.slug END AS slug
    FROM (VALUES (trim(BOTH '-' FROM regexp_replace(lower(p.title), '[^a-z0-9]+', '-', 'g')))) AS plain (slug)
    OFFSET 0
) AS named
WHERE p.tenant_id = :tenant_id AND p.owner_id = :owner_id AND p.status = 'active'
  AND p.title ~ '^[ -~]+$' AND length(named.slug) BETWEEN 1 AND 120
  AND regexp_replace(p.slug, '-\d+$', '') <> named.slug AND p.slug <> named.slug
  AND NOT jsonb_exists(p.metadata, 'trajectory_of')
ORDER BY p.title, p.id;

-- name: decision_shape
-- Decisions without a text in the section `decision`.
SELECT p.id, p.type, p.slug, p.title, CAST(NULL AS text) AS detail, CAST(NULL AS text) AS target FROM pages AS p
WHERE p.tenant_id = :tenant_id AND p.owner_id = :owner_id AND p.status = 'active' AND p.type = 'decision'
  AND NOT EXISTS (
      SELECT FROM sections AS s
      WHERE s.tenant_id = :tenant_id AND s.owner_id = :owner_id AND s.page_id = p.id
        AND s.section_slug = 'decision' AND s.body_md <> ''
  )
ORDER BY p.title, p.id;

-- name: unfinished_forgetting
-- Sources that were forgotten more than an hour ago and may still be quoted, because no job has finished.
SELECT CAST(NULL AS uuid) AS id, CAST(NULL AS text) AS type, CAST(NULL AS text) AS slug,
       s.kind || '/' || s.ref AS title,
       'forgotten ' || to_char(s.forgotten_at AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS detail,
       CAST(NULL AS text) AS target
FROM forgettings AS f
JOIN sources AS s ON s.tenant_id = :tenant_id AND s.owner_id = :owner_id AND s.id = f.source_id
WHERE f.tenant_id = :tenant_id AND f.owner_id = :owner_id
  AND s.forgotten_at < CAST(:now AS timestamptz) - interval '1 hour'
ORDER BY s.forgotten_at, s.id;
