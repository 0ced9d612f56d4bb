-- name: add_usage
-- Add to the usage of a model today.
INSERT INTO model_usage AS u (tenant_id, owner_id, day, model, requests, input_tokens, output_tokens, cost)
VALUES (
    CAST(:tenant_id AS uuid), CAST(:owner_id AS uuid), CAST(statement_timestamp() AT TIME ZONE 'UTC' AS date),
    CAST(:model AS text),
    CAST(:requests AS bigint), CAST(:input_tokens AS bigint), CAST(:output_tokens AS bigint),
    CAST(:cost AS double precision)
)
ON CONFLICT (tenant_id, day, owner_id, model) DO UPDATE SET
    requests = u.requests + excluded.requests, input_tokens = u.input_tokens + excluded.input_tokens,
    output_tokens = u.output_tokens + excluded.output_tokens, cost = u.cost + excluded.cost;

-- name: find_usage_of_today
-- Return the usage of all models by a tenant today, in tokens and by known prices, and when the day ends.
SELECT
    CAST(coalesce(sum(input_tokens + output_tokens), 0) AS double precision) AS tokens,
    CAST(coalesce(sum(cost), 0) AS double precision) AS cost,
    CAST(CAST(statement_timestamp() AT TIME ZONE 'UTC' AS date) + 1 AS timestamp) AT TIME ZONE 'UTC' AS midnight
FROM model_usage
WHERE tenant_id = CAST(:tenant_id AS uuid) AND day = CAST(statement_timestamp() AT TIME ZONE 'UTC' AS date);
