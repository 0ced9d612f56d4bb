-- query ListSince
-- cost: 21
-- statements: 1
-- planning: anew each time, for the values of that time
-- parameters:
--   $1  $since
--   $2  scope.tenant_id
--   $3  scope.owner_id
--   $4  20
-- plan:
--   Subquery Scan on whole
--     ->  Result
--           InitPlan 1
--             ->  Aggregate
--                   ->  Limit
--                         ->  Index Scan using pages_updated_ix on pages pages_1

SELECT
  CASE WHEN (pg_column_size(whole.answer) <= 10000000) THEN whole.answer END AS answer,
  pg_column_size(whole.answer) AS size
FROM (
  SELECT JSON_OBJECT(
    'wikiPages': (
      SELECT JSON_OBJECT('nodes': coalesce(json_agg(anon_2.item_nodes), CAST('[]' AS JSON))) AS anon_1
      FROM (
        SELECT JSON_OBJECT(
          'type': upper(pages_1.type),
          'slug': pages_1.slug,
          'title': pages_1.title,
          'updatedAt': to_char(timezone('UTC', pages_1.updated_at), 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
        ) AS item_nodes
        FROM pages AS pages_1
        WHERE pages_1.status = 'active'
          AND pages_1.updated_at >= $1::TIMESTAMP WITH TIME ZONE
          AND pages_1.tenant_id = $2::UUID
          AND pages_1.owner_id = $3::UUID
        ORDER BY pages_1.updated_at DESC, pages_1.id DESC
        LIMIT $4::INTEGER
      ) AS anon_2
    )
  ) AS answer
  LIMIT ALL
  OFFSET 0
) AS whole;
