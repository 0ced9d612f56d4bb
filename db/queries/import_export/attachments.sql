-- name: put
-- Store an attachment at its path. Return the hash that the path had before, or no row if it has the same file already.
WITH former AS MATERIALIZED (
    SELECT a.hash FROM attachments AS a
    WHERE a.tenant_id = :tenant_id AND a.owner_id = :owner_id AND a.path = CAST(:path AS text)
), kept AS (
    INSERT INTO attachments (tenant_id, owner_id, path, name, hash, media_type, width, height, created_at)
    VALUES (
        :tenant_id, :owner_id, CAST(:path AS text), CAST(:name AS text), CAST(:hash AS bytea), CAST(:media_type AS text),
        CAST(:width AS integer), CAST(:height AS integer), CAST(:now AS timestamptz)
    )
    ON CONFLICT (tenant_id, owner_id, path) DO UPDATE SET
        hash = EXCLUDED.hash, media_type = EXCLUDED.media_type, width = EXCLUDED.width, height = EXCLUDED.height
    WHERE attachments.hash <> EXCLUDED.hash
    RETURNING hash
)
SELECT (SELECT hash FROM former) AS former FROM kept;

-- name: find_same
-- Return those of the paths that have the same file already.
SELECT a.path FROM attachments AS a
JOIN unnest(CAST(:paths AS text[]), CAST(:hashes AS bytea[])) AS given (path, hash)
    ON given.path = a.path AND given.hash = a.hash
WHERE a.tenant_id = :tenant_id AND a.owner_id = :owner_id;

-- name: find_named
-- Return the attachments of a wiki with one of these names in any folder; those at one of the paths come first.
SELECT a.path, a.name, a.media_type, a.width, a.height FROM attachments AS a
WHERE a.tenant_id = :tenant_id AND a.owner_id = :owner_id AND a.name = ANY(CAST(:names AS text[]))
ORDER BY a.path = ANY(CAST(:paths AS text[])) DESC, length(a.path), a.path
LIMIT 1000;

-- name: find_file
-- Return an attachment with its bytes.
SELECT a.path, a.media_type, a.hash, b.data, b.is_in_folder FROM attachments AS a
JOIN blobs AS b ON b.tenant_id = :tenant_id AND b.owner_id = :owner_id AND b.hash = a.hash
WHERE a.tenant_id = :tenant_id AND a.owner_id = :owner_id AND a.path = CAST(:path AS text);

-- name: list_paths
-- Return the paths of attachments after a path, in order.
SELECT a.path FROM attachments AS a
WHERE a.tenant_id = :tenant_id AND a.owner_id = :owner_id AND a.path > CAST(:after_path AS text)
ORDER BY a.path
LIMIT CAST(:size AS integer);

-- name: find_policy
-- Return the write policy of a wiki.
SELECT o.write_policy FROM owners AS o WHERE o.tenant_id = :tenant_id AND o.id = :owner_id;

-- name: drop_file
-- Delete an attachment if it still has this file.
DELETE FROM attachments
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND path = CAST(:path AS text) AND hash = CAST(:hash AS bytea);
