-- name: count_tenant
-- How much there is of one tenant.
SELECT (SELECT count(*) FROM owners WHERE tenant_id = :tenant_id) AS owners,
       (SELECT count(*) FROM pages WHERE tenant_id = :tenant_id) AS pages;
