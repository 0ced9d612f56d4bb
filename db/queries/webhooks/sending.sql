-- name: find_due
-- Find the queue of a tenant that has been due longest. Queues of disabled webhooks are skipped.
SELECT q.tenant_id, q.due_at FROM webhook_queues AS q
JOIN webhooks AS w ON w.tenant_id = CAST(:tenant_id AS uuid) AND w.id = q.webhook_id AND w.disabled_at IS NULL
WHERE q.tenant_id = CAST(:tenant_id AS uuid) AND q.due_at <= statement_timestamp()
ORDER BY q.due_at
LIMIT 1;

-- name: claim_queue
-- Claim the queue that has been due longest, except those that other senders are claiming and those of busy webhooks.
-- It is due again for any sender when this claim expires.
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
-- Find a webhook as a sender needs it, with its former secret as long as that is valid.
SELECT w.url, w.failing_since, w.disabled_at, t.slug AS tenant, statement_timestamp() AS now,
       array_remove(ARRAY[
           w.secret, CASE WHEN w.former_until > statement_timestamp() THEN w.former_secret END
       ], NULL) AS secrets
FROM webhooks AS w
JOIN tenants AS t ON t.tenant_id = CAST(:tenant_id AS uuid)
WHERE w.tenant_id = CAST(:tenant_id AS uuid) AND w.id = CAST(:webhook_id AS uuid);

-- name: find_pending
-- List the first pending deliveries of a queue in order. The reason of a decision is read from the proposal.
SELECT d.id, d.kind, d.page_id, d.page_type, d.slug, d.version, d.happened_at, d.proposal_id, d.operation,
       d.significance, d.author_kind, d.author_id, p.reason, o.slug AS owner
FROM webhook_deliveries AS d
JOIN owners AS o ON o.tenant_id = CAST(:tenant_id AS uuid) AND o.id = d.owner_id
LEFT JOIN proposals AS p ON p.tenant_id = CAST(:tenant_id AS uuid) AND p.id = d.proposal_id
WHERE d.tenant_id = CAST(:tenant_id AS uuid) AND d.webhook_id = CAST(:webhook_id AS uuid)
  AND d.owner_id = CAST(:owner_id AS uuid) AND d.status = 'pending'
ORDER BY d.position
LIMIT CAST(:limit AS integer);

-- name: mark_delivered
-- Store that a delivery was delivered.
UPDATE webhook_deliveries
SET status = 'delivered', attempts = attempts + 1, attempted_at = statement_timestamp(),
    finished_at = statement_timestamp(), response_status = CAST(:response_status AS integer), error = NULL
WHERE tenant_id = CAST(:tenant_id AS uuid) AND id = CAST(:id AS uuid) AND status = 'pending';

-- name: mark_failed
-- Store that an attempt has failed. A delivery whose time is over is dead, any other is tried again.
UPDATE webhook_deliveries
SET attempts = attempts + 1, attempted_at = statement_timestamp(),
    response_status = CAST(:response_status AS integer), error = CAST(:error AS text),
    status = CASE WHEN retry_until <= statement_timestamp() THEN 'dead' ELSE 'pending' END,
    finished_at = CASE WHEN retry_until <= statement_timestamp() THEN statement_timestamp() END
WHERE tenant_id = CAST(:tenant_id AS uuid) AND id = CAST(:id AS uuid) AND status = 'pending'
RETURNING status, attempts;

-- name: note_success
-- Store that a failing webhook accepts deliveries again.
UPDATE webhooks SET failing_since = NULL
WHERE tenant_id = CAST(:tenant_id AS uuid) AND id = CAST(:webhook_id AS uuid) AND failing_since IS NOT NULL;

