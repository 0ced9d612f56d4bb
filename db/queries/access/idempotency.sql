-- name: claim_key
-- Try to lock a key until the transaction ends. Return whether that succeeded.
SELECT pg_try_advisory_xact_lock(CAST(:lock AS bigint));

-- name: find_answer
-- Return the request and the answer that are stored for a key.
SELECT request, answer FROM idempotency_keys
WHERE tenant_id = CAST(:tenant_id AS uuid) AND digest = CAST(:digest AS bytea)
    AND created_at > statement_timestamp() - CAST(:kept_for AS interval);

-- name: keep_answer
-- Store an answer, unless one is stored that has not expired.
INSERT INTO idempotency_keys (tenant_id, digest, request, answer, created_at)
VALUES (
    CAST(:tenant_id AS uuid),
    CAST(:digest AS bytea),
    CAST(:request AS bytea),
    CAST(:answer AS bytea),
    statement_timestamp()
)
ON CONFLICT (tenant_id, digest) DO UPDATE
SET request = excluded.request, answer = excluded.answer, created_at = excluded.created_at
WHERE idempotency_keys.created_at <= excluded.created_at - CAST(:kept_for AS interval);

-- name: forget_answers
-- Delete a portion of the expired answers of a tenant.
DELETE FROM idempotency_keys
WHERE tenant_id = CAST(:tenant_id AS uuid) AND digest IN (
    SELECT digest FROM idempotency_keys
    WHERE tenant_id = CAST(:tenant_id AS uuid) AND created_at <= statement_timestamp() - CAST(:kept_for AS interval)
    ORDER BY created_at
    LIMIT CAST(:limit AS integer)
    FOR UPDATE SKIP LOCKED
);
