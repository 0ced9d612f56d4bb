-- query MobileSearch
-- cost: 31
-- statements: 2
--   read_words of db/queries/search/words.sql
--   the compiled one, below
-- steps: a part of what it shows is found before it is sent
-- parameters:
--   $1  step.analyser
--   $2  step.counted_at
--   $3  scope.tenant_id
--   $4  step.owner_id
--   $5  step.analysers
--   $6  step.keys
--   $7  step.key_ends
--   $8  step.key_trusts
--   $9  step.key_worths
--   $10  step.statuses
--   $11  step.required
--   $12  step.since
--   $13  step.until
--   $14  step.called
--   $15  step.heading
--   $16  step.rare
--   $17  step.k1
--   $18  step.b
--   $19  step.length
--   $20  step.lexemes
--   $21  step.weights
--   $22  step.w_name
--   $23  step.any
--   $24  step.strict
--   $25  step.total
--   $26  step.phrase
--   $27  step.w_phrase
--   $28  step.all
--   $29  step.w_all
--   $30  step.w_heading
--   $31  step.open_title
--   $32  step.w_open_title
--   $33  step.open
--   $34  step.w_open_name
--   $35  step.w_linked
--   $36  step.agreed
--   $37  step.w_agreed
--   $38  step.pages
--   $39  step.size
--   $40  scope.spans_tenant
--   $41  scope.owners
--   $42  10
-- plan:
--   Subquery Scan on whole
--     ->  Result
--           InitPlan 2
--             ->  Result
--                   InitPlan 1
--                     ->  Limit
--                           ->  Index Scan Backward using search_scopes_pk on search_scopes
--           InitPlan 35
--             ->  Aggregate
--                   ->  Limit
--                         ->  Result
--                               ->  Sort
--                                     ->  Subquery Scan on anon_3
--                                           ->  Limit
--                                                 CTE named
--                                                   ->  Unique
--                                                         ->  Sort
--                                                               ->  Nested Loop
--                                                                     ->  Function Scan on key
--                                                                     ->  Limit
--                                                                           ->  Index Scan using page_names_owner_ix on page_names
--                                                 CTE alone
--                                                   ->  Subquery Scan on weighed
--                                                         ->  Subquery Scan on parts
--                                                               ->  Subquery Scan on best
--                                                                     ->  Limit
--                                                                           ->  Sort
--                                                                                 ->  Nested Loop
--                                                                                       ->  Nested Loop
--                                                                                             ->  Nested Loop
--                                                                                                   ->  Append
--                                                                                                         ->  Nested Loop
--                                                                                                               ->  CTE Scan on named named_3
--                                                                                                                     SubPlan 10
--                                                                                                                       ->  Index Scan using pages_pk on pages
--                                                                                                               ->  Index Scan using search_pages_pk on search_pages
--                                                                                                         ->  Subquery Scan on "*SELECT* 2"
--                                                                                                               ->  Limit
--                                                                                                                     ->  Subquery Scan on calling
--                                                                                                                           ->  Limit
--                                                                                                                                 InitPlan 14
--                                                                                                                                   ->  Result
--                                                                                                                                 InitPlan 15
--                                                                                                                                   ->  CTE Scan on named
--                                                                                                                                 ->  Bitmap Heap Scan on search_pages search_pages_1
--                                                                                                                                       ->  Bitmap Index Scan on search_pages_words_ix
--                                                                                                                           SubPlan 12
--                                                                                                                             ->  Index Scan using pages_pk on pages pages_3
--                                                                                                         ->  Subquery Scan on "*SELECT* 3"
--                                                                                                               ->  Limit
--                                                                                                                     ->  Subquery Scan on headed
--                                                                                                                           ->  Limit
--                                                                                                                                 InitPlan 18
--                                                                                                                                   ->  Result
--                                                                                                                                 InitPlan 19
--                                                                                                                                   ->  CTE Scan on named named_1
--                                                                                                                                 ->  Bitmap Heap Scan on search_pages search_pages_2
--                                                                                                                                       ->  Bitmap Index Scan on search_pages_words_ix
--                                                                                                                           SubPlan 16
--                                                                                                                             ->  Index Scan using pages_pk on pages pages_4
--                                                                                                         ->  Subquery Scan on "*SELECT* 4"
--                                                                                                               ->  Limit
--                                                                                                                     ->  Subquery Scan on saying
--                                                                                                                           ->  Limit
--                                                                                                                                 InitPlan 22
--                                                                                                                                   ->  Result
--                                                                                                                                 InitPlan 23
--                                                                                                                                   ->  CTE Scan on named named_2
--                                                                                                                                 ->  Bitmap Heap Scan on search_pages search_pages_3
--                                                                                                                                       ->  Bitmap Index Scan on search_pages_words_ix
--                                                                                                                           SubPlan 20
--                                                                                                                             ->  Index Scan using pages_pk on pages pages_5
--                                                                                                   ->  Result
--                                                                                             ->  Aggregate
--                                                                                                   ->  Function Scan on t
--                                                                                       ->  Aggregate
--                                                                                             ->  Result
--                                                                                                   ->  Function Scan on t_1
--                                                               SubPlan 9
--                                                                 ->  Aggregate
--                                                                       ->  Nested Loop
--                                                                             ->  Index Scan using sections_position_ix on sections s
--                                                                             ->  Function Scan on unnest said
--                                                 CTE foremost
--                                                   ->  Limit
--                                                         ->  WindowAgg
--                                                               ->  Sort
--                                                                     ->  CTE Scan on alone
--                                                 CTE followed
--                                                   ->  GroupAggregate
--                                                         InitPlan 26
--                                                           ->  Aggregate
--                                                                 ->  CTE Scan on alone alone_1
--                                                         ->  Sort
--                                                               ->  Nested Loop
--                                                                     ->  CTE Scan on foremost
--                                                                     ->  Nested Loop
--                                                                           ->  CTE Scan on foremost f
--                                                                           ->  Limit
--                                                                                 ->  Index Only Scan using links_pair_uq on links
--                                                 CTE unsaid
--                                                   ->  Limit
--                                                         InitPlan 28
--                                                           ->  CTE Scan on alone alone_2
--                                                         ->  Nested Loop
--                                                               ->  Nested Loop
--                                                                     ->  Nested Loop
--                                                                           ->  CTE Scan on followed f_1
--                                                                           ->  Aggregate
--                                                                                 InitPlan 29
--                                                                                   ->  Aggregate
--                                                                                         ->  CTE Scan on alone alone_3
--                                                                                 ->  Result
--                                                                                       ->  CTE Scan on foremost foremost_1
--                                                                     ->  Index Scan using pages_pk on pages p
--                                                               ->  Index Scan using search_pages_pk on search_pages search_pages_4
--                                                 CTE beside
--                                                   ->  Result
--                                                         InitPlan 31
--                                                           ->  Aggregate
--                                                                 ->  CTE Scan on unsaid
--                                                         ->  CTE Scan on unsaid unsaid_1
--                                                 CTE answer
--                                                   ->  Subquery Scan on ranked
--                                                         ->  Limit
--                                                               ->  Sort
--                                                                     ->  Append
--                                                                           ->  Hash Left Join
--                                                                                 ->  CTE Scan on alone alone_4
--                                                                                 ->  Hash
--                                                                                       ->  CTE Scan on followed
--                                                                           ->  Subquery Scan on "*SELECT* 2_1"
--                                                                                 ->  CTE Scan on beside
--                                                         SubPlan 33
--                                                           ->  Index Scan using pages_pk on pages p_1
--                                                 ->  WindowAgg
--                                                       ->  Sort
--                                                             ->  CTE Scan on answer
--                                           SubPlan 4
--                                             ->  Index Scan using pages_pk on pages pages_2
--                                           SubPlan 5
--                                             ->  Index Scan using pages_pk on pages pages_2_1
--                                           SubPlan 7
--                                             ->  Seq Scan on grants grants_1
--                                                   InitPlan 6
--                                                     ->  Index Scan using pages_pk on pages pages_2_2
--                               SubPlan 3
--                                 ->  Index Scan using pages_pk on pages pages_1

