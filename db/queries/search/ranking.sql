-- name: weigh_pages
-- The first part of each ranking statement: the best pages for a query, with the parts of their scores. A lexeme in a
-- page is weighed by BM25, whose term frequency is derived from ts_rank: for one lexeme ts_rank is 1 - u * 6 / pi^2,
-- and u falls as the lexeme occurs more often. The formula is written so that u occurs once, because Postgres evaluates
-- an expression as often as it is written. Two things serve the planner. The limits are literals: with a parameter it
-- expects that a scan of all pages ends soon. And the tsqueries are sub-selects: for an unknown value it expects few
-- pages, which is right, and does not scan the whole primary key in order to visit fewer pages. For the same reason
-- dates are compared outside a sub-select with its own limit, as if that were expensive per page. The rows have the
-- time when the words of the wiki were last counted, if the index of this analyser is the one that queries use.
WITH scope AS MATERIALIZED (
    SELECT CASE WHEN analyser = CAST(:analyser AS smallint) THEN updated_at END AS counted_at, edition, shelves
    FROM search_scopes
    WHERE tenant_id = CAST(:tenant_id AS uuid) AND owner_id = CAST(:owner_id AS uuid)
      AND state = 'ready' AND analyser = ANY(CAST(:analysers AS smallint[]))
    ORDER BY analyser DESC
    LIMIT 1
), named AS MATERIALIZED (
    SELECT DISTINCT ON (n.page_id) n.page_id, CASE WHEN n.kind <> 'title' THEN n.name END AS name, key.trust * CASE
        WHEN n.name <> key.name
            THEN CASE n.kind WHEN 'title' THEN 8 ELSE 5 END * length(key.name)::float8 / length(n.name)
        ELSE coalesce(key.worth, CASE n.kind WHEN 'title' THEN 100 ELSE 90 END)
    END AS bonus
    FROM unnest(
        CAST(:keys AS text[]), CAST(:key_ends AS text[]), CAST(:key_trusts AS float8[]), CAST(:key_worths AS float8[])
    ) AS key (name, name_end, trust, worth)
    CROSS JOIN LATERAL (
        SELECT page_id, kind, name FROM page_names
        WHERE tenant_id = CAST(:tenant_id AS uuid) AND owner_id = CAST(:owner_id AS uuid)
          AND name >= key.name AND name < key.name_end AND status = ANY(CAST(:statuses AS text[]))
        ORDER BY name LIMIT 40
    ) AS n
    ORDER BY n.page_id, bonus DESC, n.kind DESC, n.name
), allowed AS NOT MATERIALIZED (
    SELECT page_id, title_words, words, tsv, name_tsv
    FROM search_pages
    WHERE tenant_id = CAST(:tenant_id AS uuid) AND owner_id = CAST(:owner_id AS uuid)
      AND analyser = CAST(:analyser AS smallint) AND status = ANY(CAST(:statuses AS text[]))
      AND (CAST(:required AS tsquery) IS NULL OR tsv @@ CAST(:required AS tsquery))
), timely AS NOT MATERIALIZED (
    SELECT id FROM pages
    WHERE tenant_id = CAST(:tenant_id AS uuid)
      AND updated_at >= CAST(:since AS timestamptz) AND updated_at < CAST(:until AS timestamptz)
), candidate AS (
    SELECT allowed.*, named.name, named.bonus FROM named JOIN allowed ON allowed.page_id = named.page_id
    WHERE (CAST(:since AS timestamptz) IS NULL OR EXISTS (SELECT FROM timely WHERE timely.id = named.page_id))
    UNION ALL
    (SELECT *, NULL, 0 FROM (
        SELECT * FROM allowed
        WHERE name_tsv @@ (SELECT CAST(:called AS tsquery))
          AND page_id <> ALL(ARRAY(SELECT page_id FROM named))
        LIMIT 100000
    ) AS calling
    WHERE (CAST(:since AS timestamptz) IS NULL OR EXISTS (SELECT FROM timely WHERE timely.id = page_id))
    LIMIT 250)
    UNION ALL
    (SELECT *, NULL, 0 FROM (
        SELECT * FROM allowed
        WHERE tsv @@ (SELECT CAST(:heading AS tsquery))
          AND (name_tsv @@ CAST(:called AS tsquery)) IS NOT TRUE
          AND page_id <> ALL(ARRAY(SELECT page_id FROM named))
        LIMIT 100000
    ) AS headed
    WHERE (CAST(:since AS timestamptz) IS NULL OR EXISTS (SELECT FROM timely WHERE timely.id = page_id))
    LIMIT 100)
    UNION ALL
    (SELECT *, NULL, 0 FROM (
        SELECT * FROM allowed
        WHERE tsv @@ (SELECT CAST(:rare AS tsquery))
          AND (tsv @@ CAST(:heading AS tsquery)) IS NOT TRUE
          AND (name_tsv @@ CAST(:called AS tsquery)) IS NOT TRUE
          AND page_id <> ALL(ARRAY(SELECT page_id FROM named))
        LIMIT 100000
    ) AS saying
    WHERE (CAST(:since AS timestamptz) IS NULL OR EXISTS (SELECT FROM timely WHERE timely.id = page_id))
    LIMIT 600)
), best AS (
    SELECT c.*, brevity, longness, in_text, coalesce(in_names, 0) AS in_names
    FROM candidate AS c
    CROSS JOIN LATERAL (
        SELECT 1 / (0.5::float8 + 0.125::float8 * greatest(c.title_words, 1)) AS brevity,
            CAST(:k1 AS float8) * (1 - CAST(:b AS float8) + CAST(:b AS float8) * c.words / CAST(:length AS float8))
                - 0.6079271::float8 AS longness
        OFFSET 0
    ) AS shape
    CROSS JOIN LATERAL (
        SELECT coalesce(sum(t.weight * ((longness + 0.6079271::float8)
            / (1 + longness * 1.6449341::float8 * (1 - ts_rank('{1,1,1,1}', c.tsv, t.lexeme))) - 0.6079271::float8)), 0)
            / longness * (CAST(:k1 AS float8) + 1) AS in_text
        FROM unnest(CAST(:lexemes AS tsquery[]), CAST(:weights AS float8[])) AS t (lexeme, weight)
    ) AS said
    CROSS JOIN LATERAL (
        SELECT CAST(:w_name AS float8) * brevity
            * sum(t.weight * least(1, ts_rank('{0.1,0.1,0.6,1}', c.name_tsv, t.lexeme) / 0.76::float8)) AS in_names
        FROM unnest(CAST(:lexemes AS tsquery[]), CAST(:weights AS float8[])) AS t (lexeme, weight)
        WHERE c.name_tsv @@ CAST(:any AS tsquery)
    ) AS called
    ORDER BY in_text + coalesce(in_names, 0) + bonus DESC, c.page_id
    LIMIT 200
), weighed AS (
    SELECT *, (in_text + in_names + named + together + heading + begun)
        * CASE WHEN CAST(:strict AS boolean) THEN coalesce((
            SELECT count(said.at) / count(*)::float8
            FROM sections AS s CROSS JOIN LATERAL unnest(s.supported_at) AS said (at)
            WHERE s.tenant_id = CAST(:tenant_id AS uuid) AND s.page_id = parts.page_id
            HAVING count(*) > 0
        ), 0.5) ELSE 1 END AS score
    FROM (
        SELECT page_id, name, words, longness, tsv, in_text, in_names, bonus AS named,
            CAST(:total AS float8) * CASE
                WHEN tsv @@ CAST(:phrase AS tsquery) THEN CAST(:w_phrase AS float8)
                WHEN tsv @@ CAST(:all AS tsquery) THEN CAST(:w_all AS float8)
                ELSE 0
            END AS together,
            CAST(:total AS float8) * CASE
                WHEN tsv @@ CAST(:heading AS tsquery) THEN CAST(:w_heading AS float8) ELSE 0
            END AS heading,
            brevity * CASE
                WHEN name_tsv @@ CAST(:open_title AS tsquery) THEN CAST(:w_open_title AS float8)
                WHEN name_tsv @@ CAST(:open AS tsquery) THEN CAST(:w_open_name AS float8)
                ELSE 0
            END AS begun
        FROM best OFFSET 0
    ) AS parts
    OFFSET 0
)

