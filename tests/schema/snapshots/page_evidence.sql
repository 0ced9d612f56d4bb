-- query PageEvidence
-- cost: 534
-- statements: 1
-- parameters:
--   $1  scope.tenant_id
--   $2  20
--   $3  10
--   $4  50
--   $5  $type
--   $6  $slug
--   $7  scope.owner_id
-- plan:
--   Subquery Scan on whole
--     ->  Result
--           InitPlan 8
--             ->  Index Scan using pages_scope_uq on pages pages_1
--                   InitPlan 6
--                     ->  Index Scan using pages_slug_ix on pages pages_2
--                   InitPlan 7
--                     ->  Index Scan using old_slugs_pk on old_slugs old_slugs_1
--                   SubPlan 1
--                     ->  Aggregate
--                           ->  Sort
--                                 ->  Nested Loop
--                                       ->  Index Only Scan using section_sources_page_ix on section_sources section_sources_1
--                                       ->  Index Scan using sources_pk on sources sources_1
--                   SubPlan 2
--                     ->  Aggregate
--                           ->  Limit
--                                 ->  Sort
--                                       ->  Nested Loop
--                                             ->  HashAggregate
--                                                   ->  Index Only Scan Backward using section_sources_page_ix on section_sources section_sources_2
--                                             ->  Index Scan using sources_pk on sources sources_2
--                   SubPlan 5
--                     ->  Aggregate
--                           ->  Limit
--                                 ->  Index Scan using sections_position_ix on sections sections_1
--                                       SubPlan 4
--                                         ->  Aggregate
--                                               ->  Limit
--                                                     ->  Result
--                                                           ->  Sort
--                                                                 ->  Index Scan using section_sources_cited_uq on section_sources section_sources_3
--                                                           SubPlan 3
--                                                             ->  Index Scan using sources_pk on sources sources_3

SELECT
  CASE WHEN (pg_column_size(whole.answer) <= 10000000) THEN whole.answer END AS answer,
  pg_column_size(whole.answer) AS size
FROM (
  SELECT JSON_OBJECT(
    'wikiPage': (
      SELECT JSON_OBJECT(
        'title': anon_1.title,
        'sourceCount': coalesce(
          to_json((
            SELECT count(distinct((sources_1.kind, sources_1.ref))) AS count_1
            FROM sources AS sources_1
            JOIN section_sources AS section_sources_1 ON section_sources_1.source_id = sources_1.id
            WHERE section_sources_1.page_id = anon_1.id
              AND sources_1.tenant_id = $1::UUID
              AND section_sources_1.tenant_id = $1::UUID
          )),
          CAST(concat('null in a non-null field') AS JSON)
        ),
        'sources': (
          SELECT JSON_OBJECT('nodes': coalesce(json_agg(anon_3.item_nodes), CAST('[]' AS JSON))) AS anon_2
          FROM (
            SELECT JSON_OBJECT(
              'kind': upper(sources_2.kind),
              'ref': sources_2.ref,
              'title': sources_2.title,
              'capturedAt': to_char(timezone('UTC', sources_2.captured_at), 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
            ) AS item_nodes
            FROM sources AS sources_2
            WHERE sources_2.id IN (
              SELECT section_sources_2.source_id
              FROM section_sources AS section_sources_2
              WHERE section_sources_2.page_id = anon_1.id AND section_sources_2.tenant_id = $1::UUID
            )
              AND sources_2.tenant_id = $1::UUID
            ORDER BY sources_2.captured_at DESC, sources_2.id DESC
            LIMIT $2::INTEGER
          ) AS anon_3
        ),
        'sections': (
          SELECT coalesce(json_agg(anon_4.item), CAST('[]' AS JSON)) AS coalesce_1
          FROM (
            SELECT JSON_OBJECT(
              'heading': sections_1.heading,
              'citations': (
                SELECT JSON_OBJECT('nodes': coalesce(json_agg(anon_6.item_nodes), CAST('[]' AS JSON))) AS anon_5
                FROM (
                  SELECT JSON_OBJECT(
                    'lineStart': section_sources_3.line_start,
                    'lineEnd': section_sources_3.line_end,
                    'source': coalesce(
                      to_json((
                        SELECT JSON_OBJECT('kind': upper(sources_3.kind), 'ref': sources_3.ref) AS item
                        FROM sources AS sources_3
                        WHERE sources_3.id = section_sources_3.source_id AND sources_3.tenant_id = $1::UUID
                      )),
                      CAST(concat('null in a non-null field') AS JSON)
                    )
                  ) AS item_nodes
                  FROM section_sources AS section_sources_3
                  WHERE section_sources_3.section_id = sections_1.id AND section_sources_3.tenant_id = $1::UUID
                  ORDER BY section_sources_3.created_at DESC, section_sources_3.id DESC
                  LIMIT $3::INTEGER
                ) AS anon_6
              )
            ) AS item
            FROM sections AS sections_1
            WHERE sections_1.page_id = anon_1.id AND sections_1.tenant_id = $1::UUID
            ORDER BY sections_1.position, sections_1.id
            LIMIT $4::INTEGER
          ) AS anon_4
        )
      ) AS item
      FROM (
        SELECT
          pages_1.tenant_id AS tenant_id,
          pages_1.owner_id AS owner_id,
          pages_1.id AS id,
          pages_1.type AS type,
          pages_1.slug AS slug,
          pages_1.title AS title,
          pages_1.summary AS summary,
          pages_1.body_md AS body_md,
          pages_1.status AS status,
          pages_1.tags AS tags,
          pages_1.parent_page_id AS parent_page_id,
          pages_1.hubness_score AS hubness_score,
          pages_1.version AS version,
          pages_1.metadata AS metadata,
          pages_1.last_compiled_at AS last_compiled_at,
          pages_1.created_at AS created_at,
          pages_1.updated_at AS updated_at,
          pages_1.was_merged AS was_merged,
          CASE
            WHEN (pages_1.type = $5::VARCHAR AND pages_1.slug = $6::VARCHAR) THEN NULL ELSE CAST($6::VARCHAR AS TEXT)
          END AS redirected_from
        FROM pages AS pages_1
        WHERE pages_1.id = coalesce(
          (
            SELECT pages_2.id
            FROM pages AS pages_2
            WHERE pages_2.owner_id = $7::UUID
              AND pages_2.type = $5::VARCHAR
              AND pages_2.slug = $6::VARCHAR
              AND pages_2.status = 'active'
              AND pages_2.tenant_id = $1::UUID
          ),
          (
            SELECT old_slugs_1.page_id
            FROM old_slugs AS old_slugs_1
            WHERE old_slugs_1.owner_id = $7::UUID
              AND old_slugs_1.type = $5::VARCHAR
              AND old_slugs_1.slug = $6::VARCHAR
              AND old_slugs_1.tenant_id = $1::UUID
          )
        )
          AND pages_1.tenant_id = $1::UUID
      ) AS anon_1
      WHERE anon_1.status = 'active' AND anon_1.owner_id = $7::UUID
    )
  ) AS answer
  LIMIT ALL
  OFFSET 0
) AS whole;
