-- name: add_webhook
-- Add a webhook, unless the tenant has the maximum number.
INSERT INTO webhooks (tenant_id, id, url, secret, owner_ids, kinds, types, ceiling)
SELECT CAST(:tenant_id AS uuid), CAST(:id AS uuid), CAST(:url AS text), CAST(:secret AS text),
       CAST(:owner_ids AS uuid[]), CAST(:kinds AS text[]), CAST(:types AS text[]), CAST(:ceiling AS text)
WHERE (SELECT count(*) FROM webhooks AS w WHERE w.tenant_id = CAST(:tenant_id AS uuid)) < CAST(:limit AS integer);

-- name: list_webhooks
-- List the webhooks of a tenant, or one of them, the oldest first, with the slugs of their owners; optionally only
-- those after an id, up to a limit.
SELECT
    w.id, w.url, w.kinds, w.types, w.ceiling, w.created_at, w.former_until, w.failing_since, w.disabled_at,
    w.disabled_reason,
    ARRAY(
        SELECT o.slug FROM owners AS o
        WHERE o.tenant_id = CAST(:tenant_id AS uuid) AND o.id = ANY(w.owner_ids)
        ORDER BY o.slug
    ) AS owners
FROM webhooks AS w
WHERE w.tenant_id = CAST(:tenant_id AS uuid)
    AND (CAST(:id AS uuid) IS NULL OR w.id = CAST(:id AS uuid))
    AND w.id > coalesce(CAST(:after AS uuid), CAST('00000000-0000-0000-0000-000000000000' AS uuid))
ORDER BY w.id
LIMIT CAST(:limit AS integer);

-- name: lock_webhook
-- Find a webhook, and lock it against changes and deletion until this transaction ends.
SELECT id, url, owner_ids, kinds, types, ceiling, disabled_at FROM webhooks
WHERE tenant_id = CAST(:tenant_id AS uuid) AND id = CAST(:id AS uuid)
FOR NO KEY UPDATE;

-- name: update_webhook
-- Update a webhook. A webhook that is enabled again, or has another URL, is not failing.
UPDATE webhooks
SET url = CAST(:url AS text), owner_ids = CAST(:owner_ids AS uuid[]), kinds = CAST(:kinds AS text[]),
    types = CAST(:types AS text[]), ceiling = CAST(:ceiling AS text), disabled_at = CAST(:disabled_at AS timestamptz),
    disabled_reason = CASE WHEN disabled_at IS NOT NULL AND CAST(:disabled_at AS timestamptz) IS NOT NULL
        THEN disabled_reason END,
    failing_since = CASE WHEN disabled_at IS NULL AND url = CAST(:url AS text) THEN failing_since END
WHERE tenant_id = CAST(:tenant_id AS uuid) AND id = CAST(:id AS uuid);

-- name: rotate_secret
-- Give a webhook a new secret. Deliveries are signed by the former one, too, during the overlap.
UPDATE webhooks
SET former_secret = secret, former_until = statement_timestamp() + CAST(:overlap AS interval),
    secret = CAST(:secret AS text)
WHERE tenant_id = CAST(:tenant_id AS uuid) AND id = CAST(:id AS uuid)
RETURNING former_until;

-- name: disable
-- Disable a webhook for a reason, so that nothing more is queued for it; optionally only if it still has this URL.
UPDATE webhooks SET disabled_at = statement_timestamp(), disabled_reason = CAST(:reason AS text)
WHERE tenant_id = CAST(:tenant_id AS uuid) AND id = CAST(:id AS uuid) AND disabled_at IS NULL
    AND (CAST(:url AS text) IS NULL OR url = CAST(:url AS text));

-- name: delete_deliveries
-- Delete a batch of the deliveries of a webhook.
DELETE FROM webhook_deliveries
WHERE tenant_id = CAST(:tenant_id AS uuid) AND id IN (
    SELECT d.id FROM webhook_deliveries AS d
    WHERE d.tenant_id = CAST(:tenant_id AS uuid) AND d.webhook_id = CAST(:id AS uuid)
    ORDER BY d.id DESC
    LIMIT CAST(:size AS integer)
);

-- name: delete_webhook
-- Delete a webhook with its queues.
DELETE FROM webhooks WHERE tenant_id = CAST(:tenant_id AS uuid) AND id = CAST(:id AS uuid);

-- name: list_deliveries
-- List the newest deliveries of a webhook, optionally only those with one status, or before an id.
SELECT d.id, o.slug AS owner, d.kind, d.page_id, d.page_type, d.slug, d.version, d.happened_at, d.status, d.attempts,
       d.attempted_at, d.finished_at, d.response_status, d.error, d.proposal_id
