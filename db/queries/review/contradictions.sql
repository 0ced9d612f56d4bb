-- name: find_owner
-- Return the owner of a contradiction.
SELECT owner_id FROM contradictions WHERE tenant_id = :tenant_id AND id = :id;

-- name: find_one
-- Return a contradiction with the sources of both claims, as far as they are known.
SELECT c.page_id, c.older_claim, c.older_section_slug, c.older_on, c.newer_claim, c.newer_section_slug, c.newer_on,
       c.resolution, older.id AS older_id, older.captured_at AS older_captured_at, newer.id AS newer_id,
       newer.captured_at AS newer_captured_at, older.kind AS older_kind, older.ref AS older_ref,
       newer.kind AS newer_kind, newer.ref AS newer_ref
FROM contradictions AS c
LEFT JOIN sources AS older
    ON older.tenant_id = :tenant_id AND older.owner_id = :owner_id AND older.id = c.older_source_id
LEFT JOIN sources AS newer
    ON newer.tenant_id = :tenant_id AND newer.owner_id = :owner_id AND newer.id = c.newer_source_id
WHERE c.tenant_id = :tenant_id AND c.owner_id = :owner_id AND c.id = :contradiction_id;

-- name: find_recorded
-- Return the contradiction of a page with a digest, resolved or not.
SELECT id FROM contradictions
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND page_id = :page_id AND digest = :digest;

-- name: find_of_pages
-- Return the digests of the contradictions of these pages, decided or not.
SELECT digest FROM contradictions
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND page_id = ANY(CAST(:page_ids AS uuid[]));

-- name: write_contradictions
-- Insert contradictions, open or resolved. If the support of a claim is not given, it is the number of sources cited by
-- the page that state the claim. A pair that is stored already is left unchanged.
INSERT INTO contradictions (
    tenant_id, owner_id, id, page_id, older_claim, older_section_slug, older_source_id, older_on, older_support,
    newer_claim, newer_section_slug, newer_source_id, newer_on, newer_support, digest, status, resolution, reason,
    resolved_at, resolver_kind, resolver_id, author_kind, author_id, created_at
)
SELECT CAST(:tenant_id AS uuid), CAST(:owner_id AS uuid), given.id, given.page_id, given.older_claim,
       given.older_section_slug, given.older_source_id, given.older_on,
       coalesce(given.older_support, greatest(1, said.older)), given.newer_claim, given.newer_section_slug,
       given.newer_source_id, given.newer_on, coalesce(given.newer_support, greatest(1, said.newer)), given.digest,
       CASE WHEN given.resolution IS NULL THEN 'open' WHEN given.resolution = 'both_hold' THEN 'dismissed'
            ELSE 'resolved' END,
       given.resolution, given.reason, given.resolved_at,
       CASE WHEN given.resolution IS NOT NULL THEN CAST(:author_kind AS text) END,
       CASE WHEN given.resolution IS NOT NULL THEN CAST(:author_id AS text) END,
       CAST(:author_kind AS text), CAST(:author_id AS text), CAST(:now AS timestamptz)
FROM unnest(
    CAST(:ids AS uuid[]), CAST(:page_ids AS uuid[]), CAST(:older_claims AS text[]),
    CAST(:older_section_slugs AS text[]), CAST(:older_source_ids AS uuid[]), CAST(:older_on AS timestamptz[]),
    CAST(:older_support AS integer[]), CAST(:newer_claims AS text[]), CAST(:newer_section_slugs AS text[]),
    CAST(:newer_source_ids AS uuid[]), CAST(:newer_on AS timestamptz[]), CAST(:newer_support AS integer[]),
    CAST(:digests AS bytea[]), CAST(:resolutions AS text[]), CAST(:reasons AS text[]),
    CAST(:resolved_at AS timestamptz[])
) AS given (
    id, page_id, older_claim, older_section_slug, older_source_id, older_on, older_support, newer_claim,
    newer_section_slug, newer_source_id, newer_on, newer_support, digest, resolution, reason, resolved_at
)
CROSS JOIN LATERAL (
    SELECT count(DISTINCT s.checksum) FILTER (WHERE position(given.older_claim IN s.content) > 0) AS older,
           count(DISTINCT s.checksum) FILTER (WHERE position(given.newer_claim IN s.content) > 0) AS newer
    FROM section_sources AS c
    JOIN sources AS s ON s.tenant_id = :tenant_id AND s.owner_id = :owner_id AND s.id = c.source_id
    WHERE c.tenant_id = :tenant_id AND c.owner_id = :owner_id AND c.page_id = given.page_id
) AS said
WHERE given.id IS NOT NULL
ON CONFLICT (tenant_id, page_id, digest) DO NOTHING;

