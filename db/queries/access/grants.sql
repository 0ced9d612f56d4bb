-- name: save_grant
-- Save the role of an owner in another owner's wiki. A second grant replaces the first.
INSERT INTO grants (tenant_id, owner_id, grantee_id, role)
VALUES (
    CAST(:tenant_id AS uuid), CAST(:owner_id AS uuid), CAST(:grantee_id AS uuid), CAST(:role AS text)
)
ON CONFLICT (tenant_id, grantee_id, owner_id) DO UPDATE SET role = excluded.role;

-- name: remove_grant
-- Delete a grant.
DELETE FROM grants
WHERE
    tenant_id = CAST(:tenant_id AS uuid)
    AND owner_id = CAST(:owner_id AS uuid)
    AND grantee_id = CAST(:grantee_id AS uuid);

-- name: list_grants
-- List the grants of a tenant, or of one owner or grantee, by slug.
SELECT o.slug AS owner, g.slug AS grantee, granted.role, granted.created_at
FROM grants AS granted
JOIN owners AS o ON o.tenant_id = granted.tenant_id AND o.id = granted.owner_id
JOIN owners AS g ON g.tenant_id = granted.tenant_id AND g.id = granted.grantee_id
WHERE granted.tenant_id = CAST(:tenant_id AS uuid)
    AND (CAST(:owner_id AS uuid) IS NULL OR granted.owner_id = CAST(:owner_id AS uuid))
    AND (CAST(:grantee_id AS uuid) IS NULL OR granted.grantee_id = CAST(:grantee_id AS uuid))
ORDER BY o.slug, g.slug;

-- name: find_roles
-- List the roles granted to any of these owners in one wiki. There is one row without a role if there is no grant, and
-- no row if there is no such wiki.
SELECT g.role
FROM owners AS o
LEFT JOIN grants AS g
    ON
        g.tenant_id = o.tenant_id
        AND g.owner_id = o.id
        AND g.grantee_id = ANY(CAST(:grantee_ids AS uuid[]))
WHERE o.tenant_id = CAST(:tenant_id AS uuid) AND o.id = CAST(:owner_id AS uuid);
