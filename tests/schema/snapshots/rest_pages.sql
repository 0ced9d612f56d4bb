-- query RestPages
-- cost: 21
-- statements: 1
-- parameters:
--   $1  $first
--   $2  $filter.types
--   $3  scope.tenant_id
--   $4  scope.owner_id
-- plan:
--   Subquery Scan on whole
--     ->  Result
--           InitPlan 1
--             ->  Aggregate
--                   ->  Limit
--                         ->  WindowAgg
--                               ->  Index Scan using pages_updated_ix on pages pages_1

SELECT
  CASE WHEN (pg_column_size(whole.answer) <= 10000000) THEN whole.answer END AS answer,
  pg_column_size(whole.answer) AS size
FROM (
  SELECT JSON_OBJECT(
    'found': (
      SELECT JSON_OBJECT(
        'pageInfo': JSON_OBJECT(
          'hasNextPage': count(anon_2.number) > $1::INTEGER,
          'endCursor': json_agg(anon_2.cursor) FILTER (WHERE anon_2.number <= $1::INTEGER) ->> -1
        ),
        'nodes': coalesce(json_agg(anon_2.item_nodes) FILTER (WHERE anon_2.number <= $1::INTEGER), CAST('[]' AS JSON))
      ) AS anon_1
      FROM (
        SELECT
          translate(
            encode(
              convert_to(CAST(json_build_array('-updated_at,-id', pages_1.updated_at, pages_1.id) AS TEXT), 'utf8'),
              'base64'
            ),
            '
',
            ''
          ) AS cursor,
          JSON_OBJECT(
            'id': pages_1.id,
            'slug': pages_1.slug,
            'title': pages_1.title,
            'type': upper(pages_1.type),
            'summary': pages_1.summary,
            'version': pages_1.version,
            'status': upper(pages_1.status),
            'tags': pages_1.tags,
            'created_at': to_char(timezone('UTC', pages_1.created_at), 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
            'updated_at': to_char(timezone('UTC', pages_1.updated_at), 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
          ) AS item_nodes,
          row_number() OVER (ORDER BY pages_1.updated_at DESC, pages_1.id DESC) AS number
        FROM pages AS pages_1
        WHERE pages_1.status = 'active'
          AND pages_1.type = ANY ($2::TEXT[])
          AND pages_1.tenant_id = $3::UUID
          AND pages_1.owner_id = $4::UUID
        ORDER BY pages_1.updated_at DESC, pages_1.id DESC
        LIMIT $1::INTEGER + 1
      ) AS anon_2
    )
  ) AS answer
  LIMIT ALL
  OFFSET 0
) AS whole;
