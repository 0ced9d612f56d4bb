-- name: write_pages
-- Write the index rows of pages, and log the changes to the word counts of their wiki. The texts are words of
-- content.search.words; each of their lexemes gets the letter of its scope as prefix. Return the number of changes that
-- were pending before, and whether one of these pages is in a language that queries are not stemmed in yet. A language
-- without a stemmer in this Postgres is `simple`. The vectors of the pages are deleted. Marks (a colon after the
-- letter) are not counted.
WITH given AS (
    SELECT
        page_id, change_id, status, type, tags, title, names, leads, body, marks, title_words, words, text_words,
        name_words, CAST(
            CASE WHEN pg_input_is_valid(language, 'regconfig') THEN language ELSE 'simple' END AS regconfig
        ) AS language
    FROM unnest(
        CAST(:page_ids AS uuid[]), CAST(:change_ids AS uuid[]), CAST(:languages AS text[]), CAST(:statuses AS text[]),
        CAST(:types AS text[]), CAST(:tags AS text[]), CAST(:titles AS text[]), CAST(:names AS text[]),
        CAST(:leads AS text[]), CAST(:bodies AS text[]), CAST(:marks AS text[]), CAST(:title_words AS integer[]),
        CAST(:words AS integer[]), CAST(:text_words AS text[]), CAST(:name_words AS text[])
    ) AS given (
        page_id, change_id, language, status, type, tags, title, names, leads, body, marks, title_words, words,
        text_words, name_words
    )
), old AS MATERIALIZED (
    SELECT page_id, words, ARRAY(
        SELECT lexeme FROM unnest(tsvector_to_array(tsv)) AS lexeme WHERE substr(lexeme, 2, 1) <> ':'
    ) AS lexemes
    FROM search_pages
    WHERE page_id = ANY(CAST(:page_ids AS uuid[])) AND tenant_id = CAST(:tenant_id AS uuid)
      AND analyser = CAST(:analyser AS smallint)
), said AS (
    SELECT
        page_id,
        setweight(to_tsvector(language, title), 'A') || setweight(to_tsvector(language, names), 'B')
            || setweight(to_tsvector(language, leads), 'C') || setweight(to_tsvector(language, body), 'D') AS tsv,
        setweight(to_tsvector('simple', title), 'A') || setweight(to_tsvector(language, title), 'A')
            || setweight(to_tsvector('simple', names), 'B') || setweight(to_tsvector(language, names), 'B') AS name_tsv
    FROM given
), scope AS MATERIALIZED (
    SELECT
        s.pages, s.languages, s.reached,
        (SELECT count(*) FROM search_changes c
         WHERE c.tenant_id = CAST(:tenant_id AS uuid) AND c.owner_id = CAST(:owner_id AS uuid)
           AND c.analyser = CAST(:analyser AS smallint)) AS waiting
    FROM search_scopes s
    WHERE s.tenant_id = CAST(:tenant_id AS uuid) AND s.owner_id = CAST(:owner_id AS uuid)
      AND s.analyser = CAST(:analyser AS smallint)
), lettered AS MATERIALIZED (
    SELECT
        page_id,
        CAST(replace(' ' || CAST(tsv AS text), ' ''', ' ''' || CAST(:letter AS text)) AS tsvector) AS tsv,
        CAST(replace(' ' || CAST(name_tsv AS text), ' ''', ' ''' || CAST(:letter AS text)) AS tsvector) AS name_tsv
    FROM said
), saved AS (
    INSERT INTO search_pages (
        tenant_id, owner_id, page_id, analyser, status, type, tags, title_words, words, tsv, name_tsv
    )
    SELECT
        CAST(:tenant_id AS uuid), CAST(:owner_id AS uuid), g.page_id, CAST(:analyser AS smallint), g.status, g.type,
        string_to_array(g.tags, chr(31)), g.title_words, g.words,
        l.tsv || array_to_tsvector(string_to_array(g.marks, chr(31))), l.name_tsv
    FROM given AS g JOIN lettered AS l ON l.page_id = g.page_id
    ON CONFLICT (page_id, tenant_id, analyser) DO UPDATE
    SET status = excluded.status, type = excluded.type, tags = excluded.tags,
        title_words = excluded.title_words, words = excluded.words,
        tsv = excluded.tsv, name_tsv = excluded.name_tsv
), unmeant AS (
    DELETE FROM page_embeddings
    WHERE tenant_id = CAST(:tenant_id AS uuid) AND owner_id = CAST(:owner_id AS uuid)
      AND page_id = ANY(CAST(:page_ids AS uuid[]))
), logged AS (
    INSERT INTO search_changes (
        tenant_id, owner_id, id, analyser, gained, lost, text_words, name_words, language, pages, words, recounted
    )
    SELECT
        CAST(:tenant_id AS uuid), CAST(:owner_id AS uuid), g.change_id, CAST(:analyser AS smallint),
        CASE
            WHEN o.page_id IS NULL THEN tsvector_to_array(l.tsv)
            ELSE ARRAY(SELECT unnest(tsvector_to_array(l.tsv)) EXCEPT SELECT unnest(o.lexemes))
        END,
        CASE
            WHEN o.page_id IS NULL THEN CAST('{}' AS text[])
            ELSE ARRAY(SELECT unnest(o.lexemes) EXCEPT SELECT unnest(tsvector_to_array(l.tsv)))
        END,
        string_to_array(g.text_words, ' '), string_to_array(g.name_words, ' '), CAST(g.language AS text),
        CASE WHEN o.page_id IS NULL THEN 1 ELSE 0 END, g.words - coalesce(o.words, 0),
        coalesce(g.page_id <= (SELECT reached FROM scope), false)
    FROM given AS g
    JOIN lettered AS l ON l.page_id = g.page_id
    LEFT JOIN old AS o ON o.page_id = g.page_id
)
SELECT
    pages, waiting, EXISTS (SELECT FROM given WHERE CAST(language AS text) <> ALL (languages)) AS is_in_new_language
