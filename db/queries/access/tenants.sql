-- name: add_tenant
-- Add a tenant; no row is returned if the slug is taken.
INSERT INTO tenants (tenant_id, slug, name)
VALUES (CAST(:tenant_id AS uuid), CAST(:slug AS text), CAST(:name AS text))
ON CONFLICT (slug) DO NOTHING
RETURNING tenant_id, slug, name, created_at;

-- name: find_tenant
-- Find the tenant with this id.
SELECT tenant_id, slug, name, created_at FROM tenants WHERE tenant_id = CAST(:tenant_id AS uuid);

-- name: find_tenant_by_slug
-- Find the tenant with this slug.
SELECT tenant_id, slug, name, created_at FROM tenants WHERE slug = CAST(:slug AS text);

-- name: list_tenants
-- List the tenants by slug, optionally only those after a slug, up to a limit.
SELECT tenant_id, slug, name, created_at FROM tenants
WHERE slug > coalesce(CAST(:after AS text), '')
ORDER BY slug
LIMIT CAST(:limit AS integer);

-- name: find_compiling
-- Return whether retained sources of a tenant are compiled automatically, which is the default.
SELECT settings ->> 'compiling' IS DISTINCT FROM 'false' FROM tenants WHERE tenant_id = CAST(:tenant_id AS uuid);

-- name: set_compiling
-- Set whether retained sources of a tenant are compiled automatically.
UPDATE tenants SET settings = settings || jsonb_build_object('compiling', CAST(:compiling AS boolean))
WHERE tenant_id = CAST(:tenant_id AS uuid);
