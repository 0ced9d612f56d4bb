-- query Neighbourhood
-- cost: 151
-- statements: 1
-- parameters:
--   $1  scope.tenant_id
--   $2  2
--   $3  50
--   $4  2
--   $5  100
--   $6  $pageId
--   $7  scope.spans_tenant
--   $8  scope.owners
-- plan:
--   Subquery Scan on whole
--     ->  Result
--           InitPlan 11
--             ->  Index Scan using pages_pk on pages pages_2
--                   SubPlan 1
--                     ->  Index Scan using pages_pk on pages pages_1
--                   SubPlan 5
--                     ->  Aggregate
--                           ->  Limit
--                                 ->  Result
--                                       ->  Sort
--                                             ->  Nested Loop
--                                                   ->  GroupAggregate
--                                                         ->  Sort
--                                                               ->  Limit
--                                                                     CTE walk
--                                                                       ->  Recursive Union
--                                                                             ->  Result
--                                                                             ->  Nested Loop
--                                                                                   ->  Nested Loop
--                                                                                         ->  WorkTable Scan on walk
--                                                                                         ->  Append
--                                                                                               ->  Index Only Scan using links_pair_uq on links links_3
--                                                                                               ->  Index Only Scan using links_to_ix on links links_4
--                                                                                   ->  Memoize
--                                                                                         ->  Index Scan using pages_pk on pages pages_5
--                                                                     ->  CTE Scan on walk walk_1
--                                                   ->  Index Scan using pages_pk on pages pages_3
--                                       SubPlan 3
--                                         ->  Aggregate
--                                               InitPlan 2
--                                                 ->  Append
--                                                       ->  Index Only Scan using links_pair_uq on links links_1
--                                                       ->  Index Only Scan using links_to_ix on links links_2
--                                               ->  Index Scan using pages_pk on pages pages_4
--                   SubPlan 8
--                     ->  Aggregate
--                           ->  Limit
--                                 ->  Subquery Scan on anon_7
--                                       ->  GroupAggregate
--                                             CTE near
--                                               ->  GroupAggregate
--                                                     ->  Sort
--                                                           ->  Limit
--                                                                 CTE walk
--                                                                   ->  Recursive Union
--                                                                         ->  Result
--                                                                         ->  Nested Loop
--                                                                               ->  Nested Loop
--                                                                                     ->  WorkTable Scan on walk walk_2
--                                                                                     ->  Append
--                                                                                           ->  Index Only Scan using links_pair_uq on links links_5
--                                                                                           ->  Index Only Scan using links_to_ix on links links_6
--                                                                               ->  Memoize
--                                                                                     ->  Index Scan using pages_pk on pages pages_6
--                                                                 ->  CTE Scan on walk walk_3
--                                             ->  Sort
--                                                   ->  Hash Semi Join
--                                                         ->  Nested Loop
--                                                               ->  HashAggregate
--                                                                     ->  CTE Scan on near
--                                                               ->  Index Only Scan using links_pair_uq on links links_7
--                                                         ->  Hash
--                                                               ->  CTE Scan on near near_1
--                   SubPlan 9
--                     ->  Result
--                           ->  Seq Scan on grants grants_1

SELECT
  CASE WHEN (pg_column_size(whole.answer) <= 10000000) THEN whole.answer END AS answer,
  pg_column_size(whole.answer) AS size
