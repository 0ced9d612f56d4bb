-- name: add_event
-- Insert an event of the audit log, which is never changed.
INSERT INTO audit_events (
    tenant_id, id, at, action, outcome, actor_kind, actor_id, subject, address, request_id, detail, times
)
VALUES (
    CAST(:tenant_id AS uuid), CAST(:id AS uuid), CAST(:at AS timestamptz), CAST(:action AS text),
    CAST(:outcome AS text), CAST(:actor_kind AS text), CAST(:actor_id AS text), CAST(:subject AS text),
    CAST(:address AS text), CAST(:request_id AS text), CAST(:detail AS jsonb), CAST(:times AS integer)
);

-- name: list_events
-- Return the newest events of a tenant after an id, the newest first.
SELECT id, at, action, outcome, actor_kind, actor_id, subject, address, request_id, detail, times FROM audit_events
WHERE tenant_id = CAST(:tenant_id AS uuid) AND id > CAST(:after AS uuid)
    AND (
        CAST(:action AS text) IS NULL OR action = CAST(:action AS text)
        OR starts_with(action, CAST(:action AS text) || '.')
    )
    AND (CAST(:outcome AS text) IS NULL OR outcome = CAST(:outcome AS text))
    AND (CAST(:actor_id AS text) IS NULL OR actor_id = CAST(:actor_id AS text))
ORDER BY id DESC
LIMIT CAST(:limit AS integer);
