-- name: add_tenant
-- Add a tenant. No row if the slug is taken.
INSERT INTO tenants (tenant_id, slug, name)
VALUES (CAST(:tenant_id AS uuid), CAST(:slug AS text), CAST(:name AS text))
ON CONFLICT (slug) DO NOTHING
RETURNING tenant_id, slug, name, created_at;

-- name: find_tenant
-- The tenant with this id.
SELECT tenant_id, slug, name, created_at FROM tenants WHERE tenant_id = CAST(:tenant_id AS uuid);

-- name: find_tenant_by_slug
-- The tenant with this slug.
SELECT tenant_id, slug, name, created_at FROM tenants WHERE slug = CAST(:slug AS text);

-- name: list_tenants
-- The tenants by slug; optionally those after a slug, and with a limit.
SELECT tenant_id, slug, name, created_at FROM tenants
WHERE slug > coalesce(CAST(:after AS text), '')
ORDER BY slug
LIMIT CAST(:most AS integer);

-- name: find_compiling
-- Whether Cairn compiles automatically what a tenant retains, which is the default.
SELECT settings ->> 'compiling' IS DISTINCT FROM 'false' FROM tenants WHERE tenant_id = CAST(:tenant_id AS uuid);

-- name: set_compiling
-- Set whether retained sources of a tenant are compiled automatically.
UPDATE tenants SET settings = settings || jsonb_build_object('compiling', CAST(:compiling AS boolean))
WHERE tenant_id = CAST(:tenant_id AS uuid);