FROM (
  SELECT JSON_OBJECT(
    'wikiNeighbourhood': (
      SELECT JSON_OBJECT(
        'page': coalesce(
          to_json((
            SELECT JSON_OBJECT('title': pages_1.title) AS item
            FROM pages AS pages_1
            WHERE pages_1.id = pages_2.id AND pages_1.tenant_id = $1::UUID
          )),
          CAST(concat('null in a non-null field') AS JSON)
        ),
        'nodes': (
          SELECT coalesce(json_agg(anon_1.item), CAST('[]' AS JSON)) AS coalesce_1
          FROM (
            SELECT JSON_OBJECT(
              'id': pages_3.id,
              'label': pages_3.title,
              'entityType': upper(pages_3.type),
              'slug': pages_3.slug,
              'edgeCount': coalesce(
                to_json((
                  SELECT count(*) AS count_1
                  FROM pages AS pages_4
                  WHERE pages_4.id = ANY (
                    array((
                      SELECT links_1.to_page_id AS there
                      FROM links AS links_1
                      WHERE links_1.from_page_id = pages_3.id AND links_1.tenant_id = $1::UUID
                      UNION ALL
                      SELECT links_2.from_page_id AS there
                      FROM links AS links_2
                      WHERE links_2.to_page_id = pages_3.id AND links_2.tenant_id = $1::UUID
                    ))
                  )
                    AND pages_4.status = 'active'
                    AND pages_4.tenant_id = $1::UUID
                )),
                CAST(concat('null in a non-null field') AS JSON)
              )
            ) AS item
            FROM pages AS pages_3
            JOIN (
              SELECT anon_3.id AS id, min(anon_3.depth) AS depth
              FROM (
                WITH RECURSIVE walk(id, depth) AS (
                  SELECT pages_2.id AS id, 0 AS depth
                  UNION
                  SELECT anon_4.there AS there, walk.depth + 1 AS anon_5
                  FROM walk
                  JOIN LATERAL (
                    SELECT links_3.to_page_id AS there
                    FROM links AS links_3
                    WHERE links_3.from_page_id = walk.id AND links_3.tenant_id = $1::UUID
                    UNION ALL
                    SELECT links_4.from_page_id AS there
                    FROM links AS links_4
                    WHERE links_4.to_page_id = walk.id AND links_4.tenant_id = $1::UUID
                  ) AS anon_4 ON true
                  JOIN pages AS pages_5 ON pages_5.id = anon_4.there
                  WHERE pages_5.status = 'active'
                    AND walk.depth < least($2::INTEGER, 3)
                    AND pages_5.tenant_id = $1::UUID
                )
                SELECT walk.id AS id, walk.depth AS depth
                FROM walk
                LIMIT 2000
              ) AS anon_3
              GROUP BY anon_3.id
            ) AS anon_2 ON pages_3.id = anon_2.id
            WHERE pages_3.tenant_id = $1::UUID
            ORDER BY anon_2.depth, pages_3.hubness_score DESC, pages_3.id DESC
            LIMIT $3::INTEGER
          ) AS anon_1
        ),
        'edges': (
          SELECT coalesce(json_agg(anon_6.item), CAST('[]' AS JSON)) AS coalesce_2
          FROM (
            SELECT JSON_OBJECT(
              'source': anon_7.from_page_id,
              'target': anon_7.to_page_id,
              'kind': coalesce(to_json(upper(anon_7.kind)), CAST(concat('null in a non-null field') AS JSON))
            ) AS item
            FROM (
              WITH near AS (
                SELECT anon_8.id AS id, min(anon_8.depth) AS depth
                FROM (
                  WITH RECURSIVE walk(id, depth) AS (
                    SELECT pages_2.id AS id, 0 AS depth
                    UNION
                    SELECT anon_9.there AS there, walk.depth + 1 AS anon_10
                    FROM walk
                    JOIN LATERAL (
                      SELECT links_5.to_page_id AS there
                      FROM links AS links_5
                      WHERE links_5.from_page_id = walk.id AND links_5.tenant_id = $1::UUID
                      UNION ALL
                      SELECT links_6.from_page_id AS there
                      FROM links AS links_6
                      WHERE links_6.to_page_id = walk.id AND links_6.tenant_id = $1::UUID
                    ) AS anon_9 ON true
                    JOIN pages AS pages_6 ON pages_6.id = anon_9.there
                    WHERE pages_6.status = 'active'
                      AND walk.depth < least($4::INTEGER, 3)
                      AND pages_6.tenant_id = $1::UUID
                  )
                  SELECT walk.id AS id, walk.depth AS depth
                  FROM walk
                  LIMIT 2000
                ) AS anon_8
                GROUP BY anon_8.id
              )
              SELECT links_7.from_page_id AS from_page_id, links_7.to_page_id AS to_page_id, max(links_7.kind) AS kind
              FROM links AS links_7
              WHERE links_7.from_page_id IN (SELECT near.id FROM near)
                AND links_7.to_page_id IN (SELECT near.id FROM near)
                AND links_7.tenant_id = $1::UUID
              GROUP BY links_7.from_page_id, links_7.to_page_id
            ) AS anon_7
            ORDER BY anon_7.from_page_id, anon_7.to_page_id
            LIMIT $5::INTEGER
          ) AS anon_6
        )
      ) AS item
      FROM pages AS pages_2
      WHERE pages_2.id = $6::UUID
        AND pages_2.status = 'active'
        AND pages_2.tenant_id = $1::UUID
        AND (
          $7::BOOLEAN
            OR pages_2.owner_id = ANY ($8::UUID[])
            OR (
              EXISTS (
                SELECT 1 AS anon_11
                FROM grants AS grants_1
                WHERE grants_1.grantee_id = ANY ($8::UUID[])
                  AND grants_1.owner_id = pages_2.owner_id
                  AND grants_1.tenant_id = $1::UUID
                  AND pages_2.tenant_id = $1::UUID
              )
            )
        )
    )
  ) AS answer
  LIMIT ALL
  OFFSET 0
) AS whole;