-- name: follow_links
-- The second part: the pages that the best pages link to. Of the pages found, those that one of the best three
-- links to are raised, the more of the query the best page has and the less of it is in that page's names. If the best
-- page lacks a word of the query, or is named by it, no page is raised. If fewer than 20 pages are found, pages are
-- added that have no word of the query, but to which pages with at least half of the weight of the best ten link, and
-- three times as often as the average of the wiki; none if there are more than three. Up to 100 links of a page are
-- read. Of equal scores the page that was compiled last is first, and pages that the compiler has never written are
-- last; this is looked up only for pages that can be in the result.
-- after: weigh_pages
, alone AS MATERIALIZED (
    SELECT page_id, name, score, in_text, in_names, named, together, heading, begun FROM weighed
), foremost AS MATERIALIZED (
    SELECT page_id, score, in_text, in_names, named + begun < 5 AND (together > 0 OR CAST(:all AS tsquery) IS NULL) AS tells,
        row_number() OVER (ORDER BY score DESC, page_id) AS place
    FROM alone ORDER BY score DESC, page_id LIMIT 10
), doubt AS (
    SELECT score, CAST(:w_linked AS float8) * CASE
        WHEN tells THEN greatest(0, least(CAST(:total AS float8), in_text) - in_names) ELSE 0
    END AS weight
    FROM foremost WHERE place = 1
), followed AS (
    SELECT l.to_page_id AS page_id, count(*) AS links, sum(f.score) AS weight,
        max(doubt.weight) * coalesce(sum(f.score / doubt.score) FILTER (WHERE f.place <= 3), 0) AS linked
    FROM foremost AS f
    JOIN doubt ON doubt.weight > 0
    CROSS JOIN LATERAL (
        SELECT to_page_id FROM links
        WHERE tenant_id = CAST(:tenant_id AS uuid) AND from_page_id = f.page_id AND kind = 'reference'
        ORDER BY to_page_id LIMIT 100
    ) AS l
    WHERE f.place <= 3 OR (CAST(:agreed AS boolean) AND (SELECT count(*) FROM alone) < 20)
    GROUP BY l.to_page_id
), agreed AS (
    SELECT count(*) AS pages, sum(score) AS weight, max(score) AS score
    FROM foremost
    HAVING CAST(:agreed AS boolean) AND (SELECT count(*) FROM alone) < 20
), unsaid AS MATERIALIZED (
    SELECT f.page_id, CAST(:w_agreed AS float8) * agreed.score * f.weight / agreed.weight AS linked
    FROM agreed
    JOIN followed AS f ON f.links >= 2 AND 2 * f.weight >= agreed.weight
    JOIN allowed ON allowed.page_id = f.page_id
    JOIN pages AS p ON p.tenant_id = CAST(:tenant_id AS uuid) AND p.id = f.page_id
    WHERE 3 * p.hubness_score * agreed.pages <= f.links * CAST(:pages AS float8)
      AND (CAST(:since AS timestamptz) IS NULL
           OR p.updated_at >= CAST(:since AS timestamptz) AND p.updated_at < CAST(:until AS timestamptz))
      AND f.page_id <> ALL(ARRAY(SELECT page_id FROM alone))
    LIMIT 4
), beside AS MATERIALIZED (
    SELECT page_id, linked FROM unsaid WHERE (SELECT count(*) FROM unsaid) <= 3
), ranked AS (
    SELECT alone.*, coalesce(linked, 0) AS linked, score + coalesce(linked, 0) AS whole
    FROM alone LEFT JOIN followed ON followed.page_id = alone.page_id
    UNION ALL
    SELECT page_id, NULL, 0, 0, 0, 0, 0, 0, 0, linked, linked FROM beside
), answer AS MATERIALIZED (
    SELECT ranked.*, (
        SELECT p.last_compiled_at FROM pages AS p
        WHERE p.tenant_id = CAST(:tenant_id AS uuid) AND p.id = ranked.page_id
    ) AS last_compiled_at
    FROM (SELECT * FROM ranked ORDER BY whole DESC FETCH FIRST (CAST(:size AS integer)) ROWS WITH TIES) AS ranked
)

