-- name: find_sections
-- The sections of a page, in order.
SELECT id, section_slug, heading, body_md
FROM sections
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND page_id = :page_id
ORDER BY position, id;

-- name: drop_sections
-- The sections that a page no longer has.
DELETE FROM sections
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND page_id = :page_id
  AND section_slug <> ALL(CAST(:slugs AS text[]));

-- name: write_sections
-- All sections of pages; one that was there keeps its id, and with it what cites it.
INSERT INTO sections (tenant_id, owner_id, id, page_id, section_slug, heading, body_md, position, created_at, updated_at)
SELECT CAST(:tenant_id AS uuid), CAST(:owner_id AS uuid), given.id, given.page_id, given.slug, given.heading,
       given.body, given.position, CAST(:now AS timestamptz), CAST(:now AS timestamptz)
FROM unnest(
    CAST(:ids AS uuid[]), CAST(:page_ids AS uuid[]), CAST(:slugs AS text[]), CAST(:headings AS text[]),
    CAST(:bodies AS text[]), CAST(:positions AS integer[])
) AS given (id, page_id, slug, heading, body, position)
ON CONFLICT (tenant_id, page_id, section_slug) DO UPDATE
SET heading = excluded.heading, body_md = excluded.body_md, position = excluded.position,
    updated_at = excluded.updated_at
WHERE (sections.heading, sections.body_md, sections.position)
    IS DISTINCT FROM (excluded.heading, excluded.body_md, excluded.position);
