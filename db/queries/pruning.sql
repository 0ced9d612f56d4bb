-- name: prune_activity
-- The oldest lines of a tenant's log that are older than a moment go; ids are as old as what they are of.
DELETE FROM activity
WHERE tenant_id = :tenant_id AND id IN (
    SELECT old.id FROM activity AS old
    WHERE old.tenant_id = :tenant_id AND old.id < :before
    ORDER BY old.id
    LIMIT :size
);

-- name: prune_jobs
-- The oldest jobs of a tenant that were over before a moment go.
DELETE FROM compile_jobs
WHERE tenant_id = :tenant_id AND id IN (
    SELECT old.id FROM compile_jobs AS old
    WHERE old.tenant_id = :tenant_id AND old.id < :before AND old.finished_at < :ended_before
      AND old.status IN ('succeeded', 'failed', 'cancelled')
    ORDER BY old.id
    LIMIT :size
);
