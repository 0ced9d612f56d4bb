-- query RestPage
-- cost: 212
-- statements: 1
-- parameters:
--   $1  scope.tenant_id
--   $2  100
--   $3  ["reference"]
--   $4  100
--   $5  100
--   $6  5
--   $7  1
--   $8  1
--   $9  $type
--   $10  $slug
--   $11  scope.owner_id
-- plan:
--   Subquery Scan on whole
--     ->  Result
--           InitPlan 12
--             ->  Index Scan using pages_scope_uq on pages pages_4
--                   InitPlan 10
--                     ->  Index Scan using pages_slug_ix on pages pages_5
--                   InitPlan 11
--                     ->  Index Scan using old_slugs_pk on old_slugs old_slugs_1
--                   SubPlan 1
--                     ->  Aggregate
--                           ->  Limit
--                                 ->  Index Only Scan using aliases_alias_uq on aliases aliases_1
--                   SubPlan 3
--                     ->  Aggregate
--                           ->  Limit
--                                 ->  Result
--                                       ->  Sort
--                                             ->  Nested Loop
--                                                   ->  Index Scan using links_pair_uq on links links_1
--                                                   ->  Index Scan using pages_pk on pages pages_2
--                                       SubPlan 2
--                                         ->  Index Scan using pages_pk on pages pages_1
--                   SubPlan 4
--                     ->  Aggregate
--                           ->  Limit
--                                 ->  Index Scan using link_targets_pk on link_targets link_targets_1
--                   SubPlan 5
--                     ->  Aggregate
--                           ->  Limit
--                                 ->  Index Scan using superseded_claims_page_ix on superseded_claims superseded_claims_1
--                   SubPlan 6
--                     ->  Index Scan using revisions_version_uq on revisions revisions_1
--                   SubPlan 7
--                     ->  Aggregate
--                           ->  Limit
--                                 ->  Index Scan Backward using revisions_version_uq on revisions revisions_2
--                   SubPlan 8
--                     ->  Nested Loop
--                           ->  Seq Scan on merged_pages merged_pages_1
--                           ->  Index Scan using pages_pk on pages pages_3
--                   SubPlan 9
--                     ->  Aggregate
--                           ->  Seq Scan on renamings renamings_1

SELECT
  CASE WHEN (pg_column_size(whole.answer) <= 10000000) THEN whole.answer END AS answer,
  pg_column_size(whole.answer) AS size
