-- query PageHistory
-- cost: 21
-- statements: 1
-- parameters:
--   $1  scope.tenant_id
--   $2  20
--   $3  $version
--   $4  $type
--   $5  $slug
--   $6  scope.owner_id
-- plan:
--   Subquery Scan on whole
--     ->  Result
--           InitPlan 9
--             ->  Index Scan using pages_scope_uq on pages pages_1
--                   InitPlan 7
--                     ->  Index Scan using pages_slug_ix on pages pages_2
--                   InitPlan 8
--                     ->  Index Scan using old_slugs_pk on old_slugs old_slugs_1
--                   SubPlan 4
--                     ->  Aggregate
--                           InitPlan 1
--                             ->  Aggregate
--                                   ->  Index Only Scan using revisions_version_uq on revisions revisions_1
--                           ->  Limit
--                                 ->  Index Scan Backward using revisions_version_uq on revisions revisions_1_1
--                                       SubPlan 2
--                                         ->  Seq Scan on owners owners_1
--                                       SubPlan 3
--                                         ->  Seq Scan on api_keys api_keys_1
--                   SubPlan 6
--                     ->  Index Scan using revisions_version_uq on revisions revisions_2
--                           SubPlan 5
--                             ->  Aggregate
--                                   ->  Nested Loop
--                                         ->  Function Scan on anon_5
--                                         ->  Materialize
--                                               ->  Index Scan using revisions_version_uq on revisions revisions_3

SELECT
  CASE WHEN (pg_column_size(whole.answer) <= 10000000) THEN whole.answer END AS answer,
  pg_column_size(whole.answer) AS size
FROM (
  SELECT JSON_OBJECT(
    'wikiPage': (
      SELECT JSON_OBJECT(
        'revisions': (
          SELECT JSON_OBJECT(
            'totalCount': (
              SELECT count(*) AS count_1
              FROM revisions AS revisions_1
              WHERE revisions_1.page_id = anon_2.id AND revisions_1.tenant_id = $1::UUID
            ),
            'nodes': coalesce(json_agg(anon_3.item_nodes), CAST('[]' AS JSON))
          ) AS anon_1
          FROM (
            SELECT JSON_OBJECT(
              'version': revisions_1.version,
              'title': revisions_1.title,
              'editSummary': revisions_1.edit_summary,
              'authorKind': upper(revisions_1.author_kind),
              'authorName': coalesce(
                to_json(
                  coalesce(
                    (
                      SELECT owners_1.name
                      FROM owners AS owners_1
                      WHERE owners_1.id = CASE
                        WHEN pg_input_is_valid(revisions_1.author_id, 'uuid') THEN CAST(revisions_1.author_id AS UUID)
                      END
                        AND owners_1.tenant_id = $1::UUID
                    ),
                    (
                      SELECT api_keys_1.name
                      FROM api_keys AS api_keys_1
                      WHERE api_keys_1.id = CASE
                        WHEN pg_input_is_valid(revisions_1.author_id, 'uuid') THEN CAST(revisions_1.author_id AS UUID)
                      END
                        AND api_keys_1.tenant_id = $1::UUID
                    ),
                    revisions_1.author_id
                  )
                ),
                CAST(concat('null in a non-null field') AS JSON)
              ),
              'createdAt': to_char(timezone('UTC', revisions_1.created_at), 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
            ) AS item_nodes
            FROM revisions AS revisions_1
            WHERE revisions_1.page_id = anon_2.id AND revisions_1.tenant_id = $1::UUID
            ORDER BY revisions_1.version DESC
            LIMIT $2::INTEGER
          ) AS anon_3
        ),
        'revision': (
          SELECT JSON_OBJECT(
            'title': revisions_2.title,
            'bodyMd': coalesce(
              to_json(CASE
                WHEN (revisions_2.base_version IS NULL) THEN revisions_2.body_md
                ELSE (
                  SELECT convert_from(
                    string_agg(
                      SUBSTRING(anon_4.bytes FROM anon_5.start + 1 FOR anon_5.length) || convert_to(anon_5.own, 'UTF8'),
                      ''::bytea
                      ORDER BY anon_5.n
                    ),
                    'UTF8'
                  ) AS convert_from_1
                  FROM (
                    SELECT convert_to(revisions_3.body_md, 'UTF8') AS bytes
                    FROM revisions AS revisions_3
                    WHERE revisions_3.page_id = revisions_2.page_id
                      AND revisions_3.version = revisions_2.base_version
                      AND revisions_3.tenant_id = $1::UUID
                  ) AS anon_4
                  JOIN unnest(
                    revisions_2.base_starts, revisions_2.base_lengths, revisions_2.base_texts
                  ) WITH ORDINALITY AS anon_5(start, length, own, n) ON true
                )
              END),
              CAST(concat('null in a non-null field') AS JSON)
            )
          ) AS item
          FROM revisions AS revisions_2
          WHERE revisions_2.page_id = anon_2.id
            AND revisions_2.version = $3::INTEGER
            AND revisions_2.tenant_id = $1::UUID
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
            WHEN (pages_1.type = $4::VARCHAR AND pages_1.slug = $5::VARCHAR) THEN NULL ELSE CAST($5::VARCHAR AS TEXT)
          END AS redirected_from
        FROM pages AS pages_1
        WHERE pages_1.id = coalesce(
          (
            SELECT pages_2.id
            FROM pages AS pages_2
            WHERE pages_2.owner_id = $6::UUID
              AND pages_2.type = $4::VARCHAR
              AND pages_2.slug = $5::VARCHAR
              AND pages_2.status = 'active'
              AND pages_2.tenant_id = $1::UUID
          ),
          (
            SELECT old_slugs_1.page_id
            FROM old_slugs AS old_slugs_1
            WHERE old_slugs_1.owner_id = $6::UUID
              AND old_slugs_1.type = $4::VARCHAR
              AND old_slugs_1.slug = $5::VARCHAR
              AND old_slugs_1.tenant_id = $1::UUID
          )
        )
          AND pages_1.tenant_id = $1::UUID
      ) AS anon_2
      WHERE anon_2.status = 'active' AND anon_2.owner_id = $6::UUID
    )
  ) AS answer
  LIMIT ALL
  OFFSET 0
) AS whole;
