-- name: add_key
-- Add a key, of which only the hash is stored.
INSERT INTO api_keys (key_hash, tenant_id, id, name, role, owner_ids, expires_at, actor_kind, scopes, networks)
VALUES (
    CAST(:key_hash AS bytea),
    CAST(:tenant_id AS uuid),
    CAST(:id AS uuid),
    CAST(:name AS text),
    CAST(:role AS text),
    CAST(:owner_ids AS uuid[]),
    CAST(:expires_at AS timestamptz),
    CAST(:actor_kind AS text),
    CAST(:scopes AS text[]),
    CAST(:networks AS text[])
);

-- name: find_key
-- Find a key by the hash of its secret or of its former secret. This is the only statement before the tenant is known.
SELECT
    tenant_id, id, role, owner_ids, expires_at, revoked_at, actor_kind, scopes, networks,
    CASE WHEN former_hash = CAST(:key_hash AS bytea) THEN former_until END AS former_until,
    statement_timestamp() AS now
FROM api_keys
WHERE key_hash = CAST(:key_hash AS bytea) OR former_hash = CAST(:key_hash AS bytea);

-- name: rotate_key
-- Give a key a new secret. Only the last former secret stays valid, for the time of the overlap.
UPDATE api_keys
SET former_hash = key_hash, former_until = statement_timestamp() + CAST(:overlap AS interval),
    key_hash = CAST(:key_hash AS bytea)
WHERE tenant_id = CAST(:tenant_id AS uuid) AND id = CAST(:id AS uuid) AND revoked_at IS NULL
    AND (expires_at IS NULL OR expires_at > statement_timestamp())
RETURNING former_until;

-- name: note_use
-- Store when a key was last used. Several processes write this together once a minute.
UPDATE api_keys SET used_at = CAST(:now AS timestamptz)
WHERE tenant_id = CAST(:tenant_id AS uuid) AND id = CAST(:id AS uuid)
    AND (used_at IS NULL OR used_at < CAST(:now AS timestamptz) - INTERVAL '45 seconds');

-- name: revoke_key
-- Revoke a key; a key that is revoked already keeps the time of its revocation.
UPDATE api_keys
SET revoked_at = coalesce(revoked_at, statement_timestamp())
WHERE tenant_id = CAST(:tenant_id AS uuid) AND id = CAST(:id AS uuid);

-- name: list_keys
-- List the keys of a tenant, the oldest first, with their owners and without their secrets; optionally only those after
-- an id, up to a limit.
SELECT
    k.id, k.name, k.role, k.created_at, k.expires_at, k.revoked_at, k.actor_kind, k.scopes, k.networks,
    k.used_at, k.former_until, coalesce(k.expires_at <= statement_timestamp(), false) AS is_expired,
    ARRAY(
        SELECT o.slug FROM unnest(k.owner_ids) WITH ORDINALITY AS given (id, place)
        JOIN owners AS o ON o.tenant_id = CAST(:tenant_id AS uuid) AND o.id = given.id
        ORDER BY given.place
    ) AS owners
FROM api_keys AS k
WHERE k.tenant_id = CAST(:tenant_id AS uuid)
    AND k.id > coalesce(CAST(:after AS uuid), CAST('00000000-0000-0000-0000-000000000000' AS uuid))
ORDER BY k.id
LIMIT CAST(:limit AS integer);
