-- query Tags
-- cost: 101
-- statements: 1
-- parameters:
--   $1  scope.tenant_id
--   $2  scope.owner_id
--   $3  100
-- plan:
--   Result
--     InitPlan 1
--       ->  Aggregate
--             ->  Limit
--                   ->  Sort
--                         ->  Subquery Scan on anon_4
--                               ->  HashAggregate
--                                     ->  ProjectSet
--                                           ->  Index Scan using pages_scope_uq on pages pages_1

SELECT JSON_OBJECT(
  'wikiTags': (
    SELECT JSON_OBJECT('nodes': coalesce(json_agg(anon_3.item_nodes), CAST('[]' AS JSON))) AS anon_2
    FROM (
      SELECT JSON_OBJECT(
        'tag': coalesce(to_json(anon_4.tag), CAST(concat('null in a non-null field') AS JSON)),
        'count': coalesce(to_json(anon_4.count), CAST(concat('null in a non-null field') AS JSON))
      ) AS item_nodes
      FROM (
        SELECT anon_5.owner_id AS owner_id, anon_5.tag AS tag, count(*) AS count
        FROM (
          SELECT anon_6.owner_id AS owner_id, unnest(anon_6.tags) AS tag
          FROM (
            SELECT pages_1.owner_id AS owner_id, pages_1.tags AS tags
            FROM pages AS pages_1
            WHERE pages_1.status = 'active' AND pages_1.tenant_id = $1::UUID
            ORDER BY pages_1.id
          ) AS anon_6
        ) AS anon_5
        GROUP BY anon_5.owner_id, anon_5.tag
      ) AS anon_4
      WHERE anon_4.owner_id = $2::UUID
      ORDER BY anon_4.count DESC, anon_4.tag DESC
      LIMIT $3::INTEGER
    ) AS anon_3
  )
) AS anon_1;
