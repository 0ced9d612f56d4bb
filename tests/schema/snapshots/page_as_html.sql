-- query PageAsHtml
-- cost: 21
-- statements: 1
-- parameters:
--   $1  scope.tenant_id
--   $2  scope.spans_tenant
--   $3  scope.owners
--   $4  $type
--   $5  $slug
--   $6  scope.owner_id
--   $7  scope.role
-- plan:
--   Subquery Scan on whole
--     ->  Result
--           InitPlan 27
--             ->  Index Scan using pages_scope_uq on pages pages_5
--                   InitPlan 25
--                     ->  Index Scan using pages_slug_ix on pages pages_6
--                   InitPlan 26
--                     ->  Index Scan using old_slugs_pk on old_slugs old_slugs_2
--                   SubPlan 24
--                     ->  Aggregate
--                           ->  Index Scan using link_targets_pk on link_targets link_targets_1
--                           SubPlan 1
--                             ->  Index Scan using pages_pk on pages pages_1
--                           SubPlan 23
--                             ->  Index Scan using pages_pk on pages pages_1_1
--                                   InitPlan 22
--                                     ->  Limit
--                                           ->  Sort
--                                                 ->  Append
--                                                       ->  Subquery Scan on "*SELECT* 1"
--                                                             ->  Index Scan using pages_slug_ix on pages pages_2
--                                                                   InitPlan 5
--                                                                     ->  Seq Scan on owners owners_1
--                                                                           InitPlan 4
--                                                                             ->  Seq Scan on owners owners_2
--                                                                           SubPlan 2
--                                                                             ->  Result
--                                                                                   ->  Seq Scan on grants grants_1
--                                                       ->  Subquery Scan on "*SELECT* 2"
--                                                             ->  Nested Loop
--                                                                   InitPlan 9
--                                                                     ->  Seq Scan on owners owners_1_1
--                                                                           InitPlan 8
--                                                                             ->  Seq Scan on owners owners_2_1
--                                                                           SubPlan 6
--                                                                             ->  Result
--                                                                                   ->  Seq Scan on grants grants_1_1
--                                                                   InitPlan 13
--                                                                     ->  Seq Scan on owners owners_1_2
--                                                                           InitPlan 12
--                                                                             ->  Seq Scan on owners owners_2_2
--                                                                           SubPlan 10
--                                                                             ->  Result
--                                                                                   ->  Seq Scan on grants grants_1_2
--                                                                   ->  Index Scan using old_slugs_pk on old_slugs old_slugs_1
--                                                                   ->  Index Scan using pages_scope_uq on pages pages_3
--                                                       ->  Subquery Scan on "*SELECT* 3"
--                                                             ->  Nested Loop
--                                                                   InitPlan 17
--                                                                     ->  Seq Scan on owners owners_1_3
--                                                                           InitPlan 16
--                                                                             ->  Seq Scan on owners owners_2_3
--                                                                           SubPlan 14
--                                                                             ->  Result
--                                                                                   ->  Seq Scan on grants grants_1_3
--                                                                   InitPlan 21
--                                                                     ->  Seq Scan on owners owners_1_4
--                                                                           InitPlan 20
--                                                                             ->  Seq Scan on owners owners_2_4
--                                                                           SubPlan 18
--                                                                             ->  Result
--                                                                                   ->  Seq Scan on grants grants_1_4
--                                                                   ->  Index Scan using aliases_name_ix on aliases aliases_1
--                                                                   ->  Index Scan using pages_scope_uq on pages pages_4
--           InitPlan 28
--             ->  Sort
--                   ->  Seq Scan on owners owners_3

SELECT
  CASE WHEN (pg_column_size(whole.answer) <= 10000000) THEN whole.answer END AS answer,
  pg_column_size(whole.answer) AS size
