-- name: close
-- The lines of a write in the log; and its pages changed after all others of their wiki, in this order.
WITH logged AS (
    INSERT INTO activity (tenant_id, owner_id, id, at, actor_kind, actor_id, action, page_id, detail)
    SELECT CAST(:tenant_id AS uuid), CAST(:owner_id AS uuid), line.id, CAST(:now AS timestamptz),
           CAST(:actor_kind AS text), CAST(:actor_id AS text), line.action, line.page_id, line.detail
    FROM unnest(
        CAST(:ids AS uuid[]), CAST(:actions AS text[]), CAST(:about AS uuid[]), CAST(:details AS jsonb[])
    ) AS line (id, action, page_id, detail)
)
INSERT INTO page_positions (tenant_id, owner_id, page_id, position, changed_at)
SELECT CAST(:tenant_id AS uuid), CAST(:owner_id AS uuid), given.page_id, given.place + (
    SELECT coalesce(max(position), 0) FROM page_positions
    WHERE tenant_id = :tenant_id AND owner_id = :owner_id
), CAST(:now AS timestamptz)
FROM unnest(CAST(:page_ids AS uuid[])) WITH ORDINALITY AS given (page_id, place)
ON CONFLICT (tenant_id, page_id) DO UPDATE
SET position = excluded.position, changed_at = excluded.changed_at;

-- name: advance_archived
-- The pages that were put away at this moment changed after all others of their wiki.
INSERT INTO page_positions (tenant_id, owner_id, page_id, position, changed_at)
SELECT p.tenant_id, p.owner_id, p.id, row_number() OVER (ORDER BY p.id) + (
    SELECT coalesce(max(position), 0) FROM page_positions
    WHERE tenant_id = :tenant_id AND owner_id = :owner_id
), p.updated_at
FROM pages AS p
WHERE p.tenant_id = :tenant_id AND p.owner_id = :owner_id AND p.status = 'archived'
  AND p.updated_at = CAST(:now AS timestamptz)
ON CONFLICT (tenant_id, page_id) DO UPDATE
SET position = excluded.position, changed_at = excluded.changed_at;
