-- name: add_owner
-- Add an owner; no row is returned if the slug is taken in this tenant.
INSERT INTO owners (tenant_id, id, kind, slug, name, language)
VALUES (
    CAST(:tenant_id AS uuid), CAST(:owner_id AS uuid), CAST(:kind AS text), CAST(:slug AS text), CAST(:name AS text),
    CAST(:language AS text)
)
ON CONFLICT (tenant_id, slug) DO NOTHING
RETURNING tenant_id, id, kind, slug, name, language, created_at, score_boost, write_policy,
    min_sources_for_synthesis, stale_after_days, oversize_characters, lint_min_pages, lint_every_days, lint_after_sources, requires_sensitivity,
    reader_ceiling, member_ceiling, decision_threshold;

-- name: find_owner
-- Find the owner with this id.
SELECT tenant_id, id, kind, slug, name, language, created_at, score_boost, write_policy,
    min_sources_for_synthesis, stale_after_days, oversize_characters, lint_min_pages, lint_every_days, lint_after_sources, requires_sensitivity,
    reader_ceiling, member_ceiling, decision_threshold
FROM owners
WHERE tenant_id = CAST(:tenant_id AS uuid) AND id = CAST(:owner_id AS uuid);

-- name: find_owner_by_slug
-- Find the owner with this slug.
SELECT tenant_id, id, kind, slug, name, language, created_at, score_boost, write_policy,
    min_sources_for_synthesis, stale_after_days, oversize_characters, lint_min_pages, lint_every_days, lint_after_sources, requires_sensitivity,
    reader_ceiling, member_ceiling, decision_threshold
FROM owners
WHERE tenant_id = CAST(:tenant_id AS uuid) AND slug = CAST(:slug AS text);

-- name: list_owners
-- List the owners of a tenant by slug, optionally only those after a slug, up to a limit.
SELECT tenant_id, id, kind, slug, name, language, created_at, score_boost, write_policy,
    min_sources_for_synthesis, stale_after_days, oversize_characters, lint_min_pages, lint_every_days, lint_after_sources, requires_sensitivity,
    reader_ceiling, member_ceiling, decision_threshold
FROM owners
WHERE tenant_id = CAST(:tenant_id AS uuid) AND slug > coalesce(CAST(:after AS text), '')
ORDER BY slug
LIMIT CAST(:limit AS integer);

-- name: find_owners
-- Find the owners with these ids or slugs.
SELECT tenant_id, id, kind, slug, name, language, created_at, score_boost, write_policy,
    min_sources_for_synthesis, stale_after_days, oversize_characters, lint_min_pages, lint_every_days, lint_after_sources, requires_sensitivity,
    reader_ceiling, member_ceiling, decision_threshold
FROM owners
WHERE tenant_id = CAST(:tenant_id AS uuid)
    AND (id = ANY(CAST(:owner_ids AS uuid[])) OR slug = ANY(CAST(:slugs AS text[])));

-- name: set_language
-- Set the language of a wiki; no row is returned if the wiki has this language already.
UPDATE owners SET language = CAST(:language AS text)
WHERE tenant_id = CAST(:tenant_id AS uuid) AND id = CAST(:owner_id AS uuid) AND language <> CAST(:language AS text)
RETURNING id;

-- name: update_settings
-- Update settings of a wiki; a null leaves a setting as it is. No row is returned if nothing changed.
UPDATE owners SET
    score_boost = coalesce(CAST(:score_boost AS float8), score_boost),
    min_sources_for_synthesis = coalesce(CAST(:min_sources_for_synthesis AS integer), min_sources_for_synthesis),
    stale_after_days = coalesce(CAST(:stale_after_days AS integer), stale_after_days),
    oversize_characters = coalesce(CAST(:oversize_characters AS integer), oversize_characters),
    lint_min_pages = coalesce(CAST(:lint_min_pages AS integer), lint_min_pages),
    lint_every_days = coalesce(CAST(:lint_every_days AS integer), lint_every_days),
    lint_after_sources = coalesce(CAST(:lint_after_sources AS integer), lint_after_sources),
    requires_sensitivity = coalesce(CAST(:requires_sensitivity AS boolean), requires_sensitivity),
    reader_ceiling = coalesce(CAST(:reader_ceiling AS text), reader_ceiling),
    member_ceiling = coalesce(CAST(:member_ceiling AS text), member_ceiling),
    decision_threshold = coalesce(CAST(:decision_threshold AS text), decision_threshold),
    write_policy = coalesce(CAST(:write_policy AS jsonb), write_policy)
WHERE tenant_id = CAST(:tenant_id AS uuid) AND id = CAST(:owner_id AS uuid)
    AND (
        score_boost <> coalesce(CAST(:score_boost AS float8), score_boost)
        OR min_sources_for_synthesis <> coalesce(CAST(:min_sources_for_synthesis AS integer), min_sources_for_synthesis)
        OR stale_after_days <> coalesce(CAST(:stale_after_days AS integer), stale_after_days)
        OR oversize_characters <> coalesce(CAST(:oversize_characters AS integer), oversize_characters)
        OR lint_min_pages <> coalesce(CAST(:lint_min_pages AS integer), lint_min_pages)
        OR lint_every_days <> coalesce(CAST(:lint_every_days AS integer), lint_every_days)
        OR lint_after_sources <> coalesce(CAST(:lint_after_sources AS integer), lint_after_sources)
        OR requires_sensitivity <> coalesce(CAST(:requires_sensitivity AS boolean), requires_sensitivity)
        OR reader_ceiling <> coalesce(CAST(:reader_ceiling AS text), reader_ceiling)
        OR member_ceiling <> coalesce(CAST(:member_ceiling AS text), member_ceiling)
        OR decision_threshold <> coalesce(CAST(:decision_threshold AS text), decision_threshold)
        OR write_policy <> coalesce(CAST(:write_policy AS jsonb), write_policy)
    )
RETURNING id;

-- name: has_language
-- Return whether this Postgres has a stemmer for the language.
SELECT pg_input_is_valid(CAST(:language AS text), 'regconfig');

-- name: lock_owners
-- Find those of these owners that exist, and lock them against deletion until this transaction ends.
SELECT id, kind
FROM owners
WHERE tenant_id = CAST(:tenant_id AS uuid) AND id = ANY(CAST(:owner_ids AS uuid[]))
FOR KEY SHARE;
