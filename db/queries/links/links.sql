-- name: write_links
-- Add a reason to links, which are inserted if needed. Existing links keep their other reasons.
INSERT INTO links (tenant_id, owner_id, id, from_page_id, to_page_id, kind, reasons, created_at)
SELECT CAST(:tenant_id AS uuid), CAST(:owner_id AS uuid), given.id, given.from_page_id, given.to_page_id, given.kind,
       ARRAY[CAST(:reason AS text)], CAST(:now AS timestamptz)
FROM unnest(
    CAST(:ids AS uuid[]), CAST(:from_page_ids AS uuid[]), CAST(:to_page_ids AS uuid[]), CAST(:kinds AS text[])
) AS given (id, from_page_id, to_page_id, kind)
ON CONFLICT (tenant_id, from_page_id, to_page_id, kind) DO UPDATE
SET reasons = links.reasons || excluded.reasons
WHERE NOT links.reasons @> excluded.reasons;

-- name: write_link
-- Add a reason to the reference between two pages of this wiki, which is inserted if needed. Return all its reasons, or
-- no row if it had the reason already.
INSERT INTO links (tenant_id, owner_id, id, from_page_id, to_page_id, kind, reasons, created_at)
SELECT CAST(:tenant_id AS uuid), CAST(:owner_id AS uuid), CAST(:id AS uuid), f.id, t.id, 'reference',
       ARRAY[CAST(:reason AS text)], CAST(:now AS timestamptz)
FROM pages AS f
JOIN pages AS t ON t.tenant_id = :tenant_id AND t.owner_id = :owner_id AND t.id = :to_page_id
WHERE f.tenant_id = :tenant_id AND f.owner_id = :owner_id AND f.id = :from_page_id
ON CONFLICT (tenant_id, from_page_id, to_page_id, kind) DO UPDATE
SET reasons = links.reasons || excluded.reasons
WHERE NOT links.reasons @> excluded.reasons
RETURNING reasons;

-- name: find_reasons
-- Return the reasons of the reference from a page to another.
SELECT reasons FROM links
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND from_page_id = :from_page_id AND to_page_id = :to_page_id
  AND kind = 'reference';

-- name: find_related
-- Return the active pages that a page refers to for a reason other than `text`.
SELECT link.to_page_id FROM links AS link
JOIN pages AS page ON page.tenant_id = :tenant_id AND page.owner_id = :owner_id AND page.id = link.to_page_id
WHERE link.tenant_id = :tenant_id AND link.owner_id = :owner_id AND link.from_page_id = :page_id
  AND link.kind = 'reference' AND NOT link.reasons <@ '{text}' AND page.status = 'active';

-- name: delete_related
-- Delete references from a page to these pages that do not have the reason `text`.
DELETE FROM links
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND from_page_id = :page_id
  AND to_page_id = ANY(CAST(:to_page_ids AS uuid[])) AND kind = 'reference' AND NOT reasons @> '{text}';

-- name: leave_to_text
-- Remove all reasons except `text` from references from a page to these pages that have this reason.
UPDATE links SET reasons = '{text}'
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND from_page_id = :page_id
  AND to_page_id = ANY(CAST(:to_page_ids AS uuid[])) AND kind = 'reference' AND reasons @> '{text}'
  AND reasons <> '{text}';

-- name: delete_link
-- Delete a reference whose only reason is the given one, or, without a given one, that does not have the reason `text`.
-- Return its reasons.
DELETE FROM links
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND from_page_id = :from_page_id AND to_page_id = :to_page_id
  AND kind = 'reference' AND reasons <> '{}' AND NOT reasons @> '{text}'
  AND (CAST(:reason AS text) IS NULL OR reasons <@ ARRAY[CAST(:reason AS text)])
RETURNING reasons;

-- name: set_reasons
-- Set the reasons of the reference from a page to another.
UPDATE links SET reasons = CAST(:reasons AS text[])
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND from_page_id = :from_page_id AND to_page_id = :to_page_id
  AND kind = 'reference';

-- name: delete_mirrors
-- Delete both links between a page and its former parent.
DELETE FROM links
WHERE tenant_id = :tenant_id AND owner_id = :owner_id
  AND (from_page_id, to_page_id, kind)
      IN ((:parent_id, :page_id, 'parent_of'), (:page_id, :parent_id, 'child_of'));

-- name: find_existing
-- Return the existing references among these pairs of pages with their reasons.
SELECT l.from_page_id, l.to_page_id, l.reasons
FROM unnest(CAST(:from_page_ids AS uuid[]), CAST(:to_page_ids AS uuid[])) AS given (from_page_id, to_page_id)
JOIN links AS l ON l.tenant_id = :tenant_id AND l.owner_id = :owner_id AND l.from_page_id = given.from_page_id
    AND l.to_page_id = given.to_page_id AND l.kind = 'reference';

-- name: write_references
-- Insert references with their reasons. Existing references get the reasons in addition to their own.
INSERT INTO links (tenant_id, owner_id, id, from_page_id, to_page_id, kind, reasons, created_at)
SELECT CAST(:tenant_id AS uuid), CAST(:owner_id AS uuid), given.id, given.from_page_id, given.to_page_id, 'reference',
       given.reasons, CAST(:now AS timestamptz)
FROM jsonb_to_recordset(CAST(:links AS jsonb)) AS given (id uuid, from_page_id uuid, to_page_id uuid, reasons text[])
ON CONFLICT (tenant_id, from_page_id, to_page_id, kind) DO UPDATE
SET reasons = links.reasons || excluded.reasons;

-- name: count_kind
-- Return how many references have a reason of a kind, and how many of them have no other reason.
SELECT count(*) AS links, count(*) FILTER (WHERE NOT counted.has_other) AS deleted
FROM (
    SELECT EXISTS (
        SELECT FROM unnest(l.reasons) AS given (reason)
        WHERE given.reason <> :kind AND NOT starts_with(given.reason, CAST(:kind AS text) || ':')
    ) AS has_other
    FROM links AS l
    WHERE l.tenant_id = :tenant_id AND l.owner_id = :owner_id AND l.kind = 'reference' AND EXISTS (
        SELECT FROM unnest(l.reasons) AS given (reason)
        WHERE given.reason = :kind OR starts_with(given.reason, CAST(:kind AS text) || ':')
    )
) AS counted;

-- name: delete_kind
-- Delete the references that have only reasons of a kind. Return their targets.
DELETE FROM links AS l
WHERE l.tenant_id = :tenant_id AND l.owner_id = :owner_id AND l.kind = 'reference' AND l.reasons <> '{}'
  AND NOT EXISTS (
      SELECT FROM unnest(l.reasons) AS given (reason)
      WHERE given.reason <> :kind AND NOT starts_with(given.reason, CAST(:kind AS text) || ':')
  )
RETURNING l.to_page_id;

-- name: drop_kind
-- Remove the reasons of a kind from references that have other reasons as well.
UPDATE links AS l SET reasons = ARRAY(
    SELECT given.reason FROM unnest(l.reasons) WITH ORDINALITY AS given (reason, n)
    WHERE given.reason <> :kind AND NOT starts_with(given.reason, CAST(:kind AS text) || ':')
    ORDER BY given.n
)
WHERE l.tenant_id = :tenant_id AND l.owner_id = :owner_id AND l.kind = 'reference' AND EXISTS (
    SELECT FROM unnest(l.reasons) AS given (reason)
    WHERE given.reason = :kind OR starts_with(given.reason, CAST(:kind AS text) || ':')
);