-- name: rank_pages
-- Rank the pages for a query of few words.
-- after: follow_links
SELECT page_id, name AS matched_alias, whole AS score, in_text, in_names, named, together, heading, begun, linked,
    0::float8 AS topic, (SELECT counted_at FROM scope) AS counted_at, ARRAY(SELECT page_id FROM beside) AS beside
FROM answer
ORDER BY whole DESC, last_compiled_at DESC NULLS LAST, page_id
LIMIT CAST(:size AS integer);

-- name: rank_hits
-- Rank the same pages as a part of the statement that shows them.
-- after: follow_links
SELECT page_id, whole AS score, name AS matched_alias, CAST(NULL AS uuid) AS section_id, CAST(NULL AS jsonb) AS snippet,
    CAST('{}' AS jsonb) AS memories,
    row_number() OVER (ORDER BY whole DESC, last_compiled_at DESC NULLS LAST, page_id) AS ordinality
FROM answer
ORDER BY whole DESC, last_compiled_at DESC NULLS LAST, page_id
LIMIT CAST(:size AS integer);

-- name: is_so_counted
-- Return whether queries use this index and the words of the wiki were not counted again since a query was interpreted.
SELECT coalesce((
    SELECT analyser = CAST(:analyser AS smallint) AND updated_at = CAST(:counted_at AS timestamptz)
    FROM search_scopes
    WHERE tenant_id = CAST(:tenant_id AS uuid) AND owner_id = CAST(:owner_id AS uuid)
      AND state = 'ready' AND analyser = ANY(CAST(:analysers AS smallint[]))
    ORDER BY analyser DESC
    LIMIT 1
), false) AS holds;

