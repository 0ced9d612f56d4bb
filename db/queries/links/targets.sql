-- name: drop_targets
-- Delete the targets of changed texts that the texts do not have any more.
DELETE FROM link_targets AS t
WHERE t.tenant_id = :tenant_id AND t.owner_id = :owner_id AND t.from_page_id = ANY(CAST(:changed AS uuid[]))
  AND t.relation = 'text'
  AND NOT EXISTS (
      SELECT FROM unnest(CAST(:page_ids AS uuid[]), CAST(:targets AS text[])) AS given (page_id, target)
      WHERE given.page_id = t.from_page_id AND given.target = t.target
  );

-- name: drop_relations
-- Delete the relations of pages that their files do not name any more. The links that they made stay until somebody
-- removes them.
DELETE FROM link_targets AS t
WHERE t.tenant_id = :tenant_id AND t.owner_id = :owner_id AND t.from_page_id = ANY(CAST(:changed AS uuid[]))
  AND t.relation <> 'text'
  AND NOT EXISTS (
      SELECT FROM unnest(CAST(:page_ids AS uuid[]), CAST(:targets AS text[])) AS given (page_id, target)
      WHERE given.page_id = t.from_page_id AND given.target = t.target
  );

-- name: drop_related
-- Delete the relations of a page to others that its file names, because a caller removed the links.
DELETE FROM link_targets
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND from_page_id = :from_page_id
  AND to_page_id = ANY(CAST(:to_page_ids AS uuid[])) AND relation = 'related';

-- name: write_relations
-- Write the relations that files name, whether or not their pages exist. Return those that are new or have changed.
INSERT INTO link_targets (tenant_id, owner_id, from_page_id, target, type, slug, alias, relation)
SELECT CAST(:tenant_id AS uuid), CAST(:owner_id AS uuid), given.page_id, given.target, given.type, given.slug,
       given.alias, given.relation
FROM unnest(
    CAST(:page_ids AS uuid[]), CAST(:targets AS text[]), CAST(:types AS text[]), CAST(:slugs AS text[]),
    CAST(:aliases AS text[]), CAST(:relations AS text[])
) AS given (page_id, target, type, slug, alias, relation)
ON CONFLICT (tenant_id, from_page_id, target) DO UPDATE
SET type = excluded.type, slug = excluded.slug, alias = excluded.alias
WHERE (link_targets.type, link_targets.slug, link_targets.alias)
      IS DISTINCT FROM (excluded.type, excluded.slug, excluded.alias)
RETURNING slug, alias;

-- name: write_redirect
-- Write a redirect from a slug to a page that may not exist yet.
INSERT INTO redirects (tenant_id, owner_id, slug, path, target, type, target_slug, target_alias)
VALUES (CAST(:tenant_id AS uuid), CAST(:owner_id AS uuid), :slug, :path, :target, :type, :target_slug, :target_alias)
ON CONFLICT (tenant_id, owner_id, slug) DO UPDATE
SET path = excluded.path, target = excluded.target, type = excluded.type, target_slug = excluded.target_slug,
    target_alias = excluded.target_alias;

-- name: drop_redirects
-- Delete redirects whose page exists now.
DELETE FROM redirects
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND slug = ANY(CAST(:slugs AS text[]));

-- name: drop_import_reasons
-- Remove the reason `import` from references between pages whose files do not name each other any more, and delete
-- references without another reason. Return their targets.
WITH stale AS MATERIALIZED (
    SELECT l.id, l.to_page_id FROM unnest(CAST(:page_ids AS uuid[]), CAST(:to_page_ids AS uuid[])) AS given (a, b)
    JOIN links AS l ON l.tenant_id = :tenant_id AND l.owner_id = :owner_id AND l.from_page_id = given.a
        AND l.to_page_id = given.b AND l.kind = 'reference' AND 'import' = ANY(l.reasons)
    WHERE NOT EXISTS (
        SELECT FROM link_targets AS t
        WHERE t.tenant_id = :tenant_id AND t.owner_id = :owner_id AND t.from_page_id = given.a
          AND t.to_page_id = given.b AND t.relation = 'related'
    )
), deleted AS (
    DELETE FROM links AS l USING stale
    WHERE l.tenant_id = :tenant_id AND l.owner_id = :owner_id AND l.id = stale.id AND l.reasons = '{import}'
), loosened AS (
    UPDATE links AS l SET reasons = array_remove(l.reasons, 'import') FROM stale
    WHERE l.tenant_id = :tenant_id AND l.owner_id = :owner_id AND l.id = stale.id AND l.reasons <> '{import}'
)
SELECT to_page_id FROM stale;

