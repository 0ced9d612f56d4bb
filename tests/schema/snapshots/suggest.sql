-- query Suggest
-- cost: 9
-- statements: 1
-- parameters:
--   $1  scope.tenant_id
--   $2  $prefix
--   $3  $prefix
--   $4  $prefix
--   $5  $prefix
--   $6  scope.owner_id
--   $7  8
-- plan:
--   Subquery Scan on whole
--     ->  Result
--           InitPlan 7
--             ->  Aggregate
--                   ->  Limit
--                         ->  Result
--                               ->  Sort
--                                     ->  Nested Loop
--                                           ->  Index Only Scan using owners_pk on owners owners_1
--                                           ->  Unique
--                                                 ->  Sort
--                                                       ->  Result
--                                                             ->  Append
--                                                                   ->  Subquery Scan on "*SELECT* 1"
--                                                                         ->  Subquery Scan on anon_5
--                                                                               ->  Limit
--                                                                                     ->  Incremental Sort
--                                                                                           ->  Index Scan using page_names_owner_ix on page_names page_names_1
--                                                                   ->  Subquery Scan on "*SELECT* 2"
--                                                                         ->  Nested Loop
--                                                                               ->  Limit
--                                                                                     InitPlan 6
--                                                                                       ->  Result
--                                                                                             InitPlan 4
--                                                                                               ->  Aggregate
--                                                                                                     ->  Sort
--                                                                                                           ->  Subquery Scan on anon_9
--                                                                                                                 ->  Limit
--                                                                                                                       ->  Incremental Sort
--                                                                                                                             ->  Index Scan using page_names_owner_ix on page_names page_names_3
--                                                                                             InitPlan 5
--                                                                                               ->  Limit
--                                                                                                     ->  Merge Join
--                                                                                                           ->  Index Scan using page_names_pk on page_names page_names_4
--                                                                                                           ->  Index Scan using search_pages_pk on search_pages search_pages_2
--                                                                                     ->  Bitmap Heap Scan on search_pages search_pages_1
--                                                                                           ->  Bitmap Index Scan on search_pages_words_ix
--                                                                               ->  Index Scan using page_names_pk on page_names page_names_2
--                               SubPlan 1
--                                 ->  Index Scan using pages_pk on pages pages_1
--                               SubPlan 2
--                                 ->  Index Scan using aliases_alias_uq on aliases aliases_1
--                               SubPlan 3
--                                 ->  Index Scan using pages_pk on pages pages_2

SELECT
  CASE WHEN (pg_column_size(whole.answer) <= 10000000) THEN whole.answer END AS answer,
  pg_column_size(whole.answer) AS size
