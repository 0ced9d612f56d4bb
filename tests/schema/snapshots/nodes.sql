-- query Nodes
-- cost: 101
-- statements: 1
-- parameters:
--   $1  scope.tenant_id
--   $2  scope.spans_tenant
--   $3  scope.owners
--   $4  $ids
--   $5  100
-- plan:
--   Subquery Scan on whole
--     ->  Result
--           InitPlan 37
--             ->  Aggregate
--                   ->  Limit
--                         ->  Function Scan on unnest anon_3
--                               SubPlan 3
--                                 ->  Index Scan using pages_pk on pages pages_1
--                                       SubPlan 1
--                                         ->  Result
--                                               ->  Seq Scan on grants grants_1
--                               SubPlan 6
--                                 ->  Index Scan using sections_pk on sections sections_1
--                                       SubPlan 4
--                                         ->  Result
--                                               ->  Seq Scan on grants grants_2
--                               SubPlan 9
--                                 ->  Index Scan using sources_pk on sources sources_1
--                                       SubPlan 7
--                                         ->  Result
--                                               ->  Seq Scan on grants grants_3
--                               SubPlan 12
--                                 ->  Index Scan using mentions_pk on mentions mentions_1
--                                       SubPlan 10
--                                         ->  Result
--                                               ->  Seq Scan on grants grants_4
--                               SubPlan 15
--                                 ->  Index Scan using aliases_pk on aliases aliases_1
--                                       SubPlan 13
--                                         ->  Result
--                                               ->  Seq Scan on grants grants_5
--                               SubPlan 18
--                                 ->  Index Scan using links_pk on links links_1
--                                       SubPlan 16
--                                         ->  Result
--                                               ->  Seq Scan on grants grants_6
--                               SubPlan 21
--                                 ->  Index Scan using section_sources_pk on section_sources section_sources_1
--                                       SubPlan 19
--                                         ->  Result
--                                               ->  Seq Scan on grants grants_7
--                               SubPlan 24
--                                 ->  Index Scan using revisions_pk on revisions revisions_1
--                                       SubPlan 22
--                                         ->  Result
--                                               ->  Seq Scan on grants grants_8
--                               SubPlan 27
--                                 ->  Index Only Scan using owners_pk on owners owners_1
--                                       SubPlan 25
--                                         ->  Result
--                                               ->  Seq Scan on grants grants_9
--                               SubPlan 30
--                                 ->  Index Scan using superseded_claims_pk on superseded_claims superseded_claims_1
--                                       SubPlan 28
--                                         ->  Result
--                                               ->  Seq Scan on grants grants_10
--                               SubPlan 33
--                                 ->  Index Scan using contradictions_pk on contradictions contradictions_1
--                                       SubPlan 31
--                                         ->  Result
--                                               ->  Seq Scan on grants grants_11
--                               SubPlan 36
--                                 ->  Index Scan using lint_reports_pk on lint_reports lint_reports_1
--                                       SubPlan 34
--                                         ->  Result
--                                               ->  Seq Scan on grants grants_12

SELECT
  CASE WHEN (pg_column_size(whole.answer) <= 10000000) THEN whole.answer END AS answer,
  pg_column_size(whole.answer) AS size
