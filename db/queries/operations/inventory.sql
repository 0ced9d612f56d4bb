-- name: count_tenant
-- Count the contents of one tenant.
SELECT (SELECT count(*) FROM owners WHERE tenant_id = :tenant_id) AS owners,
       (SELECT count(*) FROM pages WHERE tenant_id = :tenant_id) AS pages,
       (SELECT count(*) FROM compile_jobs WHERE tenant_id = :tenant_id AND status = 'failed') AS failed_jobs;

-- name: measure_server
-- Return the size of the database in bytes, the number of connections, and the limit of the server.
SELECT pg_database_size(current_database()) AS bytes,
       (SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()) AS connections,
       CAST(current_setting('max_connections') AS integer) AS max_connections;

-- name: sample_tenants
-- List some tenants, always the same ones.
SELECT tenant_id FROM tenants ORDER BY tenant_id LIMIT CAST(:limit AS integer);

-- name: sample_pages
-- List the oldest and the newest pages of a tenant that are not archived.
(
    SELECT owner_id, title FROM pages WHERE tenant_id = :tenant_id AND status = 'active'
    ORDER BY id LIMIT CAST(:limit AS integer)
)
UNION
(
    SELECT owner_id, title FROM pages WHERE tenant_id = :tenant_id AND status = 'active'
    ORDER BY id DESC LIMIT CAST(:limit AS integer)
)
ORDER BY owner_id, title;
