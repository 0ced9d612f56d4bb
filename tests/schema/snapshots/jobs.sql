-- query Jobs
-- cost: 21
-- statements: 1
-- parameters:
--   $1  scope.tenant_id
--   $2  20
-- plan:
--   Subquery Scan on whole
--     ->  Result
--           InitPlan 1
--             ->  Aggregate
--                   ->  Limit
--                         ->  Sort
--                               ->  Seq Scan on compile_jobs compile_jobs_1

SELECT
  CASE WHEN (pg_column_size(whole.answer) <= 10000000) THEN whole.answer END AS answer,
  pg_column_size(whole.answer) AS size
FROM (
  SELECT JSON_OBJECT(
    'wikiCompileJobs': (
      SELECT coalesce(json_agg(anon_1.item), CAST('[]' AS JSON)) AS coalesce_1
      FROM (
        SELECT JSON_OBJECT(
          'id': compile_jobs_1.id,
          'status': upper(compile_jobs_1.status),
          'trigger': compile_jobs_1.trigger,
          'attempt': compile_jobs_1.attempt,
          'error': compile_jobs_1.error,
          'createdAt': to_char(timezone('UTC', compile_jobs_1.created_at), 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
          'finishedAt': to_char(timezone('UTC', compile_jobs_1.finished_at), 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
        ) AS item
        FROM compile_jobs AS compile_jobs_1
        WHERE compile_jobs_1.tenant_id = $1::UUID
        ORDER BY compile_jobs_1.id DESC
        LIMIT $2::INTEGER
      ) AS anon_1
    )
  ) AS answer
  LIMIT ALL
  OFFSET 0
) AS whole;
