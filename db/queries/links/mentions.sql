-- name: find_owner
-- Return the owner of a mention.
SELECT owner_id FROM mentions WHERE tenant_id = :tenant_id AND id = :id;

-- name: find_mention
-- Return a mention.
SELECT id, name, status, mention_count FROM mentions
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND id = :mention_id;

-- name: find_counting
-- Return the mention that a new sighting of a name counts for. A mention that was promoted to a deleted page does not
-- count.
SELECT id, status, mention_count, suggested_type, contexts, first_seen_at, last_seen_at FROM mentions
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND alias = :alias
  AND (status <> 'promoted' OR promoted_page_id IS NOT NULL)
ORDER BY CASE status WHEN 'ignored' THEN 1 WHEN 'promoted' THEN 2 ELSE 3 END
LIMIT 1;

-- name: write_sighting
-- Write the sighting of a source in a mention. A source has one sighting, of its newest version that contains the name.
-- Return no row if this version or a newer one is stored already, otherwise a row with the version that is replaced.
WITH former AS MATERIALIZED (
    SELECT seen.source_id, named.version FROM sources AS named
    JOIN sightings AS seen
        ON seen.tenant_id = :tenant_id AND seen.owner_id = :owner_id AND seen.mention_id = :mention_id
        AND seen.source_id = named.id
    WHERE named.tenant_id = :tenant_id AND named.owner_id = :owner_id AND named.kind = :kind AND named.ref = :ref
), added AS (
    INSERT INTO sightings (tenant_id, owner_id, mention_id, source_id, seen_at)
    SELECT CAST(:tenant_id AS uuid), CAST(:owner_id AS uuid), CAST(:mention_id AS uuid), CAST(:source_id AS uuid),
           CAST(:seen_at AS timestamptz)
    WHERE NOT EXISTS (SELECT 1 FROM former)
    RETURNING source_id
), moved AS (
    UPDATE sightings AS seen SET source_id = :source_id, seen_at = :seen_at FROM former
    WHERE seen.tenant_id = :tenant_id AND seen.owner_id = :owner_id AND seen.mention_id = :mention_id
      AND seen.source_id = former.source_id AND former.version < :version
    RETURNING former.source_id
)
SELECT CAST(NULL AS uuid) AS former_id FROM added
UNION ALL
SELECT source_id FROM moved;

-- name: add_to_count
-- Add to the number of sources of a mention, and store the quotes and the suggested type.
UPDATE mentions
SET mention_count = mention_count + CAST(:added AS integer), contexts = :contexts, suggested_type = :suggested_type,
    first_seen_at = least(first_seen_at, CAST(:seen_at AS timestamptz)),
    last_seen_at = greatest(last_seen_at, CAST(:seen_at AS timestamptz))
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND id = :mention_id;

-- name: ignore
-- Ignore a mention.
UPDATE mentions SET status = 'ignored'
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND id = :mention_id;

-- name: find_each_counting
-- Return the mention that a new sighting of each of these names counts for, as in find_counting.
SELECT DISTINCT ON (alias) id, name, alias, status, mention_count, suggested_type, contexts, cluster, first_seen_at,
    last_seen_at
FROM mentions
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND alias = ANY(CAST(:aliases AS text[]))
  AND (status <> 'promoted' OR promoted_page_id IS NOT NULL)
ORDER BY alias, CASE status WHEN 'ignored' THEN 1 WHEN 'promoted' THEN 2 ELSE 3 END;

-- name: find_seen
-- Return the version of a source that has a sighting in each mention; there is at most one.
SELECT given.mention_id, named.kind, named.ref, named.id AS source_id, named.version
FROM unnest(CAST(:mention_ids AS uuid[]), CAST(:kinds AS text[]), CAST(:refs AS text[]))
    AS given (mention_id, kind, ref)
JOIN sources AS named ON named.tenant_id = :tenant_id AND named.owner_id = :owner_id
    AND named.kind = given.kind AND named.ref = given.ref
JOIN sightings AS seen ON seen.tenant_id = :tenant_id AND seen.owner_id = :owner_id
    AND seen.mention_id = given.mention_id AND seen.source_id = named.id;

