-- name: find_moment
-- Return the time from which the age of rows is computed.
SELECT statement_timestamp();

-- name: prune_activity
-- Delete a batch of the activity log of a tenant that is older than a moment, the oldest first. The age of a row is
-- known by its id.
DELETE FROM activity
WHERE tenant_id = :tenant_id AND id IN (
    SELECT old.id FROM activity AS old
    WHERE old.tenant_id = :tenant_id AND old.id < :before
    ORDER BY old.id
    LIMIT :size
);

-- name: prune_jobs
-- Delete a batch of the jobs of a tenant that finished before a moment, the oldest first.
DELETE FROM compile_jobs
WHERE tenant_id = :tenant_id AND id IN (
    SELECT old.id FROM compile_jobs AS old
    WHERE old.tenant_id = :tenant_id AND old.id < :before AND old.finished_at < :ended_before
      AND old.status IN ('succeeded', 'failed', 'cancelled')
    ORDER BY old.id
    LIMIT :size
);

-- name: prune_audit
-- Delete a batch of the audit events of a tenant that are older than a moment, the oldest first. Refused credentials
-- have a later moment.
DELETE FROM audit_events
WHERE tenant_id = :tenant_id AND id IN (
    SELECT old.id FROM audit_events AS old
    WHERE old.tenant_id = :tenant_id AND (old.id < :before OR (old.outcome = 'refused' AND old.id < :refused_before))
    ORDER BY old.id
    LIMIT :size
);

-- name: prune_authorizations
-- Delete the OAuth authorizations of a tenant that were not redeemed in time, were withdrawn, or have expired.
DELETE FROM oauth_authorizations
WHERE tenant_id = :tenant_id AND (
    withdrawn_at IS NOT NULL OR expires_at <= statement_timestamp()
    OR (redeemed_at IS NULL AND code_expires_at <= statement_timestamp())
);

-- name: find_retention
-- Return the days for which a tenant keeps each kind of rows, as far as it has set them.
SELECT coalesce(settings -> 'retention', '{}') FROM tenants WHERE tenant_id = CAST(:tenant_id AS uuid);

-- name: set_retention
-- Set the days for which a tenant keeps the given kinds of rows; a null removes the setting of a kind. Return the
-- settings of the tenant.
UPDATE tenants SET settings = settings || jsonb_build_object(
    'retention', jsonb_strip_nulls(coalesce(settings -> 'retention', '{}') || CAST(:days AS jsonb))
)
WHERE tenant_id = CAST(:tenant_id AS uuid)
RETURNING settings;

-- name: prune_revisions
-- Empty the old states of pages, except those that other states are stored as deltas of. The rows stay.
UPDATE revisions AS r
SET title = p.title, summary = NULL, body_md = '', tags = '{}', edit_summary = NULL, base_version = NULL,
    base_starts = NULL, base_lengths = NULL, base_texts = NULL, slug = NULL, metadata = NULL, aliases = NULL,
    facts_version = NULL, erased_at = now()
FROM pages AS p
WHERE r.tenant_id = :tenant_id AND p.tenant_id = :tenant_id AND p.owner_id = r.owner_id AND p.id = r.page_id
  AND r.id IN (
      SELECT old.id FROM revisions AS old
      JOIN pages AS now ON now.tenant_id = :tenant_id AND now.owner_id = old.owner_id AND now.id = old.page_id
      WHERE old.tenant_id = :tenant_id AND old.id < :before AND old.version < now.version AND old.erased_at IS NULL
        AND NOT EXISTS (
            SELECT FROM revisions AS later
            WHERE later.tenant_id = :tenant_id AND later.page_id = old.page_id AND later.version > old.version
              AND (later.base_version = old.version OR later.facts_version = old.version)
        )
      ORDER BY old.id
      LIMIT :size
  );

-- name: find_stale_sources
-- List the oldest sources that are not forgotten and have no new version.
SELECT s.id, s.owner_id FROM sources AS s
WHERE s.tenant_id = :tenant_id AND s.id < :before AND s.forgotten_at IS NULL AND NOT EXISTS (
    SELECT FROM sources AS n
    WHERE n.tenant_id = :tenant_id AND n.owner_id = s.owner_id AND n.kind = s.kind AND n.ref = s.ref AND n.id >= :before
)
ORDER BY s.id
LIMIT :size;
