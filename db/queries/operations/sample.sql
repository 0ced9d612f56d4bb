-- name: is_loaded
-- Whether the whole sample of this tenant is loaded.
SELECT settings ? 'sample' FROM tenants WHERE tenant_id = :tenant_id;

-- name: mark_loaded
-- Record that the whole sample is loaded. From now on it belongs to its users.
UPDATE tenants SET settings = settings || CAST('{"sample": "loaded"}' AS jsonb) WHERE tenant_id = :tenant_id;
