-- name: read_nothing
-- Read every table that the reads of pages and searches use, for a tenant that does not exist.
SELECT
    (SELECT count(*) FROM owners AS o WHERE o.tenant_id = :tenant_id)
    + (SELECT count(*) FROM grants AS g WHERE g.tenant_id = :tenant_id)
    + (SELECT count(*) FROM pages AS p
       JOIN sections AS s ON s.tenant_id = p.tenant_id AND s.page_id = p.id
       JOIN links AS l ON l.tenant_id = p.tenant_id AND l.from_page_id = p.id
       JOIN aliases AS a ON a.tenant_id = p.tenant_id AND a.page_id = p.id
       WHERE p.tenant_id = :tenant_id)
    + (SELECT count(*) FROM search_pages AS w
       JOIN search_scopes AS c ON c.tenant_id = w.tenant_id AND c.owner_id = w.owner_id
       JOIN page_names AS n ON n.tenant_id = w.tenant_id AND n.page_id = w.page_id
       WHERE w.tenant_id = :tenant_id)
    + (SELECT count(*) FROM revisions AS r WHERE r.tenant_id = :tenant_id)
    + (SELECT count(*) FROM sources AS e
       JOIN section_sources AS c ON c.tenant_id = e.tenant_id AND c.source_id = e.id
       WHERE e.tenant_id = :tenant_id) AS nothing;

-- name: lock_nothing
-- Lock the row that every write locks, of an owner that does not exist.
SELECT id FROM owners WHERE tenant_id = :tenant_id AND id = :tenant_id FOR UPDATE;

-- name: write_nothing
-- Write several tables without changing a row.
WITH closed AS (
    INSERT INTO activity (tenant_id, owner_id, id, at, actor_kind, actor_id, action, detail)
    SELECT CAST(:tenant_id AS uuid), CAST(:tenant_id AS uuid), given.id, now(), 'service', '', '', '{}'
    FROM unnest(CAST('{}' AS uuid[])) AS given (id)
)
UPDATE pages SET status = status WHERE tenant_id = :tenant_id AND id = :tenant_id;
