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
-- A source names it; the same source again is no change.
INSERT INTO sightings (tenant_id, owner_id, mention_id, source_id, seen_at)
VALUES (:tenant_id, :owner_id, :mention_id, :source_id, :seen_at)
ON CONFLICT (tenant_id, mention_id, source_id) DO NOTHING;

-- name: count
-- One more source, and what it said.
UPDATE mentions
SET mention_count = mention_count + 1, contexts = :contexts, suggested_type = :suggested_type,
    first_seen_at = least(first_seen_at, CAST(:seen_at AS timestamptz)),
    last_seen_at = greatest(last_seen_at, CAST(:seen_at AS timestamptz))
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND id = :mention_id;

-- name: ignore
-- Nobody wants a page for it.
UPDATE mentions SET status = 'ignored'
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND id = :mention_id;
