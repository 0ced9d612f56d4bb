-- name: find_renaming
-- Return a renaming with its progress.
SELECT id, owner_id, page_id, slug, title, reached_id, actor_kind, actor_id FROM renamings
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND id = :id;

-- name: find_renamings
-- Return the unfinished renamings of a page with the number of remaining texts, the oldest first.
SELECT id, remaining FROM renamings
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND page_id = :page_id
ORDER BY id;

-- name: find_unfinished
-- Return up to 100 unfinished renamings of a tenant, the oldest first.
SELECT id, tenant_id, owner_id, actor_kind, actor_id FROM renamings
WHERE tenant_id = CAST(:tenant_id AS uuid)
ORDER BY id
LIMIT 100;

-- name: advance_renaming
-- Store the progress of a renaming.
UPDATE renamings SET reached_id = :reached_id, remaining = :remaining
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND id = :id;

-- name: end_renaming
-- Delete a renaming that is complete.
DELETE FROM renamings WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND id = :id;
