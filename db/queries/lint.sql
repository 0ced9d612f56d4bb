-- name: broken_links
-- Links to what nobody answers to.
SELECT p.id, p.type, p.slug, p.title, t.target AS detail, count(*) OVER () AS total FROM link_targets AS t
JOIN pages AS p ON p.tenant_id = :tenant_id AND p.owner_id = :owner_id AND p.id = t.from_page_id
    AND p.status = 'active'
WHERE t.tenant_id = :tenant_id AND t.owner_id = :owner_id AND t.to_page_id IS NULL AND t.space IS NULL
ORDER BY p.title, p.id, t.target
LIMIT :most;

-- name: unknown_spaces
-- Links into a space that the tenant does not have, or that the caller may not read: nobody is told which.
SELECT p.id, p.type, p.slug, p.title, t.target AS detail, count(*) OVER () AS total FROM link_targets AS t
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
ORDER BY p.title, p.id, t.target
LIMIT :most;

-- name: broken_space_links
-- Links to what nobody answers to in a space that the caller may read.
SELECT p.id, p.type, p.slug, p.title, t.target AS detail, count(*) OVER () AS total FROM link_targets AS t
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
          AND found.status = 'active' AND (t.type IS NULL OR found.type = t.type)
      WHERE once.tenant_id = :tenant_id AND once.owner_id = o.id AND once.slug = t.slug
  )
  AND NOT EXISTS (
      SELECT FROM aliases AS a
      JOIN pages AS found ON found.tenant_id = :tenant_id AND found.owner_id = o.id AND found.id = a.page_id
          AND found.status = 'active' AND (t.type IS NULL OR found.type = t.type)
      WHERE a.tenant_id = :tenant_id AND a.owner_id = o.id AND a.alias = t.alias
  )
ORDER BY p.title, p.id, t.target
LIMIT :most;

-- name: private_links
-- Links of a shared space into the wiki of a user or an agent: they lead nowhere.
SELECT p.id, p.type, p.slug, p.title, t.target AS detail, count(*) OVER () AS total FROM link_targets AS t
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
ORDER BY p.title, p.id, t.target
LIMIT :most;

-- name: contradictions
-- Claims of pages that cannot both hold, of which nobody has decided which does.
SELECT p.id, p.type, p.slug, p.title, '"' || left(c.older_claim, 100) || '" or "' || left(c.newer_claim, 100) || '"' AS detail,
       count(*) OVER () AS total
FROM contradictions AS c
JOIN pages AS p ON p.tenant_id = :tenant_id AND p.owner_id = :owner_id AND p.id = c.page_id AND p.status = 'active'
WHERE c.tenant_id = :tenant_id AND c.owner_id = :owner_id AND c.status = 'open'
ORDER BY c.id DESC
LIMIT :most;

-- name: renamed_pages
-- Entities that seem to be one under two names: half of the sources of each are those of the other, of three at least,
-- and a source newer than the first of them says that the one is now called as the other is.
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
)
SELECT old.id, old.type, old.slug, old.title,
       said.kind || ':' || said.ref || ' says that it is ' || new.title || ' now. Merge: cairn merge ' || old.type || '/'
       || old.slug || ' ' || new.type || '/' || new.slug AS detail,
       count(*) OVER () AS total
FROM pair
JOIN pages AS old ON old.tenant_id = :tenant_id AND old.owner_id = :owner_id AND old.id = pair.old_id
JOIN pages AS new ON new.tenant_id = :tenant_id AND new.owner_id = :owner_id AND new.id = pair.new_id
CROSS JOIN LATERAL (
    SELECT s.kind, s.ref
    FROM cited
    JOIN sources AS s ON s.tenant_id = :tenant_id AND s.owner_id = :owner_id AND s.id = cited.source_id
    CROSS JOIN unnest(CAST(:forms AS text[])) AS form (words)
    JOIN aliases AS once ON once.tenant_id = :tenant_id AND once.owner_id = :owner_id AND once.page_id = old.id
    JOIN aliases AS now ON now.tenant_id = :tenant_id AND now.owner_id = :owner_id AND now.page_id = new.id
    WHERE cited.page_id IN (old.id, new.id)
      AND position(lower(once.name || form.words || now.name) IN lower(s.content)) > 0
      AND s.captured_at > (
          SELECT min(first.captured_at) FROM cited AS own
          JOIN sources AS first
              ON first.tenant_id = :tenant_id AND first.owner_id = :owner_id AND first.id = own.source_id
          WHERE own.page_id = old.id
      )
    ORDER BY s.captured_at DESC, s.id
    LIMIT 1
) AS said
ORDER BY old.title, old.id, new.id
LIMIT :most;

