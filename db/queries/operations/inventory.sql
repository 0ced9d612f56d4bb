-- name: count_tenant
-- The numbers of a tenant's rows.
SELECT (SELECT count(*) FROM owners WHERE tenant_id = :tenant_id) AS owners,
       (SELECT count(*) FROM pages WHERE tenant_id = :tenant_id) AS pages,
       (SELECT count(*) FROM compile_jobs WHERE tenant_id = :tenant_id AND status = 'failed') AS failed_jobs;

-- name: measure_server
-- The size of the database in bytes, its connections, and the maximum of connections.
SELECT pg_database_size(current_database()) AS bytes,
       (SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()) AS connections,
       CAST(current_setting('max_connections') AS integer) AS connections_most;

-- name: sample_tenants
-- Some tenants, which are the same in every call.
SELECT tenant_id FROM tenants ORDER BY tenant_id LIMIT CAST(:most AS integer);

-- name: sample_pages
-- The oldest and the newest active pages of a tenant.
(
    SELECT owner_id, title FROM pages WHERE tenant_id = :tenant_id AND status = 'active'
    ORDER BY id LIMIT CAST(:most AS integer)
)
UNION
(
    SELECT owner_id, title FROM pages WHERE tenant_id = :tenant_id AND status = 'active'
    ORDER BY id DESC LIMIT CAST(:most AS integer)
)
ORDER BY owner_id, title;
