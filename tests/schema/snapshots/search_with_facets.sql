-- query SearchWithFacets
-- cost: 31
-- statements: 6
--   read_words of db/queries/search/words.sql
--   rank_pages of db/queries/search/ranking.sql
--   count_pages of db/queries/search/ranking.sql
--   find_texts of db/queries/search/snippets.sql
--   stem_words of db/queries/search/snippets.sql
--   the compiled one, below
-- steps: a part of what it shows is found before it is sent
-- parameters:
--   $1  scope.tenant_id
--   $2  scope.spans_tenant
--   $3  scope.owners
--   $4  step.did_you_mean
--   $5  step.total_count
--   $6  step.total_is_exact
--   $7  step.has_next_page
--   $8  step.has_previous_page
--   $9  step.start_cursor
--   $10  step.end_cursor
--   $11  step.lists
-- plan:
--   Subquery Scan on whole
--     ->  Result
--           InitPlan 13
--             ->  Function Scan on anon_1
--                   SubPlan 3
--                     ->  Result
--                           InitPlan 1
--                             ->  Aggregate
--                                   ->  Function Scan on jsonb_to_recordset anon_3
--                           InitPlan 2
--                             ->  Aggregate
--                                   ->  Function Scan on jsonb_to_recordset anon_6
--                   SubPlan 11
--                     ->  Aggregate
--                           ->  Sort
--                                 ->  Function Scan on jsonb_to_recordset anon_10
--                                       SubPlan 4
--                                         ->  Index Scan using sections_slug_uq on sections sections_1
--                                       SubPlan 5
--                                         ->  Result
--                                               ->  Function Scan on jsonb_to_record anon_9
--                                       SubPlan 6
--                                         ->  Index Scan using pages_pk on pages pages_1
--                                       SubPlan 7
--                                         ->  Index Scan using pages_pk on pages pages_2
--                                       SubPlan 8
--                                         ->  Index Scan using pages_pk on pages pages_2_1
--                                       SubPlan 10
--                                         ->  Seq Scan on grants grants_1
--                                               InitPlan 9
--                                                 ->  Index Scan using pages_pk on pages pages_2_2
--                   SubPlan 12
--                     ->  Result

SELECT
  CASE WHEN (pg_column_size(whole.answer) <= 10000000) THEN whole.answer END AS answer,
  pg_column_size(whole.answer) AS size
