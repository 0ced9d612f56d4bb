-- query Read
-- cost: 209
-- statements: 1
-- parameters:
--   $1  scope.tenant_id
--   $2  $name
--   $3  $ownerId
--   $4  $name
--   $5  $name
--   $6  scope.spans_tenant
--   $7  scope.owners
--   $8  6
--   $9  5
--   $10  "open"
--   $11  3
--   $12  50
--   $13  10
--   $14  10
--   $15  200
--   $16  50
--   $17  20
--   $18  ["reference"]
--   $19  20
--   $20  20
--   $21  10
--   $22  10
--   $23  $name
--   $24  $ownerId
--   $25  $name
--   $26  $name
--   $27  1
-- plan:
--   Subquery Scan on whole
--     ->  Result
--           InitPlan 3
--             ->  Aggregate
--                   ->  Limit
--                         InitPlan 2
--                           ->  Seq Scan on grants grants_1
--                         ->  Result
--                               ->  Sort
--                                     ->  Result
--                                           ->  Subquery Scan on anon_2
--                                                 ->  Unique
--                                                       ->  Sort
--                                                             ->  Nested Loop
--                                                                   ->  Index Scan using page_names_owner_ix on page_names page_names_1
--                                                                   ->  Index Scan using pages_scope_uq on pages pages_2
--                               SubPlan 1
--                                 ->  Index Scan using pages_pk on pages pages_1
--           InitPlan 37
--             ->  Aggregate
--                   ->  Limit
--                         InitPlan 36
--                           ->  Seq Scan on grants grants_2
--                         ->  Result
--                               ->  Sort
--                                     ->  Result
--                                           ->  Subquery Scan on anon_29
--                                                 ->  Unique
--                                                       ->  Sort
--                                                             ->  Nested Loop
--                                                                   ->  Index Scan using page_names_owner_ix on page_names page_names_2
--                                                                   ->  Index Scan using pages_scope_uq on pages pages_13
--                               SubPlan 35
--                                 ->  Index Scan using pages_pk on pages pages_3
--                                       SubPlan 5
--                                         ->  Aggregate
--                                               InitPlan 4
--                                                 ->  Aggregate
--                                                       ->  Index Only Scan using superseded_claims_page_ix on superseded_claims superseded_claims_1
--                                               ->  Limit
--                                                     ->  Index Scan using superseded_claims_page_ix on superseded_claims superseded_claims_1_1
--                                       SubPlan 6
--                                         ->  Aggregate
--                                               ->  Limit
--                                                     ->  Index Scan using contradictions_page_ix on contradictions contradictions_1
--                                       SubPlan 7
--                                         ->  Aggregate
--                                               ->  Limit
--                                                     ->  Index Only Scan using aliases_alias_uq on aliases aliases_1
--                                       SubPlan 8
--                                         ->  Aggregate
--                                               ->  Sort
--                                                     ->  Nested Loop
--                                                           ->  Index Only Scan using section_sources_page_ix on section_sources section_sources_1
--                                                           ->  Index Scan using sources_pk on sources sources_1
--                                       SubPlan 9
--                                         ->  Aggregate
--                                               ->  Sort
--                                                     ->  Nested Loop
--                                                           ->  Index Only Scan using section_sources_page_ix on section_sources section_sources_1_1
--                                                           ->  Index Scan using sources_pk on sources sources_1_1
--                                       SubPlan 10
--                                         ->  Index Scan using sections_position_ix on sections sections_1
--                                       SubPlan 12
--                                         ->  Index Scan using contradictions_page_ix on contradictions contradictions_2
--                                       SubPlan 15
--                                         ->  Aggregate
--                                               ->  Limit
--                                                     InitPlan 14
--                                                       ->  Append
--                                                             ->  Seq Scan on merged_pages merged_pages_1
--                                                             ->  Index Scan using links_pair_uq on links links_1
--                                                             ->  Hash Join
--                                                                   ->  Function Scan on jsonb_path_query anon_12
--                                                                   ->  Hash
--                                                                         ->  Index Scan using pages_scope_uq on pages pages_5
--                                                             ->  Hash Join
--                                                                   ->  Function Scan on jsonb_path_query anon_12_1
--                                                                   ->  Hash
--                                                                         ->  Index Scan using old_slugs_pk on old_slugs old_slugs_1
--                                                     ->  Sort
--                                                           ->  Index Scan using pages_pk on pages pages_4
--                                       SubPlan 17
--                                         ->  Aggregate
--                                               ->  Limit
--                                                     InitPlan 16
--                                                       ->  Append
--                                                             ->  Hash Join
--                                                                   ->  Function Scan on jsonb_path_query anon_15
--                                                                   ->  Hash
--                                                                         ->  Index Scan using pages_scope_uq on pages pages_7
--                                                             ->  Hash Join
--                                                                   ->  Function Scan on jsonb_path_query anon_15_1
--                                                                   ->  Hash
--                                                                         ->  Index Scan using old_slugs_pk on old_slugs old_slugs_2
--                                                     ->  Sort
--                                                           ->  Index Scan using pages_pk on pages pages_6
--                                       SubPlan 18
--                                         ->  Aggregate
--                                               ->  Limit
--                                                     ->  Index Scan using sections_position_ix on sections sections_2
--                                       SubPlan 21
--                                         ->  Aggregate
--                                               ->  Limit
--                                                     ->  Result
--                                                           ->  Sort
--                                                                 ->  Index Scan using section_sources_page_ix on section_sources section_sources_2
--                                                           SubPlan 19
--                                                             ->  Index Scan using sections_pk on sections sections_3
--                                                           SubPlan 20
--                                                             ->  Index Scan using sources_pk on sources sources_2
--                                       SubPlan 22
--                                         ->  Index Scan using pages_pk on pages pages_8
--                                       SubPlan 23
--                                         ->  Aggregate
--                                               ->  Limit
--                                                     ->  Sort
--                                                           ->  Index Scan using pages_parent_ix on pages pages_9
--                                       SubPlan 26
--                                         ->  Aggregate
--                                               InitPlan 24
--                                                 ->  Aggregate
--                                                       ->  Nested Loop
--                                                             ->  Index Only Scan using links_pair_uq on links links_2
--                                                             ->  Index Scan using pages_pk on pages pages_10
--                                               ->  Limit
--                                                     ->  Result
--                                                           ->  Sort
--                                                                 ->  Nested Loop
--                                                                       ->  Index Scan using links_pair_uq on links links_2_1
--                                                                       ->  Index Scan using pages_pk on pages pages_10_1
--                                                           SubPlan 25
--                                                             ->  Index Scan using pages_pk on pages pages_11
--                                       SubPlan 28
--                                         ->  Aggregate
--                                               InitPlan 27
--                                                 ->  Aggregate
--                                                       ->  Index Scan using link_targets_pk on link_targets link_targets_1
--                                               ->  Limit
--                                                     ->  Index Scan using link_targets_pk on link_targets link_targets_1_1
--                                       SubPlan 32
--                                         ->  Aggregate
--                                               InitPlan 30
--                                                 ->  Aggregate
--                                                       InitPlan 29
--                                                         ->  Index Only Scan using links_to_ix on links links_4
--                                                       ->  Index Scan using pages_pk on pages pages_12
--                                               ->  Limit
--                                                     InitPlan 31
--                                                       ->  Index Only Scan using links_to_ix on links links_4_1
--                                                     ->  Sort
--                                                           ->  Index Scan using pages_pk on pages pages_12_1
--                                       SubPlan 34
--                                         ->  Aggregate
--                                               InitPlan 33
--                                                 ->  Aggregate
--                                                       ->  Nested Loop
--                                                             ->  HashAggregate
--                                                                   ->  Index Only Scan using section_sources_page_ix on section_sources section_sources_3
--                                                             ->  Index Only Scan using sources_pk on sources sources_3
--                                               ->  Limit
--                                                     ->  Sort
--                                                           ->  Nested Loop
--                                                                 ->  HashAggregate
--                                                                       ->  Index Only Scan Backward using section_sources_page_ix on section_sources section_sources_3_1
--                                                                 ->  Index Scan using sources_pk on sources sources_3_1