FROM (
  SELECT JSON_OBJECT(
    'wikiPage': (
      SELECT JSON_OBJECT(
        'title': anon_1.title,
        'bodyHtml': JSON_OBJECT(
          '$call': 0,
          'body': anon_1.body_md,
          'places': (
            SELECT coalesce(
              json_object_agg(
                link_targets_1.target,
                CASE
                  WHEN (link_targets_1.space IS NULL) THEN (
                    SELECT json_build_array(
                      pages_1.type, pages_1.slug, pages_1.id, CAST(NULL AS TEXT), pages_1.title
                    ) AS json_build_array_1
                    FROM pages AS pages_1
                    WHERE pages_1.id = link_targets_1.to_page_id AND pages_1.tenant_id = $1::UUID
                  )
                  ELSE (
                    SELECT json_build_array(
                      pages_1.type, pages_1.slug, pages_1.id, CAST(link_targets_1.space AS TEXT), pages_1.title
                    ) AS json_build_array_2
                    FROM pages AS pages_1
                    WHERE pages_1.id = (
                      SELECT anon_2.id
                      FROM (
                        SELECT pages_2.id AS id, pages_2.type AS type, pages_2.status AS status, 1 AS rank
                        FROM pages AS pages_2
                        WHERE pages_2.owner_id = (
                          SELECT owners_1.id
                          FROM owners AS owners_1
                          WHERE owners_1.slug = link_targets_1.space
                            AND (
                              $2::BOOLEAN
                                OR owners_1.id = ANY ($3::UUID[])
                                OR (
                                  EXISTS (
                                    SELECT 1 AS anon_3
                                    FROM grants AS grants_1
                                    WHERE grants_1.grantee_id = ANY ($3::UUID[])
                                      AND grants_1.owner_id = owners_1.id
                                      AND grants_1.tenant_id = $1::UUID
                                      AND owners_1.tenant_id = $1::UUID
                                  )
                                )
                            )
                            AND (
                              owners_1.kind = 'shared'
                                OR (
                                  SELECT owners_2.kind
                                  FROM owners AS owners_2
                                  WHERE owners_2.id = link_targets_1.owner_id AND owners_2.tenant_id = $1::UUID
                                ) != 'shared'
                            )
                            AND owners_1.tenant_id = $1::UUID
                        )
                          AND pages_2.slug = link_targets_1.slug
                          AND pages_2.tenant_id = $1::UUID
                        UNION ALL
                        SELECT pages_3.id AS id, pages_3.type AS type, pages_3.status AS status, 2 AS rank
                        FROM pages AS pages_3
                        JOIN old_slugs AS old_slugs_1 ON old_slugs_1.page_id = pages_3.id
                        WHERE pages_3.owner_id = (
                          SELECT owners_1.id
                          FROM owners AS owners_1
                          WHERE owners_1.slug = link_targets_1.space
                            AND (
                              $2::BOOLEAN
                                OR owners_1.id = ANY ($3::UUID[])
                                OR (
                                  EXISTS (
                                    SELECT 1 AS anon_3
                                    FROM grants AS grants_1
                                    WHERE grants_1.grantee_id = ANY ($3::UUID[])
                                      AND grants_1.owner_id = owners_1.id
                                      AND grants_1.tenant_id = $1::UUID
                                      AND owners_1.tenant_id = $1::UUID
                                  )
                                )
                            )
                            AND (
                              owners_1.kind = 'shared'
                                OR (
                                  SELECT owners_2.kind
                                  FROM owners AS owners_2
                                  WHERE owners_2.id = link_targets_1.owner_id AND owners_2.tenant_id = $1::UUID
                                ) != 'shared'
                            )
                            AND owners_1.tenant_id = $1::UUID
                        )
                          AND old_slugs_1.owner_id = (
                            SELECT owners_1.id
                            FROM owners AS owners_1
                            WHERE owners_1.slug = link_targets_1.space
                              AND (
                                $2::BOOLEAN
                                  OR owners_1.id = ANY ($3::UUID[])
                                  OR (
                                    EXISTS (
                                      SELECT 1 AS anon_3
                                      FROM grants AS grants_1
                                      WHERE grants_1.grantee_id = ANY ($3::UUID[])
                                        AND grants_1.owner_id = owners_1.id
                                        AND grants_1.tenant_id = $1::UUID
                                        AND owners_1.tenant_id = $1::UUID
                                    )
                                  )
                              )
                              AND (
                                owners_1.kind = 'shared'
                                  OR (
                                    SELECT owners_2.kind
                                    FROM owners AS owners_2
                                    WHERE owners_2.id = link_targets_1.owner_id AND owners_2.tenant_id = $1::UUID
                                  ) != 'shared'
                              )
                              AND owners_1.tenant_id = $1::UUID
                          )
                          AND old_slugs_1.slug = link_targets_1.slug
                          AND pages_3.tenant_id = $1::UUID
                          AND old_slugs_1.tenant_id = $1::UUID
                        UNION ALL
                        SELECT pages_4.id AS id, pages_4.type AS type, pages_4.status AS status, 3 AS rank
                        FROM pages AS pages_4
                        JOIN aliases AS aliases_1 ON aliases_1.page_id = pages_4.id
                        WHERE pages_4.owner_id = (
                          SELECT owners_1.id
                          FROM owners AS owners_1
                          WHERE owners_1.slug = link_targets_1.space
                            AND (
                              $2::BOOLEAN
                                OR owners_1.id = ANY ($3::UUID[])
                                OR (
                                  EXISTS (
                                    SELECT 1 AS anon_3
                                    FROM grants AS grants_1
                                    WHERE grants_1.grantee_id = ANY ($3::UUID[])
                                      AND grants_1.owner_id = owners_1.id
                                      AND grants_1.tenant_id = $1::UUID
                                      AND owners_1.tenant_id = $1::UUID
                                  )
                                )
                            )
                            AND (
                              owners_1.kind = 'shared'
                                OR (
                                  SELECT owners_2.kind
                                  FROM owners AS owners_2
                                  WHERE owners_2.id = link_targets_1.owner_id AND owners_2.tenant_id = $1::UUID
                                ) != 'shared'
                            )
                            AND owners_1.tenant_id = $1::UUID
                        )
                          AND aliases_1.owner_id = (
                            SELECT owners_1.id
                            FROM owners AS owners_1
                            WHERE owners_1.slug = link_targets_1.space
                              AND (
                                $2::BOOLEAN
                                  OR owners_1.id = ANY ($3::UUID[])
                                  OR (
                                    EXISTS (
                                      SELECT 1 AS anon_3
                                      FROM grants AS grants_1
                                      WHERE grants_1.grantee_id = ANY ($3::UUID[])
                                        AND grants_1.owner_id = owners_1.id
                                        AND grants_1.tenant_id = $1::UUID
                                        AND owners_1.tenant_id = $1::UUID
                                    )
                                  )
                              )
                              AND (
                                owners_1.kind = 'shared'
                                  OR (
                                    SELECT owners_2.kind
                                    FROM owners AS owners_2
                                    WHERE owners_2.id = link_targets_1.owner_id AND owners_2.tenant_id = $1::UUID
                                  ) != 'shared'
                              )
                              AND owners_1.tenant_id = $1::UUID
                          )
                          AND aliases_1.alias = link_targets_1.alias
                          AND pages_4.tenant_id = $1::UUID
                          AND aliases_1.tenant_id = $1::UUID
                      ) AS anon_2
                      WHERE anon_2.status = 'active'
                        AND (link_targets_1.type IS NULL OR anon_2.type = link_targets_1.type)
                      ORDER BY anon_2.rank, anon_2.id
                      LIMIT 1
                    )
                      AND pages_1.tenant_id = $1::UUID
                  )
                END
              ),
              json_build_object()
            ) AS coalesce_1
            FROM link_targets AS link_targets_1
            WHERE link_targets_1.from_page_id = anon_1.id AND link_targets_1.tenant_id = $1::UUID
          )
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
            WHEN (pages_5.type = $4::VARCHAR AND pages_5.slug = $5::VARCHAR) THEN NULL ELSE CAST($5::VARCHAR AS TEXT)
          END AS redirected_from
        FROM pages AS pages_5
        WHERE pages_5.id = coalesce(
          (
            SELECT pages_6.id
            FROM pages AS pages_6
            WHERE pages_6.owner_id = $6::UUID
              AND pages_6.type = $4::VARCHAR
              AND pages_6.slug = $5::VARCHAR
              AND pages_6.status = 'active'
              AND pages_6.tenant_id = $1::UUID
          ),
          (
            SELECT old_slugs_2.page_id
            FROM old_slugs AS old_slugs_2
            WHERE old_slugs_2.owner_id = $6::UUID
              AND old_slugs_2.type = $4::VARCHAR
              AND old_slugs_2.slug = $5::VARCHAR
              AND old_slugs_2.tenant_id = $1::UUID
          )
        )
          AND pages_5.tenant_id = $1::UUID
      ) AS anon_1
      WHERE anon_1.status = 'active' AND anon_1.owner_id = $6::UUID
    ),
    'viewer': (
      SELECT JSON_OBJECT(
        'role': coalesce(to_json(upper($7::VARCHAR)), CAST(concat('null in a non-null field') AS JSON))
      ) AS item
      FROM owners AS owners_3
      WHERE owners_3.tenant_id = $1::UUID AND owners_3.id = $6::UUID
      ORDER BY owners_3.slug, owners_3.id
    )
  ) AS answer
  LIMIT ALL
  OFFSET 0
) AS whole;
