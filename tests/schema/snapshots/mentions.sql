-- query Mentions
-- cost: 81
-- statements: 1
-- parameters:
--   $1  20
--   $2  scope.tenant_id
--   $3  3
--   $4  "open"
--   $5  scope.owner_id
-- plan:
--   Subquery Scan on whole
--     ->  Result
--           InitPlan 2
--             ->  Aggregate
--                   ->  Limit
--                         ->  WindowAgg
--                               ->  Index Scan using mentions_seen_ix on mentions mentions_1
--                               SubPlan 1
--                                 ->  Aggregate
--                                       ->  Limit
--                                             ->  Sort
--                                                   ->  Nested Loop
--                                                         ->  Index Only Scan Backward using sightings_pk on sightings sightings_1
--                                                         ->  Index Scan using sources_pk on sources sources_1

SELECT
  CASE WHEN (pg_column_size(whole.answer) <= 10000000) THEN whole.answer END AS answer,
  pg_column_size(whole.answer) AS size
FROM (
  SELECT JSON_OBJECT(
    'wikiMentions': (
      SELECT JSON_OBJECT(
        'nodes': coalesce(json_agg(anon_2.item_nodes) FILTER (WHERE anon_2.number <= $1::INTEGER), CAST('[]' AS JSON)),
        'pageInfo': JSON_OBJECT(
          'endCursor': json_agg(anon_2.cursor) FILTER (WHERE anon_2.number <= $1::INTEGER) ->> -1,
          'hasNextPage': count(anon_2.number) > $1::INTEGER
        )
      ) AS anon_1
      FROM (
        SELECT
          JSON_OBJECT(
            'id': mentions_1.id,
            'name': mentions_1.name,
            'mentionCount': mentions_1.mention_count,
            'suggestedType': upper(mentions_1.suggested_type),
            'lastSeenAt': to_char(timezone('UTC', mentions_1.last_seen_at), 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
            'sources': (
              SELECT JSON_OBJECT('nodes': coalesce(json_agg(anon_4.item_nodes), CAST('[]' AS JSON))) AS anon_3
              FROM (
                SELECT JSON_OBJECT('kind': upper(sources_1.kind), 'ref': sources_1.ref) AS item_nodes
                FROM sources AS sources_1
                WHERE sources_1.id IN (
                  SELECT sightings_1.source_id
                  FROM sightings AS sightings_1
                  WHERE sightings_1.mention_id = mentions_1.id AND sightings_1.tenant_id = $2::UUID
                )
                  AND sources_1.tenant_id = $2::UUID
                ORDER BY sources_1.captured_at DESC, sources_1.id DESC
                LIMIT $3::INTEGER
              ) AS anon_4
            )
          ) AS item_nodes,
          translate(
            encode(
              convert_to(
                CAST(json_build_array('-last_seen_at,-id', mentions_1.last_seen_at, mentions_1.id) AS TEXT), 'utf8'
              ),
              'base64'
            ),
            '
',
            ''
          ) AS cursor,
          row_number() OVER (ORDER BY mentions_1.last_seen_at DESC, mentions_1.id DESC) AS number
        FROM mentions AS mentions_1
        WHERE mentions_1.status = $4::VARCHAR AND mentions_1.tenant_id = $2::UUID AND mentions_1.owner_id = $5::UUID
        ORDER BY mentions_1.last_seen_at DESC, mentions_1.id DESC
        LIMIT $1::INTEGER + 1
      ) AS anon_2
    )
  ) AS answer
  LIMIT ALL
  OFFSET 0
) AS whole;
