-- name: is_loaded
-- Whether the sample of this tenant is in the database, all of it.
SELECT settings ? 'sample' FROM tenants WHERE tenant_id = :tenant_id;

-- name: mark_loaded
-- All of the sample is there; from now on it belongs to its users.
UPDATE tenants SET settings = settings || CAST('{"sample": "loaded"}' AS jsonb) WHERE tenant_id = :tenant_id;