-- name: set_named_parents
-- Set the parent that the files of pages name, unless a page has a parent or is an ancestor of the new parent. Return
-- the pages that got the parent.
WITH RECURSIVE up AS MATERIALIZED (
    SELECT id, parent_page_id FROM pages
    WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND id = :parent_id
    UNION
    SELECT p.id, p.parent_page_id FROM up
    JOIN pages AS p ON p.tenant_id = :tenant_id AND p.owner_id = :owner_id AND p.id = up.parent_page_id
)
UPDATE pages AS p SET parent_page_id = CAST(:parent_id AS uuid)
WHERE p.tenant_id = :tenant_id AND p.owner_id = :owner_id AND p.id = ANY(CAST(:page_ids AS uuid[]))
  AND p.parent_page_id IS NULL AND NOT EXISTS (SELECT FROM up WHERE up.id = p.id)
RETURNING p.id;

-- name: clear_named_parents
-- Remove the parent of pages that their files named, because that name means another page or none now. Return the pages
-- that lost it.
UPDATE pages AS p SET parent_page_id = NULL
FROM unnest(CAST(:page_ids AS uuid[]), CAST(:parent_ids AS uuid[])) AS given (page_id, parent_id)
WHERE p.tenant_id = :tenant_id AND p.owner_id = :owner_id AND p.id = given.page_id
  AND p.parent_page_id = given.parent_id
RETURNING p.id, given.parent_id;

-- name: write_targets
-- Write the targets of the texts of pages, whether or not their pages exist.
INSERT INTO link_targets (tenant_id, owner_id, from_page_id, target, space, type, slug, alias, text, section_slugs)
SELECT CAST(:tenant_id AS uuid), CAST(:owner_id AS uuid), given.page_id, given.target, given.space, given.type,
       given.slug, given.alias, given.text, string_to_array(given.sections, ' ')
FROM unnest(
    CAST(:page_ids AS uuid[]), CAST(:targets AS text[]), CAST(:spaces AS text[]), CAST(:types AS text[]),
    CAST(:slugs AS text[]), CAST(:aliases AS text[]), CAST(:texts AS text[]), CAST(:sections AS text[])
) AS given (page_id, target, space, type, slug, alias, text, sections)
ON CONFLICT (tenant_id, from_page_id, target) DO UPDATE
SET slug = excluded.slug, alias = excluded.alias, text = excluded.text, section_slugs = excluded.section_slugs
WHERE (link_targets.slug, link_targets.alias, link_targets.text, link_targets.section_slugs)
    IS DISTINCT FROM (excluded.slug, excluded.alias, excluded.text, excluded.section_slugs);

-- name: find_unplaced
-- Return pages that were saved before the sections of links were stored, so that these are unknown.
SELECT DISTINCT t.from_page_id AS id FROM link_targets AS t
WHERE t.tenant_id = :tenant_id AND t.owner_id = :owner_id AND t.relation = 'text' AND t.section_slugs IS NULL
ORDER BY t.from_page_id
LIMIT CAST(:size AS integer);

