-- name: keep
-- Insert a blob, unless it is stored already.
INSERT INTO blobs (tenant_id, owner_id, hash, size, data, is_in_folder, created_at)
VALUES (
    :tenant_id, :owner_id, :hash, :size, CAST(:data AS bytea), CAST(:is_in_folder AS boolean), CAST(:now AS timestamptz)
)
ON CONFLICT (tenant_id, owner_id, hash) DO NOTHING;

-- name: find_kept
-- Return those of the blobs whose bytes are in the folder.
SELECT b.hash FROM blobs AS b
WHERE b.tenant_id = :tenant_id AND b.owner_id = :owner_id AND b.hash = ANY(CAST(:hashes AS bytea[]))
  AND b.is_in_folder;

-- name: count_elsewhere
-- Return how many blobs of each wiki of a tenant have to be moved to the folder, or from it.
SELECT b.owner_id, count(*) AS files FROM blobs AS b
WHERE b.tenant_id = CAST(:tenant_id AS uuid) AND b.is_in_folder <> CAST(:is_in_folder AS boolean)
GROUP BY b.owner_id
ORDER BY b.owner_id;

-- name: list_elsewhere
-- Return the next blobs of a wiki that have to be moved, in the order of their hashes.
SELECT b.hash, b.size FROM blobs AS b
WHERE b.tenant_id = CAST(:tenant_id AS uuid) AND b.owner_id = CAST(:owner_id AS uuid)
  AND b.hash > CAST(:after AS bytea) AND b.is_in_folder <> CAST(:is_in_folder AS boolean)
ORDER BY b.hash
LIMIT CAST(:size AS integer);

-- name: find_elsewhere
-- Return the bytes of a blob that has to be moved, if Postgres has them.
SELECT b.data FROM blobs AS b
WHERE b.tenant_id = :tenant_id AND b.owner_id = :owner_id AND b.hash = CAST(:hash AS bytea)
  AND b.is_in_folder <> CAST(:is_in_folder AS boolean);

-- name: move
-- Store where the bytes of a blob are, and the bytes if that is Postgres.
UPDATE blobs SET data = CAST(:data AS bytea), is_in_folder = CAST(:is_in_folder AS boolean)
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND hash = CAST(:hash AS bytea);

-- name: list_owners
-- Return the owners of a tenant.
SELECT o.id FROM owners AS o WHERE o.tenant_id = CAST(:tenant_id AS uuid) ORDER BY o.id;

-- name: drop_unused
-- Delete those of the blobs that nothing refers to any more, and return them.
DELETE FROM blobs
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND hash = ANY(CAST(:hashes AS bytea[]))
  AND NOT EXISTS (
      SELECT FROM source_originals AS o
      WHERE o.tenant_id = :tenant_id AND o.owner_id = :owner_id AND o.hash = blobs.hash
  )
  AND NOT EXISTS (
      SELECT FROM attachments AS a
      WHERE a.tenant_id = :tenant_id AND a.owner_id = :owner_id AND a.hash = blobs.hash
  )
RETURNING hash;

-- name: attach
-- Store the file that a source was read from.
INSERT INTO source_originals (tenant_id, owner_id, source_id, hash, media_type, address, flags)
VALUES (
    :tenant_id, :owner_id, :source_id, CAST(:hash AS bytea), CAST(:media_type AS text), CAST(:address AS text),
    CAST(:flags AS jsonb)
);

-- name: detach
-- Delete the originals of forgotten sources.
DELETE FROM source_originals
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND source_id = ANY(CAST(:source_ids AS uuid[]))
RETURNING hash;

-- name: find_original
-- Return the original of a source with its bytes.
SELECT s.kind, s.ref, s.version, o.hash, o.media_type, o.address, b.data,
    b.is_in_folder
FROM source_originals AS o
JOIN sources AS s ON s.tenant_id = :tenant_id AND s.owner_id = :owner_id AND s.id = o.source_id
JOIN blobs AS b ON b.tenant_id = :tenant_id AND b.owner_id = :owner_id AND b.hash = o.hash
WHERE o.tenant_id = :tenant_id AND o.owner_id = :owner_id AND o.source_id = :source_id;

-- name: find_ingested
-- Return the page of this type that was written from a source, with the newest version of the source that it cites.
SELECT p.id, p.type, p.slug, p.title, s.id AS source_id, s.content FROM sources AS s
JOIN section_sources AS c ON c.tenant_id = :tenant_id AND c.owner_id = :owner_id AND c.source_id = s.id
JOIN pages AS p ON p.tenant_id = :tenant_id AND p.owner_id = :owner_id AND p.id = c.page_id
JOIN source_originals AS o ON o.tenant_id = :tenant_id AND o.owner_id = :owner_id AND o.source_id = s.id
WHERE s.tenant_id = :tenant_id AND s.owner_id = :owner_id AND s.kind = :kind AND s.ref = :ref
  AND p.type = CAST(:type AS text) AND p.metadata ->> 'ingested_from' = CAST(:named AS text)
ORDER BY s.version DESC, p.id
LIMIT 1;
