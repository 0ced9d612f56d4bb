-- name: read_words
-- Look up the words of a query: their lexemes in the languages of the wiki, the number of pages of each, completions of
-- the last word, and, if one of the languages writes compounds as one word, compounds that begin or end with a word of
-- the query. The newest complete index is used, whatever its analyser. A word that is a stop word in one of the
-- languages has a row without a lexeme, too.
WITH scope AS (
    SELECT analyser, edition, shelves, pages, words, languages, updated_at
    FROM search_scopes
    WHERE tenant_id = CAST(:tenant_id AS uuid) AND owner_id = CAST(:owner_id AS uuid)
      AND state = 'ready' AND analyser = ANY(CAST(:analysers AS smallint[]))
    ORDER BY analyser DESC
    LIMIT 1
), longer AS (
    SELECT w.word, v.place
    FROM search_vocabulary AS v
    CROSS JOIN LATERAL unnest(v.words[
        width_bucket(CAST(:beginning AS text) COLLATE "C", v.words) + 1
        : width_bucket(CAST(:ending AS text) COLLATE "C", v.words)
    ]) AS w (word)
    WHERE v.tenant_id = CAST(:tenant_id AS uuid) AND v.owner_id = CAST(:owner_id AS uuid)
      AND v.analyser = (SELECT analyser FROM scope) AND v.side = 'initial'
      AND v.letter IN (left(CAST(:beginning AS text), 1), chr(greatest(ascii(CAST(:beginning AS text)) / 256 * 256, 1)))
      AND v.length > length(CAST(:beginning AS text))
    ORDER BY v.place, v.length, w.word
    LIMIT CAST(:longer AS integer)
), compound AS (
    SELECT part.word AS part, found.word, found.is_end
    FROM unnest(CAST(:parts AS text[])) AS part (word)
    CROSS JOIN LATERAL (
        SELECT w.word, shelf.side = 'final' AS is_end
        FROM (VALUES ('initial', left(part.word, 1)), ('final', right(part.word, 1))) AS shelf (side, letter)
        CROSS JOIN LATERAL (
            SELECT words FROM search_vocabulary
            WHERE tenant_id = CAST(:tenant_id AS uuid) AND owner_id = CAST(:owner_id AS uuid)
              AND analyser = (SELECT analyser FROM scope WHERE languages && CAST(:compounding AS text[]))
              AND side = shelf.side AND letter = shelf.letter AND length >= length(part.word) + 3
            OFFSET 0
        ) AS v
        CROSS JOIN LATERAL unnest(CASE shelf.side WHEN 'final' THEN v.words ELSE v.words[
            width_bucket(part.word COLLATE "C", v.words) + 1 : width_bucket(part.word || chr(1114111) COLLATE "C", v.words)
        ] END) AS w (word)
        WHERE shelf.side = 'initial' OR right(w.word, length(part.word)) = part.word
        GROUP BY w.word, is_end
        ORDER BY is_end DESC, length(w.word), w.word
        LIMIT CAST(:longer AS integer)
    ) AS found
), word AS (
    SELECT given.word, 'asked' AS origin, NULL AS part, false AS is_end
    FROM unnest(CAST(:words AS text[])) AS given (word)
    UNION ALL
    SELECT DISTINCT longer.word, 'longer', NULL, false FROM longer
    UNION ALL
    SELECT word, 'compound', part, is_end FROM compound
)
SELECT scope.analyser, scope.pages, scope.words AS words, scope.updated_at AS counted_at, scope.languages,
       word.origin, word.word, word.part, word.is_end, lexeme.text AS lexeme, coalesce(t.pages, 0) AS found
