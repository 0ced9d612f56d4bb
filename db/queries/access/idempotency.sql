-- name: claim_key
-- Try to lock an idempotency key for this transaction. False if another transaction holds it.
SELECT pg_try_advisory_xact_lock(CAST(:lock AS bigint));

-- name: find_answer
-- The request and the response that are stored under an idempotency key.
SELECT request, answer FROM idempotency_keys
WHERE tenant_id = CAST(:tenant_id AS uuid) AND digest = CAST(:digest AS bytea)
    AND created_at > statement_timestamp() - CAST(:kept_for AS interval);

-- name: keep_answer
-- Store the response under an idempotency key, unless there is one that has not expired.
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
-- Delete some of a tenant's stored responses that have expired.
DELETE FROM idempotency_keys
WHERE tenant_id = CAST(:tenant_id AS uuid) AND digest IN (
    SELECT digest FROM idempotency_keys
    WHERE tenant_id = CAST(:tenant_id AS uuid) AND created_at <= statement_timestamp() - CAST(:kept_for AS interval)
    ORDER BY created_at
    LIMIT CAST(:most AS integer)
    FOR UPDATE SKIP LOCKED
);
