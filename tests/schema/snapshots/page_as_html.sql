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
--           InitPlan 8
--             ->  Index Scan using pages_scope_uq on pages pages_2
--                   InitPlan 6
--                     ->  Index Scan using pages_slug_ix on pages pages_3
--                   InitPlan 7
--                     ->  Index Scan using old_slugs_pk on old_slugs old_slugs_1
--                   SubPlan 5
--                     ->  Aggregate
--                           ->  Index Scan using link_targets_pk on link_targets link_targets_1
--                           SubPlan 1
--                             ->  Result
--                                   ->  Index Scan using pages_pk on pages pages_1
--                           SubPlan 4
--                             ->  Limit
--                                   ->  Sort
--                                         ->  Nested Loop
--                                               ->  Seq Scan on owners owners_1
--                                                     SubPlan 2
--                                                       ->  Result
--                                                             ->  Seq Scan on grants grants_1
--                                               ->  Index Scan using pages_slug_ix on pages pages_1_1
--           InitPlan 9
--             ->  Sort
--                   ->  Seq Scan on owners owners_2

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
                coalesce(
                  (
                    SELECT json_build_array(
                      pages_1.type, pages_1.slug, pages_1.id, CAST(NULL AS TEXT), pages_1.title
                    ) AS json_build_array_1
                    FROM pages AS pages_1
                    WHERE pages_1.id = link_targets_1.to_page_id
                      AND link_targets_1.space IS NULL
                      AND pages_1.tenant_id = $1::UUID
                  ),
                  (
                    SELECT json_build_array(
                      pages_1.type, pages_1.slug, pages_1.id, CAST(link_targets_1.space AS TEXT), pages_1.title
                    ) AS json_build_array_2
                    FROM owners AS owners_1
                    JOIN pages AS pages_1 ON pages_1.owner_id = owners_1.id
                    WHERE owners_1.slug = link_targets_1.space
                      AND pages_1.slug = link_targets_1.slug
                      AND (link_targets_1.type IS NULL OR pages_1.type = link_targets_1.type)
                      AND pages_1.status = 'active'
                      AND (
                        $2::BOOLEAN
                          OR owners_1.id = ANY ($3::UUID[])
                          OR (
                            EXISTS (
                              SELECT 1 AS anon_2
                              FROM grants AS grants_1
                              WHERE grants_1.grantee_id = ANY ($3::UUID[])
                                AND grants_1.owner_id = owners_1.id
                                AND grants_1.tenant_id = $1::UUID
                                AND owners_1.tenant_id = $1::UUID
                            )
                          )
                      )
                      AND owners_1.tenant_id = $1::UUID
                      AND pages_1.tenant_id = $1::UUID
                    ORDER BY pages_1.id
                    LIMIT 1
                  )
                )
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
          pages_2.tenant_id AS tenant_id,
          pages_2.owner_id AS owner_id,
          pages_2.id AS id,
          pages_2.type AS type,
          pages_2.slug AS slug,
          pages_2.title AS title,
          pages_2.summary AS summary,
          pages_2.body_md AS body_md,
          pages_2.status AS status,
          pages_2.tags AS tags,
          pages_2.parent_page_id AS parent_page_id,
          pages_2.hubness_score AS hubness_score,
          pages_2.version AS version,
          pages_2.metadata AS metadata,
          pages_2.last_compiled_at AS last_compiled_at,
          pages_2.created_at AS created_at,
          pages_2.updated_at AS updated_at,
          pages_2.was_merged AS was_merged,
          CASE
            WHEN (pages_2.type = $4::VARCHAR AND pages_2.slug = $5::VARCHAR) THEN NULL ELSE CAST($5::VARCHAR AS TEXT)
          END AS redirected_from
        FROM pages AS pages_2
        WHERE pages_2.id = coalesce(
          (
            SELECT pages_3.id
            FROM pages AS pages_3
            WHERE pages_3.owner_id = $6::UUID
              AND pages_3.type = $4::VARCHAR
              AND pages_3.slug = $5::VARCHAR
              AND pages_3.status = 'active'
              AND pages_3.tenant_id = $1::UUID
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
          AND pages_2.tenant_id = $1::UUID
      ) AS anon_1
      WHERE anon_1.status = 'active' AND anon_1.owner_id = $6::UUID
    ),
    'viewer': (
      SELECT JSON_OBJECT(
        'role': coalesce(to_json(upper($7::VARCHAR)), CAST(concat('null in a non-null field') AS JSON))
      ) AS item
      FROM owners AS owners_2
      WHERE owners_2.tenant_id = $1::UUID AND owners_2.id = $6::UUID
      ORDER BY owners_2.slug, owners_2.id
    )
  ) AS answer
  LIMIT ALL
  OFFSET 0
) AS whole;