-- name: rank_pages_by_topic
-- Rank the pages for a longer query: the frequent words of the best pages are added to the query, and the best pages
-- are weighed again.
-- after: weigh_pages
, placed AS MATERIALIZED (
    SELECT *, row_number() OVER (ORDER BY score DESC, page_id) AS place FROM weighed
), spoken AS MATERIALIZED (
    SELECT t.lexeme, 1.0::float8 / f.place * cardinality(t.positions) / (f.words + CAST(:length AS float8)) AS share
    FROM placed AS f
    CROSS JOIN LATERAL unnest(f.tsv) AS t
    WHERE f.place <= CAST(:feedback_pages AS integer) AND cardinality(t.positions) > 0
), counted AS (
    SELECT said.lexeme, said.share, known.pages
    FROM (SELECT lexeme, sum(share) AS share FROM spoken GROUP BY lexeme) AS said
    CROSS JOIN (SELECT edition, shelves FROM scope) AS scope
    CROSS JOIN LATERAL (
        SELECT CAST(c.pages ->> substr(said.lexeme, 2) AS integer) AS pages
        FROM search_counts AS c
        WHERE c.tenant_id = CAST(:tenant_id AS uuid) AND c.owner_id = CAST(:owner_id AS uuid)
          AND c.analyser = CAST(:analyser AS smallint) AND c.edition = scope.edition
          AND c.shelf = hashtext(substr(said.lexeme, 2)) & (scope.shelves - 1)
        UNION ALL
        SELECT o.pages
        FROM search_terms AS o
        WHERE o.tenant_id = CAST(:tenant_id AS uuid) AND o.owner_id = CAST(:owner_id AS uuid)
          AND o.analyser = CAST(:analyser AS smallint) AND o.lexeme = said.lexeme AND scope.shelves IS NULL
    ) AS known
    WHERE known.pages BETWEEN 2 AND CAST(:pages AS float8) * 0.1::float8
), model AS MATERIALIZED (
    SELECT c.lexeme, i.idf, c.share * i.idf AS weight
    FROM counted AS c
    CROSS JOIN LATERAL (
        SELECT ln(1 + (CAST(:pages AS float8) - c.pages + 0.5::float8) / (c.pages + 0.5::float8)) AS idf
    ) AS i
    ORDER BY weight DESC, c.lexeme
    LIMIT CAST(:feedback_words AS integer)
), topic AS MATERIALIZED (
    SELECT array_agg(CAST(quote_literal(lexeme) AS tsquery)) AS lexemes,
        array_agg(weight / (SELECT sum(weight) FROM model) * idf * CAST(:w_feedback AS float8)) AS weights
    FROM model
), scored AS (
    SELECT p.*, coalesce(again.topic, 0) AS topic
    FROM placed AS p
    CROSS JOIN LATERAL (
        SELECT sum(t.weight * ((longness + 0.6079271::float8)
            / (1 + longness * 1.6449341::float8 * (1 - ts_rank('{1,1,1,1}', p.tsv, t.lexeme))) - 0.6079271::float8))
            / longness * (CAST(:k1 AS float8) + 1) AS topic
        FROM unnest((SELECT lexemes FROM topic), (SELECT weights FROM topic)) AS t (lexeme, weight)
        WHERE p.place <= CAST(:feedback_depth AS integer)
    ) AS again
), answer AS MATERIALIZED (
    SELECT scored.*, (
        SELECT p.last_compiled_at FROM pages AS p
        WHERE p.tenant_id = CAST(:tenant_id AS uuid) AND p.id = scored.page_id
    ) AS last_compiled_at
    FROM (
        SELECT * FROM scored ORDER BY score + topic DESC FETCH FIRST (CAST(:size AS integer)) ROWS WITH TIES
    ) AS scored
)
SELECT page_id, name AS matched_alias, score + topic AS score,
    in_text, in_names, named, together, heading, begun, topic, (SELECT counted_at FROM scope) AS counted_at