FROM (
  SELECT JSON_OBJECT(
    'wikiSearchResults': coalesce(
      to_json((
        SELECT JSON_OBJECT(
          'didYouMean': anon_1.did_you_mean,
          'totalCount': coalesce(to_json(anon_1.total_count), CAST(concat('null in a non-null field') AS JSON)),
          'facets': coalesce(
            to_json((
              SELECT JSON_OBJECT(
                'types': (
                  SELECT coalesce(json_agg(anon_2.item), CAST('[]' AS JSON)) AS coalesce_1
                  FROM (
                    SELECT JSON_OBJECT(
                      'value': coalesce(to_json(upper(anon_3.value)), CAST(concat('null in a non-null field') AS JSON)),
                      'count': coalesce(to_json(anon_3.count), CAST(concat('null in a non-null field') AS JSON))
                    ) AS item
                    FROM jsonb_to_recordset(anon_4.lists['types']) AS anon_3(value TEXT, count INTEGER)
                  ) AS anon_2
                ),
                'tags': (
                  SELECT coalesce(json_agg(anon_5.item), CAST('[]' AS JSON)) AS coalesce_2
                  FROM (
                    SELECT JSON_OBJECT(
                      'value': coalesce(to_json(anon_6.value), CAST(concat('null in a non-null field') AS JSON)),
                      'count': coalesce(to_json(anon_6.count), CAST(concat('null in a non-null field') AS JSON))
                    ) AS item
                    FROM jsonb_to_recordset(anon_4.lists['tags']) AS anon_6(value TEXT, count INTEGER)
                  ) AS anon_5
                )
              ) AS item
              FROM (SELECT anon_1.lists AS lists) AS anon_4
            )),
            CAST(concat('null in a non-null field') AS JSON)
          ),
          'edges': (
            SELECT coalesce(json_agg(anon_7.item), CAST('[]' AS JSON)) AS coalesce_3
            FROM (
              SELECT JSON_OBJECT(
                'cursor': coalesce(to_json(anon_8.cursor), CAST(concat('null in a non-null field') AS JSON)),
                'score': coalesce(
                  to_json(CAST(anon_8.score AS DOUBLE PRECISION)), CAST(concat('null in a non-null field') AS JSON)
                ),
                'section': (
                  SELECT JSON_OBJECT('heading': sections_1.heading) AS item
                  FROM sections AS sections_1
                  WHERE sections_1.id = anon_8.section_id
                    AND sections_1.page_id = anon_8.page_id
                    AND sections_1.tenant_id = $1::UUID
                ),
                'snippet': (
                  SELECT JSON_OBJECT(
                    'html': coalesce(to_json(anon_9.html), CAST(concat('null in a non-null field') AS JSON))
                  ) AS item
                  FROM jsonb_to_record(anon_8.snippet) AS anon_9(text TEXT, html TEXT, highlights JSONB)
                  WHERE anon_8.snippet IS NOT NULL
                ),
                'node': coalesce(
                  to_json((
                    SELECT JSON_OBJECT(
                      'type': upper(pages_1.type),
                      'slug': pages_1.slug,
                      'title': pages_1.title,
                      'summary': pages_1.summary
                    ) AS item
                    FROM pages AS pages_1
                    WHERE pages_1.id = anon_8.page_id AND pages_1.tenant_id = $1::UUID
                  )),
                  CAST(concat('null in a non-null field') AS JSON)
                )
              ) AS item
              FROM (
                SELECT
                  anon_10.page_id AS page_id,
                  anon_10.score AS score,
                  anon_10.matched_alias AS matched_alias,
                  anon_10.section_id AS section_id,
                  anon_10.snippet AS snippet,
                  anon_10.place AS place,
                  anon_10.cursor AS cursor,
                  anon_10.explanation AS explanation,
                  (
                    SELECT pages_2.owner_id
                    FROM pages AS pages_2
                    WHERE pages_2.id = anon_10.page_id AND pages_2.tenant_id = $1::UUID
                  ) AS owner_id
                FROM jsonb_to_recordset(anon_1.lists['edges']) AS anon_10(
                  page_id UUID,
                  score DOUBLE PRECISION,
                  matched_alias TEXT,
                  section_id UUID,
                  snippet JSONB,
                  place INTEGER,
                  cursor TEXT,
                  explanation JSONB
                )
              ) AS anon_8
              WHERE anon_8.owner_id IS NOT NULL
                AND (
                  $2::BOOLEAN
                    OR anon_8.owner_id = ANY ($3::UUID[])
                    OR (
                      EXISTS (
                        SELECT 1 AS anon_11
                        FROM grants AS grants_1
                        WHERE grants_1.grantee_id = ANY ($3::UUID[])
                          AND grants_1.owner_id = anon_8.owner_id
                          AND grants_1.tenant_id = $1::UUID
                      )
                    )
                )
              ORDER BY anon_8.place
            ) AS anon_7
          ),
          'pageInfo': coalesce(
            to_json((
              SELECT JSON_OBJECT(
                'endCursor': anon_12.end_cursor,
                'hasNextPage': coalesce(
                  to_json(anon_12.has_next_page), CAST(concat('null in a non-null field') AS JSON)
                )
              ) AS item
              FROM (
                SELECT
                  anon_1.has_next_page AS has_next_page,
                  anon_1.has_previous_page AS has_previous_page,
                  anon_1.start_cursor AS start_cursor,
                  anon_1.end_cursor AS end_cursor
              ) AS anon_12
            )),
            CAST(concat('null in a non-null field') AS JSON)
          )
        ) AS item
        FROM unnest(
          $4::TEXT[], $5::INTEGER[], $6::BOOLEAN[], $7::BOOLEAN[], $8::BOOLEAN[], $9::TEXT[], $10::TEXT[], $11::JSONB[]
        ) WITH ORDINALITY AS anon_1(
          did_you_mean,
          total_count,
          total_is_exact,
          has_next_page,
          has_previous_page,
          start_cursor,
          end_cursor,
          lists,
          ordinality
        )
      )),
      CAST(concat('null in a non-null field') AS JSON)
    )
  ) AS answer
  LIMIT ALL
  OFFSET 0
) AS whole;
