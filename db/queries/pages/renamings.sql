-- name: find_renaming
-- The progress of a rename.
SELECT id, owner_id, page_id, slug, title, reached_id, actor_kind, actor_id FROM renamings
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND id = :id;

-- name: find_renamings
-- The renames of a page that are not complete.
SELECT id, remaining FROM renamings
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND page_id = :page_id
ORDER BY id;

-- name: find_unfinished
-- The renames of a tenant that are not complete, oldest first.
SELECT id, tenant_id, owner_id, actor_kind, actor_id FROM renamings
WHERE tenant_id = CAST(:tenant_id AS uuid)
ORDER BY id
LIMIT 100;

-- name: advance_renaming
-- Record that the texts up to this page contain the new name.
UPDATE renamings SET reached_id = :reached_id, remaining = :remaining
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND id = :id;

-- name: end_renaming
-- Delete a rename that is complete.
DELETE FROM renamings WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND id = :id;
