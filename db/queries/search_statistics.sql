-- name: fold_terms
-- Take what waits: in how many pages each lexeme is now, how long pages are, and the words that people may mean.
WITH taken AS (
    DELETE FROM search_changes
    WHERE tenant_id = CAST(:tenant_id AS uuid) AND owner_id = CAST(:owner_id AS uuid)
      AND analyser = CAST(:analyser AS smallint)
    RETURNING gained, lost, text_words, name_words, language, pages, words
), shift AS (
    SELECT lexeme, sum(step) AS step
    FROM (
        SELECT unnest(gained) AS lexeme, 1 AS step FROM taken
        UNION ALL
        SELECT unnest(lost), -1 FROM taken
    ) AS each
    GROUP BY lexeme
    HAVING sum(step) <> 0
), terms AS (
    INSERT INTO search_terms (tenant_id, owner_id, analyser, lexeme, pages)
    SELECT CAST(:tenant_id AS uuid), CAST(:owner_id AS uuid), CAST(:analyser AS smallint), lexeme, step
    FROM shift
    ORDER BY lexeme
    ON CONFLICT (tenant_id, owner_id, analyser, lexeme) DO UPDATE
    SET pages = search_terms.pages + excluded.pages
), word AS (
    SELECT place, word FROM (
        SELECT 'name' AS place, unnest(name_words) AS word FROM taken
        UNION
        SELECT 'text', unnest(text_words) FROM taken
    ) AS each
), bucket AS (
    SELECT place, 'initial' AS side, left(word, 1) AS letter, length(word) AS length, array_agg(word) AS words
    FROM word GROUP BY place, left(word, 1), length(word)
    UNION ALL
    SELECT place, 'final', right(word, 1), length(word), array_agg(word)
    FROM word WHERE place = 'name' GROUP BY place, right(word, 1), length(word)
), vocabulary AS (
    INSERT INTO search_vocabulary (tenant_id, owner_id, analyser, side, letter, length, place, words)
    SELECT CAST(:tenant_id AS uuid), CAST(:owner_id AS uuid), CAST(:analyser AS smallint), b.side, b.letter, b.length,
           b.place, ARRAY(SELECT unnest(v.words) COLLATE "C" AS word UNION SELECT unnest(b.words) ORDER BY word)
    FROM bucket b
    LEFT JOIN search_vocabulary v
        ON v.tenant_id = CAST(:tenant_id AS uuid) AND v.owner_id = CAST(:owner_id AS uuid)
       AND v.analyser = CAST(:analyser AS smallint)
       AND v.side = b.side AND v.letter = b.letter AND v.length = b.length AND v.place = b.place
    WHERE v.words IS NULL OR NOT v.words @> b.words
    ON CONFLICT (tenant_id, owner_id, analyser, side, letter, length, place) DO UPDATE
    SET words = excluded.words
)
UPDATE search_scopes AS s
SET pages = s.pages + t.pages, words = s.words + t.words, updated_at = CAST(:now AS timestamptz),
    languages = ARRAY(SELECT unnest(s.languages) UNION SELECT unnest(t.languages) ORDER BY 1)
FROM (
    SELECT coalesce(sum(pages), 0) AS pages, coalesce(sum(words), 0) AS words,
           coalesce(array_agg(DISTINCT language) FILTER (WHERE language <> ''), '{}') AS languages
    FROM taken
) AS t
WHERE s.tenant_id = CAST(:tenant_id AS uuid) AND s.owner_id = CAST(:owner_id AS uuid)
  AND s.analyser = CAST(:analyser AS smallint);

-- name: drop_terms
-- Lexemes that no page has any more.
DELETE FROM search_terms
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND analyser = :analyser AND pages <= 0;
