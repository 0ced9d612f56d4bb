-- query PageLinks
-- cost: 71
-- statements: 1
-- parameters:
--   $1  20
--   $2  scope.tenant_id
--   $3  20
--   $4  20
--   $5  10
--   $6  $type
--   $7  $slug
--   $8  scope.owner_id
-- plan:
--   Subquery Scan on whole
--     ->  Result
--           InitPlan 11
--             ->  Index Scan using pages_scope_uq on pages pages_5
--                   InitPlan 9
--                     ->  Index Scan using pages_slug_ix on pages pages_6
--                   InitPlan 10
--                     ->  Index Scan using old_slugs_pk on old_slugs old_slugs_1
--                   SubPlan 2
--                     ->  Aggregate
--                           ->  Limit
--                                 ->  WindowAgg
--                                       ->  Sort
--                                             ->  Nested Loop
--                                                   ->  Index Scan using links_pair_uq on links links_1
--                                                   ->  Index Scan using pages_pk on pages pages_2
--                                       SubPlan 1
--                                         ->  Index Scan using pages_pk on pages pages_1
--                   SubPlan 3
--                     ->  Aggregate
--                           ->  Limit
--                                 ->  Index Scan using link_targets_pk on link_targets link_targets_1
--                   SubPlan 6
--                     ->  Aggregate
--                           ->  Limit
--                                 InitPlan 5
--                                   ->  Index Only Scan using links_to_ix on links links_3
--                                 ->  WindowAgg
--                                       ->  Sort
--                                             ->  Index Scan using pages_pk on pages pages_3
--                                       SubPlan 4
--                                         ->  Aggregate
--                                               ->  Index Only Scan using links_pair_uq on links links_2
--                   SubPlan 8
--                     ->  Aggregate
--                           ->  Limit
--                                 InitPlan 7
--                                   ->  Index Only Scan using links_pair_uq on links links_4
--                                 ->  Sort
--                                       ->  Index Scan using pages_pk on pages pages_4

SELECT
  CASE WHEN (pg_column_size(whole.answer) <= 10000000) THEN whole.answer END AS answer,
  pg_column_size(whole.answer) AS size
