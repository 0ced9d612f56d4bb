-- name: find_unswept
-- Return the wikis of a tenant that were not swept today and have mentions with at least three sources.
SELECT o.tenant_id, o.id AS owner_id FROM owners AS o
WHERE o.tenant_id = CAST(:tenant_id AS uuid)
  AND NOT EXISTS (
      SELECT FROM sweeps AS s
      WHERE s.tenant_id = CAST(:tenant_id AS uuid) AND s.owner_id = o.id AND s.swept_on >= CAST(:today AS date)
  )
  AND EXISTS (
      SELECT FROM mentions AS m
      WHERE m.tenant_id = CAST(:tenant_id AS uuid) AND m.owner_id = o.id AND m.status = 'open' AND m.mention_count >= 3
  )
ORDER BY o.id;

-- name: claim_day
-- Claim the sweep of a wiki on a day. No row is written if another process has claimed it.
INSERT INTO sweeps (tenant_id, owner_id, swept_on) VALUES (:tenant_id, :owner_id, :today)
ON CONFLICT (tenant_id, owner_id) DO UPDATE SET swept_on = excluded.swept_on
WHERE sweeps.swept_on < excluded.swept_on;