FROM (
  SELECT JSON_OBJECT(
    'nodes': (
      SELECT coalesce(json_agg(anon_1.item), CAST('[]' AS JSON)) AS coalesce_1
      FROM (
        SELECT coalesce(
          (
            SELECT JSON_OBJECT(
              '__typename': 'WikiPage',
              'id': pages_1.id,
              'type': upper(pages_1.type),
              'slug': pages_1.slug,
              'title': pages_1.title
            ) AS anon_2
            FROM pages AS pages_1
            WHERE pages_1.id = anon_3.id
              AND pages_1.tenant_id = $1::UUID
              AND (
                $2::BOOLEAN
                  OR pages_1.owner_id = ANY ($3::UUID[])
                  OR (
                    EXISTS (
                      SELECT 1 AS anon_4
                      FROM grants AS grants_1
                      WHERE grants_1.grantee_id = ANY ($3::UUID[])
                        AND grants_1.owner_id = pages_1.owner_id
                        AND grants_1.tenant_id = $1::UUID
                        AND pages_1.tenant_id = $1::UUID
                    )
                  )
              )
          ),
          (
            SELECT JSON_OBJECT('__typename': 'WikiSection', 'id': sections_1.id) AS anon_5
            FROM sections AS sections_1
            WHERE sections_1.id = anon_3.id
              AND sections_1.tenant_id = $1::UUID
              AND (
                $2::BOOLEAN
                  OR sections_1.owner_id = ANY ($3::UUID[])
                  OR (
                    EXISTS (
                      SELECT 1 AS anon_6
                      FROM grants AS grants_2
                      WHERE grants_2.grantee_id = ANY ($3::UUID[])
                        AND grants_2.owner_id = sections_1.owner_id
                        AND grants_2.tenant_id = $1::UUID
                        AND sections_1.tenant_id = $1::UUID
                    )
                  )
              )
          ),
          (
            SELECT JSON_OBJECT('__typename': 'WikiSource', 'id': sources_1.id) AS anon_7
            FROM sources AS sources_1
            WHERE sources_1.id = anon_3.id
              AND sources_1.tenant_id = $1::UUID
              AND (
                $2::BOOLEAN
                  OR sources_1.owner_id = ANY ($3::UUID[])
                  OR (
                    EXISTS (
                      SELECT 1 AS anon_8
                      FROM grants AS grants_3
                      WHERE grants_3.grantee_id = ANY ($3::UUID[])
                        AND grants_3.owner_id = sources_1.owner_id
                        AND grants_3.tenant_id = $1::UUID
                        AND sources_1.tenant_id = $1::UUID
                    )
                  )
              )
          ),
          (
            SELECT JSON_OBJECT('__typename': 'WikiMention', 'id': mentions_1.id) AS anon_9
            FROM mentions AS mentions_1
            WHERE mentions_1.id = anon_3.id
              AND mentions_1.tenant_id = $1::UUID
              AND (
                $2::BOOLEAN
                  OR mentions_1.owner_id = ANY ($3::UUID[])
                  OR (
                    EXISTS (
                      SELECT 1 AS anon_10
                      FROM grants AS grants_4
                      WHERE grants_4.grantee_id = ANY ($3::UUID[])
                        AND grants_4.owner_id = mentions_1.owner_id
                        AND grants_4.tenant_id = $1::UUID
                        AND mentions_1.tenant_id = $1::UUID
                    )
                  )
              )
          ),
          (
            SELECT JSON_OBJECT('__typename': 'WikiAlias', 'id': aliases_1.id) AS anon_11
            FROM aliases AS aliases_1
            WHERE aliases_1.id = anon_3.id
              AND aliases_1.tenant_id = $1::UUID
              AND (
                $2::BOOLEAN
                  OR aliases_1.owner_id = ANY ($3::UUID[])
                  OR (
                    EXISTS (
                      SELECT 1 AS anon_12
                      FROM grants AS grants_5
                      WHERE grants_5.grantee_id = ANY ($3::UUID[])
                        AND grants_5.owner_id = aliases_1.owner_id
                        AND grants_5.tenant_id = $1::UUID
                        AND aliases_1.tenant_id = $1::UUID
                    )
                  )
              )
          ),
          (
            SELECT JSON_OBJECT('__typename': 'WikiLink', 'id': links_1.id) AS anon_13
            FROM links AS links_1
            WHERE links_1.id = anon_3.id
              AND links_1.tenant_id = $1::UUID
              AND (
                $2::BOOLEAN
                  OR links_1.owner_id = ANY ($3::UUID[])
                  OR (
                    EXISTS (
                      SELECT 1 AS anon_14
                      FROM grants AS grants_6
                      WHERE grants_6.grantee_id = ANY ($3::UUID[])
                        AND grants_6.owner_id = links_1.owner_id
                        AND grants_6.tenant_id = $1::UUID
                        AND links_1.tenant_id = $1::UUID
                    )
                  )
              )
          ),
          (
            SELECT JSON_OBJECT('__typename': 'WikiCitation', 'id': section_sources_1.id) AS anon_15
            FROM section_sources AS section_sources_1
            WHERE section_sources_1.id = anon_3.id
              AND section_sources_1.tenant_id = $1::UUID
              AND (
                $2::BOOLEAN
                  OR section_sources_1.owner_id = ANY ($3::UUID[])
                  OR (
                    EXISTS (
                      SELECT 1 AS anon_16
                      FROM grants AS grants_7
                      WHERE grants_7.grantee_id = ANY ($3::UUID[])
                        AND grants_7.owner_id = section_sources_1.owner_id
                        AND grants_7.tenant_id = $1::UUID
                        AND section_sources_1.tenant_id = $1::UUID
                    )
                  )
              )
          ),
          (
            SELECT JSON_OBJECT('__typename': 'WikiRevision', 'id': revisions_1.id) AS anon_17
            FROM revisions AS revisions_1
            WHERE revisions_1.id = anon_3.id
              AND revisions_1.tenant_id = $1::UUID
              AND (
                $2::BOOLEAN
                  OR revisions_1.owner_id = ANY ($3::UUID[])
                  OR (
                    EXISTS (
                      SELECT 1 AS anon_18
                      FROM grants AS grants_8
                      WHERE grants_8.grantee_id = ANY ($3::UUID[])
                        AND grants_8.owner_id = revisions_1.owner_id
                        AND grants_8.tenant_id = $1::UUID
                        AND revisions_1.tenant_id = $1::UUID
                    )
                  )
              )
          ),
          (
            SELECT JSON_OBJECT('__typename': 'WikiOwner', 'id': owners_1.id) AS anon_19
            FROM owners AS owners_1
            WHERE owners_1.id = anon_3.id
              AND owners_1.tenant_id = $1::UUID
              AND (
                $2::BOOLEAN
                  OR owners_1.id = ANY ($3::UUID[])
                  OR (
                    EXISTS (
                      SELECT 1 AS anon_20
                      FROM grants AS grants_9
                      WHERE grants_9.grantee_id = ANY ($3::UUID[])
                        AND grants_9.owner_id = owners_1.id
                        AND grants_9.tenant_id = $1::UUID
                        AND owners_1.tenant_id = $1::UUID
                    )
                  )
              )
          ),
          (
            SELECT JSON_OBJECT('__typename': 'WikiSupersededClaim', 'id': superseded_claims_1.id) AS anon_21
            FROM superseded_claims AS superseded_claims_1
            WHERE superseded_claims_1.id = anon_3.id
              AND superseded_claims_1.tenant_id = $1::UUID
              AND (
                $2::BOOLEAN
                  OR superseded_claims_1.owner_id = ANY ($3::UUID[])
                  OR (
                    EXISTS (
                      SELECT 1 AS anon_22
                      FROM grants AS grants_10
                      WHERE grants_10.grantee_id = ANY ($3::UUID[])
                        AND grants_10.owner_id = superseded_claims_1.owner_id
                        AND grants_10.tenant_id = $1::UUID
                        AND superseded_claims_1.tenant_id = $1::UUID
                    )
                  )
              )
          ),
          (
            SELECT JSON_OBJECT('__typename': 'WikiContradiction', 'id': contradictions_1.id) AS anon_23
            FROM contradictions AS contradictions_1
            WHERE contradictions_1.id = anon_3.id
              AND contradictions_1.tenant_id = $1::UUID
              AND (
                $2::BOOLEAN
                  OR contradictions_1.owner_id = ANY ($3::UUID[])
                  OR (
                    EXISTS (
                      SELECT 1 AS anon_24
                      FROM grants AS grants_11
                      WHERE grants_11.grantee_id = ANY ($3::UUID[])
                        AND grants_11.owner_id = contradictions_1.owner_id
                        AND grants_11.tenant_id = $1::UUID
                        AND contradictions_1.tenant_id = $1::UUID
                    )
                  )
              )
          ),
          (
            SELECT JSON_OBJECT('__typename': 'WikiLintReport', 'id': lint_reports_1.id) AS anon_25
            FROM lint_reports AS lint_reports_1
            WHERE lint_reports_1.id = anon_3.id
              AND lint_reports_1.tenant_id = $1::UUID
              AND (
                $2::BOOLEAN
                  OR lint_reports_1.owner_id = ANY ($3::UUID[])
                  OR (
                    EXISTS (
                      SELECT 1 AS anon_26
                      FROM grants AS grants_12
                      WHERE grants_12.grantee_id = ANY ($3::UUID[])
                        AND grants_12.owner_id = lint_reports_1.owner_id
                        AND grants_12.tenant_id = $1::UUID
                        AND lint_reports_1.tenant_id = $1::UUID
                    )
                  )
              )
          )
        ) AS item
        FROM unnest($4::UUID[]) WITH ORDINALITY AS anon_3(id, ordinality)
        ORDER BY anon_3.ordinality
        LIMIT $5::INTEGER
      ) AS anon_1
    )
  ) AS answer
  LIMIT ALL
  OFFSET 0
) AS whole;
