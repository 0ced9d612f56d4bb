-- name: rank_passages
-- Rank the passages for a query. The passages that have its rarest words are found. Of these, the eighty that have most
-- of the query are weighed, those of a speaker whom the query names first, and the passages around the best sixty,
-- because an answer often repeats no word of the question. These are two passages on each side of the first thirty, and
-- one on each side of the others. The score of a passage is its own BM25 with shares of the BM25 of its neighbours,
-- plus a bonus for each of these: the share of the query that it has together with its neighbours, a word that names
-- its speaker, the number of named speakers in its source, words side by side as in the query, the BM25 of its source,
-- and, if the query names a time, the nearness of the source to it. A question in the source raises the score of the
-- passage after it. Finally the best passages of a source raise each other. A lexeme is weighed as in `weigh_pages`;
-- words of the speaker do not count as text. The rows have the lexemes of the texts, by which the first passages are
-- compared, the number of found passages or, if it is larger, of ranked ones, and the time when the words of the wiki
-- were last counted.
WITH scope AS (
    SELECT CASE WHEN analyser = CAST(:analyser AS smallint) THEN updated_at END AS counted_at
    FROM search_scopes
    WHERE tenant_id = CAST(:tenant_id AS uuid) AND owner_id = CAST(:owner_id AS uuid)
      AND state = 'ready' AND analyser = ANY(CAST(:analysers AS smallint[]))
    ORDER BY analyser DESC
    LIMIT 1
), term AS MATERIALIZED (
    SELECT lexeme, weight, CAST(1 AS bigint) << CAST(ordinality AS integer) AS bit
    FROM unnest(CAST(:lexemes AS tsquery[]), CAST(:weights AS float8[])) WITH ORDINALITY AS t (lexeme, weight)
), name AS MATERIALIZED (
    SELECT lexeme, CAST(1 AS bigint) << CAST(ordinality AS integer) AS bit
    FROM unnest(CAST(:names AS tsquery[])) WITH ORDINALITY AS n (lexeme)
), found AS MATERIALIZED (
    SELECT source_id, position, captured_at, asks, words, tsv
    FROM search_passages
    WHERE tenant_id = CAST(:tenant_id AS uuid) AND owner_id = CAST(:owner_id AS uuid)
      AND analyser = CAST(:analyser AS smallint) AND status = 'current'
      AND tsv @@ (SELECT CAST(:rare AS tsquery))
      AND (CAST(:required AS tsquery) IS NULL OR tsv @@ CAST(:required AS tsquery))
      AND (CAST(:kinds AS text[]) IS NULL OR kind = ANY(CAST(:kinds AS text[])))
      AND (CAST(:since AS timestamptz) IS NULL OR captured_at >= CAST(:since AS timestamptz))
      AND (CAST(:until AS timestamptz) IS NULL OR captured_at < CAST(:until AS timestamptz))
      AND (CAST(:refs AS text[]) IS NULL OR EXISTS (
          SELECT FROM sources AS s
          WHERE s.tenant_id = CAST(:tenant_id AS uuid) AND s.id = source_id AND s.ref = ANY(CAST(:refs AS text[]))))
    LIMIT 450
), best AS MATERIALIZED (
    SELECT f.*
    FROM found AS f
    ORDER BY coalesce((SELECT sum(weight) FROM term WHERE f.tsv @@ term.lexeme), 0)
            + CASE WHEN f.tsv @@ CAST(:speaker AS tsquery) THEN CAST(:w_foremost AS float8) * CAST(:total AS float8) ELSE 0 END
            DESC, f.words, f.source_id, f.position
    LIMIT 80
), near AS (
    SELECT source_id, array_agg(position) AS positions
    FROM (
        SELECT best.source_id, best.position + step.number AS position
        FROM (SELECT source_id, position, row_number() OVER () AS place FROM best LIMIT 60) AS best
        JOIN (VALUES (-2, 30), (-1, 60), (1, 60), (2, 30)) AS step (number, places) ON best.place <= step.places
        EXCEPT
        SELECT source_id, position FROM best
    ) AS place
    GROUP BY source_id
), beside AS MATERIALIZED (
    SELECT p.*
    FROM near
    CROSS JOIN LATERAL (
        SELECT source_id, position, captured_at, asks, words, tsv FROM search_passages
        WHERE source_id = near.source_id AND position = ANY(near.positions) AND tenant_id = CAST(:tenant_id AS uuid)
          AND analyser = CAST(:analyser AS smallint)
          AND (CAST(:required AS tsquery) IS NULL OR tsv @@ CAST(:required AS tsquery))
        OFFSET 0
    ) AS p
), seen AS MATERIALIZED (
    SELECT s.source_id, s.position, s.captured_at, own.score AS own, own.said, own.weight,
        s.asks,
        CASE WHEN s.tsv @@ CAST(:speaker AS tsquery)
            THEN coalesce((SELECT bit_or(bit) FROM name WHERE s.tsv @@ name.lexeme), 0) ELSE 0 END AS spoken,
        CASE WHEN own.said & (own.said - 1) <> 0 AND s.tsv @@ CAST(:any_pair AS tsquery) THEN coalesce((
            SELECT sum(weight)
            FROM unnest(CAST(:pairs AS tsquery[]), CAST(:pair_weights AS float8[])) AS pair (words, weight)
            WHERE s.tsv @@ pair.words
        ), 0) ELSE 0 END AS pairs
    FROM (
        SELECT *, CAST(:k1 AS float8) * (1 - CAST(:b AS float8) + CAST(:b AS float8) * words / CAST(:length AS float8))
            - 0.6079271::float8 AS longness
        FROM (SELECT * FROM best UNION ALL SELECT * FROM beside) AS either
        OFFSET 0
    ) AS s
    CROSS JOIN LATERAL (
        SELECT coalesce(bit_or(bit), 0) AS said, coalesce(sum(weight), 0) AS weight,
            coalesce(sum(weight * ((longness + 0.6079271::float8)
                / (1 + longness * 1.6449341::float8 * (1 - ts_rank('{1,1,1,0}', s.tsv, lexeme))) - 0.6079271::float8)), 0)
                / longness * (CAST(:k1 AS float8) + 1) AS score
        FROM term
        WHERE s.tsv @@ CAST(:any AS tsquery) AND s.tsv @@ term.lexeme
    ) AS own
), beyond AS (
    SELECT seen.*,
        position - lag(position, 1) OVER by_place AS back1, position - lag(position, 2) OVER by_place AS back2,
        lead(position, 1) OVER by_place - position AS on1, lead(position, 2) OVER by_place - position AS on2,
        lag(own, 1) OVER by_place AS own_back1, lag(own, 2) OVER by_place AS own_back2,
        lead(own, 1) OVER by_place AS own_on1, lead(own, 2) OVER by_place AS own_on2,
        lag(asks, 1) OVER by_place AS asks_back1,
        lag(said, 1) OVER by_place AS said_back1, lead(said, 1) OVER by_place AS said_on1,
        lag(weight, 1) OVER by_place AS weight_before, lead(weight, 1) OVER by_place AS weight_after
    FROM seen
    WINDOW by_place AS (PARTITION BY source_id ORDER BY position)
), around AS (
    SELECT source_id, position, asks, own, said, weight, spoken, pairs, weight_before, weight_after,
        CASE WHEN back1 = 1 THEN own_back1 ELSE 0 END AS before,
        CASE WHEN back1 = 2 THEN own_back1 WHEN back2 = 2 THEN own_back2 ELSE 0 END AS long_before,
        CASE WHEN on1 = 1 THEN own_on1 ELSE 0 END AS after,
        CASE WHEN on1 = 2 THEN own_on1 WHEN on2 = 2 THEN own_on2 ELSE 0 END AS long_after,
        CASE WHEN back1 = 1 AND asks_back1 THEN own_back1 ELSE 0 END AS question,
        CASE WHEN back1 = 1 THEN said_back1 ELSE 0 END AS said_before,
        CASE WHEN on1 = 1 THEN said_on1 ELSE 0 END AS said_after
    FROM beyond
), source AS MATERIALIZED (
    SELECT s.source_id, coalesce(said.score, 0) AS score,
        CAST(:total AS float8) * bit_count(CAST(s.spoken AS bit(64)))
            / greatest(1, bit_count(CAST(bit_or(s.spoken) OVER () AS bit(64)))) AS speakers,
        CAST(:total AS float8) * coalesce(timely.nearness, 0) AS timely
    FROM (
        SELECT source_id, max(captured_at) AS captured_at, bit_or(spoken) AS spoken FROM seen GROUP BY source_id
    ) AS s
    LEFT JOIN (
        SELECT source_id, sum(weight * passages * 2.5::float8 / (passages + 1.5::float8)) AS score
        FROM (
            SELECT seen.source_id, term.weight, count(*) AS passages
            FROM (SELECT source_id, said FROM seen WHERE said <> 0 OFFSET 0) AS seen
            JOIN term ON seen.said & term.bit <> 0
            GROUP BY seen.source_id, term.bit, term.weight
        ) AS t
        GROUP BY source_id
    ) AS said ON said.source_id = s.source_id
    LEFT JOIN LATERAL (
        SELECT max(time.weight * CASE
            WHEN s.captured_at < time.since
                THEN 0.7 * greatest(0, 1 - extract(epoch FROM time.since - s.captured_at) / 345600)
            WHEN s.captured_at >= time.until
                THEN 0.8 * greatest(0, 1 - extract(epoch FROM s.captured_at - time.until) / 1296000)
            ELSE 1
        END) AS nearness
        FROM unnest(
            CAST(:times_since AS timestamptz[]), CAST(:times_until AS timestamptz[]), CAST(:time_weights AS float8[])
        ) AS time (since, until, weight)
    ) AS timely ON true
), scored AS MATERIALIZED (
    SELECT a.source_id, a.position,
        a.own * CASE WHEN a.asks THEN 1 - CAST(:w_asks AS float8) ELSE 1 END
            + CAST(:w_before AS float8) * a.before + CAST(:w_after AS float8) * a.after
            + CAST(:w_long_before AS float8) * a.long_before + CAST(:w_long_after AS float8) * a.long_after
            + CAST(:w_question AS float8) * a.question
            + CAST(:w_together AS float8) * CAST(:total AS float8) * power(CASE
                WHEN (a.said_before | a.said_after) & ~a.said = 0 THEN a.weight
                WHEN a.said_after = 0 AND a.said & a.said_before = 0 THEN a.weight + a.weight_before
                WHEN a.said_before = 0 AND a.said & a.said_after = 0 THEN a.weight + a.weight_after
                ELSE (SELECT sum(weight) FROM term WHERE (a.said | a.said_before | a.said_after) & term.bit <> 0)
            END / CAST(:total AS float8), 2)
            + CAST(:w_speaker AS float8) * CAST(:total AS float8) * CASE WHEN a.spoken <> 0 THEN 1 ELSE 0 END
            + CAST(:w_speakers AS float8) * s.speakers
            + CAST(:w_pairs AS float8) * a.pairs
            + CAST(:w_source AS float8) * s.score
            + CAST(:w_time AS float8) * s.timely AS score
    FROM (SELECT * FROM around OFFSET 0) AS a
    JOIN source AS s ON s.source_id = a.source_id
), supported AS (
    SELECT *, score + CAST(:w_best AS float8) * (nth_value(score, 1) OVER best_first
        + coalesce(nth_value(score, 2) OVER best_first, 0) + coalesce(nth_value(score, 3) OVER best_first, 0)) AS whole
    FROM scored
    WINDOW best_first AS (
        PARTITION BY source_id ORDER BY score DESC ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING
    )
), first AS (
    SELECT source_id, position, whole AS score FROM supported
    ORDER BY whole DESC, source_id, position
    LIMIT CAST(:size AS integer)
)
SELECT first.*, p.captured_at, p.corrects, p.text, tsvector_to_array(ts_filter(p.tsv, '{b,c,d}')) AS lexemes,
    greatest((SELECT count(*) FROM found), (SELECT count(*) FROM scored)) AS found,
    (SELECT counted_at FROM scope) AS counted_at