FROM scope
CROSS JOIN word
LEFT JOIN LATERAL (
    SELECT DISTINCT CAST(:letter AS text) || stem AS text
    FROM unnest(scope.languages) AS language
    LEFT JOIN LATERAL unnest(tsvector_to_array(to_tsvector(CAST(language AS regconfig), word.word))) AS stem ON true
) AS lexeme ON true
LEFT JOIN LATERAL (
    SELECT CAST(c.pages ->> substr(lexeme.text, 2) AS integer) AS pages
    FROM search_counts AS c
    WHERE c.tenant_id = CAST(:tenant_id AS uuid) AND c.owner_id = CAST(:owner_id AS uuid)
      AND c.analyser = scope.analyser AND c.edition = scope.edition
      AND c.shelf = hashtext(substr(lexeme.text, 2)) & (scope.shelves - 1)
    UNION ALL
    SELECT o.pages
    FROM search_terms AS o
    WHERE o.tenant_id = CAST(:tenant_id AS uuid) AND o.owner_id = CAST(:owner_id AS uuid)
      AND o.analyser = scope.analyser AND o.lexeme = lexeme.text AND scope.shelves IS NULL
) AS t ON true;

-- name: mend_words
-- Find words of the wiki that differ little from these: with about the same length, and the same beginning or end. A
-- swap of neighbouring letters is two edits of Levenshtein. A stop word that is in a name has no lexeme, and is
-- returned nevertheless.
WITH near AS MATERIALIZED (
    SELECT asked.word AS asked, close.word, close.place
    FROM unnest(CAST(:words AS text[])) AS asked (word)
    CROSS JOIN LATERAL (
        SELECT w.word, min(v.place) AS place
        FROM (VALUES
            ('initial', left(asked.word, 1)), ('initial', substr(asked.word, 2, 1)),
            ('final', right(asked.word, 1)), ('final', substr(asked.word, length(asked.word) - 1, 1))
        ) AS shelf (side, letter)
        CROSS JOIN LATERAL (
            SELECT words, place FROM search_vocabulary
            WHERE tenant_id = CAST(:tenant_id AS uuid) AND owner_id = CAST(:owner_id AS uuid)
              AND analyser = CAST(:analyser AS smallint) AND side = shelf.side AND letter = shelf.letter
              AND (side = 'initial' OR place = 'name')
              AND length BETWEEN length(asked.word) - 2 AND length(asked.word) + 2
            OFFSET 0
        ) AS v
        CROSS JOIN LATERAL unnest(v.words) AS w (word)
        WHERE levenshtein_less_equal(w.word, asked.word, 4) <= 4
        GROUP BY w.word
        ORDER BY levenshtein_less_equal(w.word, asked.word, 4), min(v.place), w.word
        LIMIT 40
    ) AS close
)
SELECT near.asked, near.word, near.place = 'name' AS in_names, lexeme.text AS lexeme, coalesce(t.pages, 0) AS found
FROM near
CROSS JOIN (
    SELECT languages, edition, shelves FROM search_scopes
    WHERE tenant_id = CAST(:tenant_id AS uuid) AND owner_id = CAST(:owner_id AS uuid)
      AND analyser = CAST(:analyser AS smallint)
) AS scope
LEFT JOIN LATERAL (
    SELECT DISTINCT CAST(:letter AS text) || stem AS text
    FROM unnest(scope.languages) AS language
    CROSS JOIN LATERAL unnest(tsvector_to_array(to_tsvector(CAST(language AS regconfig), near.word))) AS stem
) AS lexeme ON true
LEFT JOIN LATERAL (
    SELECT CAST(c.pages ->> substr(lexeme.text, 2) AS integer) AS pages
    FROM search_counts AS c
    WHERE c.tenant_id = CAST(:tenant_id AS uuid) AND c.owner_id = CAST(:owner_id AS uuid)
      AND c.analyser = CAST(:analyser AS smallint) AND c.edition = scope.edition
      AND c.shelf = hashtext(substr(lexeme.text, 2)) & (scope.shelves - 1)
    UNION ALL
    SELECT o.pages
    FROM search_terms AS o
    WHERE o.tenant_id = CAST(:tenant_id AS uuid) AND o.owner_id = CAST(:owner_id AS uuid)
      AND o.analyser = CAST(:analyser AS smallint) AND o.lexeme = lexeme.text AND scope.shelves IS NULL
) AS t ON true;