FROM (
  SELECT JSON_OBJECT(
    'wikiPage': (
      SELECT JSON_OBJECT(
        'links': (
          SELECT JSON_OBJECT(
            'nodes': coalesce(
              json_agg(anon_2.item_nodes) FILTER (WHERE anon_2.number <= $1::INTEGER), CAST('[]' AS JSON)
            ),
            'pageInfo': JSON_OBJECT(
              'endCursor': json_agg(anon_2.cursor) FILTER (WHERE anon_2.number <= $1::INTEGER) ->> -1,
              'hasNextPage': count(anon_2.number) > $1::INTEGER
            )
          ) AS anon_1
          FROM (
            SELECT
              JSON_OBJECT(
                'kind': upper(links_1.kind),
                'reasons': links_1.reasons,
                'toPage': coalesce(
                  to_json((
                    SELECT JSON_OBJECT(
                      'type': upper(pages_1.type), 'slug': pages_1.slug, 'title': pages_1.title
                    ) AS item
                    FROM pages AS pages_1
                    WHERE pages_1.id = links_1.to_page_id AND pages_1.tenant_id = $2::UUID
                  )),
                  CAST(concat('null in a non-null field') AS JSON)
                )
              ) AS item_nodes,
              translate(
                encode(convert_to(CAST(json_build_array('id', links_1.id) AS TEXT), 'utf8'), 'base64'), '
', ''
              ) AS cursor,
              row_number() OVER (ORDER BY links_1.id ASC) AS number
            FROM links AS links_1
            JOIN pages AS pages_2 ON pages_2.id = links_1.to_page_id
            WHERE links_1.from_page_id = anon_3.id
              AND pages_2.status = 'active'
              AND links_1.tenant_id = $2::UUID
              AND pages_2.tenant_id = $2::UUID
            ORDER BY links_1.id ASC
            LIMIT $1::INTEGER + 1
          ) AS anon_2
        ),
        'brokenLinks': (
          SELECT JSON_OBJECT('nodes': coalesce(json_agg(anon_5.item_nodes), CAST('[]' AS JSON))) AS anon_4
          FROM (
            SELECT JSON_OBJECT('target': link_targets_1.target, 'slug': link_targets_1.slug) AS item_nodes
            FROM link_targets AS link_targets_1
            WHERE link_targets_1.from_page_id = anon_3.id
              AND link_targets_1.to_page_id IS NULL
              AND link_targets_1.space IS NULL
              AND link_targets_1.tenant_id = $2::UUID
            ORDER BY link_targets_1.target ASC
            LIMIT $3::INTEGER
          ) AS anon_5
        ),
        'backlinks': (
          SELECT JSON_OBJECT(
            'edges': coalesce(
              json_agg(anon_7.item_edges) FILTER (WHERE anon_7.number <= $4::INTEGER), CAST('[]' AS JSON)
            ),
            'pageInfo': JSON_OBJECT(
              'endCursor': json_agg(anon_7.cursor) FILTER (WHERE anon_7.number <= $4::INTEGER) ->> -1,
              'hasNextPage': count(anon_7.number) > $4::INTEGER
            )
          ) AS anon_6
          FROM (
            SELECT
              JSON_OBJECT(
                'kinds': coalesce(
                  to_json(CAST(upper(CAST(anon_8.kinds AS TEXT)) AS TEXT[])),
                  CAST(concat('null in a non-null field') AS JSON)
                ),
                'node': JSON_OBJECT('type': upper(anon_8.type), 'slug': anon_8.slug, 'title': anon_8.title)
              ) AS item_edges,
              translate(
                encode(
                  convert_to(
                    CAST(json_build_array('-hubness_score,-id', anon_8.hubness_score, anon_8.id) AS TEXT), 'utf8'
                  ),
                  'base64'
                ),
                '
',
                ''
              ) AS cursor,
              row_number() OVER (ORDER BY anon_8.hubness_score DESC, anon_8.id DESC) AS number
            FROM (
              SELECT
                pages_3.tenant_id AS tenant_id,
                pages_3.owner_id AS owner_id,
                pages_3.id AS id,
                pages_3.type AS type,
                pages_3.slug AS slug,
                pages_3.title AS title,
                pages_3.summary AS summary,
                pages_3.body_md AS body_md,
                pages_3.status AS status,
                pages_3.tags AS tags,
                pages_3.parent_page_id AS parent_page_id,
                pages_3.hubness_score AS hubness_score,
                pages_3.version AS version,
                pages_3.metadata AS metadata,
                pages_3.last_compiled_at AS last_compiled_at,
                pages_3.created_at AS created_at,
                pages_3.updated_at AS updated_at,
                pages_3.was_merged AS was_merged,
                (
                  SELECT array_agg(links_2.kind ORDER BY links_2.kind) AS array_agg_1
                  FROM links AS links_2
                  WHERE links_2.from_page_id = pages_3.id
                    AND links_2.to_page_id = anon_3.id
                    AND links_2.tenant_id = $2::UUID
                ) AS kinds,
                anon_3.id AS linked_id
              FROM pages AS pages_3
              WHERE pages_3.id = ANY (
                array((
                  SELECT links_3.from_page_id
                  FROM links AS links_3
                  WHERE links_3.to_page_id = anon_3.id AND links_3.tenant_id = $2::UUID
                ))
              )
                AND pages_3.status = 'active'
                AND pages_3.tenant_id = $2::UUID
            ) AS anon_8
            ORDER BY anon_8.hubness_score DESC, anon_8.id DESC
            LIMIT $4::INTEGER + 1
          ) AS anon_7
        ),
        'connectedPages': (
          SELECT JSON_OBJECT('nodes': coalesce(json_agg(anon_10.item_nodes), CAST('[]' AS JSON))) AS anon_9
          FROM (
            SELECT JSON_OBJECT('type': upper(pages_4.type), 'slug': pages_4.slug, 'title': pages_4.title) AS item_nodes
            FROM pages AS pages_4
            WHERE pages_4.id = ANY (
              array((
                SELECT links_4.to_page_id
                FROM links AS links_4
                WHERE links_4.from_page_id = anon_3.id AND links_4.tenant_id = $2::UUID
              ))
            )
              AND pages_4.status = 'active'
              AND pages_4.tenant_id = $2::UUID
            ORDER BY pages_4.hubness_score DESC, pages_4.id DESC
            LIMIT $5::INTEGER
          ) AS anon_10
        )
      ) AS item
      FROM (
        SELECT
          pages_5.tenant_id AS tenant_id,
          pages_5.owner_id AS owner_id,
          pages_5.id AS id,
          pages_5.type AS type,
          pages_5.slug AS slug,
          pages_5.title AS title,
          pages_5.summary AS summary,
          pages_5.body_md AS body_md,
          pages_5.status AS status,
          pages_5.tags AS tags,
          pages_5.parent_page_id AS parent_page_id,
          pages_5.hubness_score AS hubness_score,
          pages_5.version AS version,
          pages_5.metadata AS metadata,
          pages_5.last_compiled_at AS last_compiled_at,
          pages_5.created_at AS created_at,
          pages_5.updated_at AS updated_at,
          pages_5.was_merged AS was_merged,
          CASE
            WHEN (pages_5.type = $6::VARCHAR AND pages_5.slug = $7::VARCHAR) THEN NULL ELSE CAST($7::VARCHAR AS TEXT)
          END AS redirected_from
        FROM pages AS pages_5
        WHERE pages_5.id = coalesce(
          (
            SELECT pages_6.id
            FROM pages AS pages_6
            WHERE pages_6.owner_id = $8::UUID
              AND pages_6.type = $6::VARCHAR
              AND pages_6.slug = $7::VARCHAR
              AND pages_6.status = 'active'
              AND pages_6.tenant_id = $2::UUID
          ),
          (
            SELECT old_slugs_1.page_id
            FROM old_slugs AS old_slugs_1
            WHERE old_slugs_1.owner_id = $8::UUID
              AND old_slugs_1.type = $6::VARCHAR
              AND old_slugs_1.slug = $7::VARCHAR
              AND old_slugs_1.tenant_id = $2::UUID
          )
        )
          AND pages_5.tenant_id = $2::UUID
      ) AS anon_3
      WHERE anon_3.status = 'active' AND anon_3.owner_id = $8::UUID
    )
  ) AS answer
  LIMIT ALL
  OFFSET 0
) AS whole;