-- name: place_targets
-- Store the sections that contain the links of these pages. A target that the text does not have any more is in none.
UPDATE link_targets AS t SET section_slugs = coalesce(string_to_array(given.sections, ' '), '{}')
FROM link_targets AS own
LEFT JOIN unnest(CAST(:page_ids AS uuid[]), CAST(:targets AS text[]), CAST(:sections AS text[]))
    AS given (page_id, target, sections) ON given.page_id = own.from_page_id AND given.target = own.target
WHERE own.tenant_id = :tenant_id AND own.owner_id = :owner_id AND own.from_page_id = ANY(CAST(:ids AS uuid[]))
  AND own.relation = 'text' AND own.section_slugs IS NULL
  AND t.tenant_id = :tenant_id AND t.owner_id = :owner_id AND t.from_page_id = own.from_page_id
  AND t.target = own.target;

-- name: find_private_link
-- Return a new link of these pages that leads from a shared space into the wiki of a user or agent which the caller may
-- read. Wikis that the caller may not read are left out, so that their existence is not revealed.
SELECT given.target
FROM unnest(CAST(:page_ids AS uuid[]), CAST(:targets AS text[]), CAST(:spaces AS text[])) AS given (page_id, target, space)
JOIN owners AS own ON own.tenant_id = :tenant_id AND own.id = :owner_id AND own.kind = 'shared'
JOIN owners AS o ON o.tenant_id = :tenant_id AND o.slug = given.space AND o.kind <> 'shared' AND (
    CAST(:spans AS boolean) OR o.id = ANY(CAST(:owners AS uuid[])) OR EXISTS (
        SELECT FROM grants AS g
        WHERE g.tenant_id = :tenant_id AND g.owner_id = o.id AND g.grantee_id = ANY(CAST(:owners AS uuid[]))
    )
)
WHERE NOT EXISTS (
    SELECT FROM link_targets AS t
    WHERE t.tenant_id = :tenant_id AND t.from_page_id = given.page_id AND t.target = given.target
)
LIMIT 1;

-- name: detach_page
-- Detach the targets of a page that is about to be deleted. Return the names that they use.
UPDATE link_targets SET to_page_id = NULL
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND to_page_id = :page_id
RETURNING slug, alias;

