-- query SourceWithPages
-- cost: 41
-- statements: 1
-- parameters:
--   $1  scope.tenant_id
--   $2  20
--   $3  20
--   $4  $kind
--   $5  $ref
--   $6  scope.owner_id
-- plan:
--   Subquery Scan on whole
--     ->  Result
--           InitPlan 6
--             ->  Limit
--                   ->  Index Scan Backward using sources_ref_uq on sources sources_1
--                         SubPlan 1
--                           ->  Aggregate
--                                 ->  Sort
--                                       ->  Index Scan using section_sources_source_ix on section_sources section_sources_1
--                         SubPlan 2
--                           ->  Aggregate
--                                 ->  Limit
--                                       ->  Sort
--                                             ->  Nested Loop
--                                                   ->  Unique
--                                                         ->  Sort
--                                                               ->  Index Scan using section_sources_source_ix on section_sources section_sources_2
--                                                   ->  Index Scan using pages_pk on pages pages_1
--                         SubPlan 5
--                           ->  Aggregate
--                                 ->  Limit
--                                       ->  Result
--                                             ->  Sort
--                                                   ->  Index Scan using section_sources_source_ix on section_sources section_sources_3
--                                             SubPlan 3
--                                               ->  Index Scan using sections_pk on sections sections_1
--                                             SubPlan 4
--                                               ->  Index Scan using pages_pk on pages pages_2

SELECT
  CASE WHEN (pg_column_size(whole.answer) <= 10000000) THEN whole.answer END AS answer,
  pg_column_size(whole.answer) AS size
FROM (
  SELECT JSON_OBJECT(
    'wikiSource': (
      SELECT JSON_OBJECT(
        'id': sources_1.id,
        'title': sources_1.title,
        'content': sources_1.content,
        'pageCount': coalesce(
          to_json((
            SELECT count(distinct(section_sources_1.page_id)) AS count_1
            FROM section_sources AS section_sources_1
            WHERE section_sources_1.source_id = sources_1.id AND section_sources_1.tenant_id = $1::UUID
          )),
          CAST(concat('null in a non-null field') AS JSON)
        ),
        'pages': (
          SELECT JSON_OBJECT('nodes': coalesce(json_agg(anon_2.item_nodes), CAST('[]' AS JSON))) AS anon_1
          FROM (
            SELECT JSON_OBJECT('type': upper(pages_1.type), 'slug': pages_1.slug, 'title': pages_1.title) AS item_nodes
            FROM pages AS pages_1
            WHERE pages_1.id IN (
              SELECT section_sources_2.page_id
              FROM section_sources AS section_sources_2
              WHERE section_sources_2.source_id = sources_1.id AND section_sources_2.tenant_id = $1::UUID
            )
              AND pages_1.tenant_id = $1::UUID
            ORDER BY pages_1.title ASC, pages_1.id ASC
            LIMIT $2::INTEGER
          ) AS anon_2
        ),
        'citations': (
          SELECT JSON_OBJECT('nodes': coalesce(json_agg(anon_4.item_nodes), CAST('[]' AS JSON))) AS anon_3
          FROM (
            SELECT JSON_OBJECT(
              'section': coalesce(
                to_json((
                  SELECT JSON_OBJECT('heading': sections_1.heading) AS item
                  FROM sections AS sections_1
                  WHERE sections_1.id = section_sources_3.section_id AND sections_1.tenant_id = $1::UUID
                )),
                CAST(concat('null in a non-null field') AS JSON)
              ),
              'page': coalesce(
                to_json((
                  SELECT JSON_OBJECT('type': upper(pages_2.type), 'slug': pages_2.slug) AS item
                  FROM pages AS pages_2
                  WHERE pages_2.id = section_sources_3.page_id AND pages_2.tenant_id = $1::UUID
                )),
                CAST(concat('null in a non-null field') AS JSON)
              )
            ) AS item_nodes
            FROM section_sources AS section_sources_3
            WHERE section_sources_3.source_id = sources_1.id AND section_sources_3.tenant_id = $1::UUID
            ORDER BY section_sources_3.created_at DESC, section_sources_3.id DESC
            LIMIT $3::INTEGER
          ) AS anon_4
        )
      ) AS item
      FROM sources AS sources_1
      WHERE sources_1.kind = $4::VARCHAR
        AND sources_1.ref = $5::VARCHAR
        AND sources_1.tenant_id = $1::UUID
        AND sources_1.owner_id = $6::UUID
      ORDER BY sources_1.version DESC
      LIMIT 1
    )
  ) AS answer
  LIMIT ALL
  OFFSET 0
) AS whole;
