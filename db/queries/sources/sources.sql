-- name: find_current
-- Return the newest version of a source, and whether a version with this checksum is forgotten.
SELECT id, version, checksum, metadata -> 'sensitivity' AS sensitivity, (
    SELECT file.hash FROM source_originals AS file
    WHERE file.tenant_id = :tenant_id AND file.owner_id = :owner_id AND file.source_id = sources.id
) AS original_hash, EXISTS (
    SELECT FROM sources AS gone
    WHERE gone.tenant_id = :tenant_id AND gone.owner_id = :owner_id AND gone.kind = :kind AND gone.ref = :ref
      AND gone.checksum = CAST(:checksum AS bytea) AND gone.forgotten_at IS NOT NULL
) AS is_forgotten
FROM sources
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND kind = :kind AND ref = :ref
ORDER BY version DESC
LIMIT 1;

-- name: find_version
-- Return a version of a source.
SELECT id, version, checksum, (
    SELECT file.hash FROM source_originals AS file
    WHERE file.tenant_id = :tenant_id AND file.owner_id = :owner_id AND file.source_id = sources.id
) AS original_hash
FROM sources
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND kind = :kind AND ref = :ref AND version = :version;

-- name: find_stored
-- Return which of these sources are stored with the same file, as the newest version or as the given version. Forgotten
-- ones are not included.
SELECT DISTINCT given.position
FROM unnest(
    CAST(:positions AS integer[]), CAST(:kinds AS text[]), CAST(:refs AS text[]), CAST(:versions AS integer[]),
    CAST(:checksums AS bytea[]), CAST(:hashes AS bytea[])
) AS given (position, kind, ref, version, checksum, hash)
CROSS JOIN LATERAL (
    (SELECT id, version, checksum, true AS is_newest FROM sources
    WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND kind = given.kind AND ref = given.ref
    ORDER BY version DESC
    LIMIT 1)
    UNION ALL
    (SELECT id, version, checksum, false FROM sources
    WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND kind = given.kind AND ref = given.ref
      AND version <= given.version
    ORDER BY version DESC
    LIMIT 1)
) AS s
WHERE (s.is_newest OR s.version = given.version) AND s.checksum = given.checksum
  AND (given.hash IS NULL OR EXISTS (
      SELECT FROM source_originals AS file
      WHERE file.tenant_id = :tenant_id AND file.owner_id = :owner_id AND file.source_id = s.id
        AND file.hash = given.hash
  ))
  AND NOT EXISTS (
      SELECT FROM sources AS gone
      WHERE gone.tenant_id = :tenant_id AND gone.owner_id = :owner_id AND gone.kind = given.kind
        AND gone.ref = given.ref AND gone.checksum = given.checksum AND gone.forgotten_at IS NOT NULL
  );

-- name: find_source
-- Return a source for a citation or sighting, unless it is forgotten.
SELECT id, kind, ref, version, content, captured_at FROM sources
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND id = :source_id AND forgotten_at IS NULL;

-- name: cite
-- Insert a citation, or update its lines and summary if they differ.
INSERT INTO section_sources
    (tenant_id, owner_id, id, page_id, section_id, source_id, line_start, line_end, summary, created_at)
VALUES
    (:tenant_id, :owner_id, :id, :page_id, :section_id, :source_id, :line_start, :line_end, :summary, :now)
ON CONFLICT (tenant_id, section_id, source_id) DO UPDATE
SET line_start = excluded.line_start, line_end = excluded.line_end, summary = excluded.summary
WHERE (section_sources.line_start, section_sources.line_end, section_sources.summary)
    IS DISTINCT FROM (excluded.line_start, excluded.line_end, excluded.summary);

-- name: advance_section
-- Set when the newest source that a section cites was captured.
UPDATE sections SET last_source_at = greatest(last_source_at, CAST(:captured_at AS timestamptz))
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND id = :section_id;

-- name: add
-- Insert a source with a time of creation later than all others of the wiki, whatever the clocks say, so that the
-- compile cursor never skips it.
INSERT INTO sources (
    tenant_id, owner_id, id, kind, ref, version, supersedes_id, title, content, checksum, metadata, captured_at,
    created_at
)
SELECT CAST(:tenant_id AS uuid), CAST(:owner_id AS uuid), CAST(:id AS uuid), CAST(:kind AS text), CAST(:ref AS text),
       CAST(:version AS integer), CAST(:supersedes_id AS uuid), CAST(:title AS text), CAST(:content AS text),
       CAST(:checksum AS bytea), CAST(:metadata AS jsonb), CAST(:captured_at AS timestamptz),
       greatest(CAST(:now AS timestamptz), (
           SELECT max(last.created_at) + interval '1 microsecond' FROM sources AS last
           WHERE last.tenant_id = :tenant_id AND last.owner_id = :owner_id
       ));

-- name: find_currents
-- Return the newest version of each of these sources, and the checksums of their forgotten versions.
SELECT DISTINCT ON (s.kind, s.ref) s.kind, s.ref, s.id, s.version, s.checksum, s.metadata -> 'sensitivity' AS sensitivity, ARRAY(
    SELECT gone.checksum FROM sources AS gone
    WHERE gone.tenant_id = :tenant_id AND gone.owner_id = :owner_id AND gone.kind = s.kind AND gone.ref = s.ref
      AND gone.forgotten_at IS NOT NULL
) AS forgotten
FROM unnest(CAST(:kinds AS text[]), CAST(:refs AS text[])) AS given (kind, ref)
JOIN sources AS s ON s.tenant_id = :tenant_id AND s.owner_id = :owner_id AND s.kind = given.kind AND s.ref = given.ref
ORDER BY s.kind, s.ref, s.version DESC;
