-- name: fold_terms
-- Fold the pending changes into the number of pages of each lexeme, the length of the pages, and the vocabulary by
-- which words are completed and corrected. The vocabulary is grouped by the first letter, or by blocks of 256 letters
-- for large scripts; words of names, and words that are long enough to be compounds in a language that writes them as
-- one word, are grouped by the last letter, too, except pairs of such letters, which are never corrected. Changes of
-- pages that were recounted already go into the other edition as well. Counts of an older release are moved into as
-- many partitions (shelves) as they need. In a partition a lexeme has no letter. Return the bytes of a partition, and
-- the other analysers that have an index of the wiki.
WITH taken AS (
    DELETE FROM search_changes
    WHERE tenant_id = CAST(:tenant_id AS uuid) AND owner_id = CAST(:owner_id AS uuid)
      AND analyser = CAST(:analyser AS smallint)
    RETURNING gained, lost, text_words, name_words, language, pages, words, recounted
), older AS (
    DELETE FROM search_terms
    WHERE tenant_id = CAST(:tenant_id AS uuid) AND owner_id = CAST(:owner_id AS uuid)
      AND analyser = CAST(:analyser AS smallint)
    RETURNING lexeme, pages
), scope AS MATERIALIZED (
    SELECT edition, recounted_pages IS NOT NULL AS is_recounted, coalesce(shelves, CAST(
        power(2, 4 + ceil(log(2, 1 + (SELECT count(*) FROM older) / 500))) AS integer
    )) AS shelves
    FROM search_scopes
    WHERE tenant_id = CAST(:tenant_id AS uuid) AND owner_id = CAST(:owner_id AS uuid)
      AND analyser = CAST(:analyser AS smallint)
), other AS MATERIALIZED (
    SELECT analyser FROM search_scopes
    WHERE tenant_id = CAST(:tenant_id AS uuid) AND owner_id = CAST(:owner_id AS uuid)
      AND analyser <> CAST(:analyser AS smallint)
), shift AS MATERIALIZED (
    SELECT substr(lexeme, 2) AS lexeme, sum(step) AS step, coalesce(sum(step) FILTER (WHERE recounted), 0) AS recount
    FROM (
        SELECT unnest(gained) AS lexeme, 1 AS step, recounted FROM taken
        UNION ALL
        SELECT unnest(lost), -1, recounted FROM taken
        UNION ALL
        SELECT lexeme, pages, false FROM older
    ) AS each
    GROUP BY lexeme
), change AS (
    SELECT edition, hashtext(lexeme) & (shelves - 1) AS shelf, array_agg(lexeme) AS lexemes, array_agg(step) AS steps
    FROM (
        SELECT edition, shelves, lexeme, step FROM scope CROSS JOIN shift
        UNION ALL
        SELECT 1 - edition, shelves, lexeme, recount FROM scope CROSS JOIN shift WHERE is_recounted
    ) AS each
    WHERE step <> 0
    GROUP BY 1, 2
), counts AS (
    INSERT INTO search_counts (tenant_id, owner_id, analyser, edition, shelf, pages)
    SELECT CAST(:tenant_id AS uuid), CAST(:owner_id AS uuid), CAST(:analyser AS smallint), c.edition, c.shelf,
           (coalesce(known.pages, '{}') || now.some) - now.none
    FROM change AS c
    LEFT JOIN search_counts AS known
        ON known.tenant_id = CAST(:tenant_id AS uuid) AND known.owner_id = CAST(:owner_id AS uuid)
       AND known.analyser = CAST(:analyser AS smallint) AND known.edition = c.edition AND known.shelf = c.shelf
    CROSS JOIN LATERAL (
        SELECT coalesce(jsonb_object_agg(lexeme, pages) FILTER (WHERE pages > 0), '{}') AS some,
               coalesce(array_agg(lexeme) FILTER (WHERE pages <= 0), '{}') AS none
        FROM (
            SELECT lexeme, step + coalesce(CAST(known.pages ->> lexeme AS integer), 0) AS pages
            FROM unnest(c.lexemes, c.steps) AS one (lexeme, step)
        ) AS counted
    ) AS now
    ORDER BY c.edition, c.shelf
    ON CONFLICT (tenant_id, owner_id, analyser, edition, shelf) DO UPDATE
    SET pages = excluded.pages
    RETURNING pages
), word AS (
    SELECT place, word, bool_or(language = ANY(CAST(:compounding AS text[])) AND length(word) >= 8) AS may_be_compound
    FROM (
        SELECT 'name' AS place, unnest(name_words) AS word, language FROM taken
        UNION ALL
        SELECT 'text', unnest(text_words), language FROM taken
    ) AS each
    GROUP BY place, word
), bucket AS (
    SELECT place, 'initial' AS side, initial.letter, length(word) AS length, array_agg(word) AS words
    FROM word
    CROSS JOIN LATERAL (
        SELECT CASE WHEN ascii(word) < 11904 THEN left(word, 1) ELSE chr(ascii(word) / 256 * 256) END AS letter
    ) AS initial
    GROUP BY place, initial.letter, length(word)
    UNION ALL
    SELECT place, 'final', right(word, 1), length(word), array_agg(word)
    FROM word WHERE (place = 'name' OR may_be_compound) AND ascii(right(word, 1)) < 11904
    GROUP BY place, right(word, 1), length(word)
), vocabulary AS (
    INSERT INTO search_vocabulary (tenant_id, owner_id, analyser, side, letter, length, place, words)
    SELECT CAST(:tenant_id AS uuid), CAST(:owner_id AS uuid), CAST(:analyser AS smallint), b.side, b.letter, b.length,
           b.place, every.words
    FROM bucket b
    LEFT JOIN search_vocabulary v
        ON v.tenant_id = CAST(:tenant_id AS uuid) AND v.owner_id = CAST(:owner_id AS uuid)
       AND v.analyser = CAST(:analyser AS smallint)
       AND v.side = b.side AND v.letter = b.letter AND v.length = b.length AND v.place = b.place
    CROSS JOIN LATERAL (
        SELECT ARRAY(SELECT unnest(v.words) COLLATE "C" AS word UNION SELECT unnest(b.words) ORDER BY word) AS words
    ) AS every
    WHERE v.words IS NULL OR cardinality(every.words) > cardinality(v.words)
    ON CONFLICT (tenant_id, owner_id, analyser, side, letter, length, place) DO UPDATE
    SET words = excluded.words
), counted AS (
    UPDATE search_scopes AS s
    SET pages = s.pages + t.pages, words = s.words + t.words, updated_at = CAST(:now AS timestamptz),
        shelves = (SELECT shelves FROM scope),
        recounted_pages = s.recounted_pages + t.pages_again, recounted_words = s.recounted_words + t.words_again,
        languages = ARRAY(SELECT unnest(s.languages) UNION SELECT unnest(t.languages) ORDER BY 1)
    FROM (
        SELECT coalesce(sum(pages), 0) AS pages, coalesce(sum(words), 0) AS words,
               coalesce(sum(pages) FILTER (WHERE recounted), 0) AS pages_again,
               coalesce(sum(words) FILTER (WHERE recounted), 0) AS words_again,
               coalesce(array_agg(DISTINCT language) FILTER (WHERE language <> ''), '{}') AS languages
        FROM taken
    ) AS t
    WHERE s.tenant_id = CAST(:tenant_id AS uuid) AND s.owner_id = CAST(:owner_id AS uuid)
      AND s.analyser = CAST(:analyser AS smallint)
)
SELECT (SELECT avg(pg_column_size(pages)) FROM counts) AS size, ARRAY(SELECT analyser FROM other) AS others;

-- name: add_shelves
-- Multiply the number of partitions of the word counts by a factor, and distribute the counts again.
WITH scope AS (
    UPDATE search_scopes SET shelves = shelves * CAST(:times AS integer), updated_at = CAST(:now AS timestamptz)
    WHERE tenant_id = CAST(:tenant_id AS uuid) AND owner_id = CAST(:owner_id AS uuid)
      AND analyser = CAST(:analyser AS smallint)
    RETURNING shelves
), taken AS (
    DELETE FROM search_counts
    WHERE tenant_id = CAST(:tenant_id AS uuid) AND owner_id = CAST(:owner_id AS uuid)
      AND analyser = CAST(:analyser AS smallint)
    RETURNING edition, pages
)
INSERT INTO search_counts (tenant_id, owner_id, analyser, edition, shelf, pages)
SELECT CAST(:tenant_id AS uuid), CAST(:owner_id AS uuid), CAST(:analyser AS smallint), edition,
       hashtext(one.lexeme) & (scope.shelves - 1), jsonb_object_agg(one.lexeme, one.pages)
FROM taken
CROSS JOIN scope
CROSS JOIN LATERAL jsonb_each(taken.pages) AS one (lexeme, pages)
GROUP BY 1, 2, 3, 4, 5;
