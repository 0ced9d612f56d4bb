-- query Viewer
-- cost: 21
-- statements: 1
-- steps: a part of what it shows is found before it is sent
-- parameters:
--   $1  scope.role
--   $2  scope.actor_id
--   $3  scope.tenant_id
--   $4  scope.spans_tenant
--   $5  scope.owners
--   $6  20
--   $7  scope.owner_id
--   $8  step.remaining
--   $9  step.reset_at
-- plan:
--   Subquery Scan on whole
--     ->  Result
--           InitPlan 9
--             ->  Sort
--                   InitPlan 1
--                     ->  Seq Scan on owners owners_1
--                   InitPlan 2
--                     ->  Seq Scan on api_keys api_keys_1
--                   InitPlan 8
--                     ->  Aggregate
--                           ->  Limit
--                                 ->  Result
--                                       ->  Incremental Sort
--                                             ->  Index Scan using owners_slug_uq on owners owners_4
--                                                   SubPlan 6
--                                                     ->  Result
--                                                           ->  Seq Scan on grants grants_2
--                                       SubPlan 5
--                                         ->  Aggregate
--                                               ->  Seq Scan on grants grants_1
--                   ->  Seq Scan on owners owners_2
--                         SubPlan 3
--                           ->  Result
--                                 ->  Seq Scan on tenants tenants_1
--                         SubPlan 4
--                           ->  Seq Scan on owners owners_3

SELECT
  CASE WHEN (pg_column_size(whole.answer) <= 10000000) THEN whole.answer END AS answer,
  pg_column_size(whole.answer) AS size
FROM (
  SELECT JSON_OBJECT(
    'viewer': (
      SELECT JSON_OBJECT(
        'role': coalesce(to_json(upper($1::VARCHAR)), CAST(concat('null in a non-null field') AS JSON)),
        'actorName': coalesce(
          to_json(
            coalesce(
              (
                SELECT owners_1.name
                FROM owners AS owners_1
                WHERE owners_1.id = CASE WHEN pg_input_is_valid($2::VARCHAR, 'uuid') THEN CAST($2::VARCHAR AS UUID) END
                  AND owners_1.tenant_id = $3::UUID
              ),
              (
                SELECT api_keys_1.name
                FROM api_keys AS api_keys_1
                WHERE api_keys_1.id = CASE
                  WHEN pg_input_is_valid($2::VARCHAR, 'uuid') THEN CAST($2::VARCHAR AS UUID)
                END
                  AND api_keys_1.tenant_id = $3::UUID
              ),
              $2::VARCHAR
            )
          ),
          CAST(concat('null in a non-null field') AS JSON)
        ),
        'tenant': coalesce(
          to_json((
            SELECT JSON_OBJECT('name': tenants_1.name) AS item
            FROM tenants AS tenants_1
            WHERE tenants_1.tenant_id = owners_2.tenant_id AND tenants_1.tenant_id = $3::UUID
          )),
          CAST(concat('null in a non-null field') AS JSON)
        ),
        'owner': coalesce(
          to_json((
            SELECT JSON_OBJECT('slug': owners_3.slug, 'name': owners_3.name) AS item
            FROM owners AS owners_3
            WHERE owners_3.id = owners_2.id AND owners_3.tenant_id = $3::UUID
          )),
          CAST(concat('null in a non-null field') AS JSON)
        ),
        'scopes': (
          SELECT JSON_OBJECT('nodes': coalesce(json_agg(anon_2.item_nodes), CAST('[]' AS JSON))) AS anon_1
          FROM (
            SELECT JSON_OBJECT(
              'kind': upper(owners_4.kind),
              'slug': owners_4.slug,
              'name': owners_4.name,
              'role': upper(CASE
                WHEN $4::BOOLEAN THEN $1::VARCHAR
                WHEN (owners_4.id = ANY ($5::UUID[])) THEN $1::VARCHAR
                ELSE CASE
                  WHEN ($1::VARCHAR = 'reader') THEN 'reader'
                  ELSE CASE
                    (
                      SELECT max(CASE
                        grants_1.role WHEN 'reader' THEN 1 WHEN 'member' THEN 2 WHEN 'admin' THEN 3
                      END) AS max_1
                      FROM grants AS grants_1
                      WHERE grants_1.grantee_id = ANY ($5::UUID[])
                        AND grants_1.owner_id = owners_4.id
                        AND grants_1.tenant_id = $3::UUID
                    )
                    WHEN 1 THEN 'reader'
                    WHEN 2 THEN 'member'
                    WHEN 3 THEN 'admin'
                  END
                END
              END)
            ) AS item_nodes
            FROM owners AS owners_4
            WHERE (
              $4::BOOLEAN
                OR owners_4.id = ANY ($5::UUID[])
                OR (
                  EXISTS (
                    SELECT 1 AS anon_3
                    FROM grants AS grants_2
                    WHERE grants_2.grantee_id = ANY ($5::UUID[])
                      AND grants_2.owner_id = owners_4.id
                      AND grants_2.tenant_id = $3::UUID
                      AND owners_4.tenant_id = $3::UUID
                  )
                )
            )
              AND owners_4.tenant_id = $3::UUID
            ORDER BY owners_4.slug ASC, owners_4.id ASC
            LIMIT $6::INTEGER
          ) AS anon_2
        )
      ) AS item
      FROM owners AS owners_2
      WHERE owners_2.tenant_id = $3::UUID AND owners_2.id = $7::UUID
      ORDER BY owners_2.slug, owners_2.id
    ),
    'rateLimit': JSON_OBJECT(
      'remaining': $8::INTEGER,
      'resetAt': to_char(timezone('UTC', $9::TIMESTAMP WITH TIME ZONE), 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
    )
  ) AS answer
  LIMIT ALL
  OFFSET 0
) AS whole;
