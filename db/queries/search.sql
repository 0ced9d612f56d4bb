-- name: find_pages
-- Pages of one wiki by words, by beginnings of words and by name, each once with its best name; whole names come first.
WITH query AS (
    SELECT
        plainto_tsquery('english', CAST(:words AS text)) AS words,
        to_tsquery('english', CAST(:prefixes AS text)) AS prefixes
),
matching AS (
    SELECT n.page_id, n.name
    FROM page_names n
    WHERE n.tenant_id = CAST(:tenant_id AS uuid) AND n.owner_id = CAST(:owner_id AS uuid) AND n.status = 'active'
      AND n.name >= CAST(:needle AS text) AND n.name < CAST(:needle_end AS text)
    UNION
    SELECT n.page_id, n.name
    FROM page_names n
    WHERE n.tenant_id = CAST(:tenant_id AS uuid) AND n.owner_id = CAST(:owner_id AS uuid) AND n.status = 'active'
      AND n.name LIKE CAST(:inside AS text) ESCAPE '\'
),
named AS MATERIALIZED (
    SELECT DISTINCT ON (page_id) page_id, name, name = CAST(:needle AS text) AS whole
    FROM matching
    ORDER BY page_id, name <> CAST(:needle AS text), length(name), name
)
SELECT
    s.page_id,
    CAST(
        ts_rank(s.tsv, query.words) + 0.5 * ts_rank(s.tsv, query.prefixes)
        + CASE WHEN named.whole THEN 2.0 WHEN named.page_id IS NOT NULL THEN 1.0 ELSE 0.0 END
        AS float8
    ) AS score,
    named.name AS matched_alias
FROM page_search s
CROSS JOIN query
LEFT JOIN named ON named.page_id = s.page_id
WHERE s.tenant_id = CAST(:tenant_id AS uuid) AND s.owner_id = CAST(:owner_id AS uuid) AND s.status = 'active'
  AND (s.tsv @@ (SELECT words || prefixes FROM query) OR s.page_id = ANY (ARRAY(SELECT page_id FROM named)))
ORDER BY score DESC, s.last_compiled_at DESC NULLS LAST, s.page_id
LIMIT CAST(:size AS integer)
