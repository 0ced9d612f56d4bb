-- query RestPage
-- cost: 232
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
--   $9  20
--   $10  20
--   $11  $type
--   $12  $slug
--   $13  scope.owner_id
-- plan:
--   Subquery Scan on whole
--     ->  Result
--           InitPlan 22
--             ->  Index Scan using pages_scope_uq on pages pages_8
--                   InitPlan 20
--                     ->  Index Scan using pages_slug_ix on pages pages_9
--                   InitPlan 21
--                     ->  Index Scan using old_slugs_pk on old_slugs old_slugs_3
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
--                           ->  Sort
--                                 ->  Nested Loop
--                                       ->  Index Only Scan using section_sources_page_ix on section_sources section_sources_1
--                                       ->  Index Scan using sources_pk on sources sources_1
--                   SubPlan 10
--                     ->  Aggregate
--                           ->  Sort
--                                 ->  Nested Loop
--                                       ->  Index Only Scan using section_sources_page_ix on section_sources section_sources_1_1
--                                       ->  Index Scan using sources_pk on sources sources_1_1
--                   SubPlan 11
--                     ->  Index Scan using sections_position_ix on sections sections_1
--                   SubPlan 13
--                     ->  Index Scan using contradictions_page_ix on contradictions contradictions_1
--                   SubPlan 16
--                     ->  Aggregate
--                           ->  Limit
--                                 InitPlan 15
--                                   ->  Append
--                                         ->  Seq Scan on merged_pages merged_pages_2
--                                         ->  Index Scan using links_pair_uq on links links_2
--                                         ->  Hash Join
--                                               ->  Function Scan on jsonb_path_query anon_13
--                                               ->  Hash
--                                                     ->  Index Scan using pages_scope_uq on pages pages_5
--                                         ->  Hash Join
--                                               ->  Function Scan on jsonb_path_query anon_13_1
--                                               ->  Hash
--                                                     ->  Index Scan using old_slugs_pk on old_slugs old_slugs_1
--                                 ->  Sort
--                                       ->  Index Scan using pages_pk on pages pages_4
--                   SubPlan 18
--                     ->  Aggregate
--                           ->  Limit
--                                 InitPlan 17
--                                   ->  Append
--                                         ->  Hash Join
--                                               ->  Function Scan on jsonb_path_query anon_16
--                                               ->  Hash
--                                                     ->  Index Scan using pages_scope_uq on pages pages_7
--                                         ->  Hash Join
--                                               ->  Function Scan on jsonb_path_query anon_16_1
--                                               ->  Hash
--                                                     ->  Index Scan using old_slugs_pk on old_slugs old_slugs_2
--                                 ->  Sort
--                                       ->  Index Scan using pages_pk on pages pages_6
--                   SubPlan 19
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
        'sensitivity': coalesce(
          to_json(
            upper(CASE
              WHEN (lower(coalesce(anon_1.metadata ->> 'sensitivity', '')) = '') THEN 'internal'
              WHEN (
                lower(coalesce(anon_1.metadata ->> 'sensitivity', '')) = ANY (
                  ARRAY['public', 'internal', 'confidential', 'secret']
                )
              ) THEN lower(coalesce(anon_1.metadata ->> 'sensitivity', ''))
              ELSE 'secret'
            END)
          ),
          CAST(concat('null in a non-null field') AS JSON)
        ),
        'confidence': coalesce(
          to_json(
            upper(CASE
              WHEN (
                (
                  SELECT least(
                    count(distinct((sources_1.kind, sources_1.ref))), count(distinct(sources_1.checksum))
                  ) AS least_1
                  FROM sources AS sources_1
                  JOIN section_sources AS section_sources_1 ON section_sources_1.source_id = sources_1.id
                  WHERE section_sources_1.page_id = anon_1.id
                    AND sources_1.tenant_id = $1::UUID
                    AND section_sources_1.tenant_id = $1::UUID
                ) <= 1
              ) THEN CAST('low' AS TEXT)
              WHEN (
                (
                  SELECT least(
                    count(distinct((sources_1.kind, sources_1.ref))), count(distinct(sources_1.checksum))
                  ) AS least_1
                  FROM sources AS sources_1
                  JOIN section_sources AS section_sources_1 ON section_sources_1.source_id = sources_1.id
                  WHERE section_sources_1.page_id = anon_1.id
                    AND sources_1.tenant_id = $1::UUID
                    AND section_sources_1.tenant_id = $1::UUID
                ) < 3
                  OR (
                    EXISTS (
                      SELECT sections_1.id
                      FROM sections AS sections_1
                      WHERE sections_1.page_id = anon_1.id
                        AND array_position(sections_1.supported_at, CAST(NULL AS TIMESTAMP WITH TIME ZONE)) IS NOT NULL
                        AND sections_1.tenant_id = $1::UUID
                    )
                  )
                  OR (
                    EXISTS (
                      SELECT contradictions_1.id
                      FROM contradictions AS contradictions_1
                      WHERE contradictions_1.page_id = anon_1.id
                        AND contradictions_1.status = 'open'
                        AND contradictions_1.tenant_id = $1::UUID
                    )
                  )
              ) THEN CAST('medium' AS TEXT)
              ELSE CAST('high' AS TEXT)
            END)
          ),
          CAST(concat('null in a non-null field') AS JSON)
        ),
        'stated_confidence': upper(CASE
          WHEN (
            lower(anon_1.metadata ->> 'confidence') = ANY (ARRAY['low', 'medium', 'high'])
          ) THEN lower(anon_1.metadata ->> 'confidence')
        END),
        'expires_at': to_char(
          timezone(
            'UTC',
            CASE
              WHEN (
                coalesce(
                  anon_1.metadata ->> 'expires', anon_1.metadata ->> 'expires_at', anon_1.metadata ->> 'valid_until'
                ) ~ '^\d{4}-\d{2}-\d{2}'
                  AND pg_input_is_valid(
                    concat(
                      coalesce(
                        anon_1.metadata ->> 'expires',
                        anon_1.metadata ->> 'expires_at',
                        anon_1.metadata ->> 'valid_until'
                      ),
                      CASE
                        WHEN (
                          length(
                            coalesce(
                              anon_1.metadata ->> 'expires',
                              anon_1.metadata ->> 'expires_at',
                              anon_1.metadata ->> 'valid_until'
                            )
                          ) = 10
                        ) THEN ' 00:00+00'
                      END
                    ),
                    'timestamp with time zone'
                  )
              ) THEN CAST(
                concat(
                  coalesce(
                    anon_1.metadata ->> 'expires', anon_1.metadata ->> 'expires_at', anon_1.metadata ->> 'valid_until'
                  ),
                  CASE
                    WHEN (
                      length(
                        coalesce(
                          anon_1.metadata ->> 'expires',
                          anon_1.metadata ->> 'expires_at',
                          anon_1.metadata ->> 'valid_until'
                        )
                      ) = 10
                    ) THEN ' 00:00+00'
                  END
                ) AS TIMESTAMP WITH TIME ZONE
              )
            END
          ),
          'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'
        ),
        'owner_role': nullif(anon_1.metadata ->> 'owner', ''),
        'supersedes': (
          SELECT coalesce(json_agg(anon_11.item), CAST('[]' AS JSON)) AS coalesce_2
          FROM (
            SELECT JSON_OBJECT('slug': pages_4.slug, 'title': pages_4.title, 'type': upper(pages_4.type)) AS item
            FROM pages AS pages_4
            WHERE pages_4.id = ANY (
              array((
                SELECT merged_pages_2.page_id
                FROM merged_pages AS merged_pages_2
                WHERE merged_pages_2.into_page_id = anon_1.id AND merged_pages_2.tenant_id = $1::UUID
                UNION ALL
                SELECT links_2.to_page_id
                FROM links AS links_2
                WHERE links_2.from_page_id = anon_1.id
                  AND (links_2.reasons @> ARRAY['supersedes'])
                  AND links_2.tenant_id = $1::UUID
                UNION ALL
                SELECT pages_5.id
                FROM pages AS pages_5
                JOIN (
                  SELECT
                    regexp_replace(anon_13.value #>> '{}', '^(\[\[)?([a-z]+/)?|(\.md)?(\]\])?$', '', 'g') AS slug,
                    SUBSTRING(anon_13.value #>> '{}' FROM '^(?:\[\[)?([a-z]+)/') AS type
                  FROM jsonb_path_query(
                    anon_1.metadata, CAST('$.supersedes[*] ? (@.type() == "string")' AS jsonpath)
                  ) AS anon_13(value)
                ) AS anon_12 ON true
                WHERE pages_5.owner_id = anon_1.owner_id
                  AND pages_5.slug = anon_12.slug
                  AND coalesce(pages_5.type = anon_12.type, true)
                  AND pages_5.id != anon_1.id
                  AND pages_5.tenant_id = $1::UUID
                UNION ALL
                SELECT old_slugs_1.page_id
                FROM old_slugs AS old_slugs_1
                JOIN (
                  SELECT
                    regexp_replace(anon_13.value #>> '{}', '^(\[\[)?([a-z]+/)?|(\.md)?(\]\])?$', '', 'g') AS slug,
                    SUBSTRING(anon_13.value #>> '{}' FROM '^(?:\[\[)?([a-z]+)/') AS type
                  FROM jsonb_path_query(
                    anon_1.metadata, CAST('$.supersedes[*] ? (@.type() == "string")' AS jsonpath)
                  ) AS anon_13(value)
                ) AS anon_12 ON true
                WHERE old_slugs_1.owner_id = anon_1.owner_id
                  AND old_slugs_1.slug = anon_12.slug
                  AND coalesce(old_slugs_1.type = anon_12.type, true)
                  AND old_slugs_1.page_id != anon_1.id
                  AND old_slugs_1.tenant_id = $1::UUID
              ))
            )
              AND pages_4.tenant_id = $1::UUID
            ORDER BY pages_4.title, pages_4.id
            LIMIT $9::INTEGER
          ) AS anon_11
        ),
        'contradicts': (
          SELECT coalesce(json_agg(anon_14.item), CAST('[]' AS JSON)) AS coalesce_3
          FROM (
            SELECT JSON_OBJECT('slug': pages_6.slug, 'title': pages_6.title, 'type': upper(pages_6.type)) AS item
            FROM pages AS pages_6
            WHERE pages_6.id = ANY (
              array((
                SELECT pages_7.id
                FROM pages AS pages_7
                JOIN (
                  SELECT
                    regexp_replace(anon_16.value #>> '{}', '^(\[\[)?([a-z]+/)?|(\.md)?(\]\])?$', '', 'g') AS slug,
                    SUBSTRING(anon_16.value #>> '{}' FROM '^(?:\[\[)?([a-z]+)/') AS type
                  FROM jsonb_path_query(
                    anon_1.metadata, CAST('$.contradicts[*] ? (@.type() == "string")' AS jsonpath)
                  ) AS anon_16(value)
                ) AS anon_15 ON true
                WHERE pages_7.owner_id = anon_1.owner_id
                  AND pages_7.slug = anon_15.slug
                  AND coalesce(pages_7.type = anon_15.type, true)
                  AND pages_7.id != anon_1.id
                  AND pages_7.tenant_id = $1::UUID
                UNION ALL
                SELECT old_slugs_2.page_id
                FROM old_slugs AS old_slugs_2
                JOIN (
                  SELECT
                    regexp_replace(anon_16.value #>> '{}', '^(\[\[)?([a-z]+/)?|(\.md)?(\]\])?$', '', 'g') AS slug,
                    SUBSTRING(anon_16.value #>> '{}' FROM '^(?:\[\[)?([a-z]+)/') AS type
                  FROM jsonb_path_query(
                    anon_1.metadata, CAST('$.contradicts[*] ? (@.type() == "string")' AS jsonpath)
                  ) AS anon_16(value)
                ) AS anon_15 ON true
                WHERE old_slugs_2.owner_id = anon_1.owner_id
                  AND old_slugs_2.slug = anon_15.slug
                  AND coalesce(old_slugs_2.type = anon_15.type, true)
                  AND old_slugs_2.page_id != anon_1.id
                  AND old_slugs_2.tenant_id = $1::UUID
              ))
            )
              AND pages_6.tenant_id = $1::UUID
            ORDER BY pages_6.title, pages_6.id
            LIMIT $10::INTEGER
          ) AS anon_14
        ),
        'pages_to_rewrite': coalesce(
          to_json((
            SELECT coalesce(CAST(sum(renamings_1.remaining) AS INTEGER), 0) AS coalesce_4
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
          pages_8.tenant_id AS tenant_id,
          pages_8.owner_id AS owner_id,
          pages_8.id AS id,
          pages_8.type AS type,
          pages_8.slug AS slug,
          pages_8.title AS title,
          pages_8.summary AS summary,
          pages_8.body_md AS body_md,
          pages_8.status AS status,
          pages_8.tags AS tags,
          pages_8.parent_page_id AS parent_page_id,
          pages_8.hubness_score AS hubness_score,
          pages_8.version AS version,
          pages_8.metadata AS metadata,
          pages_8.last_compiled_at AS last_compiled_at,
          pages_8.created_at AS created_at,
          pages_8.updated_at AS updated_at,
          pages_8.was_merged AS was_merged,
          CASE
            WHEN (pages_8.type = $11::VARCHAR AND pages_8.slug = $12::VARCHAR) THEN NULL ELSE CAST($12::VARCHAR AS TEXT)
          END AS redirected_from
        FROM pages AS pages_8
        WHERE pages_8.id = coalesce(
          (
            SELECT pages_9.id
            FROM pages AS pages_9
            WHERE pages_9.owner_id = $13::UUID
              AND pages_9.type = $11::VARCHAR
              AND pages_9.slug = $12::VARCHAR
              AND pages_9.status = 'active'
              AND pages_9.tenant_id = $1::UUID
          ),
          (
            SELECT old_slugs_3.page_id
            FROM old_slugs AS old_slugs_3
            WHERE old_slugs_3.owner_id = $13::UUID
              AND old_slugs_3.type = $11::VARCHAR
              AND old_slugs_3.slug = $12::VARCHAR
              AND old_slugs_3.tenant_id = $1::UUID
          )
        )
          AND pages_8.tenant_id = $1::UUID
      ) AS anon_1
      WHERE anon_1.status = 'active' AND anon_1.owner_id = $13::UUID
    )
  ) AS answer
  LIMIT ALL
  OFFSET 0
) AS whole;
