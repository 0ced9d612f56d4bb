-- name: add_owner
-- A new owner of a wiki; nothing comes back when the slug is taken in this tenant.
INSERT INTO owners (tenant_id, id, kind, slug, name, language)
VALUES (
    CAST(:tenant_id AS uuid), CAST(:owner_id AS uuid), CAST(:kind AS text), CAST(:slug AS text), CAST(:name AS text),
    CAST(:language AS text)
)
ON CONFLICT (tenant_id, slug) DO NOTHING
RETURNING tenant_id, id, kind, slug, name, language, created_at;

-- name: find_owner
-- The owner with this id.
SELECT tenant_id, id, kind, slug, name, language, created_at
FROM owners
WHERE tenant_id = CAST(:tenant_id AS uuid) AND id = CAST(:owner_id AS uuid);

-- name: find_owner_by_slug
-- The owner with this slug.
SELECT tenant_id, id, kind, slug, name, language, created_at
FROM owners
WHERE tenant_id = CAST(:tenant_id AS uuid) AND slug = CAST(:slug AS text);

-- name: list_owners
-- Owners of the tenant by slug: those after a slug, and so many at most, where these are given.
SELECT tenant_id, id, kind, slug, name, language, created_at
FROM owners
WHERE tenant_id = CAST(:tenant_id AS uuid) AND slug > coalesce(CAST(:after AS text), '')
ORDER BY slug
LIMIT CAST(:most AS integer);

-- name: find_owners
-- The owners with these ids or slugs.
SELECT tenant_id, id, kind, slug, name, language, created_at
FROM owners
WHERE tenant_id = CAST(:tenant_id AS uuid)
    AND (id = ANY(CAST(:owner_ids AS uuid[])) OR slug = ANY(CAST(:slugs AS text[])));

-- name: set_language
-- In which language the wiki is written from now on; nothing comes back when it was written in that before.
UPDATE owners SET language = CAST(:language AS text)
WHERE tenant_id = CAST(:tenant_id AS uuid) AND id = CAST(:owner_id AS uuid) AND language <> CAST(:language AS text)
RETURNING id;

-- name: set_min_sources
-- How many sources a page of the wiki needs for a text of its own; nothing comes back when it was as many before.
UPDATE owners SET min_sources_for_synthesis = CAST(:least AS integer)
WHERE tenant_id = CAST(:tenant_id AS uuid) AND id = CAST(:owner_id AS uuid)
  AND min_sources_for_synthesis <> CAST(:least AS integer)
RETURNING id;

-- name: has_language
-- Has this Postgres a stemmer for the language?
SELECT pg_input_is_valid(CAST(:language AS text), 'regconfig');

-- name: hold_owners
-- Those of these owners that exist, and that nobody can delete before this transaction ends.
SELECT id, kind
FROM owners
WHERE tenant_id = CAST(:tenant_id AS uuid) AND id = ANY(CAST(:owner_ids AS uuid[]))
FOR KEY SHARE;