SELECT
  CASE WHEN (pg_column_size(whole.answer) <= 10000000) THEN whole.answer END AS answer,
  pg_column_size(whole.answer) AS size
FROM (
  SELECT CASE
    WHEN (
      SELECT coalesce(
        (
          SELECT analyser = CAST($1 AS smallint) AND updated_at = CAST($2 AS timestamptz)
          FROM search_scopes
          WHERE tenant_id = CAST($3 AS uuid)
            AND owner_id = CAST($4 AS uuid)
            AND state = 'ready'
            AND analyser = ANY(CAST($5 AS smallint[]))
          ORDER BY analyser DESC
          LIMIT 1
        ),
        false
      ) AS holds
    ) THEN JSON_OBJECT(
      'mobileWikiSearch': (
        SELECT coalesce(json_agg(anon_1.item), CAST('[]' AS JSON)) AS coalesce_1
        FROM (
          SELECT JSON_OBJECT(
            'score': coalesce(
              to_json(CAST(anon_2.score AS DOUBLE PRECISION)), CAST(concat('null in a non-null field') AS JSON)
            ),
            'page': coalesce(
              to_json((
                SELECT JSON_OBJECT(
                  'id': pages_1.id,
                  'type': upper(pages_1.type),
                  'slug': pages_1.slug,
                  'title': pages_1.title,
                  'summary': pages_1.summary
                ) AS item
                FROM pages AS pages_1
                WHERE pages_1.id = anon_2.page_id AND pages_1.tenant_id = $3::UUID
              )),
              CAST(concat('null in a non-null field') AS JSON)
            )
          ) AS item
          FROM (
            SELECT
              anon_3.page_id AS page_id,
              anon_3.score AS score,
              anon_3.matched_alias AS matched_alias,
              anon_3.section_id AS section_id,
              anon_3.snippet AS snippet,
              anon_3.memories AS memories,
              anon_3.ordinality AS ordinality,
              (
                SELECT pages_2.owner_id
                FROM pages AS pages_2
                WHERE pages_2.id = anon_3.page_id AND pages_2.tenant_id = $3::UUID
              ) AS owner_id
            FROM (
              WITH
                scope AS MATERIALIZED (
                  SELECT CASE WHEN analyser = CAST($1 AS smallint) THEN updated_at END AS counted_at, edition, shelves
                  FROM search_scopes
                  WHERE tenant_id = CAST($3 AS uuid)
                    AND owner_id = CAST($4 AS uuid)
                    AND state = 'ready'
                    AND analyser = ANY(CAST($5 AS smallint[]))
                  ORDER BY analyser DESC
                  LIMIT 1
                ),
                named AS MATERIALIZED (
                  SELECT DISTINCT ON (n.page_id)
                    n.page_id,
                    CASE WHEN n.kind <> 'title' THEN n.name END AS name,
                    key.trust * CASE
                      WHEN n.name <> key.name THEN CASE
                        n.kind WHEN 'title' THEN 8 ELSE 5
                      END * length(key.name)::float8 / length(n.name)
                      ELSE coalesce(key.worth, CASE n.kind WHEN 'title' THEN 100 ELSE 90 END)
                    END AS bonus
                  FROM unnest(
                    CAST($6 AS text[]), CAST($7 AS text[]), CAST($8 AS float8[]), CAST($9 AS float8[])
                  ) AS key (name, name_end, trust, worth)
                  CROSS JOIN LATERAL (
                    SELECT page_id, kind, name
                    FROM page_names
                    WHERE tenant_id = CAST($3 AS uuid)
                      AND owner_id = CAST($4 AS uuid)
                      AND name >= key.name
                      AND name < key.name_end
                      AND status = ANY(CAST($10 AS text[]))
                    ORDER BY name
                    LIMIT 40
                  ) AS n
                  ORDER BY n.page_id, bonus DESC, n.kind DESC, n.name
                ),
                allowed AS NOT MATERIALIZED (
                  SELECT page_id, title_words, words, tsv, name_tsv
                  FROM search_pages
                  WHERE tenant_id = CAST($3 AS uuid)
                    AND owner_id = CAST($4 AS uuid)
                    AND analyser = CAST($1 AS smallint)
                    AND status = ANY(CAST($10 AS text[]))
                    AND (CAST($11 AS tsquery) IS NULL OR tsv @@ CAST($11 AS tsquery))
                ),
                timely AS NOT MATERIALIZED (
                  SELECT id
                  FROM pages
                  WHERE tenant_id = CAST($3 AS uuid)
                    AND updated_at >= CAST($12 AS timestamptz)
                    AND updated_at < CAST($13 AS timestamptz)
                ),
                candidate AS (
                  SELECT allowed.*, named.name, named.bonus
                  FROM named
                  JOIN allowed ON allowed.page_id = named.page_id
                  WHERE (
                    CAST($12 AS timestamptz) IS NULL OR EXISTS (SELECT FROM timely WHERE timely.id = named.page_id)
                  )
                  UNION ALL (
                    SELECT *, NULL, 0
                    FROM (
                      SELECT *
                      FROM allowed
                      WHERE name_tsv @@ (SELECT CAST($14 AS tsquery))
                        AND page_id <> ALL(ARRAY(SELECT page_id FROM named))
                      LIMIT 100000
                    ) AS calling
                    WHERE (CAST($12 AS timestamptz) IS NULL OR EXISTS (SELECT FROM timely WHERE timely.id = page_id))
                    LIMIT 250
                  )
                  UNION ALL (
                    SELECT *, NULL, 0
                    FROM (
                      SELECT *
                      FROM allowed
                      WHERE tsv @@ (SELECT CAST($15 AS tsquery))
                        AND (name_tsv @@ CAST($14 AS tsquery)) IS NOT TRUE
                        AND page_id <> ALL(ARRAY(SELECT page_id FROM named))
                      LIMIT 100000
                    ) AS headed
                    WHERE (CAST($12 AS timestamptz) IS NULL OR EXISTS (SELECT FROM timely WHERE timely.id = page_id))
                    LIMIT 100
                  )
                  UNION ALL (
                    SELECT *, NULL, 0
                    FROM (
                      SELECT *
                      FROM allowed
                      WHERE tsv @@ (SELECT CAST($16 AS tsquery))
                        AND (tsv @@ CAST($15 AS tsquery)) IS NOT TRUE
                        AND (name_tsv @@ CAST($14 AS tsquery)) IS NOT TRUE
                        AND page_id <> ALL(ARRAY(SELECT page_id FROM named))
                      LIMIT 100000
                    ) AS saying
                    WHERE (CAST($12 AS timestamptz) IS NULL OR EXISTS (SELECT FROM timely WHERE timely.id = page_id))
                    LIMIT 600
                  )
                ),
                best AS (
                  SELECT c.*, brevity, longness, in_text, coalesce(in_names, 0) AS in_names
                  FROM candidate AS c
                  CROSS JOIN LATERAL (
                    SELECT
                      1 / (0.5::float8 + 0.125::float8 * greatest(c.title_words, 1)) AS brevity,
                      CAST($17 AS float8) * (
                        1 - CAST($18 AS float8) + CAST($18 AS float8) * c.words / CAST($19 AS float8)
                      ) - 0.6079271::float8 AS longness
                    OFFSET 0
                  ) AS shape
                  CROSS JOIN LATERAL (
                    SELECT coalesce(
                      sum(
                        t.weight * (
                          (longness + 0.6079271::float8) / (
                            1 + longness * 1.6449341::float8 * (1 - ts_rank('{1,1,1,1}', c.tsv, t.lexeme))
                          ) - 0.6079271::float8
                        )
                      ),
                      0
                    ) / longness * (CAST($17 AS float8) + 1) AS in_text
                    FROM unnest(CAST($20 AS tsquery[]), CAST($21 AS float8[])) AS t (lexeme, weight)
                  ) AS said
                  CROSS JOIN LATERAL (
                    SELECT CAST($22 AS float8) * brevity * sum(
                      t.weight * least(1, ts_rank('{0.1,0.1,0.6,1}', c.name_tsv, t.lexeme) / 0.76::float8)
                    ) AS in_names
                    FROM unnest(CAST($20 AS tsquery[]), CAST($21 AS float8[])) AS t (lexeme, weight)
                    WHERE c.name_tsv @@ CAST($23 AS tsquery)
                  ) AS called
                  ORDER BY in_text + coalesce(in_names, 0) + bonus DESC, c.page_id
                  LIMIT 200
                ),
                weighed AS (
                  SELECT
                    *,
                    (in_text + in_names + named + together + heading + begun) * CASE
                      WHEN CAST($24 AS boolean) THEN coalesce(
                        (
                          SELECT count(said.at) / count(*)::float8
                          FROM sections AS s
                          CROSS JOIN LATERAL unnest(s.supported_at) AS said (at)
                          WHERE s.tenant_id = CAST($3 AS uuid) AND s.page_id = parts.page_id
                          HAVING count(*) > 0
                        ),
                        0.5
                      )
                      ELSE 1
                    END AS score
                  FROM (
                    SELECT
                      page_id,
                      name,
                      words,
                      longness,
                      tsv,
                      in_text,
                      in_names,
                      bonus AS named,
                      CAST($25 AS float8) * CASE
                        WHEN tsv @@ CAST($26 AS tsquery) THEN CAST($27 AS float8)
                        WHEN tsv @@ CAST($28 AS tsquery) THEN CAST($29 AS float8)
                        ELSE 0
                      END AS together,
                      CAST($25 AS float8) * CASE
                        WHEN tsv @@ CAST($15 AS tsquery) THEN CAST($30 AS float8) ELSE 0
                      END AS heading,
                      brevity * CASE
                        WHEN name_tsv @@ CAST($31 AS tsquery) THEN CAST($32 AS float8)
                        WHEN name_tsv @@ CAST($33 AS tsquery) THEN CAST($34 AS float8)
                        ELSE 0
                      END AS begun
                    FROM best
                    OFFSET 0
                  ) AS parts
                  OFFSET 0
                ),
                alone AS MATERIALIZED (
                  SELECT page_id, name, score, in_text, in_names, named, together, heading, begun FROM weighed
                ),
                foremost AS MATERIALIZED (
                  SELECT
                    page_id,
                    score,
                    in_text,
                    in_names,
                    named + begun < 5 AND (together > 0 OR CAST($28 AS tsquery) IS NULL) AS tells,
                    row_number() OVER (ORDER BY score DESC, page_id) AS place
                  FROM alone
                  ORDER BY score DESC, page_id
                  LIMIT 10
                ),
                doubt AS (
                  SELECT
                    score,
                    CAST($35 AS float8) * CASE
                      WHEN tells THEN greatest(0, least(CAST($25 AS float8), in_text) - in_names) ELSE 0
                    END AS weight
                  FROM foremost
                  WHERE place = 1
                ),
                followed AS (
                  SELECT
                    l.to_page_id AS page_id,
                    count(*) AS links,
                    sum(f.score) AS weight,
                    max(doubt.weight) * coalesce(sum(f.score / doubt.score) FILTER (WHERE f.place <= 3), 0) AS linked
                  FROM foremost AS f
                  JOIN doubt ON doubt.weight > 0
                  CROSS JOIN LATERAL (
                    SELECT to_page_id
                    FROM links
                    WHERE tenant_id = CAST($3 AS uuid) AND from_page_id = f.page_id AND kind = 'reference'
                    ORDER BY to_page_id
                    LIMIT 100
                  ) AS l
                  WHERE f.place <= 3 OR (CAST($36 AS boolean) AND (SELECT count(*) FROM alone) < 20)
                  GROUP BY l.to_page_id
                ),
                agreed AS (
                  SELECT count(*) AS pages, sum(score) AS weight, max(score) AS score
                  FROM foremost
                  HAVING CAST($36 AS boolean) AND (SELECT count(*) FROM alone) < 20
                ),
                unsaid AS MATERIALIZED (
                  SELECT f.page_id, CAST($37 AS float8) * agreed.score * f.weight / agreed.weight AS linked
                  FROM agreed
                  JOIN followed AS f ON f.links >= 2 AND 2 * f.weight >= agreed.weight
                  JOIN allowed ON allowed.page_id = f.page_id
                  JOIN pages AS p ON p.tenant_id = CAST($3 AS uuid) AND p.id = f.page_id
                  WHERE 3 * p.hubness_score * agreed.pages <= f.links * CAST($38 AS float8)
                    AND (
                      CAST($12 AS timestamptz) IS NULL
                        OR p.updated_at >= CAST($12 AS timestamptz)
                        AND p.updated_at < CAST($13 AS timestamptz)
                    )
                    AND f.page_id <> ALL(ARRAY(SELECT page_id FROM alone))
                  LIMIT 4
                ),
                beside AS MATERIALIZED (SELECT page_id, linked FROM unsaid WHERE (SELECT count(*) FROM unsaid) <= 3),
                ranked AS (
                  SELECT alone.*, coalesce(linked, 0) AS linked, score + coalesce(linked, 0) AS whole
                  FROM alone
                  LEFT JOIN followed ON followed.page_id = alone.page_id
                  UNION ALL
                  SELECT page_id, NULL, 0, 0, 0, 0, 0, 0, 0, linked, linked
                  FROM beside
                ),
                answer AS MATERIALIZED (
                  SELECT
                    ranked.*,
                    (
                      SELECT p.last_compiled_at
                      FROM pages AS p
                      WHERE p.tenant_id = CAST($3 AS uuid) AND p.id = ranked.page_id
                    ) AS last_compiled_at
                  FROM (
                    SELECT * FROM ranked ORDER BY whole DESC FETCH FIRST (CAST($39 AS integer)) ROWS WITH TIES
                  ) AS ranked
                )
              SELECT
                page_id,
                whole AS score,
                name AS matched_alias,
                CAST(NULL AS uuid) AS section_id,
                CAST(NULL AS jsonb) AS snippet,
                CAST('{}' AS jsonb) AS memories,
                row_number() OVER (ORDER BY whole DESC, last_compiled_at DESC NULLS LAST, page_id) AS ordinality
              FROM answer
              ORDER BY whole DESC, last_compiled_at DESC NULLS LAST, page_id
              LIMIT CAST($39 AS integer)
            ) AS anon_3
          ) AS anon_2
          WHERE anon_2.owner_id IS NOT NULL
            AND (
              $40::BOOLEAN
                OR anon_2.owner_id = ANY ($41::UUID[])
                OR (
                  EXISTS (
                    SELECT 1 AS anon_4
                    FROM grants AS grants_1
                    WHERE grants_1.grantee_id = ANY ($41::UUID[])
                      AND grants_1.owner_id = anon_2.owner_id
                      AND grants_1.tenant_id = $3::UUID
                  )
                )
            )
          ORDER BY anon_2.ordinality
          LIMIT $42::INTEGER
        ) AS anon_1
      )
    )
  END AS answer
  LIMIT ALL
  OFFSET 0
) AS whole;
