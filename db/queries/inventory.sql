-- name: count_tenant
-- How much there is of one tenant.
SELECT (SELECT count(*) FROM owners WHERE tenant_id = :tenant_id) AS owners,
       (SELECT count(*) FROM pages WHERE tenant_id = :tenant_id) AS pages,
       (SELECT count(*) FROM compile_jobs WHERE tenant_id = :tenant_id AND status = 'failed') AS failed_jobs;

-- name: measure_server
-- How large the database is, in bytes, and how many connections it has of those that the server allows.
SELECT pg_database_size(current_database()) AS bytes,
       (SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()) AS connections,
       CAST(current_setting('max_connections') AS integer) AS connections_most;
