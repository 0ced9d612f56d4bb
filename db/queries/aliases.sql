-- name: write_aliases
-- Other names of a page; those it has already stay as they are.
INSERT INTO aliases (tenant_id, owner_id, id, page_id, alias, name, source, created_at)
SELECT CAST(:tenant_id AS uuid), CAST(:owner_id AS uuid), given.id, CAST(:page_id AS uuid), given.alias, given.name,
       CAST(:source AS text), CAST(:now AS timestamptz)
FROM unnest(CAST(:ids AS uuid[]), CAST(:aliases AS text[]), CAST(:names AS text[])) AS given (id, alias, name)
ON CONFLICT (tenant_id, page_id, alias) DO NOTHING;

-- name: delete_alias
-- One name that a page no longer answers to.
DELETE FROM aliases
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND page_id = :page_id AND alias = :alias;

-- name: find_names
-- What else a page answers to: its aliases and the slugs it had.
SELECT 'alias' AS kind, alias AS name FROM aliases
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND page_id = :page_id
UNION ALL
SELECT 'old_slug', slug FROM old_slugs
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND page_id = :page_id;
