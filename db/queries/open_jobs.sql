-- name: count_open_jobs
-- The jobs of one tenant that are not finished, and for how many seconds the oldest of them waits that could run.
SELECT count(*) FILTER (WHERE status = 'pending') AS pending,
       count(*) FILTER (WHERE status = 'running') AS running,
       max(extract(epoch FROM statement_timestamp() - run_after))
           FILTER (WHERE status = 'pending' AND run_after <= statement_timestamp()) AS oldest
FROM compile_jobs
WHERE tenant_id = CAST(:tenant_id AS uuid) AND status IN ('pending', 'running');