-- name: add_each
-- Insert mentions of new names.
INSERT INTO mentions (
    tenant_id, owner_id, id, name, alias, status, mention_count, suggested_type, contexts, cluster, first_seen_at,
    last_seen_at
)
SELECT CAST(:tenant_id AS uuid), CAST(:owner_id AS uuid), given.id, given.name, given.alias, 'open',
       given.mention_count, given.suggested_type, given.contexts, given.cluster, given.first_seen_at,
       given.last_seen_at
FROM jsonb_to_recordset(CAST(:mentions AS jsonb)) AS given (
    id uuid, name text, alias text, mention_count integer, suggested_type text, contexts jsonb, cluster jsonb,
    first_seen_at timestamptz, last_seen_at timestamptz
);

-- name: update_each
-- Update mentions.
UPDATE mentions AS m
SET mention_count = given.mention_count, suggested_type = given.suggested_type, contexts = given.contexts,
    cluster = given.cluster, first_seen_at = given.first_seen_at, last_seen_at = given.last_seen_at
FROM jsonb_to_recordset(CAST(:mentions AS jsonb)) AS given (
    id uuid, mention_count integer, suggested_type text, contexts jsonb, cluster jsonb, first_seen_at timestamptz,
    last_seen_at timestamptz
)
WHERE m.tenant_id = :tenant_id AND m.owner_id = :owner_id AND m.id = given.id;

-- name: drop_seen
-- Delete the sightings of older versions of sources, which are replaced.
DELETE FROM sightings AS seen
USING unnest(CAST(:mention_ids AS uuid[]), CAST(:source_ids AS uuid[])) AS given (mention_id, source_id)
WHERE seen.tenant_id = :tenant_id AND seen.owner_id = :owner_id AND seen.mention_id = given.mention_id
  AND seen.source_id = given.source_id;

-- name: add_seen
-- Insert sightings.
INSERT INTO sightings (tenant_id, owner_id, mention_id, source_id, seen_at)
SELECT CAST(:tenant_id AS uuid), CAST(:owner_id AS uuid), given.mention_id, given.source_id, given.seen_at
FROM unnest(CAST(:mention_ids AS uuid[]), CAST(:source_ids AS uuid[]), CAST(:seen_at AS timestamptz[]))
    AS given (mention_id, source_id, seen_at);

-- name: absorb_sightings
-- Copy the sightings of former mentions of these names, whose pages were deleted, to the newly promoted ones.
INSERT INTO sightings (tenant_id, owner_id, mention_id, source_id, seen_at)
SELECT fresh.tenant_id, fresh.owner_id, fresh.id, seen.source_id, seen.seen_at
FROM mentions AS fresh
JOIN mentions AS old ON old.tenant_id = :tenant_id AND old.owner_id = :owner_id AND old.alias = fresh.alias
    AND old.status = 'promoted' AND old.promoted_page_id IS NULL
JOIN sightings AS seen ON seen.tenant_id = :tenant_id AND seen.owner_id = :owner_id AND seen.mention_id = old.id
WHERE fresh.tenant_id = :tenant_id AND fresh.owner_id = :owner_id AND fresh.status = 'open'
  AND fresh.alias = ANY(CAST(:aliases AS text[]))
ON CONFLICT (tenant_id, mention_id, source_id) DO NOTHING;

-- name: drop_absorbed
-- Delete the former mentions, whose sightings absorb_sightings has copied.
DELETE FROM mentions AS old
WHERE old.tenant_id = :tenant_id AND old.owner_id = :owner_id AND old.status = 'promoted'
  AND old.promoted_page_id IS NULL AND old.alias = ANY(CAST(:aliases AS text[]))
  AND EXISTS (
      SELECT FROM mentions AS fresh
      WHERE fresh.tenant_id = :tenant_id AND fresh.owner_id = :owner_id AND fresh.status = 'open'
        AND fresh.alias = old.alias
  );

-- name: promote
-- Mark mentions as promoted to these pages.
UPDATE mentions AS m SET status = 'promoted', promoted_page_id = given.page_id
FROM unnest(CAST(:aliases AS text[]), CAST(:page_ids AS uuid[])) AS given (alias, page_id)
WHERE m.tenant_id = :tenant_id AND m.owner_id = :owner_id AND m.status = 'open' AND m.alias = given.alias;