FROM first
CROSS JOIN LATERAL (
    SELECT captured_at, corrects, text, tsv FROM search_passages
    WHERE source_id = first.source_id AND position = first.position AND tenant_id = CAST(:tenant_id AS uuid)
      AND analyser = CAST(:analyser AS smallint)
    LIMIT 1
) AS p
ORDER BY first.score DESC, first.source_id, first.position;

-- name: find_matching_refs
-- List, for each of these pages, the refs of its cited sources that have words of a query, the newest first. A version
-- that was superseded since is included, because the page cites it.
SELECT cited.page_id, array_agg(cited.ref ORDER BY cited.captured_at DESC, cited.ref) AS refs
FROM (
    SELECT page.id AS page_id, source.ref, source.captured_at
    FROM unnest(CAST(:page_ids AS uuid[])) AS page (id)
    CROSS JOIN LATERAL (
        SELECT s.ref, max(s.captured_at) AS captured_at
        FROM section_sources AS c
        JOIN sources AS s ON s.tenant_id = CAST(:tenant_id AS uuid) AND s.id = c.source_id
        WHERE c.tenant_id = CAST(:tenant_id AS uuid) AND c.owner_id = CAST(:owner_id AS uuid) AND c.page_id = page.id
          AND EXISTS (
              SELECT FROM search_passages AS p
              WHERE p.tenant_id = CAST(:tenant_id AS uuid) AND p.source_id = c.source_id
                AND p.analyser = CAST(:analyser AS smallint) AND p.tsv @@ CAST(:rare AS tsquery))
        GROUP BY s.ref
        ORDER BY max(s.captured_at) DESC, s.ref
        LIMIT CAST(:limit AS integer)
    ) AS source
) AS cited
GROUP BY cited.page_id;
