-- name: find_versions
-- The newest versions of a page, and the kind of each author.
SELECT version, author_kind FROM revisions
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND page_id = :page_id
ORDER BY version DESC
LIMIT :limit;