-- name: hasten_queues
-- Make the pending deliveries of a webhook that accepts deliveries again due within a minute, in the queues that are
-- neither claimed nor locked.
UPDATE webhook_queues AS q SET due_at = statement_timestamp() + CAST(:pause AS interval)
WHERE q.tenant_id = CAST(:tenant_id AS uuid) AND q.webhook_id = CAST(:webhook_id AS uuid) AND q.owner_id IN (
    SELECT late.owner_id FROM webhook_queues AS late
    WHERE late.tenant_id = CAST(:tenant_id AS uuid) AND late.webhook_id = CAST(:webhook_id AS uuid)
      AND late.claimed_by IS NULL AND late.due_at > statement_timestamp() + CAST(:pause AS interval)
    FOR UPDATE SKIP LOCKED
);

-- name: note_failure
-- Store since when a webhook has been failing, unless it was failing already, or has another URL by now.
UPDATE webhooks SET failing_since = statement_timestamp()
WHERE tenant_id = CAST(:tenant_id AS uuid) AND id = CAST(:webhook_id AS uuid) AND failing_since IS NULL
  AND url = CAST(:url AS text);

-- name: bury
-- Mark a batch of the pending deliveries of a disabled webhook as dead.
UPDATE webhook_deliveries
SET status = 'dead', finished_at = statement_timestamp(), error = coalesce(error, CAST(:error AS text))
WHERE tenant_id = CAST(:tenant_id AS uuid) AND id IN (
    SELECT d.id FROM webhook_deliveries AS d
    WHERE d.tenant_id = CAST(:tenant_id AS uuid) AND d.webhook_id = CAST(:webhook_id AS uuid) AND d.status = 'pending'
    ORDER BY d.id
    LIMIT CAST(:size AS integer)
);

-- name: lock_queue
-- Lock the claimed queue before it is checked for pending deliveries, because a write that queues a delivery locks it,
-- too. The webhook is locked first, because the sender of another queue may be about to store that it accepts
-- deliveries again.
WITH webhook AS MATERIALIZED (
    SELECT w.id FROM webhooks AS w
    WHERE w.tenant_id = CAST(:tenant_id AS uuid) AND w.id = CAST(:webhook_id AS uuid)
    FOR SHARE
)
SELECT q.last_position FROM webhook
JOIN webhook_queues AS q ON q.webhook_id = webhook.id
WHERE q.tenant_id = CAST(:tenant_id AS uuid) AND q.owner_id = CAST(:owner_id AS uuid)
  AND q.webhook_id = CAST(:webhook_id AS uuid) AND q.claimed_by = CAST(:claimed_by AS text)
FOR UPDATE OF q;

-- name: release_queue
-- Release a queue. It is due after a pause if it has pending deliveries, else when a delivery is queued; the queue of a
-- disabled webhook, when that is enabled again. The pause is shorter if the webhook has accepted deliveries of another
-- queue meanwhile.
UPDATE webhook_queues
SET claimed_by = NULL, due_at = CASE WHEN EXISTS (
    SELECT FROM webhook_deliveries AS d
    WHERE d.tenant_id = CAST(:tenant_id AS uuid) AND d.webhook_id = CAST(:webhook_id AS uuid)
      AND d.owner_id = CAST(:owner_id AS uuid) AND d.status = 'pending'
) AND EXISTS (
    SELECT FROM webhooks AS w
    WHERE w.tenant_id = CAST(:tenant_id AS uuid) AND w.id = CAST(:webhook_id AS uuid) AND w.disabled_at IS NULL
) THEN statement_timestamp() + CASE WHEN EXISTS (
    SELECT FROM webhooks AS w
    WHERE w.tenant_id = CAST(:tenant_id AS uuid) AND w.id = CAST(:webhook_id AS uuid) AND w.failing_since IS NULL
) THEN least(CAST(:pause AS interval), CAST(:hastened AS interval)) ELSE CAST(:pause AS interval) END END
WHERE tenant_id = CAST(:tenant_id AS uuid) AND owner_id = CAST(:owner_id AS uuid)
  AND webhook_id = CAST(:webhook_id AS uuid) AND claimed_by = CAST(:claimed_by AS text);