FROM webhook_deliveries AS d
JOIN owners AS o ON o.tenant_id = CAST(:tenant_id AS uuid) AND o.id = d.owner_id
WHERE d.tenant_id = CAST(:tenant_id AS uuid) AND d.webhook_id = CAST(:webhook_id AS uuid)
    AND (CAST(:status AS text) IS NULL OR d.status = CAST(:status AS text))
    AND (CAST(:before AS uuid) IS NULL OR d.id < CAST(:before AS uuid))
ORDER BY d.id DESC
LIMIT CAST(:limit AS integer);

-- name: lock_queues
-- Lock the queues of a webhook before old deliveries are queued again, so that a sender that is about to release one
-- considers them.
SELECT q.owner_id FROM webhook_queues AS q
WHERE q.tenant_id = CAST(:tenant_id AS uuid) AND q.webhook_id = CAST(:webhook_id AS uuid)
ORDER BY q.owner_id
FOR UPDATE;

-- name: redeliver
-- Queue dead deliveries, or one delivery whatever its status, to be sent again.
UPDATE webhook_deliveries
SET status = 'pending', finished_at = NULL, attempts = 0, error = NULL,
    retry_until = statement_timestamp() + CAST(:retried_for AS interval)
WHERE tenant_id = CAST(:tenant_id AS uuid) AND id IN (
    SELECT d.id FROM webhook_deliveries AS d
    WHERE d.tenant_id = CAST(:tenant_id AS uuid) AND d.webhook_id = CAST(:webhook_id AS uuid)
        AND CASE WHEN CAST(:id AS uuid) IS NULL THEN d.status = 'dead' ELSE d.id = CAST(:id AS uuid) END
    ORDER BY d.id
    LIMIT CAST(:limit AS integer)
);

-- name: rest_queues
-- Make the queues of a disabled webhook not due, except those that a sender has claimed, which it releases itself.
-- Otherwise another sender would send the same deliveries if the webhook is enabled again at once.
UPDATE webhook_queues SET due_at = NULL
WHERE tenant_id = CAST(:tenant_id AS uuid) AND webhook_id = CAST(:webhook_id AS uuid) AND due_at IS NOT NULL
    AND claimed_by IS NULL;

-- name: wake_queues
-- Make the queues of a webhook that have pending deliveries due now, except those that a sender has claimed.
UPDATE webhook_queues AS q SET due_at = statement_timestamp()
WHERE q.tenant_id = CAST(:tenant_id AS uuid) AND q.webhook_id = CAST(:webhook_id AS uuid) AND q.claimed_by IS NULL
    AND EXISTS (
        SELECT FROM webhook_deliveries AS d
        WHERE d.tenant_id = CAST(:tenant_id AS uuid) AND d.webhook_id = CAST(:webhook_id AS uuid)
            AND d.owner_id = q.owner_id AND d.status = 'pending'
    );

-- name: prune_deliveries
-- Delete the oldest deliveries of a tenant that were finished before a moment; dead ones are kept longer.
DELETE FROM webhook_deliveries
WHERE tenant_id = CAST(:tenant_id AS uuid) AND id IN (
    SELECT d.id FROM webhook_deliveries AS d
    WHERE d.tenant_id = CAST(:tenant_id AS uuid) AND (
        (d.status = 'delivered' AND d.finished_at < CAST(:delivered_before AS timestamptz))
        OR (d.status = 'dead' AND d.finished_at < CAST(:dead_before AS timestamptz))
    )
    ORDER BY d.finished_at
    LIMIT CAST(:size AS integer)
);

-- name: count_deliveries
-- Count the pending and dead deliveries of a tenant, and return the age in seconds of the oldest pending delivery whose
-- webhook is not failing.
SELECT count(*) FILTER (WHERE d.status = 'pending') AS pending,
       count(*) FILTER (WHERE d.status = 'dead') AS dead,
       max(extract(epoch FROM statement_timestamp() - d.happened_at))
           FILTER (WHERE d.status = 'pending' AND w.failing_since IS NULL AND w.disabled_at IS NULL) AS oldest
FROM webhook_deliveries AS d
JOIN webhooks AS w ON w.tenant_id = CAST(:tenant_id AS uuid) AND w.id = d.webhook_id
WHERE d.tenant_id = CAST(:tenant_id AS uuid) AND d.status IN ('pending', 'dead');