-- name: find_relatives
-- Find the names next to a code on both sides, with the same letters and the same number of digits, and their pages.
(SELECT page_id, name FROM page_names
WHERE tenant_id = CAST(:tenant_id AS uuid) AND owner_id = CAST(:owner_id AS uuid)
  AND name >= CAST(:first AS text) AND name < CAST(:name AS text) AND length(name) = length(CAST(:name AS text))
  AND status = ANY(CAST(:statuses AS text[]))
ORDER BY name DESC LIMIT 20)
UNION ALL
(SELECT page_id, name FROM page_names
WHERE tenant_id = CAST(:tenant_id AS uuid) AND owner_id = CAST(:owner_id AS uuid)
  AND name > CAST(:name AS text) AND name <= CAST(:last AS text) AND length(name) = length(CAST(:name AS text))
  AND status = ANY(CAST(:statuses AS text[]))
ORDER BY name LIMIT 20);

-- name: find_said
-- Return those of these lexemes that a page with one of these statuses has, by one lookup per lexeme, whatever the
-- planner expects.
SELECT given.lexeme
FROM unnest(CAST(:lexemes AS text[])) AS given (lexeme)
CROSS JOIN LATERAL (
    SELECT FROM search_pages AS p
    WHERE p.tenant_id = CAST(:tenant_id AS uuid) AND p.owner_id = CAST(:owner_id AS uuid)
      AND p.analyser = CAST(:analyser AS smallint) AND p.status = ANY(CAST(:statuses AS text[]))
      AND p.tsv @@ CAST(quote_literal(given.lexeme) AS tsquery)
    LIMIT 1
) AS page;

-- name: find_said_in_passages
-- Return those of these lexemes that a passage with one of these statuses has.
SELECT given.lexeme
FROM unnest(CAST(:lexemes AS text[])) AS given (lexeme)
CROSS JOIN LATERAL (
    SELECT FROM search_passages AS p
    WHERE p.tenant_id = CAST(:tenant_id AS uuid) AND p.owner_id = CAST(:owner_id AS uuid)
      AND p.analyser = CAST(:analyser AS smallint) AND p.status = ANY(CAST(:statuses AS text[]))
      AND p.tsv @@ CAST(quote_literal(given.lexeme) AS tsquery)
    LIMIT 1
) AS passage;

-- name: find_topic
-- Find the topic of a page: lexemes that it has often, and few other pages of its wiki have.
SELECT scope.analyser, scope.pages, scope.words, t.lexeme, c.pages AS found,
    cardinality(t.positions) / (cardinality(t.positions) + 1.0)
        * ln(1 + (scope.pages - c.pages + 0.5) / (c.pages + 0.5)) AS weight
FROM (
    SELECT analyser, edition, shelves, pages, words
    FROM search_scopes
    WHERE tenant_id = CAST(:tenant_id AS uuid) AND owner_id = CAST(:owner_id AS uuid)
      AND state = 'ready' AND analyser = ANY(CAST(:analysers AS smallint[]))
    ORDER BY analyser DESC
    LIMIT 1
) AS scope
JOIN search_pages AS p
    ON p.page_id = CAST(:page_id AS uuid) AND p.tenant_id = CAST(:tenant_id AS uuid) AND p.analyser = scope.analyser
CROSS JOIN LATERAL unnest(p.tsv) AS t
CROSS JOIN LATERAL (
    SELECT CAST(n.pages ->> substr(t.lexeme, 2) AS integer) AS pages
    FROM search_counts AS n
    WHERE n.tenant_id = CAST(:tenant_id AS uuid) AND n.owner_id = CAST(:owner_id AS uuid)
      AND n.analyser = scope.analyser AND n.edition = scope.edition
      AND n.shelf = hashtext(substr(t.lexeme, 2)) & (scope.shelves - 1)
    UNION ALL
    SELECT o.pages
    FROM search_terms AS o
    WHERE o.tenant_id = CAST(:tenant_id AS uuid) AND o.owner_id = CAST(:owner_id AS uuid)
      AND o.analyser = scope.analyser AND o.lexeme = t.lexeme AND scope.shelves IS NULL
) AS c
WHERE cardinality(t.positions) > 0 AND c.pages BETWEEN 2 AND greatest(2, scope.pages / 2)
ORDER BY weight DESC, t.lexeme
LIMIT CAST(:size AS integer);
