-- query Read
-- cost: 199
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
--   $13  200
--   $14  50
--   $15  20
--   $16  ["reference"]
--   $17  20
--   $18  20
--   $19  10
--   $20  10
--   $21  $name
--   $22  $ownerId
--   $23  $name
--   $24  $name
--   $25  1
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
--           InitPlan 27
--             ->  Aggregate
--                   ->  Limit
--                         InitPlan 26
--                           ->  Seq Scan on grants grants_2
--                         ->  Result
--                               ->  Sort
--                                     ->  Result
--                                           ->  Subquery Scan on anon_23
--                                                 ->  Unique
--                                                       ->  Sort
--                                                             ->  Nested Loop
--                                                                   ->  Index Scan using page_names_owner_ix on page_names page_names_2
--                                                                   ->  Index Scan using pages_scope_uq on pages pages_9
--                               SubPlan 25
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
--                                               ->  Limit
--                                                     ->  Index Scan using sections_position_ix on sections sections_1
--                                       SubPlan 11
--                                         ->  Aggregate
--                                               ->  Limit
--                                                     ->  Result
--                                                           ->  Sort
--                                                                 ->  Index Scan using section_sources_page_ix on section_sources section_sources_1
--                                                           SubPlan 9
--                                                             ->  Index Scan using sections_pk on sections sections_2
--                                                           SubPlan 10
--                                                             ->  Index Scan using sources_pk on sources sources_1
--                                       SubPlan 12
--                                         ->  Index Scan using pages_pk on pages pages_4
--                                       SubPlan 13
--                                         ->  Aggregate
--                                               ->  Limit
--                                                     ->  Sort
--                                                           ->  Index Scan using pages_parent_ix on pages pages_5
--                                       SubPlan 16
--                                         ->  Aggregate
--                                               InitPlan 14
--                                                 ->  Aggregate
--                                                       ->  Nested Loop
--                                                             ->  Index Only Scan using links_pair_uq on links links_1
--                                                             ->  Index Scan using pages_pk on pages pages_6
--                                               ->  Limit
--                                                     ->  Result
--                                                           ->  Sort
--                                                                 ->  Nested Loop
--                                                                       ->  Index Scan using links_pair_uq on links links_1_1
--                                                                       ->  Index Scan using pages_pk on pages pages_6_1
--                                                           SubPlan 15
--                                                             ->  Index Scan using pages_pk on pages pages_7
--                                       SubPlan 18
--                                         ->  Aggregate
--                                               InitPlan 17
--                                                 ->  Aggregate
--                                                       ->  Index Scan using link_targets_pk on link_targets link_targets_1
--                                               ->  Limit
--                                                     ->  Index Scan using link_targets_pk on link_targets link_targets_1_1
--                                       SubPlan 22
--                                         ->  Aggregate
--                                               InitPlan 20
--                                                 ->  Aggregate
--                                                       InitPlan 19
--                                                         ->  Index Only Scan using links_to_ix on links links_3
--                                                       ->  Index Scan using pages_pk on pages pages_8
--                                               ->  Limit
--                                                     InitPlan 21
--                                                       ->  Index Only Scan using links_to_ix on links links_3_1
--                                                     ->  Sort
--                                                           ->  Index Scan using pages_pk on pages pages_8_1
--                                       SubPlan 24
--                                         ->  Aggregate
--                                               InitPlan 23
--                                                 ->  Aggregate
--                                                       ->  Nested Loop
--                                                             ->  HashAggregate
--                                                                   ->  Index Only Scan using section_sources_page_ix on section_sources section_sources_2
--                                                             ->  Index Only Scan using sources_pk on sources sources_2
--                                               ->  Limit
--                                                     ->  Sort
--                                                           ->  Nested Loop
--                                                                 ->  HashAggregate
--                                                                       ->  Index Only Scan Backward using section_sources_page_ix on section_sources section_sources_2_1
--                                                                 ->  Index Scan using sources_pk on sources sources_2_1

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
                'sections': (
                  SELECT coalesce(json_agg(anon_10.item), CAST('[]' AS JSON)) AS coalesce_4
                  FROM (
                    SELECT JSON_OBJECT('sectionSlug': sections_1.section_slug) AS item
                    FROM sections AS sections_1
                    WHERE sections_1.page_id = pages_3.id AND sections_1.tenant_id = $1::UUID
                    ORDER BY sections_1.position, sections_1.id
                    LIMIT $13::INTEGER
                  ) AS anon_10
                ),
                'citations': (
                  SELECT JSON_OBJECT('nodes': coalesce(json_agg(anon_12.item_nodes), CAST('[]' AS JSON))) AS anon_11
                  FROM (
                    SELECT JSON_OBJECT(
                      'section': coalesce(
                        to_json((
                          SELECT JSON_OBJECT('sectionSlug': sections_2.section_slug) AS item
                          FROM sections AS sections_2
                          WHERE sections_2.id = section_sources_1.section_id AND sections_2.tenant_id = $1::UUID
                        )),
                        CAST(concat('null in a non-null field') AS JSON)
                      ),
                      'source': coalesce(
                        to_json((
                          SELECT JSON_OBJECT('kind': upper(sources_1.kind), 'ref': sources_1.ref) AS item
                          FROM sources AS sources_1
                          WHERE sources_1.id = section_sources_1.source_id AND sources_1.tenant_id = $1::UUID
                        )),
                        CAST(concat('null in a non-null field') AS JSON)
                      )
                    ) AS item_nodes
                    FROM section_sources AS section_sources_1
                    WHERE section_sources_1.page_id = pages_3.id AND section_sources_1.tenant_id = $1::UUID
                    ORDER BY section_sources_1.created_at DESC, section_sources_1.id DESC
                    LIMIT $14::INTEGER
                  ) AS anon_12
                ),
                'parent': (
                  SELECT JSON_OBJECT('type': upper(pages_4.type), 'slug': pages_4.slug) AS item
                  FROM pages AS pages_4
                  WHERE pages_4.id = pages_3.parent_page_id
                    AND pages_4.status = 'active'
                    AND pages_4.tenant_id = $1::UUID
                ),
                'children': (
                  SELECT coalesce(json_agg(anon_13.item), CAST('[]' AS JSON)) AS coalesce_5
                  FROM (
                    SELECT JSON_OBJECT('type': upper(pages_5.type), 'slug': pages_5.slug) AS item
                    FROM pages AS pages_5
                    WHERE pages_5.parent_page_id = pages_3.id
                      AND pages_5.status = 'active'
                      AND pages_5.tenant_id = $1::UUID
                    ORDER BY pages_5.title, pages_5.id
                    LIMIT $15::INTEGER
                  ) AS anon_13
                ),
                'links': (
                  SELECT JSON_OBJECT(
                    'totalCount': (
                      SELECT count(*) AS count_2
                      FROM links AS links_1
                      JOIN pages AS pages_6 ON pages_6.id = links_1.to_page_id
                      WHERE links_1.from_page_id = pages_3.id
                        AND pages_6.status = 'active'
                        AND links_1.kind = ANY ($16::TEXT[])
                        AND links_1.tenant_id = $1::UUID
                        AND pages_6.tenant_id = $1::UUID
                    ),
                    'nodes': coalesce(json_agg(anon_15.item_nodes), CAST('[]' AS JSON))
                  ) AS anon_14
                  FROM (
                    SELECT JSON_OBJECT(
                      'toPage': coalesce(
                        to_json((
                          SELECT JSON_OBJECT('type': upper(pages_7.type), 'slug': pages_7.slug) AS item
                          FROM pages AS pages_7
                          WHERE pages_7.id = links_1.to_page_id AND pages_7.tenant_id = $1::UUID
                        )),
                        CAST(concat('null in a non-null field') AS JSON)
                      )
                    ) AS item_nodes
                    FROM links AS links_1
                    JOIN pages AS pages_6 ON pages_6.id = links_1.to_page_id
                    WHERE links_1.from_page_id = pages_3.id
                      AND pages_6.status = 'active'
                      AND links_1.kind = ANY ($16::TEXT[])
                      AND links_1.tenant_id = $1::UUID
                      AND pages_6.tenant_id = $1::UUID
                    ORDER BY links_1.id ASC
                    LIMIT $17::INTEGER
                  ) AS anon_15
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
                    'nodes': coalesce(json_agg(anon_17.item_nodes), CAST('[]' AS JSON))
                  ) AS anon_16
                  FROM (
                    SELECT JSON_OBJECT('target': link_targets_1.target) AS item_nodes
                    FROM link_targets AS link_targets_1
                    WHERE link_targets_1.from_page_id = pages_3.id
                      AND link_targets_1.to_page_id IS NULL
                      AND link_targets_1.space IS NULL
                      AND link_targets_1.tenant_id = $1::UUID
                    ORDER BY link_targets_1.target ASC
                    LIMIT $18::INTEGER
                  ) AS anon_17
                ),
                'backlinks': (
                  SELECT JSON_OBJECT(
                    'totalCount': (
                      SELECT count(*) AS count_4
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
                          (
                            SELECT array_agg(links_2.kind ORDER BY links_2.kind) AS array_agg_1
                            FROM links AS links_2
                            WHERE links_2.from_page_id = pages_8.id
                              AND links_2.to_page_id = pages_3.id
                              AND links_2.tenant_id = $1::UUID
                          ) AS kinds
                        FROM pages AS pages_8
                        WHERE pages_8.id = ANY (
                          array((
                            SELECT links_3.from_page_id
                            FROM links AS links_3
                            WHERE links_3.to_page_id = pages_3.id AND links_3.tenant_id = $1::UUID
                          ))
                        )
                          AND pages_8.status = 'active'
                          AND pages_8.tenant_id = $1::UUID
                      ) AS anon_19
                    ),
                    'nodes': coalesce(json_agg(anon_20.item_nodes), CAST('[]' AS JSON))
                  ) AS anon_18
                  FROM (
                    SELECT JSON_OBJECT('type': upper(anon_19.type), 'slug': anon_19.slug) AS item_nodes
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
                        (
                          SELECT array_agg(links_2.kind ORDER BY links_2.kind) AS array_agg_1
                          FROM links AS links_2
                          WHERE links_2.from_page_id = pages_8.id
                            AND links_2.to_page_id = pages_3.id
                            AND links_2.tenant_id = $1::UUID
                        ) AS kinds
                      FROM pages AS pages_8
                      WHERE pages_8.id = ANY (
                        array((
                          SELECT links_3.from_page_id
                          FROM links AS links_3
                          WHERE links_3.to_page_id = pages_3.id AND links_3.tenant_id = $1::UUID
                        ))
                      )
                        AND pages_8.status = 'active'
                        AND pages_8.tenant_id = $1::UUID
                    ) AS anon_19
                    ORDER BY anon_19.hubness_score DESC, anon_19.id DESC
                    LIMIT $19::INTEGER
                  ) AS anon_20
                ),
                'sources': (
                  SELECT JSON_OBJECT(
                    'totalCount': (
                      SELECT count(*) AS count_5
                      FROM sources AS sources_2
                      WHERE sources_2.id IN (
                        SELECT section_sources_2.source_id
                        FROM section_sources AS section_sources_2
                        WHERE section_sources_2.page_id = pages_3.id AND section_sources_2.tenant_id = $1::UUID
                      )
                        AND sources_2.tenant_id = $1::UUID
                    ),
                    'nodes': coalesce(json_agg(anon_22.item_nodes), CAST('[]' AS JSON))
                  ) AS anon_21
                  FROM (
                    SELECT JSON_OBJECT('kind': upper(sources_2.kind), 'ref': sources_2.ref) AS item_nodes
                    FROM sources AS sources_2
                    WHERE sources_2.id IN (
                      SELECT section_sources_2.source_id
                      FROM section_sources AS section_sources_2
                      WHERE section_sources_2.page_id = pages_3.id AND section_sources_2.tenant_id = $1::UUID
                    )
                      AND sources_2.tenant_id = $1::UUID
                    ORDER BY sources_2.captured_at DESC, sources_2.id DESC
                    LIMIT $20::INTEGER
                  ) AS anon_22
                )
              ) AS item
              FROM pages AS pages_3
              WHERE pages_3.id = anon_23.page_id AND pages_3.tenant_id = $1::UUID
            )),
            CAST(concat('null in a non-null field') AS JSON)
          )
        ) AS item
        FROM (
          SELECT DISTINCT ON (pages_9.id)
            pages_9.id AS page_id,
            pages_9.owner_id AS owner_id,
            pages_9.status AS status,
            CASE WHEN (pages_9.slug = $21::VARCHAR) THEN 'slug' ELSE page_names_2.kind END AS kind,
            CASE
              CASE WHEN (pages_9.slug = $21::VARCHAR) THEN 'slug' ELSE page_names_2.kind END
              WHEN 'slug' THEN 1
              WHEN 'old_slug' THEN 2
              WHEN 'title' THEN 3
              WHEN 'alias' THEN 4
            END AS rank
          FROM page_names AS page_names_2
          JOIN pages AS pages_9 ON pages_9.id = page_names_2.page_id
          WHERE page_names_2.owner_id = $22::UUID
            AND pages_9.owner_id = $22::UUID
            AND (page_names_2.name = $23::VARCHAR OR page_names_2.name = $24::VARCHAR)
            AND page_names_2.tenant_id = $1::UUID
            AND pages_9.tenant_id = $1::UUID
          ORDER BY
            pages_9.id,
            CASE
              CASE WHEN (pages_9.slug = $21::VARCHAR) THEN 'slug' ELSE page_names_2.kind END
              WHEN 'slug' THEN 1
              WHEN 'old_slug' THEN 2
              WHEN 'title' THEN 3
              WHEN 'alias' THEN 4
            END
        ) AS anon_23
        WHERE anon_23.owner_id = $22::UUID
          AND (
            $6::BOOLEAN
              OR $22::UUID = ANY ($7::UUID[])
              OR (
                EXISTS (
                  SELECT 1 AS anon_24
                  FROM grants AS grants_2
                  WHERE grants_2.grantee_id = ANY ($7::UUID[])
                    AND grants_2.owner_id = $22::UUID
                    AND grants_2.tenant_id = $1::UUID
                )
              )
          )
        ORDER BY anon_23.status != 'active', anon_23.rank, anon_23.page_id
        LIMIT $25::INTEGER
      ) AS anon_4
    )
  ) AS answer
  LIMIT ALL
  OFFSET 0
) AS whole;
