-- query RelatedPages
-- cost: 26
-- statements: 4
--   find_merged of db/queries/pages/pages.sql
--   find_topic of db/queries/search/words.sql
--   rank_pages of db/queries/search/ranking.sql
--   the compiled one, below
-- steps: a part of what it shows is found before it is sent
-- parameters:
--   $1  scope.tenant_id
--   $2  step.page_id
--   $3  step.score
--   $4  scope.spans_tenant
--   $5  scope.owners
--   $6  5
-- plan:
--   Subquery Scan on whole
--     ->  Result
--           InitPlan 6
--             ->  Aggregate
--                   ->  Limit
--                         ->  Function Scan on anon_3
--                               SubPlan 1
--                                 ->  Index Scan using pages_pk on pages pages_1
--                               SubPlan 2
--                                 ->  Index Scan using pages_pk on pages pages_2
--                               SubPlan 3
--                                 ->  Index Scan using pages_pk on pages pages_2_1
--                               SubPlan 5
--                                 ->  Seq Scan on grants grants_1
--                                       InitPlan 4
--                                         ->  Index Scan using pages_pk on pages pages_2_2

SELECT
  CASE WHEN (pg_column_size(whole.answer) <= 10000000) THEN whole.answer END AS answer,
  pg_column_size(whole.answer) AS size
FROM (
  SELECT JSON_OBJECT(
    'relatedWikiPages': (
      SELECT coalesce(json_agg(anon_1.item), CAST('[]' AS JSON)) AS coalesce_1
      FROM (
        SELECT JSON_OBJECT(
          'score': coalesce(
            to_json(CAST(anon_2.score AS DOUBLE PRECISION)), CAST(concat('null in a non-null field') AS JSON)
          ),
          'page': coalesce(
            to_json((
              SELECT JSON_OBJECT(
                'type': upper(pages_1.type), 'slug': pages_1.slug, 'title': pages_1.title, 'summary': pages_1.summary
              ) AS item
              FROM pages AS pages_1
              WHERE pages_1.id = anon_2.page_id AND pages_1.tenant_id = $1::UUID
            )),
            CAST(concat('null in a non-null field') AS JSON)
          )
        ) AS item
        FROM (
          SELECT
            anon_3.page_id AS page_id,
            anon_3.score AS score,
            anon_3.ordinality AS ordinality,
            (
              SELECT pages_2.owner_id
              FROM pages AS pages_2
              WHERE pages_2.id = anon_3.page_id AND pages_2.tenant_id = $1::UUID
            ) AS owner_id
          FROM unnest($2::UUID[], $3::DOUBLE PRECISION[]) WITH ORDINALITY AS anon_3(page_id, score, ordinality)
        ) AS anon_2
        WHERE anon_2.owner_id IS NOT NULL
          AND (
            $4::BOOLEAN
              OR anon_2.owner_id = ANY ($5::UUID[])
              OR (
                EXISTS (
                  SELECT 1 AS anon_4
                  FROM grants AS grants_1
                  WHERE grants_1.grantee_id = ANY ($5::UUID[])
                    AND grants_1.owner_id = anon_2.owner_id
                    AND grants_1.tenant_id = $1::UUID
                )
              )
          )
        ORDER BY anon_2.ordinality
        LIMIT $6::INTEGER
      ) AS anon_1
    )
  ) AS answer
  LIMIT ALL
  OFFSET 0
) AS whole;
