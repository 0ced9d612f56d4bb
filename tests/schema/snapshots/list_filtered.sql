-- query ListFiltered
-- cost: 21
-- statements: 1
-- parameters:
--   $1  $filter.types
--   $2  $filter.tags
--   $3  $filter.tags
--   $4  $filter.tags
--   $5  scope.tenant_id
--   $6  scope.owner_id
--   $7  20
-- plan:
--   Subquery Scan on whole
--     ->  Result
--           InitPlan 2
--             ->  Aggregate
--                   InitPlan 1
--                     ->  Aggregate
--                           ->  Bitmap Heap Scan on pages pages_1
--                                 ->  BitmapOr
--                                       ->  Bitmap Index Scan on pages_tags_ix
--                                       ->  Bitmap Index Scan on pages_tags_ix
--                                       ->  Bitmap Index Scan on pages_tags_ix
--                   ->  Limit
--                         ->  WindowAgg
--                               ->  Sort
--                                     ->  Bitmap Heap Scan on pages pages_1_1
--                                           ->  BitmapOr
--                                                 ->  Bitmap Index Scan on pages_tags_ix
--                                                 ->  Bitmap Index Scan on pages_tags_ix
--                                                 ->  Bitmap Index Scan on pages_tags_ix

SELECT
  CASE WHEN (pg_column_size(whole.answer) <= 10000000) THEN whole.answer END AS answer,
  pg_column_size(whole.answer) AS size
FROM (
  SELECT JSON_OBJECT(
    'wikiPages': (
      SELECT JSON_OBJECT(
        'totalCount': (
          SELECT count(*) AS count_1
          FROM pages AS pages_1
          WHERE pages_1.status = 'active'
            AND pages_1.type = ANY ($1::TEXT[])
            AND ((pages_1.tags @> $2::TEXT[]) OR (pages_1.tags @> $3::TEXT[]) OR (pages_1.tags @> $4::TEXT[]))
            AND pages_1.tenant_id = $5::UUID
            AND pages_1.owner_id = $6::UUID
        ),
        'nodes': coalesce(json_agg(anon_2.item_nodes) FILTER (WHERE anon_2.number <= $7::INTEGER), CAST('[]' AS JSON)),
        'pageInfo': JSON_OBJECT(
          'endCursor': json_agg(anon_2.cursor) FILTER (WHERE anon_2.number <= $7::INTEGER) ->> -1,
          'hasNextPage': count(anon_2.number) > $7::INTEGER
        )
      ) AS anon_1
      FROM (
        SELECT
          JSON_OBJECT(
            'type': upper(pages_1.type),
            'slug': pages_1.slug,
            'title': pages_1.title,
            'tags': pages_1.tags,
            'hubnessScore': pages_1.hubness_score
          ) AS item_nodes,
          translate(
            encode(
              convert_to(
                CAST(json_build_array('-hubness_score,-id', pages_1.hubness_score, pages_1.id) AS TEXT), 'utf8'
              ),
              'base64'
            ),
            '
',
            ''
          ) AS cursor,
          row_number() OVER (ORDER BY pages_1.hubness_score DESC, pages_1.id DESC) AS number
        FROM pages AS pages_1
        WHERE pages_1.status = 'active'
          AND pages_1.type = ANY ($1::TEXT[])
          AND ((pages_1.tags @> $2::TEXT[]) OR (pages_1.tags @> $3::TEXT[]) OR (pages_1.tags @> $4::TEXT[]))
          AND pages_1.tenant_id = $5::UUID
          AND pages_1.owner_id = $6::UUID
        ORDER BY pages_1.hubness_score DESC, pages_1.id DESC
        LIMIT $7::INTEGER + 1
      ) AS anon_2
    )
  ) AS answer
  LIMIT ALL
  OFFSET 0
) AS whole;
