-- name: mute
-- Mute a finding, until a time or forever. No row is written if the same mute is stored already.
INSERT INTO lint_mutes AS m (
    tenant_id, owner_id, check_name, subject, page_id, name, reason, author_kind, author_id, until, created_at
)
VALUES (
    CAST(:tenant_id AS uuid), CAST(:owner_id AS uuid), CAST(:check_name AS text), CAST(:subject AS text),
    CAST(:page_id AS uuid), CAST(:name AS text), CAST(:reason AS text), CAST(:author_kind AS text),
    CAST(:author_id AS text), CAST(:until AS timestamptz), CAST(:now AS timestamptz)
)
ON CONFLICT (tenant_id, owner_id, check_name, subject) DO UPDATE
SET reason = excluded.reason, author_kind = excluded.author_kind, author_id = excluded.author_id,
    until = excluded.until, created_at = excluded.created_at
WHERE (m.reason, m.until) IS DISTINCT FROM (excluded.reason, excluded.until);

-- name: unmute
-- Delete the mute of a finding.
DELETE FROM lint_mutes
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND check_name = :check_name AND subject = :subject;

-- name: add_report
-- Insert the report of a run with the number of findings of each check.
INSERT INTO lint_reports (tenant_id, owner_id, id, trigger, found, muted, counts, created_at)
VALUES (
    CAST(:tenant_id AS uuid), CAST(:owner_id AS uuid), CAST(:id AS uuid), CAST(:trigger AS text),
    CAST(:found AS integer), CAST(:muted AS integer), CAST(:counts AS jsonb), CAST(:now AS timestamptz)
);

-- name: drop_old_reports
-- Delete all but the newest reports of a wiki.
DELETE FROM lint_reports
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND id < (
    SELECT r.id FROM lint_reports AS r
    WHERE r.tenant_id = :tenant_id AND r.owner_id = :owner_id
    ORDER BY r.id DESC
    OFFSET CAST(:kept AS integer) - 1 LIMIT 1
);

-- name: is_due
-- Return whether as many sources were added since the last lint as the settings of the wiki say; zero means never.
SELECT o.lint_after_sources > 0 AND o.lint_after_sources <= (
    SELECT count(*) FROM (
        SELECT FROM sources AS s
        WHERE s.tenant_id = :tenant_id AND s.owner_id = :owner_id AND s.created_at > coalesce(
            (
                SELECT max(r.created_at) FROM lint_reports AS r
                WHERE r.tenant_id = :tenant_id AND r.owner_id = :owner_id
            ),
            '-infinity'
        )
        LIMIT 1000
    ) AS kept
)
FROM owners AS o WHERE o.tenant_id = :tenant_id AND o.id = :owner_id;

-- name: find_due
-- Return the wikis of a tenant with active pages and without an open lint job that were not linted for as many days as
-- their settings say; zero means never.
SELECT o.tenant_id, o.id AS owner_id FROM owners AS o
WHERE o.tenant_id = CAST(:tenant_id AS uuid) AND o.lint_every_days > 0
  AND NOT EXISTS (
      SELECT FROM lint_reports AS r
      WHERE r.tenant_id = CAST(:tenant_id AS uuid) AND r.owner_id = o.id
        AND r.created_at > CAST(:now AS timestamptz) - interval '1 day' * o.lint_every_days
  )
  AND NOT EXISTS (
      SELECT FROM compile_jobs AS j
      WHERE j.tenant_id = CAST(:tenant_id AS uuid) AND j.owner_id = o.id AND j.trigger = 'lint'
        AND j.status IN ('pending', 'running')
  )
  AND EXISTS (
      SELECT FROM pages AS p
      WHERE p.tenant_id = CAST(:tenant_id AS uuid) AND p.owner_id = o.id AND p.status = 'active'
  )
ORDER BY o.id;
