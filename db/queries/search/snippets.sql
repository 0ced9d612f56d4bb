-- name: find_texts
-- List the sections of these pages in order, cut to the part that is searched for a snippet.
SELECT s.page_id, s.id, s.heading, left(s.body_md, CAST(:longest AS integer)) AS body
FROM sections AS s
WHERE s.tenant_id = CAST(:tenant_id AS uuid) AND s.owner_id = CAST(:owner_id AS uuid)
  AND s.page_id = ANY(CAST(:page_ids AS uuid[]))
ORDER BY s.page_id, s.position, s.id;

-- name: stem_words
-- Find the lexemes of words in the languages of a wiki.
SELECT word.text AS word, array_agg(DISTINCT CAST(:letter AS text) || stem) AS lexemes
FROM search_scopes AS scope
CROSS JOIN unnest(CAST(:words AS text[])) AS word (text)
CROSS JOIN LATERAL unnest(scope.languages) AS language
CROSS JOIN LATERAL unnest(tsvector_to_array(to_tsvector(CAST(language AS regconfig), word.text))) AS stem
WHERE scope.tenant_id = CAST(:tenant_id AS uuid) AND scope.owner_id = CAST(:owner_id AS uuid)
  AND scope.analyser = CAST(:analyser AS smallint)
GROUP BY word.text;

-- name: find_switch
-- Return whether one of these pages has a word as a command-line switch, such as `-Recurse`, by a pattern.
SELECT EXISTS (
    SELECT FROM sections AS s
    WHERE s.tenant_id = CAST(:tenant_id AS uuid) AND s.owner_id = CAST(:owner_id AS uuid)
      AND s.page_id = ANY(CAST(:page_ids AS uuid[]))
      AND left(s.body_md, CAST(:longest AS integer)) ~* CAST(:pattern AS text)
) AS is_written;
