-- query PageMentions
-- cost: 21
-- statements: 1
-- parameters:
--   $1  scope.tenant_id
--   $2  20
--   $3  $type
--   $4  $slug
--   $5  scope.owner_id
-- plan:
--   Subquery Scan on whole
--     ->  Result
--           InitPlan 6
--             ->  Index Scan using pages_scope_uq on pages pages_1
--                   InitPlan 4
--                     ->  Index Scan using pages_slug_ix on pages pages_2
--                   InitPlan 5
--                     ->  Index Scan using old_slugs_pk on old_slugs old_slugs_1
--                   SubPlan 3
--                     ->  Aggregate
--                           ->  Limit
--                                 ->  Index Scan using mentions_seen_ix on mentions mentions_1
--                                       SubPlan 2
--                                         ->  Index Only Scan using aliases_alias_uq on aliases aliases_1

SELECT
  CASE WHEN (pg_column_size(whole.answer) <= 10000000) THEN whole.answer END AS answer,
  pg_column_size(whole.answer) AS size
FROM (
  SELECT JSON_OBJECT(
    'wikiPage': (
      SELECT JSON_OBJECT(
        'mentions': (
          SELECT JSON_OBJECT('nodes': coalesce(json_agg(anon_2.item_nodes), CAST('[]' AS JSON))) AS anon_1
          FROM (
            SELECT JSON_OBJECT(
              'name': mentions_1.name,
              'status': upper(mentions_1.status),
              'mentionCount': mentions_1.mention_count,
              'lastSeenAt': to_char(timezone('UTC', mentions_1.last_seen_at), 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
            ) AS item_nodes
            FROM mentions AS mentions_1
            WHERE mentions_1.owner_id = anon_3.owner_id
              AND (
                mentions_1.promoted_page_id = anon_3.id
                  OR (
                    EXISTS (
                      SELECT aliases_1.id
                      FROM aliases AS aliases_1
                      WHERE aliases_1.page_id = anon_3.id
                        AND aliases_1.alias = mentions_1.alias
                        AND aliases_1.tenant_id = $1::UUID
                    )
                  )
              )
              AND mentions_1.tenant_id = $1::UUID
            ORDER BY mentions_1.last_seen_at DESC, mentions_1.id DESC
            LIMIT $2::INTEGER
          ) AS anon_2
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
            WHEN (pages_1.type = $3::VARCHAR AND pages_1.slug = $4::VARCHAR) THEN NULL ELSE CAST($4::VARCHAR AS TEXT)
          END AS redirected_from
        FROM pages AS pages_1
        WHERE pages_1.id = coalesce(
          (
            SELECT pages_2.id
            FROM pages AS pages_2
            WHERE pages_2.owner_id = $5::UUID
              AND pages_2.type = $3::VARCHAR
              AND pages_2.slug = $4::VARCHAR
              AND pages_2.status = 'active'
              AND pages_2.tenant_id = $1::UUID
          ),
          (
            SELECT old_slugs_1.page_id
            FROM old_slugs AS old_slugs_1
            WHERE old_slugs_1.owner_id = $5::UUID
              AND old_slugs_1.type = $3::VARCHAR
              AND old_slugs_1.slug = $4::VARCHAR
              AND old_slugs_1.tenant_id = $1::UUID
          )
        )
          AND pages_1.tenant_id = $1::UUID
      ) AS anon_3
      WHERE anon_3.status = 'active' AND anon_3.owner_id = $5::UUID
    )
  ) AS answer
  LIMIT ALL
  OFFSET 0
) AS whole;