-- name: decide
-- Resolve a contradiction.
UPDATE contradictions
SET status = CASE CAST(:resolution AS text) WHEN 'both_hold' THEN 'dismissed' ELSE 'resolved' END,
    resolution = CAST(:resolution AS text), reason = CAST(:reason AS text), resolved_at = CAST(:now AS timestamptz),
    resolver_kind = CAST(:resolver_kind AS text), resolver_id = CAST(:resolver_id AS text)
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND id = :contradiction_id;

-- name: move_contradictions
-- Move the contradictions of a merged page to the page that it was merged into, in the sections that have its texts
-- now.
UPDATE contradictions AS c
SET page_id = :into_id, older_section_slug = coalesce(older.into_slug, own.older_section_slug),
    newer_section_slug = coalesce(newer.into_slug, own.newer_section_slug)
FROM contradictions AS own
LEFT JOIN unnest(CAST(:from_slugs AS text[]), CAST(:into_slugs AS text[])) AS older (from_slug, into_slug)
    ON older.from_slug = own.older_section_slug
LEFT JOIN unnest(CAST(:from_slugs AS text[]), CAST(:into_slugs AS text[])) AS newer (from_slug, into_slug)
    ON newer.from_slug = own.newer_section_slug
WHERE c.tenant_id = :tenant_id AND c.owner_id = :owner_id AND c.page_id = :from_id
  AND own.tenant_id = :tenant_id AND own.owner_id = :owner_id AND own.id = c.id
  AND NOT EXISTS (
      SELECT FROM contradictions AS same
      WHERE same.tenant_id = :tenant_id AND same.owner_id = :owner_id AND same.page_id = :into_id
        AND same.digest = c.digest
  );

-- name: close_superseded
-- Resolve open contradictions of pages with one of these superseded facts as a claim. A claim counts as the fact if it
-- contains little else; spaces and capitals do not matter.
UPDATE contradictions AS c
SET status = 'resolved', resolution = CASE WHEN lost.is_older THEN 'keep_newer' ELSE 'keep_older' END,
    reason = lost.reason, resolved_at = CAST(:now AS timestamptz), resolver_kind = CAST(:resolver_kind AS text),
    resolver_id = CAST(:resolver_id AS text)
FROM (
    SELECT said.id, bool_or(said.is_older) AS is_older,
           min('The ' || CASE WHEN said.is_older THEN 'older' ELSE 'newer' END || ' claim was superseded: '
               || substr(given.replacement, 1, 150)) AS reason
    FROM unnest(CAST(:page_ids AS uuid[]), CAST(:facts AS text[]), CAST(:replacements AS text[]))
        AS given (page_id, fact, replacement)
    CROSS JOIN LATERAL (SELECT lower(regexp_replace(given.fact, '\s+', ' ', 'g')) AS fact) AS plain
    CROSS JOIN LATERAL (
        SELECT own.id, side.is_older
        FROM contradictions AS own
        CROSS JOIN LATERAL (VALUES (own.older_claim, true), (own.newer_claim, false)) AS side (claim, is_older)
        CROSS JOIN LATERAL (SELECT lower(regexp_replace(side.claim, '\s+', ' ', 'g')) AS claim) AS normal
        WHERE own.tenant_id = :tenant_id AND own.owner_id = :owner_id AND own.page_id = given.page_id
          AND own.status = 'open'
          AND position(plain.fact IN normal.claim) > 0 AND 2 * length(plain.fact) >= length(normal.claim)
    ) AS said
    GROUP BY said.id
) AS lost
WHERE c.tenant_id = :tenant_id AND c.owner_id = :owner_id AND c.id = lost.id
RETURNING c.id, c.page_id, c.resolution;
