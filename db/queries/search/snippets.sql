-- name: find_texts
-- The sections of these pages in order, up to the size in which a snippet is searched.
SELECT s.page_id, s.id, s.heading, left(s.body_md, CAST(:longest AS integer)) AS body
FROM sections AS s
WHERE s.tenant_id = CAST(:tenant_id AS uuid) AND s.owner_id = CAST(:owner_id AS uuid)
  AND s.page_id = ANY(CAST(:page_ids AS uuid[]))
ORDER BY s.page_id, s.position, s.id;

-- name: stem_words
-- The lexemes of words in the languages of a wiki.
SELECT word.text AS word, array_agg(DISTINCT CAST(:letter AS text) || stem) AS lexemes
FROM search_scopes AS scope
CROSS JOIN unnest(CAST(:words AS text[])) AS word (text)
CROSS JOIN LATERAL unnest(scope.languages) AS language
CROSS JOIN LATERAL unnest(tsvector_to_array(to_tsvector(CAST(language AS regconfig), word.text))) AS stem
WHERE scope.tenant_id = CAST(:tenant_id AS uuid) AND scope.owner_id = CAST(:owner_id AS uuid)
  AND scope.analyser = CAST(:analyser AS smallint)
GROUP BY word.text;

-- name: find_switch
-- Whether one of these pages contains a word as a command line switch, like `-Recurse`, which the pattern matches.
SELECT EXISTS (
    SELECT FROM sections AS s
    WHERE s.tenant_id = CAST(:tenant_id AS uuid) AND s.owner_id = CAST(:owner_id AS uuid)
      AND s.page_id = ANY(CAST(:page_ids AS uuid[]))
      AND left(s.body_md, CAST(:longest AS integer)) ~* CAST(:pattern AS text)
) AS is_written;