FROM scope;

-- name: mark_pages
-- Write the new status of pages whose words are unchanged.
UPDATE search_pages AS p SET status = given.status
FROM unnest(CAST(:page_ids AS uuid[]), CAST(:statuses AS text[])) AS given (page_id, status)
WHERE p.page_id = given.page_id AND p.tenant_id = :tenant_id;

-- name: leave_page
-- Delete the rows of a page, except those of these analysers, and log that the wiki has fewer words until another
-- analyser reads the page again.
WITH gone AS (
    DELETE FROM search_pages
    WHERE page_id = CAST(:page_id AS uuid) AND tenant_id = CAST(:tenant_id AS uuid)
      AND analyser <> ALL(CAST(:analysers AS smallint[]))
    RETURNING page_id, analyser, tsv, words
)
INSERT INTO search_changes (tenant_id, owner_id, id, analyser, gained, lost, language, pages, words, recounted)
SELECT CAST(:tenant_id AS uuid), CAST(:owner_id AS uuid), CAST(:change_id AS uuid), gone.analyser,
       '{}', ARRAY(SELECT lexeme FROM unnest(tsvector_to_array(gone.tsv)) AS lexeme WHERE substr(lexeme, 2, 1) <> ':'),
       '', -1, -gone.words, coalesce(gone.page_id <= s.reached, false)
FROM gone
JOIN search_scopes AS s
    ON s.tenant_id = CAST(:tenant_id AS uuid) AND s.owner_id = CAST(:owner_id AS uuid) AND s.analyser = gone.analyser;

-- name: archive_pages
-- Remove all pages of a wiki from search. The rows are found through the pages, because they have no index by wiki.
UPDATE search_pages AS s SET status = 'archived'
FROM pages AS p
WHERE p.tenant_id = :tenant_id AND p.owner_id = :owner_id
  AND s.page_id = p.id AND s.tenant_id = :tenant_id AND s.status = 'active';

-- name: find_analysers
-- Find the language of a wiki, and the analysers by which its pages are indexed, with the state of each index.
SELECT o.language, s.analyser, s.state, s.pages
FROM owners AS o
LEFT JOIN search_scopes AS s ON s.tenant_id = o.tenant_id AND s.owner_id = o.id AND s.analyser < 100
WHERE o.tenant_id = :tenant_id AND o.id = :owner_id;

