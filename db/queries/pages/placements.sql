-- name: find_said
-- Return the evidence of parents in the metadata of the sources that these pages cite, with the number of sources. Each
-- source is read once, even if several pages cite it.
WITH cited AS MATERIALIZED (
    SELECT DISTINCT page_id, source_id FROM section_sources
    WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND page_id = ANY(CAST(:page_ids AS uuid[]))
), told AS MATERIALIZED (
    SELECT e.id, hashtextextended(e.kind || ' ' || e.ref, 0) AS evidence, CAST(jsonb_strip_nulls(jsonb_build_object(
        'city', e.metadata -> 'city', 'place', e.metadata -> 'place', 'journal', e.metadata -> 'journal',
        'journal_id', e.metadata -> 'journal_id', 'tags', e.metadata -> 'tags', 'person', e.metadata -> 'person',
        'people', e.metadata -> 'people', 'project', e.metadata -> 'project',
        'place_city', e.metadata -> 'place_city', 'place.city', e.metadata -> 'place.city',
        'place_address', e.metadata -> 'place_address', 'address', e.metadata -> 'address'
    )) AS text) AS said
    FROM sources AS e
    WHERE e.tenant_id = :tenant_id AND e.owner_id = :owner_id AND e.id IN (SELECT source_id FROM cited)
)
SELECT cited.page_id, told.said, count(DISTINCT told.evidence) AS sources
FROM cited
JOIN told ON told.id = cited.source_id
WHERE told.said <> '{}'
GROUP BY cited.page_id, told.said
ORDER BY cited.page_id, told.said;

-- name: find_placements
-- Return the placements of these pages.
SELECT page_id, alias, name, bases, kind, tags, parent_page_id, section_slug, is_delegated FROM placements
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND page_id = ANY(CAST(:page_ids AS uuid[]))
ORDER BY page_id, alias;

-- name: find_topics
-- Return the active topics that may have one of these normalised titles, or one of them with a region after it.
SELECT given.alias, p.id, p.title
FROM unnest(CAST(:aliases AS text[]), CAST(:ends AS text[])) AS given (alias, last)
JOIN aliases AS a ON a.tenant_id = :tenant_id AND a.owner_id = :owner_id AND a.alias >= given.alias
    AND a.alias <= given.last
JOIN pages AS p ON p.tenant_id = :tenant_id AND p.owner_id = :owner_id AND p.id = a.page_id
    AND p.type = 'topic' AND p.status = 'active' AND (a.alias = given.alias OR strpos(p.title, ', ') > 0)
GROUP BY given.alias, p.id, p.title
ORDER BY given.alias, p.id;

-- name: find_waiting
-- Return placements of active pages that wait for a topic with one of these names, up to a maximum per name.
SELECT w.page_id, w.alias, w.name, w.bases, w.kind, w.tags
FROM unnest(CAST(:aliases AS text[])) WITH ORDINALITY AS given (alias, n)
CROSS JOIN LATERAL (
    SELECT found.page_id, found.alias, found.name, found.bases, found.kind, found.tags FROM placements AS found
    JOIN pages AS p ON p.tenant_id = :tenant_id AND p.owner_id = :owner_id AND p.id = found.page_id
        AND p.status = 'active'
    WHERE found.tenant_id = :tenant_id AND found.owner_id = :owner_id AND found.alias = given.alias
      AND found.parent_page_id IS NULL
    ORDER BY found.page_id
    LIMIT :limit
) AS w
ORDER BY given.n, w.page_id;

-- name: write_placements
-- Insert or update placements.
INSERT INTO placements (
    tenant_id, owner_id, page_id, alias, name, bases, kind, tags, parent_page_id, section_slug, is_delegated
)
SELECT CAST(:tenant_id AS uuid), CAST(:owner_id AS uuid), given.page_id, given.alias, given.name,
       ARRAY(SELECT jsonb_array_elements_text(given.lists -> 'bases')), given.kind,
       ARRAY(SELECT jsonb_array_elements_text(given.lists -> 'tags')), given.parent_page_id, given.section_slug,
       given.is_delegated
FROM unnest(
    CAST(:page_ids AS uuid[]), CAST(:aliases AS text[]), CAST(:names AS text[]), CAST(:kinds AS text[]),
    CAST(:lists AS jsonb[]), CAST(:parent_ids AS uuid[]), CAST(:slugs AS text[]), CAST(:delegated AS boolean[])
) AS given (page_id, alias, name, kind, lists, parent_page_id, section_slug, is_delegated)
ON CONFLICT (tenant_id, owner_id, page_id, alias) DO UPDATE
SET name = excluded.name, bases = excluded.bases, kind = excluded.kind, tags = excluded.tags,
    parent_page_id = excluded.parent_page_id, section_slug = excluded.section_slug,
    is_delegated = excluded.is_delegated;

-- name: drop_placements
-- Delete placements that no longer follow from the evidence of a page.
DELETE FROM placements
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND (page_id, alias) IN (
    SELECT given.page_id, given.alias
    FROM unnest(CAST(:page_ids AS uuid[]), CAST(:aliases AS text[])) AS given (page_id, alias)
);

-- name: move_placements
-- Move placements from sections to others: all of a section, or those with a tag.
UPDATE placements AS w SET parent_page_id = given.to_page_id, section_slug = given.to_slug, is_delegated = TRUE
FROM unnest(
    CAST(:page_ids AS uuid[]), CAST(:slugs AS text[]), CAST(:tags AS text[]), CAST(:to_page_ids AS uuid[]),
    CAST(:to_slugs AS text[])
) AS given (page_id, slug, tag, to_page_id, to_slug)
WHERE w.tenant_id = :tenant_id AND w.owner_id = :owner_id AND w.parent_page_id = given.page_id
  AND w.section_slug = given.slug AND (given.tag IS NULL OR given.tag = ANY(w.tags));
