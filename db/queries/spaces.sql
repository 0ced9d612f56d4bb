-- name: find_own_spaces
-- The caller's own wiki, and after it the shared spaces that it may read, by slug: so many at most.
SELECT o.id, o.slug, o.score_boost
FROM owners AS o
WHERE o.tenant_id = CAST(:tenant_id AS uuid) AND o.id = CAST(:owner_id AS uuid)
    AND (CAST(:spans_tenant AS boolean) OR o.id = ANY(CAST(:owners AS uuid[])) OR EXISTS (
        SELECT FROM grants AS g
        WHERE g.tenant_id = CAST(:tenant_id AS uuid) AND g.grantee_id = ANY(CAST(:owners AS uuid[]))
          AND g.owner_id = o.id
    ))
UNION ALL (
    SELECT o.id, o.slug, o.score_boost
    FROM owners AS o
    WHERE o.tenant_id = CAST(:tenant_id AS uuid) AND o.kind = 'shared' AND o.id <> CAST(:owner_id AS uuid)
      AND (CAST(:spans_tenant AS boolean) OR o.id = ANY(CAST(:owners AS uuid[])) OR EXISTS (
          SELECT FROM grants AS g
          WHERE g.tenant_id = CAST(:tenant_id AS uuid) AND g.grantee_id = ANY(CAST(:owners AS uuid[]))
            AND g.owner_id = o.id
      ))
    ORDER BY o.slug
    LIMIT CAST(:most AS integer)
);

-- name: find_named_spaces
-- Those of the named wikis that the caller may read.
SELECT o.id, o.slug, o.score_boost
FROM owners AS o
WHERE o.tenant_id = CAST(:tenant_id AS uuid)
    AND (o.id = ANY(CAST(:ids AS uuid[])) OR o.slug = ANY(CAST(:slugs AS text[])))
    AND (CAST(:spans_tenant AS boolean) OR o.id = ANY(CAST(:owners AS uuid[])) OR EXISTS (
        SELECT FROM grants AS g
        WHERE g.tenant_id = CAST(:tenant_id AS uuid) AND g.grantee_id = ANY(CAST(:owners AS uuid[]))
          AND g.owner_id = o.id
    ));
