-- name: write_aliases
-- Other names of pages; those they have already stay as they are.
INSERT INTO aliases (tenant_id, owner_id, id, page_id, alias, name, source, created_at)
SELECT CAST(:tenant_id AS uuid), CAST(:owner_id AS uuid), given.id, given.page_id, given.alias, given.name, given.source,
       CAST(:now AS timestamptz)
FROM unnest(
    CAST(:ids AS uuid[]), CAST(:page_ids AS uuid[]), CAST(:aliases AS text[]), CAST(:names AS text[]),
    CAST(:sources AS text[])
) AS given (id, page_id, alias, name, source)
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
