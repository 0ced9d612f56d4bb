-- query Tags
-- cost: 101
-- statements: 1
-- parameters:
--   $1  scope.tenant_id
--   $2  scope.owner_id
--   $3  100
-- plan:
--   Subquery Scan on whole
--     ->  Result
--           InitPlan 1
--             ->  Aggregate
--                   ->  Limit
--                         ->  Sort
--                               ->  Subquery Scan on anon_3
--                                     ->  HashAggregate
--                                           ->  ProjectSet
--                                                 ->  Index Scan using pages_scope_uq on pages pages_1

SELECT
  CASE WHEN (pg_column_size(whole.answer) <= 10000000) THEN whole.answer END AS answer,
  pg_column_size(whole.answer) AS size
FROM (
  SELECT JSON_OBJECT(
    'wikiTags': (
      SELECT JSON_OBJECT('nodes': coalesce(json_agg(anon_2.item_nodes), CAST('[]' AS JSON))) AS anon_1
      FROM (
        SELECT JSON_OBJECT(
          'tag': coalesce(to_json(anon_3.tag), CAST(concat('null in a non-null field') AS JSON)),
          'count': coalesce(to_json(anon_3.count), CAST(concat('null in a non-null field') AS JSON))
        ) AS item_nodes
        FROM (
          SELECT anon_4.owner_id AS owner_id, anon_4.tag AS tag, count(*) AS count
          FROM (
            SELECT anon_5.owner_id AS owner_id, unnest(anon_5.tags) AS tag
            FROM (
              SELECT pages_1.owner_id AS owner_id, pages_1.tags AS tags
              FROM pages AS pages_1
              WHERE pages_1.status = 'active' AND pages_1.tenant_id = $1::UUID
              ORDER BY pages_1.id
            ) AS anon_5
          ) AS anon_4
          GROUP BY anon_4.owner_id, anon_4.tag
        ) AS anon_3
        WHERE anon_3.owner_id = $2::UUID
        ORDER BY anon_3.count DESC, anon_3.tag DESC
        LIMIT $3::INTEGER
      ) AS anon_2
    )
  ) AS answer
  LIMIT ALL
  OFFSET 0
) AS whole;
