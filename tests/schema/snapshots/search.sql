-- query Search
-- cost: 141
-- statements: 5
--   read_words of db/queries/search/words.sql
--   rank_pages of db/queries/search/ranking.sql
--   find_texts of db/queries/search/snippets.sql
--   stem_words of db/queries/search/snippets.sql
--   the compiled one, below
-- steps: a part of what it shows is found before it is sent
-- parameters:
--   $1  scope.tenant_id
--   $2  100
--   $3  step.page_id
--   $4  step.score
--   $5  step.matched_alias
--   $6  step.section_id
--   $7  step.snippet
--   $8  step.memories
--   $9  scope.spans_tenant
--   $10  scope.owners
--   $11  20
-- plan:
--   Subquery Scan on whole
--     ->  Result
--           InitPlan 9
--             ->  Aggregate
--                   ->  Limit
--                         ->  Function Scan on anon_5
--                               SubPlan 2
--                                 ->  Index Scan using pages_pk on pages pages_1
--                                       SubPlan 1
--                                         ->  Aggregate
--                                               ->  Limit
--                                                     ->  Index Only Scan using aliases_alias_uq on aliases aliases_1
--                               SubPlan 3
--                                 ->  Index Scan using sections_slug_uq on sections sections_1
--                               SubPlan 4
--                                 ->  Result
--                                       ->  Function Scan on jsonb_to_record anon_4
--                               SubPlan 5
--                                 ->  Index Scan using pages_pk on pages pages_2
--                               SubPlan 6
--                                 ->  Index Scan using pages_pk on pages pages_2_1
--                               SubPlan 8
--                                 ->  Seq Scan on grants grants_1
--                                       InitPlan 7
--                                         ->  Index Scan using pages_pk on pages pages_2_2

SELECT
  CASE WHEN (pg_column_size(whole.answer) <= 10000000) THEN whole.answer END AS answer,
  pg_column_size(whole.answer) AS size
FROM (
  SELECT JSON_OBJECT(
    'wikiSearch': (
      SELECT coalesce(json_agg(anon_1.item), CAST('[]' AS JSON)) AS coalesce_1
      FROM (
        SELECT JSON_OBJECT(
          'score': coalesce(
            to_json(CAST(anon_2.score AS DOUBLE PRECISION)), CAST(concat('null in a non-null field') AS JSON)
          ),
          'matchedAlias': anon_2.matched_alias,
          'page': coalesce(
            to_json((
              SELECT JSON_OBJECT(
                'type': upper(pages_1.type),
                'slug': pages_1.slug,
                'title': pages_1.title,
                'summary': pages_1.summary,
                'aliases': (
                  SELECT coalesce(json_agg(anon_3.item), CAST('[]' AS JSON)) AS coalesce_2
                  FROM (
                    SELECT aliases_1.alias AS item
                    FROM aliases AS aliases_1
                    WHERE aliases_1.page_id = pages_1.id AND aliases_1.tenant_id = $1::UUID
                    ORDER BY aliases_1.alias
                    LIMIT $2::INTEGER
                  ) AS anon_3
                )
              ) AS item
              FROM pages AS pages_1
              WHERE pages_1.id = anon_2.page_id AND pages_1.tenant_id = $1::UUID
            )),
            CAST(concat('null in a non-null field') AS JSON)
          ),
          'section': (
            SELECT JSON_OBJECT('heading': sections_1.heading) AS item
            FROM sections AS sections_1
            WHERE sections_1.id = anon_2.section_id
              AND sections_1.page_id = anon_2.page_id
              AND sections_1.tenant_id = $1::UUID
          ),
          'snippet': (
            SELECT JSON_OBJECT(
              'html': coalesce(to_json(anon_4.html), CAST(concat('null in a non-null field') AS JSON))
            ) AS item
            FROM jsonb_to_record(anon_2.snippet) AS anon_4(text TEXT, html TEXT, highlights JSONB)
            WHERE anon_2.snippet IS NOT NULL
          )
        ) AS item
        FROM (
          SELECT
            anon_5.page_id AS page_id,
            anon_5.score AS score,
            anon_5.matched_alias AS matched_alias,
            anon_5.section_id AS section_id,
            anon_5.snippet AS snippet,
            anon_5.memories AS memories,
            anon_5.ordinality AS ordinality,
            (
              SELECT pages_2.owner_id
              FROM pages AS pages_2
              WHERE pages_2.id = anon_5.page_id AND pages_2.tenant_id = $1::UUID
            ) AS owner_id
          FROM unnest(
            $3::UUID[], $4::DOUBLE PRECISION[], $5::TEXT[], $6::UUID[], $7::JSONB[], $8::JSONB[]
          ) WITH ORDINALITY AS anon_5(page_id, score, matched_alias, section_id, snippet, memories, ordinality)
        ) AS anon_2
        WHERE anon_2.owner_id IS NOT NULL
          AND (
            $9::BOOLEAN
              OR anon_2.owner_id = ANY ($10::UUID[])
              OR (
                EXISTS (
                  SELECT 1 AS anon_6
                  FROM grants AS grants_1
                  WHERE grants_1.grantee_id = ANY ($10::UUID[])
                    AND grants_1.owner_id = anon_2.owner_id
                    AND grants_1.tenant_id = $1::UUID
                )
              )
          )
        ORDER BY anon_2.ordinality
        LIMIT $11::INTEGER
      ) AS anon_1
    )
  ) AS answer
  LIMIT ALL
  OFFSET 0
) AS whole;
