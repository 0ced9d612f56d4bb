-- name: find_sections
-- Return the sections of a page in order.
SELECT id, section_slug, heading, body_md
FROM sections
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND page_id = :page_id
ORDER BY position, id;

-- name: drop_sections
-- Delete sections of pages.
DELETE FROM sections AS s
USING unnest(CAST(:page_ids AS uuid[]), CAST(:slugs AS text[])) AS given (page_id, slug)
WHERE s.tenant_id = :tenant_id AND s.owner_id = :owner_id AND s.page_id = given.page_id AND s.section_slug = given.slug;

-- name: write_sections
-- Insert or update sections of pages. An existing section keeps its id, and so its citations.
INSERT INTO sections (tenant_id, owner_id, id, page_id, section_slug, heading, body_md, position, created_at, updated_at)
SELECT CAST(:tenant_id AS uuid), CAST(:owner_id AS uuid), given.id, given.page_id, given.slug, given.heading,
       given.body, given.position, CAST(:now AS timestamptz), CAST(:now AS timestamptz)
FROM unnest(
    CAST(:ids AS uuid[]), CAST(:page_ids AS uuid[]), CAST(:slugs AS text[]), CAST(:headings AS text[]),
    CAST(:bodies AS text[]), CAST(:positions AS integer[])
) AS given (id, page_id, slug, heading, body, position)
ON CONFLICT (tenant_id, page_id, section_slug) DO UPDATE
SET heading = excluded.heading, body_md = excluded.body_md, position = excluded.position,
    updated_at = excluded.updated_at,
    supported_at = CASE WHEN sections.body_md = excluded.body_md THEN sections.supported_at END
WHERE (sections.heading, sections.body_md, sections.position)
    IS DISTINCT FROM (excluded.heading, excluded.body_md, excluded.position);