FROM answer
ORDER BY score + topic DESC, last_compiled_at DESC NULLS LAST, page_id
LIMIT CAST(:size AS integer);

-- name: count_pages
-- Count the pages that a query finds, by type and tag. The count stops at 1,000 pages.
WITH named AS MATERIALIZED (
    SELECT n.page_id
    FROM unnest(CAST(:keys AS text[]), CAST(:key_ends AS text[])) AS key (name, name_end)
    CROSS JOIN LATERAL (
        SELECT page_id FROM page_names
        WHERE tenant_id = CAST(:tenant_id AS uuid) AND owner_id = CAST(:owner_id AS uuid)
          AND name >= key.name AND name < key.name_end AND status = ANY(CAST(:statuses AS text[]))
        ORDER BY name LIMIT 40
    ) AS n
), known AS MATERIALIZED (
    SELECT page_id FROM named UNION SELECT unnest(CAST(:beside AS uuid[]))
), allowed AS NOT MATERIALIZED (
    SELECT page_id, type, tags, tsv, name_tsv
    FROM search_pages
    WHERE tenant_id = CAST(:tenant_id AS uuid) AND owner_id = CAST(:owner_id AS uuid)
      AND analyser = CAST(:analyser AS smallint) AND status = ANY(CAST(:statuses AS text[]))
      AND (CAST(:required AS tsquery) IS NULL OR tsv @@ CAST(:required AS tsquery))
), matching AS (
    SELECT allowed.* FROM known JOIN allowed ON allowed.page_id = known.page_id
    UNION ALL
    SELECT * FROM allowed
    WHERE name_tsv @@ (SELECT CAST(:called AS tsquery))
      AND page_id <> ALL(ARRAY(SELECT page_id FROM known))
    UNION ALL
    SELECT * FROM allowed
    WHERE tsv @@ (SELECT CAST(:heading AS tsquery))
      AND (name_tsv @@ CAST(:called AS tsquery)) IS NOT TRUE
      AND page_id <> ALL(ARRAY(SELECT page_id FROM known))
    UNION ALL
    SELECT * FROM allowed
    WHERE tsv @@ (SELECT CAST(:rare AS tsquery))
      AND (tsv @@ CAST(:heading AS tsquery)) IS NOT TRUE
      AND (name_tsv @@ CAST(:called AS tsquery)) IS NOT TRUE
      AND page_id <> ALL(ARRAY(SELECT page_id FROM known))
    LIMIT 100000
), hit AS MATERIALIZED (
    SELECT type, tags FROM matching
    WHERE CAST(:since AS timestamptz) IS NULL OR EXISTS (
        SELECT FROM pages AS p
        WHERE p.tenant_id = CAST(:tenant_id AS uuid) AND p.id = page_id
          AND p.updated_at >= CAST(:since AS timestamptz) AND p.updated_at < CAST(:until AS timestamptz))
    LIMIT 1000
)
SELECT (SELECT count(*) FROM hit) AS total,
    (SELECT jsonb_agg(jsonb_build_array(type, pages) ORDER BY pages DESC, type)
     FROM (SELECT type, count(*) AS pages FROM hit GROUP BY type) AS counted) AS types,
    (SELECT jsonb_agg(jsonb_build_array(tag, pages) ORDER BY pages DESC, tag)
     FROM (SELECT tag, count(*) AS pages FROM hit CROSS JOIN LATERAL unnest(tags) AS tag
           GROUP BY tag ORDER BY count(*) DESC, tag LIMIT 20) AS counted) AS tags;