-- name: missing_pages
-- Names that three pages link to and none has.
SELECT CAST(NULL AS uuid) AS id, named.type, named.slug, named.alias AS title,
       named.pages || ' pages link to it' AS detail, count(*) OVER () AS total
FROM (
    SELECT t.slug, max(t.type) AS type, max(t.alias) AS alias, count(DISTINCT t.from_page_id) AS pages
    FROM link_targets AS t
    JOIN pages AS p ON p.tenant_id = :tenant_id AND p.owner_id = :owner_id AND p.id = t.from_page_id
        AND p.status = 'active'
    WHERE t.tenant_id = :tenant_id AND t.owner_id = :owner_id AND t.to_page_id IS NULL AND t.space IS NULL
    GROUP BY t.slug
) AS named
WHERE named.pages >= 3
ORDER BY named.pages DESC, named.slug
LIMIT :most;

-- name: earned_names
-- Mentions that were seen often enough for a page, which the next sweep makes.
SELECT CAST(NULL AS uuid) AS id, m.suggested_type AS type, CAST(NULL AS text) AS slug, m.name AS title,
       'seen in ' || m.mention_count || ' sources' AS detail, count(*) OVER () AS total
FROM mentions AS m
WHERE m.tenant_id = :tenant_id AND m.owner_id = :owner_id AND m.status = 'open' AND m.mention_count >= 3
  AND EXISTS (
      SELECT FROM (
          SELECT seen.seen_at, lag(seen.seen_at, 2) OVER (ORDER BY seen.seen_at) AS third FROM sightings AS seen
          WHERE seen.tenant_id = :tenant_id AND seen.owner_id = :owner_id AND seen.mention_id = m.id
      ) AS spaced
      WHERE spaced.seen_at - spaced.third <= interval '30 days'
  )
ORDER BY m.mention_count DESC, m.alias
LIMIT :most;

-- name: orphans
-- Pages that no other leads to.
SELECT p.id, p.type, p.slug, p.title, CAST(NULL AS text) AS detail, count(*) OVER () AS total FROM pages AS p
WHERE p.tenant_id = :tenant_id AND p.owner_id = :owner_id AND p.status = 'active' AND p.parent_page_id IS NULL
  AND NOT EXISTS (
      SELECT FROM links AS l
      JOIN pages AS f ON f.tenant_id = :tenant_id AND f.owner_id = :owner_id AND f.id = l.from_page_id
          AND f.status = 'active'
      WHERE l.tenant_id = :tenant_id AND l.owner_id = :owner_id AND l.to_page_id = p.id
  )
ORDER BY p.title, p.id
LIMIT :most;

