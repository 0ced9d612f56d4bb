-- name: write_aliases
-- Insert aliases of pages; aliases that a page has already stay as they are. Return the page of each new alias.
INSERT INTO aliases (tenant_id, owner_id, id, page_id, alias, name, source, created_at)
SELECT CAST(:tenant_id AS uuid), CAST(:owner_id AS uuid), given.id, given.page_id, given.alias, given.name, given.source,
       CAST(:now AS timestamptz)
FROM unnest(
    CAST(:ids AS uuid[]), CAST(:page_ids AS uuid[]), CAST(:aliases AS text[]), CAST(:names AS text[]),
    CAST(:sources AS text[])
) AS given (id, page_id, alias, name, source)
ON CONFLICT (tenant_id, page_id, alias) DO NOTHING
RETURNING page_id;

-- name: claim_names
-- Insert aliases and former slugs of pages, except slugs that another page of the type has or had. Return all aliases
-- and former slugs of the pages, and which of them are new.
WITH former AS MATERIALIZED (
    SELECT page_id, 'alias' AS kind, alias AS name FROM aliases
    WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND page_id = ANY(CAST(:every_id AS uuid[]))
    UNION ALL
    SELECT page_id, 'old_slug', slug FROM old_slugs
    WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND page_id = ANY(CAST(:every_id AS uuid[]))
), called AS (
    INSERT INTO aliases (tenant_id, owner_id, id, page_id, alias, name, source, created_at)
    SELECT CAST(:tenant_id AS uuid), CAST(:owner_id AS uuid), given.id, given.page_id, given.alias, given.name,
           given.source, CAST(:now AS timestamptz)
    FROM unnest(
        CAST(:ids AS uuid[]), CAST(:page_ids AS uuid[]), CAST(:aliases AS text[]), CAST(:names AS text[]),
        CAST(:sources AS text[])
    ) AS given (id, page_id, alias, name, source)
    ON CONFLICT (tenant_id, page_id, alias) DO NOTHING
    RETURNING page_id, alias
), kept AS (
    INSERT INTO old_slugs (tenant_id, owner_id, type, slug, page_id, created_at)
    SELECT CAST(:tenant_id AS uuid), CAST(:owner_id AS uuid), given.type, given.slug, given.page_id,
           CAST(:now AS timestamptz)
    FROM unnest(CAST(:types AS text[]), CAST(:slugs AS text[]), CAST(:slug_ids AS uuid[]))
        AS given (type, slug, page_id)
    WHERE NOT EXISTS (
        SELECT FROM pages AS p
        WHERE p.tenant_id = :tenant_id AND p.owner_id = :owner_id AND p.type = given.type AND p.slug = given.slug
    )
    ON CONFLICT (tenant_id, owner_id, type, slug) DO NOTHING
    RETURNING page_id, slug
)
SELECT page_id, kind, name, FALSE AS is_new FROM former
UNION ALL
SELECT page_id, 'alias', alias, TRUE FROM called
UNION ALL
SELECT page_id, 'old_slug', slug, TRUE FROM kept;

-- name: delete_alias
-- Delete an alias of a page.
DELETE FROM aliases
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND page_id = :page_id AND alias = :alias;

-- name: delete_aliases
-- Delete aliases of a page.
DELETE FROM aliases
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND page_id = :page_id
  AND alias = ANY(CAST(:aliases AS text[]));

-- name: find_names
-- Return the aliases and former slugs of pages.
SELECT page_id, 'alias' AS kind, alias AS name FROM aliases
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND page_id = ANY(CAST(:page_ids AS uuid[]))
UNION ALL
SELECT page_id, 'old_slug', slug FROM old_slugs
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND page_id = ANY(CAST(:page_ids AS uuid[]));