-- name: open_scope
-- Open the index of a wiki. If the wiki has other pages already, the index is still to be built.
INSERT INTO search_scopes (tenant_id, owner_id, analyser, state, pages, words)
SELECT CAST(:tenant_id AS uuid), CAST(:owner_id AS uuid), CAST(:analyser AS smallint),
       CASE WHEN EXISTS (
           SELECT FROM pages AS p
           WHERE p.tenant_id = CAST(:tenant_id AS uuid) AND p.owner_id = CAST(:owner_id AS uuid)
             AND p.id <> ALL(CAST(:page_ids AS uuid[]))
       ) THEN 'building' ELSE 'ready' END,
       0, 0
ON CONFLICT (tenant_id, owner_id, analyser) DO NOTHING
RETURNING state;

-- name: add_names
-- Add the names of new pages.
INSERT INTO page_names (tenant_id, owner_id, page_id, kind, name, status)
SELECT CAST(:tenant_id AS uuid), CAST(:owner_id AS uuid), given.page_id, given.kind, given.name, given.status
FROM unnest(CAST(:page_ids AS uuid[]), CAST(:kinds AS text[]), CAST(:names AS text[]), CAST(:statuses AS text[]))
    AS given (page_id, kind, name, status);

-- name: drop_names
-- Delete the names that these pages no longer have.
DELETE FROM page_names AS n
WHERE n.tenant_id = :tenant_id AND n.owner_id = :owner_id AND n.page_id = ANY(CAST(:page_ids AS uuid[]))
  AND NOT EXISTS (
      SELECT FROM unnest(CAST(:page_ids AS uuid[]), CAST(:kinds AS text[]), CAST(:names AS text[]))
          AS given (page_id, kind, name)
      WHERE given.page_id = n.page_id AND given.kind = n.kind AND given.name = n.name
  );

-- name: write_names
-- Write all names of these pages.
INSERT INTO page_names (tenant_id, owner_id, page_id, kind, name, status)
SELECT CAST(:tenant_id AS uuid), CAST(:owner_id AS uuid), given.page_id, given.kind, given.name, given.status
FROM unnest(
    CAST(:page_ids AS uuid[]), CAST(:kinds AS text[]), CAST(:names AS text[]), CAST(:statuses AS text[])
) AS given (page_id, kind, name, status)
ON CONFLICT (tenant_id, page_id, kind, name) DO UPDATE
SET status = excluded.status
WHERE page_names.status <> excluded.status;

-- name: archive_names
-- Remove all names of a wiki from search.
UPDATE page_names SET status = 'archived'
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND status = 'active';

-- name: has_unsearchable
-- Return whether a wiki of this tenant has pages or sources but no complete index of them by this analyser.
SELECT EXISTS (
    SELECT FROM owners AS o
    WHERE o.tenant_id = CAST(:tenant_id AS uuid)
      AND EXISTS (SELECT FROM pages AS p WHERE p.tenant_id = CAST(:tenant_id AS uuid) AND p.owner_id = o.id)
      AND NOT EXISTS (
          SELECT FROM search_scopes AS s
          WHERE s.tenant_id = CAST(:tenant_id AS uuid) AND s.owner_id = o.id
            AND s.analyser = CAST(:analyser AS smallint) AND s.state = 'ready'
      )
) OR EXISTS (
    SELECT FROM owners AS o
    WHERE o.tenant_id = CAST(:tenant_id AS uuid)
      AND EXISTS (
          SELECT FROM sources AS e
          WHERE e.tenant_id = CAST(:tenant_id AS uuid) AND e.owner_id = o.id AND e.forgotten_at IS NULL
      )
      AND NOT EXISTS (
          SELECT FROM search_scopes AS s
          WHERE s.tenant_id = CAST(:tenant_id AS uuid) AND s.owner_id = o.id
            AND s.analyser = 100 + CAST(:analyser AS smallint) AND s.state = 'ready'
      )
);