FROM (
  SELECT JSON_OBJECT(
    'page': (
      SELECT JSON_OBJECT(
        'id': anon_1.id,
        'slug': anon_1.slug,
        'title': anon_1.title,
        'type': upper(anon_1.type),
        'summary': anon_1.summary,
        'content': anon_1.body_md,
        'version': anon_1.version,
        'status': upper(anon_1.status),
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
        'tags': anon_1.tags,
        'links': (
          SELECT JSON_OBJECT('nodes': coalesce(json_agg(anon_4.item_nodes), CAST('[]' AS JSON))) AS anon_3
          FROM (
            SELECT JSON_OBJECT(
              'reasons': links_1.reasons,
              'page': coalesce(
                to_json((
                  SELECT JSON_OBJECT('slug': pages_1.slug, 'title': pages_1.title, 'type': upper(pages_1.type)) AS item
                  FROM pages AS pages_1
                  WHERE pages_1.id = links_1.to_page_id AND pages_1.tenant_id = $1::UUID
                )),
                CAST(concat('null in a non-null field') AS JSON)
              )
            ) AS item_nodes
            FROM links AS links_1
            JOIN pages AS pages_2 ON pages_2.id = links_1.to_page_id
            WHERE links_1.from_page_id = anon_1.id
              AND pages_2.status = 'active'
              AND links_1.kind = ANY ($3::TEXT[])
              AND links_1.tenant_id = $1::UUID
              AND pages_2.tenant_id = $1::UUID
            ORDER BY links_1.id ASC
            LIMIT $4::INTEGER
          ) AS anon_4
        ),
        'broken': (
          SELECT JSON_OBJECT('nodes': coalesce(json_agg(anon_6.item_nodes), CAST('[]' AS JSON))) AS anon_5
          FROM (
            SELECT JSON_OBJECT(
              'slug': link_targets_1.slug, 'title': link_targets_1.target, 'type': upper(link_targets_1.type)
            ) AS item_nodes
            FROM link_targets AS link_targets_1
            WHERE link_targets_1.from_page_id = anon_1.id
              AND link_targets_1.to_page_id IS NULL
              AND link_targets_1.space IS NULL
              AND link_targets_1.tenant_id = $1::UUID
            ORDER BY link_targets_1.target ASC
            LIMIT $5::INTEGER
          ) AS anon_6
        ),
        'superseded': (
          SELECT JSON_OBJECT('nodes': coalesce(json_agg(anon_8.item_nodes), CAST('[]' AS JSON))) AS anon_7
          FROM (
            SELECT JSON_OBJECT(
              'id': superseded_claims_1.id,
              'fact': superseded_claims_1.fact,
              'replacement': superseded_claims_1.replacement,
              'section': superseded_claims_1.section_slug,
              'superseded_on': to_char(
                timezone('UTC', superseded_claims_1.superseded_on), 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'
              )
            ) AS item_nodes
            FROM superseded_claims AS superseded_claims_1
            WHERE superseded_claims_1.page_id = anon_1.id
              AND superseded_claims_1.withdrawn_at IS NULL
              AND superseded_claims_1.tenant_id = $1::UUID
            ORDER BY superseded_claims_1.superseded_on DESC, superseded_claims_1.id DESC
            LIMIT $6::INTEGER
          ) AS anon_8
        ),
        'first': (
          SELECT JSON_OBJECT('by': revisions_1.author_id) AS item
          FROM revisions AS revisions_1
          WHERE revisions_1.page_id = anon_1.id
            AND revisions_1.version = $7::INTEGER
            AND revisions_1.tenant_id = $1::UUID
        ),
        'last': (
          SELECT JSON_OBJECT('nodes': coalesce(json_agg(anon_10.item_nodes), CAST('[]' AS JSON))) AS anon_9
          FROM (
            SELECT JSON_OBJECT('by': revisions_2.author_id) AS item_nodes
            FROM revisions AS revisions_2
            WHERE revisions_2.page_id = anon_1.id AND revisions_2.tenant_id = $1::UUID
            ORDER BY revisions_2.version DESC
            LIMIT $8::INTEGER
          ) AS anon_10
        ),
        'merged_into': (
          SELECT JSON_OBJECT('slug': pages_3.slug, 'title': pages_3.title, 'type': upper(pages_3.type)) AS item
          FROM pages AS pages_3
          JOIN merged_pages AS merged_pages_1 ON merged_pages_1.into_page_id = pages_3.id
          WHERE merged_pages_1.page_id = anon_1.id
            AND pages_3.tenant_id = $1::UUID
            AND merged_pages_1.tenant_id = $1::UUID
        ),
        'pages_to_rewrite': coalesce(
          to_json((
            SELECT coalesce(CAST(sum(renamings_1.remaining) AS INTEGER), 0) AS coalesce_2
            FROM renamings AS renamings_1
            WHERE renamings_1.page_id = anon_1.id AND renamings_1.tenant_id = $1::UUID
          )),
          CAST(concat('null in a non-null field') AS JSON)
        ),
        'created_at': to_char(timezone('UTC', anon_1.created_at), 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
        'updated_at': to_char(timezone('UTC', anon_1.updated_at), 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
        'redirected_from': anon_1.redirected_from
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
          CASE
            WHEN (pages_4.type = $9::VARCHAR AND pages_4.slug = $10::VARCHAR) THEN NULL ELSE CAST($10::VARCHAR AS TEXT)
          END AS redirected_from
        FROM pages AS pages_4
        WHERE pages_4.id = coalesce(
          (
            SELECT pages_5.id
            FROM pages AS pages_5
            WHERE pages_5.owner_id = $11::UUID
              AND pages_5.type = $9::VARCHAR
              AND pages_5.slug = $10::VARCHAR
              AND pages_5.status = 'active'
              AND pages_5.tenant_id = $1::UUID
          ),
          (
            SELECT old_slugs_1.page_id
            FROM old_slugs AS old_slugs_1
            WHERE old_slugs_1.owner_id = $11::UUID
              AND old_slugs_1.type = $9::VARCHAR
              AND old_slugs_1.slug = $10::VARCHAR
              AND old_slugs_1.tenant_id = $1::UUID
          )
        )
          AND pages_4.tenant_id = $1::UUID
      ) AS anon_1
      WHERE anon_1.status = 'active' AND anon_1.owner_id = $11::UUID
    )
  ) AS answer
  LIMIT ALL
  OFFSET 0
) AS whole;
