-- name: find_due
-- The queue of a tenant that is due longest; queues of webhooks that are disabled wait.
SELECT q.tenant_id, q.due_at FROM webhook_queues AS q
JOIN webhooks AS w ON w.tenant_id = CAST(:tenant_id AS uuid) AND w.id = q.webhook_id AND w.disabled_at IS NULL
WHERE q.tenant_id = CAST(:tenant_id AS uuid) AND q.due_at <= statement_timestamp()
ORDER BY q.due_at
LIMIT 1;

-- name: claim_queue
-- Takes the queue that is due longest, past those that others are taking and webhooks that are busy. It is due again, for
-- whoever asks, when the time of this sender is over.
WITH due AS MATERIALIZED (
    SELECT q.owner_id, q.webhook_id FROM webhook_queues AS q
    JOIN webhooks AS w ON w.tenant_id = CAST(:tenant_id AS uuid) AND w.id = q.webhook_id AND w.disabled_at IS NULL
    WHERE q.tenant_id = CAST(:tenant_id AS uuid) AND q.due_at <= statement_timestamp()
      AND q.webhook_id <> ALL(CAST(:busy AS uuid[]))
    ORDER BY q.due_at
    LIMIT 1
    FOR UPDATE OF q SKIP LOCKED
)
UPDATE webhook_queues AS q
SET claimed_by = CAST(:claimed_by AS text), due_at = statement_timestamp() + CAST(:lease AS interval)
FROM due
WHERE q.tenant_id = CAST(:tenant_id AS uuid) AND q.owner_id = due.owner_id AND q.webhook_id = due.webhook_id
RETURNING q.tenant_id, q.owner_id, q.webhook_id;

-- name: find_target
-- A webhook as a sender needs it; its former secret as long as it is used.
SELECT w.url, w.failing_since, w.disabled_at, t.slug AS tenant, statement_timestamp() AS now,
       array_remove(ARRAY[
           w.secret, CASE WHEN w.former_until > statement_timestamp() THEN w.former_secret END
       ], NULL) AS secrets
FROM webhooks AS w
JOIN tenants AS t ON t.tenant_id = CAST(:tenant_id AS uuid)
WHERE w.tenant_id = CAST(:tenant_id AS uuid) AND w.id = CAST(:webhook_id AS uuid);

-- name: find_pending
-- The first deliveries of a queue that wait, in their order. The reason of a decision is read where it is kept.
SELECT d.id, d.kind, d.page_id, d.page_type, d.slug, d.version, d.happened_at, d.proposal_id, d.operation,
       d.significance, d.author_kind, d.author_id, p.reason, o.slug AS owner
FROM webhook_deliveries AS d
JOIN owners AS o ON o.tenant_id = CAST(:tenant_id AS uuid) AND o.id = d.owner_id
LEFT JOIN proposals AS p ON p.tenant_id = CAST(:tenant_id AS uuid) AND p.id = d.proposal_id
WHERE d.tenant_id = CAST(:tenant_id AS uuid) AND d.webhook_id = CAST(:webhook_id AS uuid)
  AND d.owner_id = CAST(:owner_id AS uuid) AND d.status = 'pending'
ORDER BY d.position
LIMIT CAST(:most AS integer);

-- name: mark_delivered
-- A delivery has arrived.
UPDATE webhook_deliveries
SET status = 'delivered', attempts = attempts + 1, attempted_at = statement_timestamp(),
    finished_at = statement_timestamp(), response_status = CAST(:response_status AS integer), error = NULL
WHERE tenant_id = CAST(:tenant_id AS uuid) AND id = CAST(:id AS uuid) AND status = 'pending';

-- name: mark_failed
-- An attempt has failed. When the time of a delivery is over it is dead, else it is to be tried again.
UPDATE webhook_deliveries
SET attempts = attempts + 1, attempted_at = statement_timestamp(),
    response_status = CAST(:response_status AS integer), error = CAST(:error AS text),
    status = CASE WHEN retry_until <= statement_timestamp() THEN 'dead' ELSE 'pending' END,
    finished_at = CASE WHEN retry_until <= statement_timestamp() THEN statement_timestamp() END
WHERE tenant_id = CAST(:tenant_id AS uuid) AND id = CAST(:id AS uuid) AND status = 'pending'
RETURNING status, attempts;

-- name: note_success
-- A webhook that has failed does so no longer.
UPDATE webhooks SET failing_since = NULL
WHERE tenant_id = CAST(:tenant_id AS uuid) AND id = CAST(:webhook_id AS uuid) AND failing_since IS NOT NULL;

-- name: hasten_queues
-- What waits for a webhook that takes something again is due within a minute, in the queues that nobody has or locks.
UPDATE webhook_queues AS q SET due_at = statement_timestamp() + CAST(:pause AS interval)
WHERE q.tenant_id = CAST(:tenant_id AS uuid) AND q.webhook_id = CAST(:webhook_id AS uuid) AND q.owner_id IN (
    SELECT late.owner_id FROM webhook_queues AS late
    WHERE late.tenant_id = CAST(:tenant_id AS uuid) AND late.webhook_id = CAST(:webhook_id AS uuid)
      AND late.claimed_by IS NULL AND late.due_at > statement_timestamp() + CAST(:pause AS interval)
    FOR UPDATE SKIP LOCKED
);

-- name: note_failure
-- A webhook fails from now on, if it has not before.
UPDATE webhooks SET failing_since = statement_timestamp()
WHERE tenant_id = CAST(:tenant_id AS uuid) AND id = CAST(:webhook_id AS uuid) AND failing_since IS NULL;

-- name: bury
-- Some of what waits for a webhook that was disabled is dead.
UPDATE webhook_deliveries
SET status = 'dead', finished_at = statement_timestamp(), error = coalesce(error, CAST(:error AS text))
WHERE tenant_id = CAST(:tenant_id AS uuid) AND id IN (
    SELECT d.id FROM webhook_deliveries AS d
    WHERE d.tenant_id = CAST(:tenant_id AS uuid) AND d.webhook_id = CAST(:webhook_id AS uuid) AND d.status = 'pending'
    ORDER BY d.id
    LIMIT CAST(:size AS integer)
);

-- name: lock_queue
-- The queue that this sender has, held before it is asked whether anything waits there: a write queues and locks alike.
SELECT last_position FROM webhook_queues
WHERE tenant_id = CAST(:tenant_id AS uuid) AND owner_id = CAST(:owner_id AS uuid)
  AND webhook_id = CAST(:webhook_id AS uuid) AND claimed_by = CAST(:claimed_by AS text)
FOR UPDATE;

-- name: release_queue
-- Leaves a queue to others: due after a pause if anything waits there, else when something is queued.
UPDATE webhook_queues
SET claimed_by = NULL, due_at = CASE WHEN EXISTS (
    SELECT FROM webhook_deliveries AS d
    WHERE d.tenant_id = CAST(:tenant_id AS uuid) AND d.webhook_id = CAST(:webhook_id AS uuid)
      AND d.owner_id = CAST(:owner_id AS uuid) AND d.status = 'pending'
) THEN statement_timestamp() + CAST(:pause AS interval) END
WHERE tenant_id = CAST(:tenant_id AS uuid) AND owner_id = CAST(:owner_id AS uuid)
  AND webhook_id = CAST(:webhook_id AS uuid) AND claimed_by = CAST(:claimed_by AS text);
