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
WITH former AS (
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