FROM (
  SELECT JSON_OBJECT(
    'wikiSuggest': (
      SELECT coalesce(json_agg(anon_1.item), CAST('[]' AS JSON)) AS coalesce_1
      FROM (
        SELECT JSON_OBJECT(
          'name': coalesce(
            to_json(CASE
              WHEN (anon_2.kind = 'title') THEN (
                SELECT pages_1.title
                FROM pages AS pages_1
                WHERE pages_1.id = anon_2.page_id AND pages_1.tenant_id = $1::UUID
              )
              WHEN (anon_2.kind = 'alias') THEN (
                SELECT aliases_1.name
                FROM aliases AS aliases_1
                WHERE aliases_1.page_id = anon_2.page_id
                  AND aliases_1.alias = anon_2.name
                  AND aliases_1.tenant_id = $1::UUID
              )
              ELSE replace(anon_2.name, ' ', '-')
            END),
            CAST(concat('null in a non-null field') AS JSON)
          ),
          'kind': upper(anon_2.kind),
          'page': coalesce(
            to_json((
              SELECT JSON_OBJECT('type': upper(pages_2.type), 'slug': pages_2.slug, 'title': pages_2.title) AS item
              FROM pages AS pages_2
              WHERE pages_2.id = anon_2.page_id AND pages_2.tenant_id = $1::UUID
            )),
            CAST(concat('null in a non-null field') AS JSON)
          )
        ) AS item
        FROM (
          SELECT
            owners_1.id AS owner_id,
            anon_3.page_id AS page_id,
            anon_3.kind AS kind,
            anon_3.name AS name,
            anon_3.is_within AS is_within
          FROM owners AS owners_1
          JOIN LATERAL (
            SELECT DISTINCT ON (anon_4.page_id)
              anon_4.page_id AS page_id,
              anon_4.kind AS kind,
              anon_4.name AS name,
              NOT (anon_4.name >= $2::VARCHAR AND anon_4.name < $3::VARCHAR) AS is_within
            FROM (
              SELECT anon_5.page_id AS page_id, anon_5.kind AS kind, anon_5.name AS name, anon_5.status AS status
              FROM (
                SELECT
                  page_names_1.page_id AS page_id,
                  page_names_1.kind AS kind,
                  page_names_1.name AS name,
                  page_names_1.status AS status
                FROM page_names AS page_names_1
                WHERE page_names_1.owner_id = owners_1.id
                  AND page_names_1.name >= $2::VARCHAR
                  AND page_names_1.name < $3::VARCHAR
                  AND page_names_1.tenant_id = $1::UUID
                ORDER BY page_names_1.name, page_names_1.page_id
                LIMIT 200
              ) AS anon_5
              WHERE anon_5.status = 'active'
              UNION ALL
              SELECT
                page_names_2.page_id AS page_id,
                page_names_2.kind AS kind,
                page_names_2.name AS name,
                page_names_2.status AS status
              FROM (
                SELECT search_pages_1.page_id AS page_id
                FROM search_pages AS search_pages_1
                WHERE search_pages_1.owner_id = owners_1.id
                  AND search_pages_1.status = 'active'
                  AND (
                    search_pages_1.name_tsv @@ (
                      SELECT CAST(
                        CASE
                          WHEN (
                            (
                              SELECT count(DISTINCT anon_8.page_id) AS count_1
                              FROM (
                                SELECT
                                  anon_9.page_id AS page_id,
                                  anon_9.kind AS kind,
                                  anon_9.name AS name,
                                  anon_9.status AS status
                                FROM (
                                  SELECT
                                    page_names_3.page_id AS page_id,
                                    page_names_3.kind AS kind,
                                    page_names_3.name AS name,
                                    page_names_3.status AS status
                                  FROM page_names AS page_names_3
                                  WHERE page_names_3.owner_id = owners_1.id
                                    AND page_names_3.name >= $2::VARCHAR
                                    AND page_names_3.name < $3::VARCHAR
                                    AND page_names_3.tenant_id = $1::UUID
                                  ORDER BY page_names_3.name, page_names_3.page_id
                                  LIMIT 200
                                ) AS anon_9
                                WHERE anon_9.status = 'active'
                              ) AS anon_8
                            ) < 20
                          ) THEN replace(
                            $4::VARCHAR,
                            '',
                            (
                              SELECT left((tsvector_to_array(search_pages_2.name_tsv))[1], 1) AS left_1
                              FROM page_names AS page_names_4
                              JOIN search_pages AS search_pages_2 ON search_pages_2.page_id = page_names_4.page_id
                              WHERE page_names_4.owner_id = owners_1.id
                                AND page_names_4.tenant_id = $1::UUID
                                AND search_pages_2.tenant_id = $1::UUID
                              LIMIT 1
                            )
                          )
                        END AS TSQUERY
                      ) AS anon_7
                    )
                  )
                  AND search_pages_1.tenant_id = $1::UUID
                LIMIT 200
              ) AS anon_6
              JOIN page_names AS page_names_2 ON page_names_2.page_id = anon_6.page_id
              WHERE page_names_2.status = 'active'
                AND strpos(concat(' ', translate(page_names_2.name, '''-', '  '), ' '), $5::VARCHAR) > 0
                AND page_names_2.tenant_id = $1::UUID
            ) AS anon_4
            ORDER BY
              anon_4.page_id,
              anon_4.name != $2::VARCHAR,
              is_within,
              CASE anon_4.kind WHEN 'title' THEN 1 WHEN 'alias' THEN 2 WHEN 'slug' THEN 3 WHEN 'old_slug' THEN 4 END,
              length(anon_4.name),
              anon_4.name
          ) AS anon_3 ON true
          WHERE owners_1.tenant_id = $1::UUID
        ) AS anon_2
        WHERE anon_2.owner_id = $6::UUID
        ORDER BY anon_2.is_within, length(anon_2.name), anon_2.name, anon_2.page_id
        LIMIT $7::INTEGER
      ) AS anon_1
    )
  ) AS answer
  LIMIT ALL
  OFFSET 0
) AS whole;
