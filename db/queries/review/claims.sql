-- name: find_claim
-- Return the superseded claim of a page with a digest, withdrawn or not.
SELECT id, withdrawn_at FROM superseded_claims
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND page_id = :page_id AND digest = :digest;

-- name: find_owner
-- Return the owner of a superseded claim.
SELECT owner_id FROM superseded_claims WHERE tenant_id = :tenant_id AND id = :id;

-- name: find_page_of
-- Return the page of a superseded claim with its version, and when the claim was withdrawn.
SELECT c.page_id, p.version, c.withdrawn_at FROM superseded_claims AS c
JOIN pages AS p ON p.tenant_id = :tenant_id AND p.owner_id = :owner_id AND p.id = c.page_id
WHERE c.tenant_id = :tenant_id AND c.owner_id = :owner_id AND c.id = :claim_id;

-- name: find_sources
-- Return the newest version of each of these sources that is not forgotten.
SELECT DISTINCT ON (s.kind, s.ref) s.id, s.kind, s.ref, s.captured_at
FROM unnest(CAST(:kinds AS text[]), CAST(:refs AS text[])) AS given (kind, ref)
JOIN sources AS s ON s.tenant_id = :tenant_id AND s.owner_id = :owner_id AND s.kind = given.kind AND s.ref = given.ref
WHERE s.forgotten_at IS NULL
ORDER BY s.kind, s.ref, s.version DESC;

-- name: write_claims
-- Insert superseded claims. A claim with the same digest, withdrawn or not, is left unchanged.
INSERT INTO superseded_claims (
    tenant_id, owner_id, id, page_id, section_slug, heading, fact, replacement, stated_by_id, overridden_by_id,
    superseded_on, digest, author_kind, author_id, withdrawn_at, created_at
)
SELECT CAST(:tenant_id AS uuid), CAST(:owner_id AS uuid), given.id, given.page_id, given.section_slug, given.heading,
       given.fact, given.replacement, given.stated_by_id, given.overridden_by_id, given.superseded_on, given.digest,
       CAST(:author_kind AS text), CAST(:author_id AS text), NULL, CAST(:now AS timestamptz)
FROM unnest(
    CAST(:ids AS uuid[]), CAST(:page_ids AS uuid[]), CAST(:section_slugs AS text[]), CAST(:headings AS text[]),
    CAST(:facts AS text[]), CAST(:replacements AS text[]), CAST(:stated_by_ids AS uuid[]),
    CAST(:overridden_by_ids AS uuid[]), CAST(:superseded_on AS timestamptz[]), CAST(:digests AS bytea[])
) AS given (
    id, page_id, section_slug, heading, fact, replacement, stated_by_id, overridden_by_id, superseded_on, digest
)
ON CONFLICT (tenant_id, page_id, digest) DO NOTHING;

-- name: find_recorded_since
-- Return the superseded claims of a page that are not withdrawn and were recorded after a version of the page.
SELECT c.id, c.replacement FROM superseded_claims AS c
JOIN revisions AS r
    ON r.tenant_id = :tenant_id AND r.owner_id = :owner_id AND r.page_id = :page_id AND r.version = :version
    AND r.created_at < c.created_at
WHERE c.tenant_id = :tenant_id AND c.owner_id = :owner_id AND c.page_id = :page_id AND c.withdrawn_at IS NULL
ORDER BY c.id;

-- name: withdraw_claim
-- Withdraw a superseded claim.
UPDATE superseded_claims SET withdrawn_at = CAST(:now AS timestamptz)
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND id = :claim_id;

-- name: restore_claim
-- Restore a withdrawn claim with the values with which it is recorded now. A claim that is not withdrawn stays as it is.
UPDATE superseded_claims
SET section_slug = CAST(:section_slug AS text), heading = CAST(:heading AS text), fact = CAST(:fact AS text),
    replacement = CAST(:replacement AS text), stated_by_id = CAST(:stated_by_id AS uuid),
    overridden_by_id = CAST(:overridden_by_id AS uuid), superseded_on = CAST(:superseded_on AS timestamptz),
    author_kind = CAST(:author_kind AS text), author_id = CAST(:author_id AS text), withdrawn_at = NULL,
    created_at = CAST(:now AS timestamptz)
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND id = :id AND withdrawn_at IS NOT NULL;

-- name: move_claims
-- Move the superseded claims of a merged page to the page that it was merged into, in the sections that have its texts
-- now.
UPDATE superseded_claims AS c
SET page_id = :into_id, section_slug = coalesce(given.into_slug, c.section_slug)
FROM superseded_claims AS own
LEFT JOIN unnest(CAST(:from_slugs AS text[]), CAST(:into_slugs AS text[])) AS given (from_slug, into_slug)
    ON given.from_slug = own.section_slug
WHERE c.tenant_id = :tenant_id AND c.owner_id = :owner_id AND c.page_id = :from_id
  AND own.tenant_id = :tenant_id AND own.owner_id = :owner_id AND own.id = c.id
  AND NOT EXISTS (
      SELECT FROM superseded_claims AS same
      WHERE same.tenant_id = :tenant_id AND same.owner_id = :owner_id AND same.page_id = :into_id
        AND same.digest = c.digest
  );

-- name: find_of_pages
-- Return the superseded claims of these pages, withdrawn or not.
SELECT page_id, fact, superseded_on, digest, withdrawn_at FROM superseded_claims
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND page_id = ANY(CAST(:page_ids AS uuid[]))
ORDER BY page_id, superseded_on, id;

-- name: find_trajectories
-- Return the number of superseded claims of a page that are not withdrawn, with each page that has a slug of its
-- trajectory, and whether that page is the trajectory of this page, by one of its addresses.
SELECT known.claims, p.id, p.slug,
    coalesce(p.metadata ->> 'trajectory_of' = ANY(CAST(:addresses AS text[])), FALSE) AS is_own
FROM (
    SELECT count(*) AS claims FROM superseded_claims
    WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND page_id = :page_id AND withdrawn_at IS NULL
) AS known
LEFT JOIN pages AS p
    ON p.tenant_id = :tenant_id AND p.owner_id = :owner_id AND p.type = :type
    AND p.slug = ANY(CAST(:slugs AS text[])) AND p.id <> :page_id
ORDER BY is_own DESC, array_position(CAST(:slugs AS text[]), p.slug);

-- name: list_of_page
-- Return the superseded claims of a page that are not withdrawn, the oldest first, with the sources that stated and
-- overrode them, and the sensitivity of these.
SELECT c.fact, c.replacement, c.superseded_on, stating.kind AS stated_kind, stating.ref AS stated_ref,
       overriding.kind AS overriding_kind, overriding.ref AS overriding_ref,
       stating.metadata ->> 'sensitivity' AS stated_level, overriding.metadata ->> 'sensitivity' AS overriding_level
FROM superseded_claims AS c
LEFT JOIN sources AS stating
    ON stating.tenant_id = :tenant_id AND stating.owner_id = :owner_id AND stating.id = c.stated_by_id
LEFT JOIN sources AS overriding
    ON overriding.tenant_id = :tenant_id AND overriding.owner_id = :owner_id AND overriding.id = c.overridden_by_id
WHERE c.tenant_id = :tenant_id AND c.owner_id = :owner_id AND c.page_id = :page_id AND c.withdrawn_at IS NULL
ORDER BY c.superseded_on, c.id
LIMIT :limit;
