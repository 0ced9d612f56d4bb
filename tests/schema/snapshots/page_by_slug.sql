-- query PageBySlug
-- cost: 79
-- statements: 1
-- parameters:
--   $1  scope.tenant_id
--   $2  100
--   $3  50
--   $4  50
--   $5  10
--   $6  $type
--   $7  $slug
--   $8  scope.owner_id
-- plan:
--   Subquery Scan on whole
--     ->  Result
--           InitPlan 11
--             ->  Index Scan using pages_scope_uq on pages pages_4
--                   InitPlan 9
--                     ->  Index Scan using pages_slug_ix on pages pages_5
--                   InitPlan 10
--                     ->  Index Scan using old_slugs_pk on old_slugs old_slugs_1
--                   SubPlan 1
--                     ->  Aggregate
--                           ->  Limit
--                                 ->  Index Only Scan using aliases_alias_uq on aliases aliases_1
--                   SubPlan 2
--                     ->  Aggregate
--                           ->  Limit
--                                 ->  Index Scan using sections_position_ix on sections sections_1
--                   SubPlan 3
--                     ->  Index Scan using pages_pk on pages pages_1
--                   SubPlan 4
--                     ->  Aggregate
--                           ->  Limit
--                                 ->  Sort
--                                       ->  Index Scan using pages_parent_ix on pages pages_2
--                   SubPlan 8
--                     ->  Aggregate
--                           InitPlan 6
--                             ->  Aggregate
--                                   InitPlan 5
--                                     ->  Index Only Scan using links_to_ix on links links_2
--                                   ->  Index Scan using pages_pk on pages pages_3
--                           ->  Limit
--                                 InitPlan 7
--                                   ->  Index Only Scan using links_to_ix on links links_2_1
--                                 ->  Sort
--                                       ->  Index Scan using pages_pk on pages pages_3_1

SELECT
  CASE WHEN (pg_column_size(whole.answer) <= 10000000) THEN whole.answer END AS answer,
  pg_column_size(whole.answer) AS size
FROM (
  SELECT JSON_OBJECT(
    'wikiPage': (
      SELECT JSON_OBJECT(
        'id': anon_1.id,
        'title': anon_1.title,
        'summary': anon_1.summary,
        'tags': anon_1.tags,
        'aliases': (
          SELECT coalesce(json_agg(anon_2.item), CAST('[]' AS JSON)) AS coalesce_1
          FROM (
            SELECT aliases_1.alias AS item
            FROM aliases AS aliases_1
            WHERE aliases_1.page_id = anon_1.id AND aliases_1.tenant_id = $1::UUID
            ORDER BY aliases_1.alias
            LIMIT $2::INTEGER
          ) AS anon_2
        ),
        'updatedAt': to_char(timezone('UTC', anon_1.updated_at), 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
        'redirectedFrom': anon_1.redirected_from,
        'sections': (
          SELECT coalesce(json_agg(anon_3.item), CAST('[]' AS JSON)) AS coalesce_2
          FROM (
            SELECT JSON_OBJECT(
              'sectionSlug': sections_1.section_slug, 'heading': sections_1.heading, 'bodyMd': sections_1.body_md
            ) AS item
            FROM sections AS sections_1
            WHERE sections_1.page_id = anon_1.id AND sections_1.tenant_id = $1::UUID
            ORDER BY sections_1.position, sections_1.id
            LIMIT $3::INTEGER
          ) AS anon_3
        ),
        'parent': (
          SELECT JSON_OBJECT('type': upper(pages_1.type), 'slug': pages_1.slug, 'title': pages_1.title) AS item
          FROM pages AS pages_1
          WHERE pages_1.id = anon_1.parent_page_id AND pages_1.status = 'active' AND pages_1.tenant_id = $1::UUID
        ),
        'children': (
          SELECT coalesce(json_agg(anon_4.item), CAST('[]' AS JSON)) AS coalesce_3
          FROM (
            SELECT JSON_OBJECT('type': upper(pages_2.type), 'slug': pages_2.slug, 'title': pages_2.title) AS item
            FROM pages AS pages_2
            WHERE pages_2.parent_page_id = anon_1.id AND pages_2.status = 'active' AND pages_2.tenant_id = $1::UUID
            ORDER BY pages_2.title, pages_2.id
            LIMIT $4::INTEGER
          ) AS anon_4
        ),
        'backlinks': (
          SELECT JSON_OBJECT(
            'totalCount': (
              SELECT count(*) AS count_1
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
                    SELECT array_agg(links_1.kind ORDER BY links_1.kind) AS array_agg_1
                    FROM links AS links_1
                    WHERE links_1.from_page_id = pages_3.id
                      AND links_1.to_page_id = anon_1.id
                      AND links_1.tenant_id = $1::UUID
                  ) AS kinds,
                  anon_1.id AS linked_id
                FROM pages AS pages_3
                WHERE pages_3.id = ANY (
                  array((
                    SELECT links_2.from_page_id
                    FROM links AS links_2
                    WHERE links_2.to_page_id = anon_1.id AND links_2.tenant_id = $1::UUID
                  ))
                )
                  AND pages_3.status = 'active'
                  AND pages_3.tenant_id = $1::UUID
              ) AS anon_6
            ),
            'nodes': coalesce(json_agg(anon_7.item_nodes), CAST('[]' AS JSON))
          ) AS anon_5
          FROM (
            SELECT JSON_OBJECT('type': upper(anon_6.type), 'slug': anon_6.slug, 'title': anon_6.title) AS item_nodes
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
                  SELECT array_agg(links_1.kind ORDER BY links_1.kind) AS array_agg_1
                  FROM links AS links_1
                  WHERE links_1.from_page_id = pages_3.id
                    AND links_1.to_page_id = anon_1.id
                    AND links_1.tenant_id = $1::UUID
                ) AS kinds,
                anon_1.id AS linked_id
              FROM pages AS pages_3
              WHERE pages_3.id = ANY (
                array((
                  SELECT links_2.from_page_id
                  FROM links AS links_2
                  WHERE links_2.to_page_id = anon_1.id AND links_2.tenant_id = $1::UUID
                ))
              )
                AND pages_3.status = 'active'
                AND pages_3.tenant_id = $1::UUID
            ) AS anon_6
            ORDER BY anon_6.hubness_score DESC, anon_6.id DESC
            LIMIT $5::INTEGER
          ) AS anon_7
        )
      ) AS item
      FROM (
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
          CASE
            WHEN (pages_4.type = $6::VARCHAR AND pages_4.slug = $7::VARCHAR) THEN NULL ELSE CAST($7::VARCHAR AS TEXT)
          END AS redirected_from
        FROM pages AS pages_4
        WHERE pages_4.id = coalesce(
          (
            SELECT pages_5.id
            FROM pages AS pages_5
            WHERE pages_5.owner_id = $8::UUID
              AND pages_5.type = $6::VARCHAR
              AND pages_5.slug = $7::VARCHAR
              AND pages_5.status = 'active'
              AND pages_5.tenant_id = $1::UUID
          ),
          (
            SELECT old_slugs_1.page_id
            FROM old_slugs AS old_slugs_1
            WHERE old_slugs_1.owner_id = $8::UUID
              AND old_slugs_1.type = $6::VARCHAR
              AND old_slugs_1.slug = $7::VARCHAR
              AND old_slugs_1.tenant_id = $1::UUID
          )
        )
          AND pages_4.tenant_id = $1::UUID
      ) AS anon_1
      WHERE anon_1.status = 'active' AND anon_1.owner_id = $8::UUID
    )
  ) AS answer
  LIMIT ALL
  OFFSET 0
) AS whole;
