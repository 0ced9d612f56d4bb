-- name: enqueue
-- Return the open job with a key, or insert a job for a wiki and bucket. Return no row if another transaction inserts
-- that job at the same time.
WITH asked AS (
    SELECT CAST(:stem AS text) || (
        COALESCE(CAST(:bucket AS numeric), div(extract(epoch FROM statement_timestamp()), :seconds)) + :ahead
    ) AS dedupe_key
), open AS MATERIALIZED (
    SELECT job.id FROM compile_jobs job, asked
    WHERE job.tenant_id = :tenant_id AND job.owner_id = :owner_id AND job.dedupe_key = asked.dedupe_key
      AND job.status IN ('pending', 'running')
), added AS (
    INSERT INTO compile_jobs (tenant_id, owner_id, id, dedupe_key, trigger, options, run_after, created_at)
    SELECT
        :tenant_id, :owner_id, :id, asked.dedupe_key, :trigger, :options,
        greatest(statement_timestamp(), CAST(:after AS timestamptz)), statement_timestamp()
    FROM asked
    WHERE NOT EXISTS (SELECT FROM open)
    ON CONFLICT (tenant_id, dedupe_key) WHERE status IN ('pending', 'running') DO NOTHING
    RETURNING id
)
SELECT id, false AS is_new FROM open
UNION ALL
SELECT id, true FROM added;

-- name: find_open
-- Return the open job with a key.
SELECT id FROM compile_jobs
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND dedupe_key = :dedupe_key AND status IN ('pending', 'running');

-- name: find_waiting
-- Return a pending job of a wiki with the same key stem and options.
SELECT id FROM compile_jobs
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND status = 'pending' AND options = CAST(:options AS jsonb)
  AND rtrim(dedupe_key, '0123456789') = :stem
ORDER BY created_at, id
LIMIT 1;

-- name: hurry
-- Let a pending job run now.
UPDATE compile_jobs SET run_after = statement_timestamp()
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND id = :id AND status = 'pending' AND run_after > statement_timestamp();

-- name: set_options
-- Set options of the pending compiles of a wiki.
UPDATE compile_jobs SET options = options || CAST(:options AS jsonb)
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND status = 'pending'
  AND dedupe_key ~ '^[^:]+:[^:]+:[0-9]+$';

-- name: has_options
-- Return whether a job has these options.
SELECT options @> CAST(:options AS jsonb) FROM compile_jobs
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND id = :id;

-- name: has_begun
-- Return whether a job is running, or continues behind the pages that an attempt or a former job has passed.
SELECT status = 'running' OR jsonb_exists(options, 'after') OR jsonb_exists(metrics, 'reached') FROM compile_jobs
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND id = :id;

-- name: hurry_retries
-- Let the jobs of a wiki that wait for a retry run now.
UPDATE compile_jobs SET run_after = statement_timestamp()
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND status = 'pending' AND error IS NOT NULL AND run_after > statement_timestamp();

-- name: find_last_compiled
-- Return the newest of the last 20 jobs of a wiki that has read sources.
SELECT id, finished_at, metrics FROM (
    SELECT id, created_at, finished_at, status, metrics FROM compile_jobs
    WHERE tenant_id = :tenant_id AND owner_id = :owner_id
    ORDER BY created_at DESC, id DESC
    LIMIT 20
) AS recent
WHERE status = 'succeeded' AND CAST(metrics ->> 'sources_read' AS numeric) > 0
ORDER BY created_at DESC, id DESC
LIMIT 1;

-- name: find_job
-- Return a job.
SELECT id, owner_id, dedupe_key, trigger, options, status, attempt, error, metrics FROM compile_jobs
WHERE tenant_id = :tenant_id AND id = :id;

-- name: find_due
-- Return the oldest due job of a tenant: a pending job, or a running job without heartbeats, whose wiki has no other
-- running job.
SELECT job.tenant_id, job.created_at FROM compile_jobs AS job
WHERE job.tenant_id = :tenant_id
  AND (
      (job.status = 'pending' AND job.run_after <= statement_timestamp())
      OR (job.status = 'running' AND job.heartbeat_at < statement_timestamp() - CAST(:silence AS interval))
  )
  AND NOT EXISTS (
      SELECT FROM compile_jobs AS other
      WHERE other.tenant_id = :tenant_id AND other.owner_id = job.owner_id AND other.status = 'running'
        AND other.id <> job.id
  )
ORDER BY job.created_at, job.id
LIMIT 1;

