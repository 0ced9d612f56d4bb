-- name: record_erasure
-- Record an erasure with the counts of its rows, and none of their content.
INSERT INTO erasures (tenant_id, id, kind, owner_id, erased_by, counts)
VALUES (
    CAST(:tenant_id AS uuid), CAST(:id AS uuid), CAST(:kind AS text), CAST(:owner_id AS uuid),
    CAST(:erased_by AS text), CAST(:counts AS jsonb)
);

-- name: list_erasures
-- List the erasures of a tenant, the oldest first.
SELECT tenant_id, id, kind, owner_id, erased_by, counts, erased_at FROM erasures
WHERE tenant_id = CAST(:tenant_id AS uuid)
ORDER BY id;

-- name: hold_owners_of_tenant
-- Lock all wikis of the tenant against writes until this transaction ends.
SELECT id FROM owners WHERE tenant_id = CAST(:tenant_id AS uuid) ORDER BY id FOR UPDATE;

-- name: hold_owner
-- Lock a wiki against writes until this transaction ends.
SELECT id FROM owners WHERE tenant_id = CAST(:tenant_id AS uuid) AND id = CAST(:owner_id AS uuid) FOR UPDATE;

-- name: find_names
-- List the names under which an owner acts: its id, its slug, those of its keys and of its programs. Programs whose
-- authorization was deleted are known by what they wrote, unless another owner has the same name.
SELECT CAST(o.id AS text) AS name FROM owners AS o
WHERE o.tenant_id = CAST(:tenant_id AS uuid) AND o.id = CAST(:owner_id AS uuid)
UNION ALL
SELECT o.slug FROM owners AS o WHERE o.tenant_id = CAST(:tenant_id AS uuid) AND o.id = CAST(:owner_id AS uuid)
UNION ALL
SELECT CAST(k.id AS text) FROM api_keys AS k
WHERE k.tenant_id = CAST(:tenant_id AS uuid) AND k.owner_ids[1] = CAST(:owner_id AS uuid)
UNION ALL
SELECT p.author FROM oauth_authorizations AS p
WHERE p.tenant_id = CAST(:tenant_id AS uuid) AND p.owner_id = CAST(:owner_id AS uuid)
UNION ALL
SELECT written.author FROM (
    SELECT r.author_id AS author FROM revisions AS r
    WHERE r.tenant_id = CAST(:tenant_id AS uuid) AND r.author_kind = 'agent'
    UNION
    SELECT a.actor_id FROM activity AS a
    WHERE a.tenant_id = CAST(:tenant_id AS uuid) AND a.actor_kind = 'agent'
) AS written
WHERE right(written.author, length(CAST(:program_ending AS text))) = CAST(:program_ending AS text)
    AND 1 = (
        SELECT count(*) FROM owners AS o
        WHERE o.tenant_id = CAST(:tenant_id AS uuid) AND o.name = CAST(:owner_name AS text)
    );

-- name: find_sources_of
-- List the sources, except forgotten ones, that these actors have added to any wiki of the tenant, by the activity log,
-- and the copies of them that a transfer of a page has made.
WITH RECURSIVE added AS MATERIALIZED (
    SELECT CAST(told.id AS uuid) AS id, a.actor_id, CAST(a.detail ->> 'copiedFrom' AS uuid) AS copied_from
    FROM activity AS a
    CROSS JOIN LATERAL jsonb_array_elements_text(
        coalesce(a.detail -> 'sourceIds', jsonb_build_array(a.detail ->> 'sourceId'))
    ) AS told (id)
    WHERE a.tenant_id = CAST(:tenant_id AS uuid) AND a.action IN ('source.added', 'source.retained')
      AND told.id IS NOT NULL
), theirs AS (
    SELECT added.id FROM added WHERE added.actor_id = ANY(CAST(:names AS text[])) AND added.copied_from IS NULL
    UNION
    SELECT added.id FROM added JOIN theirs ON added.copied_from = theirs.id
)
SELECT s.id, s.owner_id FROM sources AS s
WHERE s.tenant_id = CAST(:tenant_id AS uuid) AND s.forgotten_at IS NULL AND s.id IN (SELECT theirs.id FROM theirs)
ORDER BY s.owner_id, s.id;
