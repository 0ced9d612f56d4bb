-- name: find_renaming
-- How far a rename has come.
SELECT id, owner_id, page_id, slug, title, reached_id, actor_kind, actor_id FROM renamings
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND id = :id;

-- name: find_renamings
-- The renames of a page that have texts left.
SELECT id, remaining FROM renamings
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND page_id = :page_id
ORDER BY id;

-- name: find_unfinished
-- The renames of one tenant that have texts left, the oldest first.
SELECT id, tenant_id, owner_id, actor_kind, actor_id FROM renamings
WHERE tenant_id = CAST(:tenant_id AS uuid)
ORDER BY id
LIMIT 100;

-- name: advance_renaming
-- The texts up to here say the new name.
UPDATE renamings SET reached_id = :reached_id, remaining = :remaining
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND id = :id;

-- name: end_renaming
-- No text is left.
DELETE FROM renamings WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND id = :id;