-- name: claim
-- Claim the oldest due job of a tenant, or of one owner, skipping jobs that other workers are claiming. A second
-- running job of a wiki is refused by compile_jobs_running_uq.
WITH due AS MATERIALIZED (
    SELECT job.id FROM compile_jobs AS job
    WHERE job.tenant_id = :tenant_id
      AND (CAST(:owner_id AS uuid) IS NULL OR job.owner_id = :owner_id)
      AND (
          (job.status = 'pending' AND job.run_after <= statement_timestamp())
          OR (job.status = 'running' AND job.heartbeat_at < statement_timestamp() - CAST(:silence AS interval))
      )
      AND NOT EXISTS (
          SELECT FROM compile_jobs AS other
          WHERE other.tenant_id = :tenant_id AND other.owner_id = job.owner_id AND other.status = 'running'
            AND other.id <> job.id
      )
    ORDER BY job.created_at, job.id
    LIMIT 1
    FOR UPDATE SKIP LOCKED
)
UPDATE compile_jobs AS job
SET status = 'running', attempt = job.attempt + 1, claimed_by = :claimed_by, heartbeat_at = statement_timestamp(), started_at = statement_timestamp()
FROM due
WHERE job.tenant_id = :tenant_id AND job.id = due.id
RETURNING job.tenant_id, job.owner_id, job.id, job.dedupe_key, job.trigger, job.options, job.attempt, job.metrics;

-- name: beat
-- Record a heartbeat. No row is updated if the worker does not have the job any more.
UPDATE compile_jobs SET heartbeat_at = statement_timestamp()
WHERE tenant_id = :tenant_id AND id = :id AND status = 'running' AND claimed_by = :claimed_by;

-- name: advance
-- Record the progress of a job. No row is updated if the worker does not have the job any more.
UPDATE compile_jobs SET heartbeat_at = statement_timestamp(), metrics = :metrics
WHERE tenant_id = :tenant_id AND id = :id AND status = 'running' AND claimed_by = :claimed_by;

-- name: close
-- End an attempt: the job is over, or waits for its next attempt. No row is updated if the worker does not have the job
-- any more.
UPDATE compile_jobs
SET status = :status, run_after = statement_timestamp() + CAST(:pause AS interval), error = :error, metrics = :metrics,
    finished_at = CASE WHEN :status = 'pending' THEN NULL ELSE statement_timestamp() END, claimed_by = NULL, heartbeat_at = NULL
WHERE tenant_id = :tenant_id AND id = :id AND status = 'running' AND claimed_by = :claimed_by;

-- name: release
-- Return a job whose worker stops to the queue. Its attempt does not count. No row is updated if the worker does not
-- have the job any more.
UPDATE compile_jobs
SET status = 'pending', attempt = attempt - 1, run_after = statement_timestamp(), metrics = :metrics, claimed_by = NULL,
    heartbeat_at = NULL
WHERE tenant_id = :tenant_id AND id = :id AND status = 'running' AND claimed_by = :claimed_by;

-- name: cancel
-- Cancel an open job. Its worker notices before it writes the next batch.
UPDATE compile_jobs SET status = 'cancelled', finished_at = statement_timestamp()
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND id = :id AND status IN ('pending', 'running');

-- name: retry
-- Let a pending, failed or cancelled job run now, with all its attempts.
UPDATE compile_jobs SET status = 'pending', attempt = 0, run_after = statement_timestamp(), finished_at = NULL, claimed_by = NULL,
    heartbeat_at = NULL
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND id = :id AND status IN ('pending', 'failed', 'cancelled');

-- name: list_jobs
-- Return the newest jobs of a tenant, or of one of its owners.
SELECT job.id, t.slug AS tenant, o.slug AS owner, job.trigger, job.status, job.attempt, job.error, job.created_at,
    job.run_after, job.started_at, job.finished_at
FROM compile_jobs AS job
JOIN owners AS o ON o.tenant_id = :tenant_id AND o.id = job.owner_id
JOIN tenants AS t ON t.tenant_id = :tenant_id
WHERE job.tenant_id = :tenant_id AND (CAST(:owner_id AS uuid) IS NULL OR job.owner_id = :owner_id)
  AND job.status = ANY(CAST(:statuses AS text[]))
ORDER BY job.id DESC
LIMIT :size;

-- name: find_open_of_wiki
-- Return the open jobs of a wiki, the oldest first, and how long until each is due, by the clock of Postgres.
SELECT id, status, attempt, error, run_after, run_after - statement_timestamp() AS due_in FROM compile_jobs
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND status IN ('pending', 'running')
ORDER BY created_at, id;

-- name: count_open_jobs
-- Return the number of open jobs of a tenant, and how many seconds the oldest due job has waited. A running job without
-- heartbeats waits for another worker.
SELECT count(*) FILTER (WHERE job.status = 'pending' OR job.is_silent) AS pending,
       count(*) FILTER (WHERE job.status = 'running' AND NOT job.is_silent) AS running,
       max(extract(epoch FROM statement_timestamp() - job.due_at)) FILTER (
           WHERE job.is_silent OR (job.status = 'pending' AND job.due_at <= statement_timestamp())
       ) AS oldest
FROM (
    SELECT open.status,
           open.status = 'running'
               AND coalesce(open.heartbeat_at < statement_timestamp() - CAST(:silence AS interval), false) AS is_silent,
           CASE open.status WHEN 'pending' THEN open.run_after
               ELSE open.heartbeat_at + CAST(:silence AS interval) END AS due_at
    FROM compile_jobs AS open
    WHERE open.tenant_id = CAST(:tenant_id AS uuid) AND open.status IN ('pending', 'running')
) AS job;