-- name: resolve_targets
-- Resolve the targets of pages, the targets that use one of these names, and the redirects to one of these names. An
-- active page comes before an archived one, then a slug before a former slug before an alias, then the oldest page.
-- References of texts are inserted and deleted accordingly; a reference with other reasons keeps those. The texts of
-- `changed` may have lost links. Return the targets of the references of texts that were added or removed, and the
-- other relations whose page has changed.
WITH affected AS MATERIALIZED (
    SELECT from_page_id, target, type, slug, alias, relation, to_page_id FROM link_targets
    WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND space IS NULL
      AND (
          from_page_id = ANY(CAST(:page_ids AS uuid[]))
          OR slug = ANY(CAST(:slugs AS text[]))
          OR alias = ANY(CAST(:aliases AS text[]))
      )
    UNION ALL
    SELECT CAST('00000000-0000-0000-0000-000000000000' AS uuid), slug, type, target_slug, target_alias, 'redirect', NULL
    FROM redirects
    WHERE tenant_id = :tenant_id AND owner_id = :owner_id
      AND (target_slug = ANY(CAST(:slugs AS text[])) OR target_alias = ANY(CAST(:aliases AS text[])))
), candidates AS (
    SELECT a.from_page_id, a.target, p.id, p.status, 1 AS rank
    FROM affected AS a
    JOIN pages AS p ON p.tenant_id = :tenant_id AND p.owner_id = :owner_id AND p.slug = a.slug
    WHERE a.type IS NULL OR a.type = p.type
    UNION ALL
    SELECT a.from_page_id, a.target, p.id, p.status, 2
    FROM affected AS a
    JOIN old_slugs AS o ON o.tenant_id = :tenant_id AND o.owner_id = :owner_id AND o.slug = a.slug
    JOIN pages AS p ON p.tenant_id = :tenant_id AND p.owner_id = :owner_id AND p.id = o.page_id
    WHERE a.type IS NULL OR a.type = o.type
    UNION ALL
    SELECT a.from_page_id, a.target, p.id, p.status, 3
    FROM affected AS a
    JOIN aliases AS n ON n.tenant_id = :tenant_id AND n.owner_id = :owner_id AND n.alias = a.alias
    JOIN pages AS p ON p.tenant_id = :tenant_id AND p.owner_id = :owner_id AND p.id = n.page_id
    WHERE a.type IS NULL OR a.type = p.type
), best AS (
    SELECT DISTINCT ON (from_page_id, target) from_page_id, target, id
    FROM candidates
    ORDER BY from_page_id, target, status <> 'active', rank, id
), resolved AS MATERIALIZED (
    SELECT a.from_page_id, a.target, a.relation, a.to_page_id AS before_id, best.id AS to_page_id,
           a.to_page_id IS DISTINCT FROM best.id AS is_moved
    FROM affected AS a
    LEFT JOIN best ON best.from_page_id = a.from_page_id AND best.target = a.target
), concerned AS MATERIALIZED (
    SELECT from_page_id FROM resolved WHERE is_moved AND relation = 'text'
    UNION
    SELECT unnest(CAST(:changed AS uuid[]))
), meant AS MATERIALIZED (
    SELECT r.from_page_id, r.to_page_id FROM concerned AS c JOIN resolved AS r ON r.from_page_id = c.from_page_id
    WHERE r.relation = 'text' AND r.to_page_id <> r.from_page_id
    UNION
    SELECT t.from_page_id, t.to_page_id FROM concerned AS c
    JOIN link_targets AS t ON t.tenant_id = :tenant_id AND t.owner_id = :owner_id AND t.from_page_id = c.from_page_id
    WHERE t.relation = 'text' AND t.to_page_id <> t.from_page_id
      AND NOT EXISTS (SELECT FROM resolved AS r WHERE r.from_page_id = t.from_page_id AND r.target = t.target)
), stale AS MATERIALIZED (
    SELECT l.id, l.to_page_id FROM concerned AS c
    JOIN links AS l ON l.tenant_id = :tenant_id AND l.owner_id = :owner_id AND l.from_page_id = c.from_page_id
    WHERE l.kind = 'reference' AND 'text' = ANY(l.reasons)
      AND NOT EXISTS (
          SELECT FROM meant AS m WHERE m.from_page_id = l.from_page_id AND m.to_page_id = l.to_page_id
      )
), missing AS MATERIALIZED (
    SELECT m.from_page_id, m.to_page_id, row_number() OVER (ORDER BY m.from_page_id, m.to_page_id) AS number
    FROM meant AS m
    WHERE NOT EXISTS (
        SELECT FROM links AS l
        WHERE l.tenant_id = :tenant_id AND l.owner_id = :owner_id AND l.from_page_id = m.from_page_id
          AND l.to_page_id = m.to_page_id AND l.kind = 'reference' AND 'text' = ANY(l.reasons)
    )
), moved AS (
    UPDATE link_targets AS t SET to_page_id = r.to_page_id FROM resolved AS r
    WHERE t.tenant_id = :tenant_id AND t.owner_id = :owner_id AND t.from_page_id = r.from_page_id
      AND t.target = r.target AND r.is_moved
), deleted AS (
    DELETE FROM links AS l USING stale
    WHERE l.tenant_id = :tenant_id AND l.owner_id = :owner_id AND l.id = stale.id AND l.reasons = '{text}'
), loosened AS (
    UPDATE links AS l SET reasons = array_remove(l.reasons, 'text') FROM stale
    WHERE l.tenant_id = :tenant_id AND l.owner_id = :owner_id AND l.id = stale.id AND l.reasons <> '{text}'
), added AS (
    INSERT INTO links (tenant_id, owner_id, id, from_page_id, to_page_id, kind, reasons, created_at)
    SELECT CAST(:tenant_id AS uuid), CAST(:owner_id AS uuid),
           CAST(CAST(:id_start AS text) || lpad(to_hex(CAST(:id_number AS bigint) + number), 12, '0') AS uuid),
           from_page_id, to_page_id, 'reference', '{text}', CAST(:now AS timestamptz)
    FROM missing
    ON CONFLICT (tenant_id, from_page_id, to_page_id, kind) DO UPDATE
    SET reasons = links.reasons || excluded.reasons
    WHERE NOT links.reasons @> excluded.reasons
)
SELECT 'text' AS relation, CAST(NULL AS uuid) AS from_page_id, CAST(NULL AS text) AS target,
       CAST(NULL AS uuid) AS before_id, to_page_id AS now_id
