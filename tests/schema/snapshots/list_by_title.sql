-- query ListByTitle
-- cost: 21
-- statements: 1
-- parameters:
--   $1  20
--   $2  scope.tenant_id
--   $3  scope.owner_id
--   $4  $after
--   $5  $after
-- plan:
--   Subquery Scan on whole
--     ->  Result
--           InitPlan 1
--             ->  Aggregate
--                   ->  Limit
--                         ->  WindowAgg
--                               ->  Index Scan using pages_lower_title_ix on pages pages_1

SELECT
  CASE WHEN (pg_column_size(whole.answer) <= 10000000) THEN whole.answer END AS answer,
  pg_column_size(whole.answer) AS size
FROM (
  SELECT JSON_OBJECT(
    'wikiPages': (
      SELECT JSON_OBJECT(
        'nodes': coalesce(json_agg(anon_2.item_nodes) FILTER (WHERE anon_2.number <= $1::INTEGER), CAST('[]' AS JSON)),
        'pageInfo': JSON_OBJECT(
          'endCursor': json_agg(anon_2.cursor) FILTER (WHERE anon_2.number <= $1::INTEGER) ->> -1,
          'hasNextPage': count(anon_2.number) > $1::INTEGER
        )
      ) AS anon_1
      FROM (
        SELECT
          JSON_OBJECT(
            'type': upper(pages_1.type), 'slug': pages_1.slug, 'title': pages_1.title, 'summary': pages_1.summary
          ) AS item_nodes,
          translate(
            encode(
              convert_to(CAST(json_build_array('lower,id', lower(pages_1.title), pages_1.id) AS TEXT), 'utf8'), 'base64'
            ),
            '
',
            ''
          ) AS cursor,
          row_number() OVER (ORDER BY lower(pages_1.title) ASC, pages_1.id ASC) AS number
        FROM pages AS pages_1
        WHERE pages_1.status = 'active'
          AND pages_1.tenant_id = $2::UUID
          AND pages_1.owner_id = $3::UUID
          AND (lower(pages_1.title), pages_1.id) > ($4, $5::UUID)
        ORDER BY lower(pages_1.title) ASC, pages_1.id ASC
        LIMIT $1::INTEGER + 1
      ) AS anon_2
    )
  ) AS answer
  LIMIT ALL
  OFFSET 0
) AS whole;
