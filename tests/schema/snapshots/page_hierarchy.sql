-- query PageHierarchy
-- cost: 71
-- statements: 1
-- parameters:
--   $1  scope.tenant_id
--   $2  20
--   $3  2
--   $4  50
--   $5  $type
--   $6  $slug
--   $7  scope.owner_id
-- plan:
--   Subquery Scan on whole
--     ->  Result
--           InitPlan 7
--             ->  Index Scan using pages_scope_uq on pages pages_6
--                   InitPlan 5
--                     ->  Index Scan using pages_slug_ix on pages pages_7
--                   InitPlan 6
--                     ->  Index Scan using old_slugs_pk on old_slugs old_slugs_1
--                   SubPlan 2
--                     ->  Aggregate
--                           ->  Limit
--                                 CTE chain
--                                   ->  Recursive Union
--                                         ->  Index Scan using pages_pk on pages pages_2
--                                         ->  Nested Loop
--                                               ->  WorkTable Scan on chain
--                                               ->  Index Scan using pages_pk on pages pages_3
--                                 ->  Sort
--                                       ->  Nested Loop
--                                             ->  CTE Scan on chain chain_1
--                                             ->  Index Scan using pages_pk on pages pages_1
--                   SubPlan 4
--                     ->  Aggregate
--                           ->  Limit
--                                 CTE tree
--                                   ->  Recursive Union
--                                         ->  Result
--                                               ->  Index Scan using pages_parent_ix on pages pages_4
--                                         ->  Nested Loop
--                                               ->  WorkTable Scan on tree
--                                               ->  Index Scan using pages_parent_ix on pages pages_5
--                                 ->  Sort
--                                       ->  CTE Scan on tree tree_1

SELECT
  CASE WHEN (pg_column_size(whole.answer) <= 10000000) THEN whole.answer END AS answer,
  pg_column_size(whole.answer) AS size
FROM (
  SELECT JSON_OBJECT(
    'wikiPage': (
      SELECT JSON_OBJECT(
        'ancestors': (
          SELECT coalesce(json_agg(anon_1.item), CAST('[]' AS JSON)) AS coalesce_1
          FROM (
            WITH RECURSIVE chain(id, parent_page_id, depth) AS (
              SELECT pages_2.id AS id, pages_2.parent_page_id AS parent_page_id, 1 AS depth
              FROM pages AS pages_2
              WHERE pages_2.id = anon_2.parent_page_id AND pages_2.status = 'active' AND pages_2.tenant_id = $1::UUID
              UNION ALL
              SELECT pages_3.id AS id, pages_3.parent_page_id AS parent_page_id, chain.depth + 1 AS anon_3
              FROM pages AS pages_3
              JOIN chain ON pages_3.id = chain.parent_page_id
              WHERE pages_3.tenant_id = $1::UUID AND pages_3.status = 'active' AND chain.depth < 32
            )
            SELECT JSON_OBJECT('type': upper(pages_1.type), 'slug': pages_1.slug, 'title': pages_1.title) AS item
            FROM pages AS pages_1
            JOIN chain ON pages_1.id = chain.id
            WHERE pages_1.tenant_id = $1::UUID
            ORDER BY chain.depth
            LIMIT $2::INTEGER
          ) AS anon_1
        ),
        'descendants': (
          SELECT JSON_OBJECT('nodes': coalesce(json_agg(anon_5.item_nodes), CAST('[]' AS JSON))) AS anon_4
          FROM (
            WITH RECURSIVE tree(
              tenant_id,
              owner_id,
              id,
              type,
              slug,
              title,
              summary,
              body_md,
              status,
              tags,
              parent_page_id,
              hubness_score,
              version,
              metadata,
              last_compiled_at,
              created_at,
              updated_at,
              was_merged,
              depth
            ) AS (
              SELECT
                pages_4.tenant_id AS tenant_id,
                pages_4.owner_id AS owner_id,
                pages_4.id AS id,
                pages_4.type AS type,
                pages_4.slug AS slug,
                pages_4.title AS title,
                pages_4.summary AS summary,
                pages_4.body_md AS body_md,
                pages_4.status AS status,
                pages_4.tags AS tags,
                pages_4.parent_page_id AS parent_page_id,
                pages_4.hubness_score AS hubness_score,
                pages_4.version AS version,
                pages_4.metadata AS metadata,
                pages_4.last_compiled_at AS last_compiled_at,
                pages_4.created_at AS created_at,
                pages_4.updated_at AS updated_at,
                pages_4.was_merged AS was_merged,
                1 AS depth
              FROM pages AS pages_4
              WHERE pages_4.parent_page_id = anon_2.id
                AND pages_4.status = 'active'
                AND pages_4.tenant_id = $1::UUID
                AND least($3::INTEGER, 32) >= 1
              UNION ALL
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
                tree.depth + 1 AS anon_6
              FROM pages AS pages_5
              JOIN tree ON pages_5.parent_page_id = tree.id
              WHERE pages_5.tenant_id = $1::UUID AND pages_5.status = 'active' AND tree.depth < least($3::INTEGER, 32)
            )
            SELECT JSON_OBJECT('type': upper(tree.type), 'slug': tree.slug, 'title': tree.title) AS item_nodes
            FROM tree
            ORDER BY tree.depth ASC, tree.id ASC
            LIMIT $4::INTEGER
          ) AS anon_5
        )
      ) AS item
      FROM (
        SELECT
          pages_6.tenant_id AS tenant_id,
          pages_6.owner_id AS owner_id,
          pages_6.id AS id,
          pages_6.type AS type,
          pages_6.slug AS slug,
          pages_6.title AS title,
          pages_6.summary AS summary,
          pages_6.body_md AS body_md,
          pages_6.status AS status,
          pages_6.tags AS tags,
          pages_6.parent_page_id AS parent_page_id,
          pages_6.hubness_score AS hubness_score,
          pages_6.version AS version,
          pages_6.metadata AS metadata,
          pages_6.last_compiled_at AS last_compiled_at,
          pages_6.created_at AS created_at,
          pages_6.updated_at AS updated_at,
          pages_6.was_merged AS was_merged,
          CASE
            WHEN (pages_6.type = $5::VARCHAR AND pages_6.slug = $6::VARCHAR) THEN NULL ELSE CAST($6::VARCHAR AS TEXT)
          END AS redirected_from
        FROM pages AS pages_6
        WHERE pages_6.id = coalesce(
          (
            SELECT pages_7.id
            FROM pages AS pages_7
            WHERE pages_7.owner_id = $7::UUID
              AND pages_7.type = $5::VARCHAR
              AND pages_7.slug = $6::VARCHAR
              AND pages_7.status = 'active'
              AND pages_7.tenant_id = $1::UUID
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
          AND pages_6.tenant_id = $1::UUID
      ) AS anon_2
      WHERE anon_2.status = 'active' AND anon_2.owner_id = $7::UUID
    )
  ) AS answer
  LIMIT ALL
  OFFSET 0
) AS whole;
