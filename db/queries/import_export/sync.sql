-- name: find_history
-- Return the id of the history of the database. Positions of another history are meaningless in it.
SELECT left(md5(concat_ws(
    '.', i.history_id, s.system_identifier, c.timeline_id, pg_relation_filepath('installation')
)), 12)
FROM installation AS i, pg_control_system() AS s, pg_control_checkpoint() AS c;

-- name: list_changes
-- List the pages of a wiki that changed after a position, in the order of the changes; the type of a deleted page is
-- null.
SELECT c.position, c.page_id AS id, p.type, p.slug, p.status, p.metadata ->> 'imported_from' AS origin
FROM page_positions AS c
LEFT JOIN pages AS p ON p.tenant_id = :tenant_id AND p.owner_id = :owner_id AND p.id = c.page_id
WHERE c.tenant_id = :tenant_id AND c.owner_id = :owner_id AND c.position > CAST(:after AS integer)
ORDER BY c.position
LIMIT :size;

-- name: find_named
-- Find the pages of a wiki that new files may belong to: those imported from one of these paths, or with one of these
-- slugs.
SELECT p.id, p.type, p.slug, p.status, p.metadata ->> 'imported_from' AS origin FROM pages AS p
WHERE p.tenant_id = :tenant_id AND p.owner_id = :owner_id
  AND (p.slug = ANY(CAST(:slugs AS text[])) OR p.metadata ->> 'imported_from' = ANY(CAST(:paths AS text[])))
ORDER BY p.id;

-- name: find_proposals
-- Find the status of proposals, and their pages.
SELECT p.id, p.status, p.operation, p.reason, p.page_id, p.base_version, p.accepted_version, p.proposed_title,
    p.proposed_summary, p.proposed_body, page.type, page.slug
FROM proposals AS p
LEFT JOIN pages AS page ON page.tenant_id = :tenant_id AND page.owner_id = :owner_id AND page.id = p.page_id
WHERE p.tenant_id = :tenant_id AND p.owner_id = :owner_id AND p.id = ANY(CAST(:ids AS uuid[]));

-- name: drop_originals
-- Invalidate the original files of pages whose files were renamed.
DELETE FROM originals
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND page_id = ANY(CAST(:page_ids AS uuid[]));

-- name: digest_attachments
-- Return a digest of all attachments of a wiki.
SELECT md5(string_agg(a.path || ' ' || encode(a.hash, 'hex'), '/' ORDER BY a.path)) FROM attachments AS a
WHERE a.tenant_id = :tenant_id AND a.owner_id = :owner_id;

-- name: list_attachments
-- List the attachments of a wiki with their hashes.
SELECT a.path, encode(a.hash, 'hex') AS hash FROM attachments AS a
WHERE a.tenant_id = :tenant_id AND a.owner_id = :owner_id
ORDER BY a.path;
