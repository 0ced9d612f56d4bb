-- name: add_tenant
-- A new customer; nothing comes back when the slug is taken.
INSERT INTO tenants (tenant_id, slug, name)
VALUES (CAST(:tenant_id AS uuid), CAST(:slug AS text), CAST(:name AS text))
ON CONFLICT (slug) DO NOTHING
RETURNING tenant_id, slug, name, created_at;

-- name: find_tenant
-- The customer with this id.
SELECT tenant_id, slug, name, created_at FROM tenants WHERE tenant_id = CAST(:tenant_id AS uuid);

-- name: find_tenant_by_slug
-- The customer with this slug.
SELECT tenant_id, slug, name, created_at FROM tenants WHERE slug = CAST(:slug AS text);

-- name: list_tenants
-- Tenants by slug: those after a slug, and so many at most, where these are given.
SELECT tenant_id, slug, name, created_at FROM tenants
WHERE slug > coalesce(CAST(:after AS text), '')
ORDER BY slug
LIMIT CAST(:most AS integer);

-- name: find_compiling
-- Whether what a tenant retains is compiled by itself: it is, unless its settings say otherwise.
SELECT settings ->> 'compiling' IS DISTINCT FROM 'false' FROM tenants WHERE tenant_id = CAST(:tenant_id AS uuid);

-- name: set_compiling
-- From now on it is, or is not.
UPDATE tenants SET settings = settings || jsonb_build_object('compiling', CAST(:compiling AS boolean))
WHERE tenant_id = CAST(:tenant_id AS uuid);
