-- name: find_current
-- The newest version of a source.
SELECT id, version, checksum FROM sources
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND kind = :kind AND ref = :ref
ORDER BY version DESC
LIMIT 1;

-- name: find_version
-- One version of a source.
SELECT id, version, checksum FROM sources
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND kind = :kind AND ref = :ref AND version = :version;

-- name: find_source
-- What a citation and a sighting need to know of a source.
SELECT id, kind, ref, version, content, captured_at FROM sources
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND id = :source_id;

-- name: cite
-- A source was used for a section; the same again is no change.
INSERT INTO section_sources
    (tenant_id, owner_id, id, page_id, section_id, source_id, line_start, line_end, summary, created_at)
VALUES
    (:tenant_id, :owner_id, :id, :page_id, :section_id, :source_id, :line_start, :line_end, :summary, :now)
ON CONFLICT (tenant_id, section_id, source_id) DO UPDATE
SET line_start = excluded.line_start, line_end = excluded.line_end, summary = excluded.summary
WHERE (section_sources.line_start, section_sources.line_end, section_sources.summary)
    IS DISTINCT FROM (excluded.line_start, excluded.line_end, excluded.summary);

-- name: advance_section
-- The newest evidence that a section rests on.
UPDATE sections SET last_source_at = greatest(last_source_at, CAST(:captured_at AS timestamptz))
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND id = :section_id;
