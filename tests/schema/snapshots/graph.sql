-- query Graph
-- cost: 301
-- statements: 1
-- parameters:
--   $1  scope.tenant_id
--   $2  100
--   $3  1000
--   $4  200
--   $5  scope.owner_id
-- plan:
--   Subquery Scan on whole
--     ->  Result
--           InitPlan 7
--             ->  Index Scan using owners_slug_uq on owners owners_1
--                   SubPlan 1
--                     ->  Aggregate
--                           ->  Index Only Scan using pages_lower_title_ix on pages pages_1
--                   SubPlan 4
--                     ->  Aggregate
--                           ->  Limit
--                                 ->  Index Scan using pages_hubness_ix on pages pages_2
--                                       SubPlan 3
--                                         ->  Aggregate
--                                               InitPlan 2
--                                                 ->  Append
--                                                       ->  Index Only Scan using links_pair_uq on links links_1
--                                                       ->  Index Only Scan using links_to_ix on links links_2
--                                               ->  Index Scan using pages_pk on pages pages_3
--                   SubPlan 6
--                     ->  Aggregate
--                           ->  Limit
--                                 ->  Subquery Scan on anon_3
--                                       ->  GroupAggregate
--                                             CTE hub
--                                               ->  Limit
--                                                     ->  Index Only Scan using pages_hubness_ix on pages pages_4
--                                             ->  Sort
--                                                   ->  Hash Semi Join
--                                                         ->  Nested Loop
--                                                               ->  HashAggregate
--                                                                     ->  CTE Scan on hub
--                                                               ->  Index Only Scan using links_owner_ix on links links_3
--                                                         ->  Hash
--                                                               ->  CTE Scan on hub hub_1

SELECT
  CASE WHEN (pg_column_size(whole.answer) <= 10000000) THEN whole.answer END AS answer,
  pg_column_size(whole.answer) AS size
FROM (
  SELECT JSON_OBJECT(
    'wikiGraph': (
      SELECT JSON_OBJECT(
        'nodeCount': coalesce(
          to_json((
            SELECT count(*) AS count_1
            FROM pages AS pages_1
            WHERE pages_1.owner_id = owners_1.id AND pages_1.status = 'active' AND pages_1.tenant_id = $1::UUID
          )),
          CAST(concat('null in a non-null field') AS JSON)
        ),
        'nodes': (
          SELECT coalesce(json_agg(anon_1.item), CAST('[]' AS JSON)) AS coalesce_1
          FROM (
            SELECT JSON_OBJECT(
              'id': pages_2.id,
              'label': pages_2.title,
              'entityType': upper(pages_2.type),
              'slug': pages_2.slug,
              'edgeCount': coalesce(
                to_json((
                  SELECT count(*) AS count_2
                  FROM pages AS pages_3
                  WHERE pages_3.id = ANY (
                    array((
                      SELECT links_1.to_page_id AS there
                      FROM links AS links_1
                      WHERE links_1.from_page_id = pages_2.id AND links_1.tenant_id = $1::UUID
                      UNION ALL
                      SELECT links_2.from_page_id AS there
                      FROM links AS links_2
                      WHERE links_2.to_page_id = pages_2.id AND links_2.tenant_id = $1::UUID
                    ))
                  )
                    AND pages_3.status = 'active'
                    AND pages_3.tenant_id = $1::UUID
                )),
                CAST(concat('null in a non-null field') AS JSON)
              )
            ) AS item
            FROM pages AS pages_2
            WHERE pages_2.owner_id = owners_1.id AND pages_2.status = 'active' AND pages_2.tenant_id = $1::UUID
            ORDER BY pages_2.hubness_score DESC, pages_2.id DESC
            LIMIT $2::INTEGER
          ) AS anon_1
        ),
        'edges': (
          SELECT coalesce(json_agg(anon_2.item), CAST('[]' AS JSON)) AS coalesce_2
          FROM (
            SELECT JSON_OBJECT(
              'source': anon_3.from_page_id,
              'target': anon_3.to_page_id,
              'kind': coalesce(to_json(upper(anon_3.kind)), CAST(concat('null in a non-null field') AS JSON))
            ) AS item
            FROM (
              WITH hub AS (
                SELECT pages_4.id AS id
                FROM pages AS pages_4
                WHERE pages_4.owner_id = owners_1.id AND pages_4.status = 'active' AND pages_4.tenant_id = $1::UUID
                ORDER BY pages_4.hubness_score DESC, pages_4.id DESC
                LIMIT greatest(least($3::INTEGER, 5000), 0)
              )
              SELECT links_3.from_page_id AS from_page_id, links_3.to_page_id AS to_page_id, max(links_3.kind) AS kind
              FROM links AS links_3
              WHERE links_3.owner_id = owners_1.id
                AND links_3.from_page_id IN (SELECT hub.id FROM hub)
                AND links_3.to_page_id IN (SELECT hub.id FROM hub)
                AND links_3.tenant_id = $1::UUID
              GROUP BY links_3.from_page_id, links_3.to_page_id
            ) AS anon_3
            ORDER BY anon_3.from_page_id, anon_3.to_page_id
            LIMIT $4::INTEGER
          ) AS anon_2
        )
      ) AS item
      FROM owners AS owners_1
      WHERE owners_1.tenant_id = $1::UUID AND owners_1.id = $5::UUID
      ORDER BY owners_1.slug, owners_1.id
    )
  ) AS answer
  LIMIT ALL
  OFFSET 0
) AS whole;
