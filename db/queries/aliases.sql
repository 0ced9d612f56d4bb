-- name: write_aliases
-- Other names of pages; those they have already stay as they are. Answers with the page of each that is new.
INSERT INTO aliases (tenant_id, owner_id, id, page_id, alias, name, source, created_at)
SELECT CAST(:tenant_id AS uuid), CAST(:owner_id AS uuid), given.id, given.page_id, given.alias, given.name, given.source,
       CAST(:now AS timestamptz)
FROM unnest(
    CAST(:ids AS uuid[]), CAST(:page_ids AS uuid[]), CAST(:aliases AS text[]), CAST(:names AS text[]),
    CAST(:sources AS text[])
) AS given (id, page_id, alias, name, source)
ON CONFLICT (tenant_id, page_id, alias) DO NOTHING
RETURNING page_id;

-- name: delete_alias
-- One name that a page no longer answers to.
DELETE FROM aliases
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND page_id = :page_id AND alias = :alias;

-- name: find_names
-- What else pages answer to: their aliases and the slugs they had.
SELECT page_id, 'alias' AS kind, alias AS name FROM aliases
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND page_id = ANY(CAST(:page_ids AS uuid[]))
UNION ALL
SELECT page_id, 'old_slug', slug FROM old_slugs
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND page_id = ANY(CAST(:page_ids AS uuid[]));
