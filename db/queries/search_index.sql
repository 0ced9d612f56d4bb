-- name: write_search
-- What full-text search reads of a page, weighted by where a word stands. The texts come normalised.
INSERT INTO page_search (tenant_id, owner_id, page_id, status, tsv, last_compiled_at)
VALUES (
    :tenant_id, :owner_id, :page_id, :status,
    setweight(to_tsvector('pg_catalog.english', CAST(:title AS text)), 'A')
        || setweight(to_tsvector('pg_catalog.english', CAST(:summary AS text)), 'B')
        || setweight(to_tsvector('pg_catalog.english', CAST(:body AS text)), 'C'),
    :last_compiled_at
)
ON CONFLICT (tenant_id, page_id) DO UPDATE
SET status = excluded.status, tsv = excluded.tsv, last_compiled_at = excluded.last_compiled_at;

-- name: mark_search
-- A page whose words are the same, but not its status or its last compile.
UPDATE page_search SET status = :status, last_compiled_at = :last_compiled_at
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND page_id = :page_id;

-- name: write_names
-- Every name that a page answers to, and no other.
WITH given AS (
    SELECT kind, name FROM unnest(CAST(:kinds AS text[]), CAST(:names AS text[])) AS given (kind, name)
), gone AS (
    DELETE FROM page_names AS n
    WHERE n.tenant_id = :tenant_id AND n.owner_id = :owner_id AND n.page_id = :page_id
      AND NOT EXISTS (SELECT 1 FROM given WHERE given.kind = n.kind AND given.name = n.name)
)
INSERT INTO page_names (tenant_id, owner_id, page_id, kind, name, status)
SELECT CAST(:tenant_id AS uuid), CAST(:owner_id AS uuid), CAST(:page_id AS uuid), given.kind, given.name,
       CAST(:status AS text)
FROM given
ON CONFLICT (tenant_id, page_id, kind, name) DO UPDATE
SET status = excluded.status
WHERE page_names.status <> excluded.status;

-- name: archive_search
-- No word of a wiki is found any more.
UPDATE page_search SET status = 'archived'
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND status = 'active';

-- name: archive_names
-- No name of a wiki is found any more.
UPDATE page_names SET status = 'archived'
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND status = 'active';
