-- name: find_owner
-- In whose wiki a mention was recorded.
SELECT owner_id FROM mentions WHERE tenant_id = :tenant_id AND id = :id;

-- name: find_mention
-- One mention.
SELECT id, name, status, mention_count FROM mentions
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND id = :mention_id;

-- name: find_counting
-- The mention that a new sighting of a name counts for; one promoted to a page that is gone counts no more.
SELECT id, status, mention_count, suggested_type, contexts, first_seen_at, last_seen_at FROM mentions
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND alias = :alias
  AND (status <> 'promoted' OR promoted_page_id IS NOT NULL)
ORDER BY CASE status WHEN 'ignored' THEN 1 WHEN 'promoted' THEN 2 ELSE 3 END
LIMIT 1;

-- name: see
-- A source names it: once, whatever the number of its versions, and the newest that does stands for all. Nothing comes
-- back for the same version again or an older one; else a row, with the version that stood for it before.
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

-- name: count
-- So many sources more, and what they said.
UPDATE mentions
SET mention_count = mention_count + CAST(:added AS integer), contexts = :contexts, suggested_type = :suggested_type,
    first_seen_at = least(first_seen_at, CAST(:seen_at AS timestamptz)),
    last_seen_at = greatest(last_seen_at, CAST(:seen_at AS timestamptz))
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND id = :mention_id;

-- name: ignore
-- Nobody wants a page for it.
UPDATE mentions SET status = 'ignored'
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND id = :mention_id;

-- name: find_each_counting
-- The mention that a new sighting of each of these names counts for, as in find_counting.
SELECT DISTINCT ON (alias) id, name, alias, status, mention_count, suggested_type, contexts, cluster, first_seen_at,
    last_seen_at
FROM mentions
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND alias = ANY(CAST(:aliases AS text[]))
  AND (status <> 'promoted' OR promoted_page_id IS NOT NULL)
ORDER BY alias, CASE status WHEN 'ignored' THEN 1 WHEN 'promoted' THEN 2 ELSE 3 END;

-- name: find_seen
-- For each mention the versions of a source that stand for it already: there is one at most.
SELECT given.mention_id, named.kind, named.ref, named.id AS source_id, named.version
FROM unnest(CAST(:mention_ids AS uuid[]), CAST(:kinds AS text[]), CAST(:refs AS text[]))
    AS given (mention_id, kind, ref)
JOIN sources AS named ON named.tenant_id = :tenant_id AND named.owner_id = :owner_id
    AND named.kind = given.kind AND named.ref = given.ref
JOIN sightings AS seen ON seen.tenant_id = :tenant_id AND seen.owner_id = :owner_id
    AND seen.mention_id = given.mention_id AND seen.source_id = named.id;

-- name: add_each
-- Names that are seen for the first time.
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
-- What names that were seen before have come to.
UPDATE mentions AS m
SET mention_count = given.mention_count, suggested_type = given.suggested_type, contexts = given.contexts,
    cluster = given.cluster, first_seen_at = given.first_seen_at, last_seen_at = given.last_seen_at
FROM jsonb_to_recordset(CAST(:mentions AS jsonb)) AS given (
    id uuid, mention_count integer, suggested_type text, contexts jsonb, cluster jsonb, first_seen_at timestamptz,
    last_seen_at timestamptz
)
WHERE m.tenant_id = :tenant_id AND m.owner_id = :owner_id AND m.id = given.id;

-- name: drop_seen
-- Older versions of sources, in whose place a newer one stands now.
DELETE FROM sightings AS seen
USING unnest(CAST(:mention_ids AS uuid[]), CAST(:source_ids AS uuid[])) AS given (mention_id, source_id)
WHERE seen.tenant_id = :tenant_id AND seen.owner_id = :owner_id AND seen.mention_id = given.mention_id
  AND seen.source_id = given.source_id;

-- name: add_seen
-- Sources that name something.
INSERT INTO sightings (tenant_id, owner_id, mention_id, source_id, seen_at)
SELECT CAST(:tenant_id AS uuid), CAST(:owner_id AS uuid), given.mention_id, given.source_id, given.seen_at
FROM unnest(CAST(:mention_ids AS uuid[]), CAST(:source_ids AS uuid[]), CAST(:seen_at AS timestamptz[]))
    AS given (mention_id, source_id, seen_at);
