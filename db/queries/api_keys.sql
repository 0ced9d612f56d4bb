-- name: add_key
-- A new key, of which only the hash is kept.
INSERT INTO api_keys (key_hash, tenant_id, id, name, role, owner_ids, expires_at)
VALUES (
    CAST(:key_hash AS bytea),
    CAST(:tenant_id AS uuid),
    CAST(:id AS uuid),
    CAST(:name AS text),
    CAST(:role AS text),
    CAST(:owner_ids AS uuid[]),
    CAST(:expires_at AS timestamptz)
);

-- name: find_key
-- Whose key this is: the one statement that is asked before the tenant is known.
SELECT tenant_id, id, role, owner_ids, expires_at, revoked_at FROM api_keys WHERE key_hash = CAST(:key_hash AS bytea);

-- name: revoke_key
-- Ends a key; one that has ended keeps its first moment.
UPDATE api_keys
SET revoked_at = coalesce(revoked_at, CAST(:now AS timestamptz))
WHERE tenant_id = CAST(:tenant_id AS uuid) AND id = CAST(:id AS uuid);
