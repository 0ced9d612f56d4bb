-- query MobileHome
-- cost: 121
-- statements: 1
-- parameters:
--   $1  scope.tenant_id
--   $2  100
--   $3  scope.owner_id
--   $4  20
-- plan:
--   Subquery Scan on whole
--     ->  Result
--           InitPlan 2
--             ->  Aggregate
--                   ->  Limit
--                         ->  Index Scan using pages_updated_ix on pages pages_1
--                               SubPlan 1
--                                 ->  Aggregate
--                                       ->  Limit
--                                             ->  Index Only Scan using aliases_alias_uq on aliases aliases_1

SELECT
  CASE WHEN (pg_column_size(whole.answer) <= 10000000) THEN whole.answer END AS answer,
  pg_column_size(whole.answer) AS size
FROM (
  SELECT JSON_OBJECT(
    'recentWikiPages': (
      SELECT coalesce(json_agg(anon_1.item), CAST('[]' AS JSON)) AS coalesce_1
      FROM (
        SELECT JSON_OBJECT(
          'id': pages_1.id,
          'type': upper(pages_1.type),
          'slug': pages_1.slug,
          'title': pages_1.title,
          'summary': pages_1.summary,
          'tags': pages_1.tags,
          'aliases': (
            SELECT coalesce(json_agg(anon_2.item), CAST('[]' AS JSON)) AS coalesce_2
            FROM (
              SELECT aliases_1.alias AS item
              FROM aliases AS aliases_1
              WHERE aliases_1.page_id = pages_1.id AND aliases_1.tenant_id = $1::UUID
              ORDER BY aliases_1.alias
              LIMIT $2::INTEGER
            ) AS anon_2
          ),
          'updatedAt': to_char(timezone('UTC', pages_1.updated_at), 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
        ) AS item
        FROM pages AS pages_1
        WHERE pages_1.status = 'active' AND pages_1.tenant_id = $1::UUID AND pages_1.owner_id = $3::UUID
        ORDER BY pages_1.updated_at DESC, pages_1.id DESC
        LIMIT $4::INTEGER
      ) AS anon_1
    )
  ) AS answer
  LIMIT ALL
  OFFSET 0
) AS whole;