-- name: list_few
-- List the pages that satisfy a filter without words, the last changed first, if there are not too many of them.
WITH matching AS MATERIALIZED (
    SELECT page_id
    FROM search_pages
    WHERE tenant_id = CAST(:tenant_id AS uuid) AND owner_id = CAST(:owner_id AS uuid)
      AND analyser = CAST(:analyser AS smallint) AND status = ANY(CAST(:statuses AS text[]))
      AND tsv @@ (SELECT CAST(:required AS tsquery))
), hit AS MATERIALIZED (
    SELECT * FROM matching LIMIT 1001
)
SELECT p.id AS page_id, CAST(extract(epoch FROM p.updated_at) AS float8) AS score,
    (SELECT count(*) FROM hit) > 1000 AS are_many
FROM hit
JOIN pages AS p ON p.tenant_id = CAST(:tenant_id AS uuid) AND p.id = hit.page_id
WHERE (CAST(:since AS timestamptz) IS NULL
       OR p.updated_at >= CAST(:since AS timestamptz) AND p.updated_at < CAST(:until AS timestamptz))
  AND (CAST(:after_score AS float8) IS NULL
       OR (p.updated_at, p.id) < (to_timestamp(CAST(:after_score AS float8)), CAST(:after_page AS uuid)))
ORDER BY p.updated_at DESC, p.id DESC
LIMIT CAST(:size AS integer);

-- name: list_many
-- List such pages where most pages satisfy the filter, by scanning from the last changed page until enough are found.
-- Each status is scanned by itself, because the index has the pages of one status in this order.
SELECT found.page_id, CAST(extract(epoch FROM found.updated_at) AS float8) AS score
FROM unnest(CAST(:statuses AS text[])) AS given (status)
CROSS JOIN LATERAL (
    SELECT p.id AS page_id, p.updated_at
    FROM pages AS p
    WHERE p.tenant_id = CAST(:tenant_id AS uuid) AND p.owner_id = CAST(:owner_id AS uuid) AND p.status = given.status
      AND (CAST(:since AS timestamptz) IS NULL
           OR p.updated_at >= CAST(:since AS timestamptz) AND p.updated_at < CAST(:until AS timestamptz))
      AND (CAST(:after_score AS float8) IS NULL
           OR (p.updated_at, p.id) < (to_timestamp(CAST(:after_score AS float8)), CAST(:after_page AS uuid)))
      AND EXISTS (
          SELECT FROM search_pages AS s
          WHERE s.page_id = p.id AND s.tenant_id = CAST(:tenant_id AS uuid)
            AND s.analyser = CAST(:analyser AS smallint)
            AND (CAST(:required AS tsquery) IS NULL OR s.tsv @@ CAST(:required AS tsquery)))
    ORDER BY p.updated_at DESC, p.id DESC
    LIMIT CAST(:size AS integer)
) AS found
ORDER BY found.updated_at DESC, found.page_id DESC
LIMIT CAST(:size AS integer);