SELECT
  CASE WHEN (pg_column_size(whole.answer) <= 10000000) THEN whole.answer END AS answer,
  pg_column_size(whole.answer) AS size
FROM (
  SELECT JSON_OBJECT(
    'pages': (
      SELECT coalesce(json_agg(anon_1.item), CAST('[]' AS JSON)) AS coalesce_1
      FROM (
        SELECT JSON_OBJECT(
          'kind': coalesce(to_json(upper(anon_2.kind)), CAST(concat('null in a non-null field') AS JSON)),
          'page': coalesce(
            to_json((
              SELECT JSON_OBJECT(
                'type': upper(pages_1.type), 'slug': pages_1.slug, 'status': upper(pages_1.status)
              ) AS item
              FROM pages AS pages_1
              WHERE pages_1.id = anon_2.page_id AND pages_1.tenant_id = $1::UUID
            )),
            CAST(concat('null in a non-null field') AS JSON)
          )
        ) AS item
        FROM (
          SELECT DISTINCT ON (pages_2.id)
            pages_2.id AS page_id,
            pages_2.owner_id AS owner_id,
            pages_2.status AS status,
            CASE WHEN (pages_2.slug = $2::VARCHAR) THEN 'slug' ELSE page_names_1.kind END AS kind,
            CASE
              CASE WHEN (pages_2.slug = $2::VARCHAR) THEN 'slug' ELSE page_names_1.kind END
              WHEN 'slug' THEN 1
              WHEN 'old_slug' THEN 2
              WHEN 'title' THEN 3
              WHEN 'alias' THEN 4
            END AS rank
          FROM page_names AS page_names_1
          JOIN pages AS pages_2 ON pages_2.id = page_names_1.page_id
          WHERE page_names_1.owner_id = $3::UUID
            AND pages_2.owner_id = $3::UUID
            AND (page_names_1.name = $4::VARCHAR OR page_names_1.name = $5::VARCHAR)
            AND page_names_1.tenant_id = $1::UUID
            AND pages_2.tenant_id = $1::UUID
          ORDER BY
            pages_2.id,
            CASE
              CASE WHEN (pages_2.slug = $2::VARCHAR) THEN 'slug' ELSE page_names_1.kind END
              WHEN 'slug' THEN 1
              WHEN 'old_slug' THEN 2
              WHEN 'title' THEN 3
              WHEN 'alias' THEN 4
            END
        ) AS anon_2
        WHERE anon_2.owner_id = $3::UUID
          AND (
            $6::BOOLEAN
              OR $3::UUID = ANY ($7::UUID[])
              OR (
                EXISTS (
                  SELECT 1 AS anon_3
                  FROM grants AS grants_1
                  WHERE grants_1.grantee_id = ANY ($7::UUID[])
                    AND grants_1.owner_id = $3::UUID
                    AND grants_1.tenant_id = $1::UUID
                )
              )
          )
        ORDER BY anon_2.status != 'active', anon_2.rank, anon_2.page_id
        LIMIT $8::INTEGER
      ) AS anon_1
    ),
    'first': (
      SELECT coalesce(json_agg(anon_4.item), CAST('[]' AS JSON)) AS coalesce_2
      FROM (
        SELECT JSON_OBJECT(
          'page': coalesce(
            to_json((
              SELECT JSON_OBJECT(
                'id': pages_3.id,
                'type': upper(pages_3.type),
                'slug': pages_3.slug,
                'title': pages_3.title,
                'summary': pages_3.summary,
                'status': upper(pages_3.status),
                'version': pages_3.version,
                'tags': pages_3.tags,
                'updatedAt': to_char(timezone('UTC', pages_3.updated_at), 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
                'bodyMd': pages_3.body_md,
                'supersededClaims': (
                  SELECT JSON_OBJECT(
                    'totalCount': (
                      SELECT count(*) AS count_1
                      FROM superseded_claims AS superseded_claims_1
                      WHERE superseded_claims_1.page_id = pages_3.id
                        AND superseded_claims_1.withdrawn_at IS NULL
                        AND superseded_claims_1.tenant_id = $1::UUID
                    ),
                    'nodes': coalesce(json_agg(anon_6.item_nodes), CAST('[]' AS JSON))
                  ) AS anon_5
                  FROM (
                    SELECT JSON_OBJECT(
                      'fact': superseded_claims_1.fact,
                      'replacement': superseded_claims_1.replacement,
                      'supersededOn': to_char(
                        timezone('UTC', superseded_claims_1.superseded_on), 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'
                      )
                    ) AS item_nodes
                    FROM superseded_claims AS superseded_claims_1
                    WHERE superseded_claims_1.page_id = pages_3.id
                      AND superseded_claims_1.withdrawn_at IS NULL
                      AND superseded_claims_1.tenant_id = $1::UUID
                    ORDER BY superseded_claims_1.superseded_on DESC, superseded_claims_1.id DESC
                    LIMIT $9::INTEGER
                  ) AS anon_6
                ),
                'contradictions': (
                  SELECT JSON_OBJECT('nodes': coalesce(json_agg(anon_8.item_nodes), CAST('[]' AS JSON))) AS anon_7
                  FROM (
                    SELECT JSON_OBJECT(
                      'id': contradictions_1.id,
                      'olderClaim': contradictions_1.older_claim,
                      'olderOn': to_char(timezone('UTC', contradictions_1.older_on), 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
                      'newerClaim': contradictions_1.newer_claim,
                      'newerOn': to_char(timezone('UTC', contradictions_1.newer_on), 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
                    ) AS item_nodes
                    FROM contradictions AS contradictions_1
                    WHERE contradictions_1.status = $10::VARCHAR
                      AND contradictions_1.page_id = pages_3.id
                      AND contradictions_1.tenant_id = $1::UUID
                    ORDER BY contradictions_1.id DESC
                    LIMIT $11::INTEGER
                  ) AS anon_8
                ),
                'aliases': (
                  SELECT coalesce(json_agg(anon_9.item), CAST('[]' AS JSON)) AS coalesce_3
                  FROM (
                    SELECT aliases_1.alias AS item
                    FROM aliases AS aliases_1
                    WHERE aliases_1.page_id = pages_3.id AND aliases_1.tenant_id = $1::UUID
                    ORDER BY aliases_1.alias
                    LIMIT $12::INTEGER
                  ) AS anon_9
                ),
                'sensitivity': coalesce(
                  to_json(
                    upper(CASE
                      WHEN (lower(coalesce(pages_3.metadata ->> 'sensitivity', '')) = '') THEN 'internal'
                      WHEN (
                        lower(coalesce(pages_3.metadata ->> 'sensitivity', '')) = ANY (
                          ARRAY['public', 'internal', 'confidential', 'secret']
                        )
                      ) THEN lower(coalesce(pages_3.metadata ->> 'sensitivity', ''))
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
                          WHERE section_sources_1.page_id = pages_3.id
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
                          WHERE section_sources_1.page_id = pages_3.id
                            AND sources_1.tenant_id = $1::UUID
                            AND section_sources_1.tenant_id = $1::UUID
                        ) < 3
                          OR (
                            EXISTS (
                              SELECT sections_1.id
                              FROM sections AS sections_1
                              WHERE sections_1.page_id = pages_3.id
                                AND array_position(
                                  sections_1.supported_at, CAST(NULL AS TIMESTAMP WITH TIME ZONE)
                                ) IS NOT NULL
                                AND sections_1.tenant_id = $1::UUID
                            )
                          )
                          OR (
                            EXISTS (
                              SELECT contradictions_2.id
                              FROM contradictions AS contradictions_2
                              WHERE contradictions_2.page_id = pages_3.id
                                AND contradictions_2.status = 'open'
                                AND contradictions_2.tenant_id = $1::UUID
                            )
                          )
                      ) THEN CAST('medium' AS TEXT)
                      ELSE CAST('high' AS TEXT)
                    END)
                  ),
                  CAST(concat('null in a non-null field') AS JSON)
                ),
                'statedConfidence': upper(CASE
                  WHEN (
                    lower(pages_3.metadata ->> 'confidence') = ANY (ARRAY['low', 'medium', 'high'])
                  ) THEN lower(pages_3.metadata ->> 'confidence')
                END),
                'expiresAt': to_char(
                  timezone(
                    'UTC',
                    CASE
                      WHEN (
                        coalesce(
                          pages_3.metadata ->> 'expires',
                          pages_3.metadata ->> 'expires_at',
                          pages_3.metadata ->> 'valid_until'
                        ) ~ '^\d{4}-\d{2}-\d{2}'
                          AND pg_input_is_valid(
                            concat(
                              coalesce(
                                pages_3.metadata ->> 'expires',
                                pages_3.metadata ->> 'expires_at',
                                pages_3.metadata ->> 'valid_until'
                              ),
                              CASE
                                WHEN (
                                  length(
                                    coalesce(
                                      pages_3.metadata ->> 'expires',
                                      pages_3.metadata ->> 'expires_at',
                                      pages_3.metadata ->> 'valid_until'
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
                            pages_3.metadata ->> 'expires',
                            pages_3.metadata ->> 'expires_at',
                            pages_3.metadata ->> 'valid_until'
                          ),
                          CASE
                            WHEN (
                              length(
                                coalesce(
                                  pages_3.metadata ->> 'expires',
                                  pages_3.metadata ->> 'expires_at',
                                  pages_3.metadata ->> 'valid_until'
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
                'ownerRole': nullif(pages_3.metadata ->> 'owner', ''),
                'supersedes': (
                  SELECT coalesce(json_agg(anon_10.item), CAST('[]' AS JSON)) AS coalesce_4
                  FROM (
                    SELECT JSON_OBJECT('type': upper(pages_4.type), 'slug': pages_4.slug) AS item
                    FROM pages AS pages_4
                    WHERE pages_4.id = ANY (
                      array((
                        SELECT merged_pages_1.page_id
                        FROM merged_pages AS merged_pages_1
                        WHERE merged_pages_1.into_page_id = pages_3.id AND merged_pages_1.tenant_id = $1::UUID
                        UNION ALL
                        SELECT links_1.to_page_id
                        FROM links AS links_1
                        WHERE links_1.from_page_id = pages_3.id
                          AND (links_1.reasons @> ARRAY['supersedes'])
                          AND links_1.tenant_id = $1::UUID
                        UNION ALL
                        SELECT pages_5.id
                        FROM pages AS pages_5
                        JOIN (
                          SELECT
                            regexp_replace(
                              anon_12.value #>> '{}', '^(\[\[)?([a-z]+/)?|(\.md)?(\]\])?$', '', 'g'
                            ) AS slug,
                            SUBSTRING(anon_12.value #>> '{}' FROM '^(?:\[\[)?([a-z]+)/') AS type
                          FROM jsonb_path_query(
                            pages_3.metadata, CAST('$.supersedes[*] ? (@.type() == "string")' AS jsonpath)
                          ) AS anon_12(value)
                        ) AS anon_11 ON true
                        WHERE pages_5.owner_id = pages_3.owner_id
                          AND pages_5.slug = anon_11.slug
                          AND coalesce(pages_5.type = anon_11.type, true)
                          AND pages_5.id != pages_3.id
                          AND pages_5.tenant_id = $1::UUID
                        UNION ALL
                        SELECT old_slugs_1.page_id
                        FROM old_slugs AS old_slugs_1
                        JOIN (
                          SELECT
                            regexp_replace(
                              anon_12.value #>> '{}', '^(\[\[)?([a-z]+/)?|(\.md)?(\]\])?$', '', 'g'
                            ) AS slug,
                            SUBSTRING(anon_12.value #>> '{}' FROM '^(?:\[\[)?([a-z]+)/') AS type
                          FROM jsonb_path_query(
                            pages_3.metadata, CAST('$.supersedes[*] ? (@.type() == "string")' AS jsonpath)
                          ) AS anon_12(value)
                        ) AS anon_11 ON true
                        WHERE old_slugs_1.owner_id = pages_3.owner_id
                          AND old_slugs_1.slug = anon_11.slug
                          AND coalesce(old_slugs_1.type = anon_11.type, true)
                          AND old_slugs_1.page_id != pages_3.id
                          AND old_slugs_1.tenant_id = $1::UUID
                      ))
                    )
                      AND pages_4.tenant_id = $1::UUID
                    ORDER BY pages_4.title, pages_4.id
                    LIMIT $13::INTEGER
                  ) AS anon_10
                ),
                'contradicts': (
                  SELECT coalesce(json_agg(anon_13.item), CAST('[]' AS JSON)) AS coalesce_5
                  FROM (
                    SELECT JSON_OBJECT('type': upper(pages_6.type), 'slug': pages_6.slug) AS item
                    FROM pages AS pages_6
                    WHERE pages_6.id = ANY (
                      array((
                        SELECT pages_7.id
                        FROM pages AS pages_7
                        JOIN (
                          SELECT
                            regexp_replace(
                              anon_15.value #>> '{}', '^(\[\[)?([a-z]+/)?|(\.md)?(\]\])?$', '', 'g'
                            ) AS slug,
                            SUBSTRING(anon_15.value #>> '{}' FROM '^(?:\[\[)?([a-z]+)/') AS type
                          FROM jsonb_path_query(
                            pages_3.metadata, CAST('$.contradicts[*] ? (@.type() == "string")' AS jsonpath)
                          ) AS anon_15(value)
                        ) AS anon_14 ON true
                        WHERE pages_7.owner_id = pages_3.owner_id
                          AND pages_7.slug = anon_14.slug
                          AND coalesce(pages_7.type = anon_14.type, true)
                          AND pages_7.id != pages_3.id
                          AND pages_7.tenant_id = $1::UUID
                        UNION ALL
                        SELECT old_slugs_2.page_id
                        FROM old_slugs AS old_slugs_2
                        JOIN (
                          SELECT
                            regexp_replace(
                              anon_15.value #>> '{}', '^(\[\[)?([a-z]+/)?|(\.md)?(\]\])?$', '', 'g'
                            ) AS slug,
                            SUBSTRING(anon_15.value #>> '{}' FROM '^(?:\[\[)?([a-z]+)/') AS type
                          FROM jsonb_path_query(
                            pages_3.metadata, CAST('$.contradicts[*] ? (@.type() == "string")' AS jsonpath)
                          ) AS anon_15(value)
                        ) AS anon_14 ON true
                        WHERE old_slugs_2.owner_id = pages_3.owner_id
                          AND old_slugs_2.slug = anon_14.slug
                          AND coalesce(old_slugs_2.type = anon_14.type, true)
                          AND old_slugs_2.page_id != pages_3.id
                          AND old_slugs_2.tenant_id = $1::UUID
                      ))
                    )
                      AND pages_6.tenant_id = $1::UUID
                    ORDER BY pages_6.title, pages_6.id
                    LIMIT $14::INTEGER
                  ) AS anon_13
                ),
                'sections': (
                  SELECT coalesce(json_agg(anon_16.item), CAST('[]' AS JSON)) AS coalesce_6
                  FROM (
                    SELECT JSON_OBJECT('sectionSlug': sections_2.section_slug) AS item
                    FROM sections AS sections_2
                    WHERE sections_2.page_id = pages_3.id AND sections_2.tenant_id = $1::UUID
                    ORDER BY sections_2.position, sections_2.id
                    LIMIT $15::INTEGER
                  ) AS anon_16
                ),
                'citations': (
                  SELECT JSON_OBJECT('nodes': coalesce(json_agg(anon_18.item_nodes), CAST('[]' AS JSON))) AS anon_17
                  FROM (
                    SELECT JSON_OBJECT(
                      'section': coalesce(
                        to_json((
                          SELECT JSON_OBJECT('sectionSlug': sections_3.section_slug) AS item
                          FROM sections AS sections_3
                          WHERE sections_3.id = section_sources_2.section_id AND sections_3.tenant_id = $1::UUID
                        )),
                        CAST(concat('null in a non-null field') AS JSON)
                      ),
                      'source': coalesce(
                        to_json((
                          SELECT JSON_OBJECT('kind': upper(sources_2.kind), 'ref': sources_2.ref) AS item
                          FROM sources AS sources_2
                          WHERE sources_2.id = section_sources_2.source_id AND sources_2.tenant_id = $1::UUID
                        )),
                        CAST(concat('null in a non-null field') AS JSON)
                      )
                    ) AS item_nodes
                    FROM section_sources AS section_sources_2
                    WHERE section_sources_2.page_id = pages_3.id AND section_sources_2.tenant_id = $1::UUID
                    ORDER BY section_sources_2.created_at DESC, section_sources_2.id DESC
                    LIMIT $16::INTEGER
                  ) AS anon_18
                ),
                'parent': (
                  SELECT JSON_OBJECT('type': upper(pages_8.type), 'slug': pages_8.slug) AS item
                  FROM pages AS pages_8
                  WHERE pages_8.id = pages_3.parent_page_id
                    AND pages_8.status = 'active'
                    AND pages_8.tenant_id = $1::UUID
                ),
                'children': (
                  SELECT coalesce(json_agg(anon_19.item), CAST('[]' AS JSON)) AS coalesce_7
                  FROM (
                    SELECT JSON_OBJECT('type': upper(pages_9.type), 'slug': pages_9.slug) AS item
                    FROM pages AS pages_9
                    WHERE pages_9.parent_page_id = pages_3.id
                      AND pages_9.status = 'active'
                      AND pages_9.tenant_id = $1::UUID
                    ORDER BY pages_9.title, pages_9.id
                    LIMIT $17::INTEGER
                  ) AS anon_19
                ),
                'links': (
                  SELECT JSON_OBJECT(
                    'totalCount': (
                      SELECT count(*) AS count_2
                      FROM links AS links_2
                      JOIN pages AS pages_10 ON pages_10.id = links_2.to_page_id
                      WHERE links_2.from_page_id = pages_3.id
                        AND pages_10.status = 'active'
                        AND links_2.kind = ANY ($18::TEXT[])
                        AND links_2.tenant_id = $1::UUID
                        AND pages_10.tenant_id = $1::UUID
                    ),
                    'nodes': coalesce(json_agg(anon_21.item_nodes), CAST('[]' AS JSON))
                  ) AS anon_20
                  FROM (
                    SELECT JSON_OBJECT(
                      'toPage': coalesce(
                        to_json((
                          SELECT JSON_OBJECT('type': upper(pages_11.type), 'slug': pages_11.slug) AS item
                          FROM pages AS pages_11
                          WHERE pages_11.id = links_2.to_page_id AND pages_11.tenant_id = $1::UUID
                        )),
                        CAST(concat('null in a non-null field') AS JSON)
                      )
                    ) AS item_nodes
                    FROM links AS links_2
                    JOIN pages AS pages_10 ON pages_10.id = links_2.to_page_id
                    WHERE links_2.from_page_id = pages_3.id
                      AND pages_10.status = 'active'
                      AND links_2.kind = ANY ($18::TEXT[])
                      AND links_2.tenant_id = $1::UUID
                      AND pages_10.tenant_id = $1::UUID
                    ORDER BY links_2.id ASC
                    LIMIT $19::INTEGER
                  ) AS anon_21
                ),
                'brokenLinks': (
                  SELECT JSON_OBJECT(
                    'totalCount': (
                      SELECT count(*) AS count_3
                      FROM link_targets AS link_targets_1
                      WHERE link_targets_1.from_page_id = pages_3.id
                        AND link_targets_1.to_page_id IS NULL
                        AND link_targets_1.space IS NULL
                        AND link_targets_1.tenant_id = $1::UUID
                    ),
                    'nodes': coalesce(json_agg(anon_23.item_nodes), CAST('[]' AS JSON))
                  ) AS anon_22
                  FROM (
                    SELECT JSON_OBJECT('target': link_targets_1.target) AS item_nodes
                    FROM link_targets AS link_targets_1
                    WHERE link_targets_1.from_page_id = pages_3.id
                      AND link_targets_1.to_page_id IS NULL
                      AND link_targets_1.space IS NULL
                      AND link_targets_1.tenant_id = $1::UUID
                    ORDER BY link_targets_1.target ASC
                    LIMIT $20::INTEGER
                  ) AS anon_23
                ),
                'backlinks': (
                  SELECT JSON_OBJECT(
                    'totalCount': (
                      SELECT count(*) AS count_4
                      FROM (
                        SELECT
                          pages_12.tenant_id AS tenant_id,
                          pages_12.owner_id AS owner_id,
                          pages_12.id AS id,
                          pages_12.type AS type,
                          pages_12.slug AS slug,
                          pages_12.title AS title,
                          pages_12.summary AS summary,
                          pages_12.body_md AS body_md,
                          pages_12.status AS status,
                          pages_12.tags AS tags,
                          pages_12.parent_page_id AS parent_page_id,
                          pages_12.hubness_score AS hubness_score,
                          pages_12.version AS version,
                          pages_12.metadata AS metadata,
                          pages_12.last_compiled_at AS last_compiled_at,
                          pages_12.created_at AS created_at,
                          pages_12.updated_at AS updated_at,
                          pages_12.was_merged AS was_merged,
                          (
                            SELECT array_agg(links_3.kind ORDER BY links_3.kind) AS array_agg_1
                            FROM links AS links_3
                            WHERE links_3.from_page_id = pages_12.id
                              AND links_3.to_page_id = pages_3.id
                              AND links_3.tenant_id = $1::UUID
                          ) AS kinds,
                          pages_3.id AS linked_id
                        FROM pages AS pages_12
                        WHERE pages_12.id = ANY (
                          array((
                            SELECT links_4.from_page_id
                            FROM links AS links_4
                            WHERE links_4.to_page_id = pages_3.id AND links_4.tenant_id = $1::UUID
                          ))
                        )
                          AND pages_12.status = 'active'
                          AND pages_12.tenant_id = $1::UUID
                      ) AS anon_25
                    ),
                    'nodes': coalesce(json_agg(anon_26.item_nodes), CAST('[]' AS JSON))
                  ) AS anon_24
                  FROM (
                    SELECT JSON_OBJECT('type': upper(anon_25.type), 'slug': anon_25.slug) AS item_nodes
                    FROM (
                      SELECT
                        pages_12.tenant_id AS tenant_id,
                        pages_12.owner_id AS owner_id,
                        pages_12.id AS id,
                        pages_12.type AS type,
                        pages_12.slug AS slug,
                        pages_12.title AS title,
                        pages_12.summary AS summary,
                        pages_12.body_md AS body_md,
                        pages_12.status AS status,
                        pages_12.tags AS tags,
                        pages_12.parent_page_id AS parent_page_id,
                        pages_12.hubness_score AS hubness_score,
                        pages_12.version AS version,
                        pages_12.metadata AS metadata,
                        pages_12.last_compiled_at AS last_compiled_at,
                        pages_12.created_at AS created_at,
                        pages_12.updated_at AS updated_at,
                        pages_12.was_merged AS was_merged,
                        (
                          SELECT array_agg(links_3.kind ORDER BY links_3.kind) AS array_agg_1
                          FROM links AS links_3
                          WHERE links_3.from_page_id = pages_12.id
                            AND links_3.to_page_id = pages_3.id
                            AND links_3.tenant_id = $1::UUID
                        ) AS kinds,
                        pages_3.id AS linked_id
                      FROM pages AS pages_12
                      WHERE pages_12.id = ANY (
                        array((
                          SELECT links_4.from_page_id
                          FROM links AS links_4
                          WHERE links_4.to_page_id = pages_3.id AND links_4.tenant_id = $1::UUID
                        ))
                      )
                        AND pages_12.status = 'active'
                        AND pages_12.tenant_id = $1::UUID
                    ) AS anon_25
                    ORDER BY anon_25.hubness_score DESC, anon_25.id DESC
                    LIMIT $21::INTEGER
                  ) AS anon_26
                ),
                'sources': (
                  SELECT JSON_OBJECT(
                    'totalCount': (
                      SELECT count(*) AS count_5
                      FROM sources AS sources_3
                      WHERE sources_3.id IN (
                        SELECT section_sources_3.source_id
                        FROM section_sources AS section_sources_3
                        WHERE section_sources_3.page_id = pages_3.id AND section_sources_3.tenant_id = $1::UUID
                      )
                        AND sources_3.tenant_id = $1::UUID
                    ),
                    'nodes': coalesce(json_agg(anon_28.item_nodes), CAST('[]' AS JSON))
                  ) AS anon_27
                  FROM (
                    SELECT JSON_OBJECT('kind': upper(sources_3.kind), 'ref': sources_3.ref) AS item_nodes
                    FROM sources AS sources_3
                    WHERE sources_3.id IN (
                      SELECT section_sources_3.source_id
                      FROM section_sources AS section_sources_3
                      WHERE section_sources_3.page_id = pages_3.id AND section_sources_3.tenant_id = $1::UUID
                    )
                      AND sources_3.tenant_id = $1::UUID
                    ORDER BY sources_3.captured_at DESC, sources_3.id DESC
                    LIMIT $22::INTEGER
                  ) AS anon_28
                )
              ) AS item
              FROM pages AS pages_3
              WHERE pages_3.id = anon_29.page_id AND pages_3.tenant_id = $1::UUID
            )),
            CAST(concat('null in a non-null field') AS JSON)
          )
        ) AS item
        FROM (
          SELECT DISTINCT ON (pages_13.id)
            pages_13.id AS page_id,
            pages_13.owner_id AS owner_id,
            pages_13.status AS status,
            CASE WHEN (pages_13.slug = $23::VARCHAR) THEN 'slug' ELSE page_names_2.kind END AS kind,
            CASE
              CASE WHEN (pages_13.slug = $23::VARCHAR) THEN 'slug' ELSE page_names_2.kind END
              WHEN 'slug' THEN 1
              WHEN 'old_slug' THEN 2
              WHEN 'title' THEN 3
              WHEN 'alias' THEN 4
            END AS rank
          FROM page_names AS page_names_2
          JOIN pages AS pages_13 ON pages_13.id = page_names_2.page_id
          WHERE page_names_2.owner_id = $24::UUID
            AND pages_13.owner_id = $24::UUID
            AND (page_names_2.name = $25::VARCHAR OR page_names_2.name = $26::VARCHAR)
            AND page_names_2.tenant_id = $1::UUID
            AND pages_13.tenant_id = $1::UUID
          ORDER BY
            pages_13.id,
            CASE
              CASE WHEN (pages_13.slug = $23::VARCHAR) THEN 'slug' ELSE page_names_2.kind END
              WHEN 'slug' THEN 1
              WHEN 'old_slug' THEN 2
              WHEN 'title' THEN 3
              WHEN 'alias' THEN 4
            END
        ) AS anon_29
        WHERE anon_29.owner_id = $24::UUID
          AND (
            $6::BOOLEAN
              OR $24::UUID = ANY ($7::UUID[])
              OR (
                EXISTS (
                  SELECT 1 AS anon_30
                  FROM grants AS grants_2
                  WHERE grants_2.grantee_id = ANY ($7::UUID[])
                    AND grants_2.owner_id = $24::UUID
                    AND grants_2.tenant_id = $1::UUID
                )
              )
          )
        ORDER BY anon_29.status != 'active', anon_29.rank, anon_29.page_id
        LIMIT $27::INTEGER
      ) AS anon_4
    )
  ) AS answer
  LIMIT ALL
  OFFSET 0
) AS whole;
