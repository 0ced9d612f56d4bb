-- name: lock_wiki
-- One writer at a time: slugs, parents, links and counters of a wiki need no other lock.
SELECT id FROM owners WHERE tenant_id = :tenant_id AND id = :owner_id FOR NO KEY UPDATE;
