-- name: find_own_spaces
-- List the caller's own wiki and then the shared spaces that it may read, by slug, up to a limit.
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
    LIMIT CAST(:limit AS integer)
);

-- name: find_named_spaces
-- List those of the named wikis that the caller may read.
SELECT o.id, o.slug, o.score_boost
FROM owners AS o
WHERE o.tenant_id = CAST(:tenant_id AS uuid)
    AND (o.id = ANY(CAST(:ids AS uuid[])) OR o.slug = ANY(CAST(:slugs AS text[])))
    AND (CAST(:spans_tenant AS boolean) OR o.id = ANY(CAST(:owners AS uuid[])) OR EXISTS (
        SELECT FROM grants AS g
        WHERE g.tenant_id = CAST(:tenant_id AS uuid) AND g.grantee_id = ANY(CAST(:owners AS uuid[]))
          AND g.owner_id = o.id
    ));

-- name: list_spaces
-- List the wikis that the caller may read, its own first and then by slug, with the strongest grant on each and the
-- numbers of its active pages by type.
SELECT
    o.id, o.kind, o.slug, o.name, o.score_boost, o.id = ANY(CAST(:owners AS uuid[])) AS is_own, granted.role,
    coalesce(counted.pages, '{}') AS pages
FROM owners AS o
LEFT JOIN LATERAL (
    SELECT g.role FROM grants AS g
    WHERE g.tenant_id = CAST(:tenant_id AS uuid) AND g.grantee_id = ANY(CAST(:owners AS uuid[])) AND g.owner_id = o.id
    ORDER BY array_position(ARRAY['admin', 'member', 'reader'], g.role)
    LIMIT 1
) AS granted ON true
LEFT JOIN LATERAL (
    SELECT jsonb_object_agg(typed.type, typed.total) AS pages FROM (
        SELECT p.type, count(*) AS total FROM pages AS p
        WHERE p.tenant_id = CAST(:tenant_id AS uuid) AND p.owner_id = o.id AND p.status = 'active'
        GROUP BY p.type
    ) AS typed
) AS counted ON true
WHERE o.tenant_id = CAST(:tenant_id AS uuid)
    AND (CAST(:spans_tenant AS boolean) OR o.id = ANY(CAST(:owners AS uuid[])) OR granted.role IS NOT NULL)
ORDER BY is_own DESC, o.slug
LIMIT CAST(:limit AS integer);