FROM stale
UNION
SELECT 'text', NULL, NULL, NULL, to_page_id FROM missing
UNION ALL
SELECT relation, from_page_id, target, before_id, to_page_id FROM resolved WHERE is_moved AND relation <> 'text';

-- name: find_all_names
-- Return all names that targets and redirects of a wiki use.
SELECT slug, alias FROM link_targets
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND space IS NULL
UNION
SELECT target_slug, target_alias FROM redirects WHERE tenant_id = :tenant_id AND owner_id = :owner_id;

-- name: find_linking
-- Return the next texts after `reached_id`, by page id, with links to a page by one of these names, and how many there
-- are.
SELECT t.from_page_id AS id, array_agg(t.target) AS targets, count(*) OVER () AS total
FROM link_targets AS t
WHERE t.tenant_id = :tenant_id AND t.owner_id = :owner_id AND t.to_page_id = :page_id
  AND t.relation = 'text' AND (t.slug = :slug OR t.alias = :alias) AND t.from_page_id > CAST(:reached_id AS uuid)
GROUP BY t.from_page_id
ORDER BY t.from_page_id
LIMIT CAST(:limit AS integer);

-- name: find_texts_naming
-- Return all texts with links to a page by one of these names, if another page has or had its slug.
SELECT t.from_page_id AS id, array_agg(t.target) AS targets
FROM link_targets AS t
WHERE t.tenant_id = :tenant_id AND t.owner_id = :owner_id AND t.to_page_id = :page_id
  AND t.relation = 'text' AND (t.slug = :slug OR t.alias = :alias)
  AND (
      EXISTS (
          SELECT FROM pages AS p
          WHERE p.tenant_id = :tenant_id AND p.owner_id = :owner_id AND p.slug = :slug AND p.id <> :page_id
      )
      OR EXISTS (
          SELECT FROM old_slugs AS o
          WHERE o.tenant_id = :tenant_id AND o.owner_id = :owner_id AND o.slug = :slug AND o.page_id <> :page_id
      )
  )
GROUP BY t.from_page_id
ORDER BY t.from_page_id;

-- name: resolve_untyped
-- Return the page that a link without a type means by each of these names, in the order of resolve_targets.
SELECT DISTINCT ON (given.place) given.place, found.id
FROM unnest(CAST(:slugs AS text[]), CAST(:aliases AS text[])) WITH ORDINALITY AS given (slug, alias, place)
CROSS JOIN LATERAL (
    SELECT id, status, 1 AS rank FROM pages
    WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND slug = given.slug
    UNION ALL
    SELECT p.id, p.status, 2 FROM old_slugs AS o
    JOIN pages AS p ON p.tenant_id = :tenant_id AND p.owner_id = :owner_id AND p.id = o.page_id
    WHERE o.tenant_id = :tenant_id AND o.owner_id = :owner_id AND o.slug = given.slug
    UNION ALL
    SELECT p.id, p.status, 3 FROM aliases AS n
    JOIN pages AS p ON p.tenant_id = :tenant_id AND p.owner_id = :owner_id AND p.id = n.page_id
    WHERE n.tenant_id = :tenant_id AND n.owner_id = :owner_id AND n.alias = given.alias
) AS found
ORDER BY given.place, found.status <> 'active', found.rank, found.id;