-- name: stale
-- Pages that nobody has changed for ninety days, longest first.
SELECT p.id, p.type, p.slug, p.title, 'since ' || to_char(p.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS detail,
       count(*) OVER () AS total
FROM pages AS p
WHERE p.tenant_id = :tenant_id AND p.owner_id = :owner_id AND p.status = 'active'
  AND p.updated_at < CAST(:now AS timestamptz) - interval '90 days'
ORDER BY p.updated_at, p.id
LIMIT :most;

-- name: expired
-- Pages whose own date of expiry is past.
SELECT p.id, p.type, p.slug, p.title, named.day AS detail, count(*) OVER () AS total FROM pages AS p
CROSS JOIN LATERAL (
    VALUES (coalesce(p.metadata ->> 'expires', p.metadata ->> 'expires_at', p.metadata ->> 'valid_until'))
) AS named (day)
WHERE p.tenant_id = :tenant_id AND p.owner_id = :owner_id AND p.status = 'active'
  AND named.day ~ '^\d{4}-\d{2}-\d{2}'
  AND left(named.day, 10) < to_char(CAST(:now AS timestamptz) AT TIME ZONE 'UTC', 'YYYY-MM-DD')
ORDER BY named.day, p.id
LIMIT :most;

-- name: missing_sources
-- Pages that say something and cite nothing; lists of pages rest on those.
SELECT p.id, p.type, p.slug, p.title, CAST(NULL AS text) AS detail, count(*) OVER () AS total FROM pages AS p
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
ORDER BY p.title, p.id
LIMIT :most;

-- name: duplicate_aliases
-- Names to which several pages of a type answer.
SELECT p.id, p.type, p.slug, p.title, a.alias AS detail, count(*) OVER () AS total FROM aliases AS a
JOIN pages AS p ON p.tenant_id = :tenant_id AND p.owner_id = :owner_id AND p.id = a.page_id AND p.status = 'active'
WHERE a.tenant_id = :tenant_id AND a.owner_id = :owner_id AND EXISTS (
    SELECT FROM aliases AS b
    JOIN pages AS other ON other.tenant_id = :tenant_id AND other.owner_id = :owner_id AND other.id = b.page_id
        AND other.status = 'active' AND other.type = p.type
    WHERE b.tenant_id = :tenant_id AND b.owner_id = :owner_id AND b.alias = a.alias AND b.page_id <> a.page_id
)
ORDER BY a.alias, p.id
LIMIT :most;

-- name: oversize
-- Pages that nobody reads to the end, longest first.
SELECT p.id, p.type, p.slug, p.title, length(p.body_md) || ' characters' AS detail, count(*) OVER () AS total
FROM pages AS p
WHERE p.tenant_id = :tenant_id AND p.owner_id = :owner_id AND p.status = 'active' AND length(p.body_md) > 20000
ORDER BY length(p.body_md) DESC, p.id
LIMIT :most;

-- name: missing_summaries
-- Pages that do not say in a line what they are about.
SELECT p.id, p.type, p.slug, p.title, CAST(NULL AS text) AS detail, count(*) OVER () AS total FROM pages AS p
WHERE p.tenant_id = :tenant_id AND p.owner_id = :owner_id AND p.status = 'active' AND coalesce(p.summary, '') = ''
ORDER BY p.title, p.id
LIMIT :most;

-- name: slug_drift
-- Pages whose address says something else than their title; titles beyond ASCII are not judged. The slug `index` is
-- reserved: a page of that title has `index-page`.
SELECT p.id, p.type, p.slug, p.title, named.slug AS detail, count(*) OVER () AS total FROM pages AS p
CROSS JOIN LATERAL (
    SELECT CASE WHEN plain.slug = 'index' THEN 'index-page' ELSE plain.slug END AS slug
    FROM (VALUES (trim(BOTH '-' FROM regexp_replace(lower(p.title), '[^a-z0-9]+', '-', 'g')))) AS plain (slug)
) AS named
WHERE p.tenant_id = :tenant_id AND p.owner_id = :owner_id AND p.status = 'active'
  AND p.title ~ '^[ -~]+$' AND length(named.slug) BETWEEN 1 AND 120
  AND regexp_replace(p.slug, '-\d+$', '') <> named.slug AND p.slug <> named.slug
ORDER BY p.title, p.id
LIMIT :most;

-- name: decision_shape
-- Decisions that do not say what was decided.
SELECT p.id, p.type, p.slug, p.title, CAST(NULL AS text) AS detail, count(*) OVER () AS total FROM pages AS p
WHERE p.tenant_id = :tenant_id AND p.owner_id = :owner_id AND p.status = 'active' AND p.type = 'decision'
  AND NOT EXISTS (
      SELECT FROM sections AS s
      WHERE s.tenant_id = :tenant_id AND s.owner_id = :owner_id AND s.page_id = p.id
        AND s.section_slug = 'decision' AND s.body_md <> ''
  )
ORDER BY p.title, p.id
LIMIT :most;

-- name: unfinished_forgetting
-- Sources that are forgotten and still quoted somewhere, because no job has come to its end.
SELECT CAST(NULL AS uuid) AS id, CAST(NULL AS text) AS type, CAST(NULL AS text) AS slug, s.kind || '/' || s.ref AS title,
       'forgotten ' || to_char(s.forgotten_at AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS detail, count(*) OVER () AS total
FROM forgettings AS f
JOIN sources AS s ON s.tenant_id = :tenant_id AND s.owner_id = :owner_id AND s.id = f.source_id
WHERE f.tenant_id = :tenant_id AND f.owner_id = :owner_id
  AND s.forgotten_at < CAST(:now AS timestamptz) - interval '1 hour'
ORDER BY s.forgotten_at, s.id
LIMIT :most;
