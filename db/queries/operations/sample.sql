-- name: is_loaded
-- Return whether the complete sample of this tenant is loaded.
SELECT settings ? 'sample' FROM tenants WHERE tenant_id = :tenant_id;

-- name: mark_loaded
-- Mark the sample as loaded completely; from now on it belongs to its users.
UPDATE tenants SET settings = settings || CAST('{"sample": "loaded"}' AS jsonb) WHERE tenant_id = :tenant_id;
