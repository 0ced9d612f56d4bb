-- query MobileChanges
-- cost: 51
-- statements: 1
-- parameters:
--   $1  50
--   $2  scope.tenant_id
--   $3  scope.owner_id
-- plan:
--   Subquery Scan on whole
--     ->  Result
--           InitPlan 5
--             ->  Aggregate
--                   ->  Limit
--                         InitPlan 4
--                           ->  Nested Loop
--                                 ->  Nested Loop
--                                       ->  Seq Scan on installation installation_1
--                                       ->  Function Scan on pg_control_system anon_3
--                                 ->  Function Scan on pg_control_checkpoint anon_4
--                         ->  WindowAgg
--                               ->  Index Scan using page_positions_order_ix on page_positions page_positions_1
--                               SubPlan 1
--                                 ->  Index Scan using pages_pk on pages pages_1
--                               SubPlan 3
--                                 ->  Index Scan using pages_pk on pages pages_2
--                                       SubPlan 2
--                                         ->  Nested Loop
--                                               ->  Seq Scan on merged_pages merged_pages_1
--                                               ->  Index Only Scan using pages_pk on pages pages_3

SELECT
  CASE WHEN (pg_column_size(whole.answer) <= 10000000) THEN whole.answer END AS answer,
  pg_column_size(whole.answer) AS size
FROM (
  SELECT JSON_OBJECT(
    'wikiChanges': (
      SELECT JSON_OBJECT(
        'nodes': coalesce(json_agg(anon_2.item_nodes) FILTER (WHERE anon_2.number <= $1::INTEGER), CAST('[]' AS JSON)),
        'pageInfo': JSON_OBJECT(
          'hasNextPage': count(anon_2.number) > $1::INTEGER,
          'endCursor': json_agg(anon_2.cursor) FILTER (WHERE anon_2.number <= $1::INTEGER) ->> -1
        )
      ) AS anon_1
      FROM (
        SELECT
          JSON_OBJECT(
            'pageId': page_positions_1.page_id,
            'state': coalesce(
              to_json(
                upper(
                  coalesce(
                    (
                      SELECT pages_1.status
                      FROM pages AS pages_1
                      WHERE pages_1.id = page_positions_1.page_id AND pages_1.tenant_id = $2::UUID
                    ),
                    'deleted'
                  )
                )
              ),
              CAST(concat('null in a non-null field') AS JSON)
            ),
            'page': (
              SELECT JSON_OBJECT(
                'id': pages_2.id,
                'type': upper(pages_2.type),
                'slug': pages_2.slug,
                'title': pages_2.title,
                'summary': pages_2.summary,
                'bodyMd': pages_2.body_md,
                'version': pages_2.version,
                'updatedAt': to_char(timezone('UTC', pages_2.updated_at), 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
                'mergedInto': (
                  SELECT JSON_OBJECT('id': pages_3.id) AS item
                  FROM pages AS pages_3
                  JOIN merged_pages AS merged_pages_1 ON merged_pages_1.into_page_id = pages_3.id
                  WHERE merged_pages_1.page_id = pages_2.id
                    AND pages_3.tenant_id = $2::UUID
                    AND merged_pages_1.tenant_id = $2::UUID
                )
              ) AS item
              FROM pages AS pages_2
              WHERE pages_2.id = page_positions_1.page_id AND pages_2.tenant_id = $2::UUID
            )
          ) AS item_nodes,
          translate(
            encode(
              convert_to(
                CAST(
                  json_build_array(
                    'position',
                    page_positions_1.position,
                    (
                      SELECT left(
                        md5(
                          concat_ws(
                            '.',
                            installation_1.history_id,
                            anon_3.system_identifier,
                            anon_4.timeline_id,
                            pg_relation_filepath('installation')
                          )
                        ),
                        12
                      ) AS left_1
                      FROM
                        installation AS installation_1,
                        pg_control_system() AS anon_3,
                        pg_control_checkpoint() AS anon_4
                    )
                  ) AS TEXT
                ),
                'utf8'
              ),
              'base64'
            ),
            '
',
            ''
          ) AS cursor,
          row_number() OVER (ORDER BY page_positions_1.position ASC) AS number
        FROM page_positions AS page_positions_1
        WHERE page_positions_1.tenant_id = $2::UUID AND page_positions_1.owner_id = $3::UUID
        ORDER BY page_positions_1.position ASC
        LIMIT $1::INTEGER + 1
      ) AS anon_2
    )
  ) AS answer
  LIMIT ALL
  OFFSET 0
) AS whole;
