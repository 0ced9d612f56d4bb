-- name: write_page
-- What is found of a page, and what that changes in the words of its wiki. The texts are words of content.words;
-- each lexeme of theirs is written with the letter of its scope before it. Answers with what waits to be folded.
-- A language that this Postgres has no stemmer for is `simple`. Marks (a colon behind the letter) are not counted.
WITH configured AS (
    SELECT CAST(
        CASE WHEN pg_input_is_valid(CAST(:language AS text), 'regconfig') THEN CAST(:language AS text) ELSE 'simple' END
        AS regconfig
    ) AS language
), old AS (
    SELECT words, ARRAY(
        SELECT lexeme FROM unnest(tsvector_to_array(tsv)) AS lexeme WHERE substr(lexeme, 2, 1) <> ':'
    ) AS lexemes_before
    FROM search_pages
    WHERE page_id = CAST(:page_id AS uuid) AND tenant_id = CAST(:tenant_id AS uuid)
      AND analyser = CAST(:analyser AS smallint)
), said AS (
    SELECT
        setweight(to_tsvector(language, CAST(:title AS text)), 'A')
            || setweight(to_tsvector(language, CAST(:names AS text)), 'B')
            || setweight(to_tsvector(language, CAST(:leads AS text)), 'C')
            || setweight(to_tsvector(language, CAST(:body AS text)), 'D') AS tsv,
        setweight(to_tsvector('simple', CAST(:title AS text)), 'A')
            || setweight(to_tsvector(language, CAST(:title AS text)), 'A')
            || setweight(to_tsvector('simple', CAST(:names AS text)), 'B')
            || setweight(to_tsvector(language, CAST(:names AS text)), 'B') AS name_tsv,
        CAST(language AS text) AS language
    FROM configured
), written AS (
    SELECT
        CAST(replace(' ' || CAST(tsv AS text), ' ''', ' ''' || CAST(:letter AS text)) AS tsvector)
            || array_to_tsvector(CAST(:marks AS text[])) AS tsv,
        CAST(replace(' ' || CAST(name_tsv AS text), ' ''', ' ''' || CAST(:letter AS text)) AS tsvector) AS name_tsv,
        ARRAY(SELECT CAST(:letter AS text) || lexeme FROM unnest(tsvector_to_array(tsv)) AS lexeme) AS lexemes,
        language
    FROM said
), saved AS (
    INSERT INTO search_pages (
        tenant_id, owner_id, page_id, analyser, status, type, tags, title_words, words, tsv, name_tsv
    )
    SELECT
        CAST(:tenant_id AS uuid), CAST(:owner_id AS uuid), CAST(:page_id AS uuid), CAST(:analyser AS smallint),
        CAST(:status AS text), CAST(:type AS text), CAST(:tags AS text[]),
        CAST(:title_words AS integer), CAST(:words AS integer), tsv, name_tsv
    FROM written
    ON CONFLICT (page_id, tenant_id, analyser) DO UPDATE
    SET status = excluded.status, type = excluded.type, tags = excluded.tags,
        title_words = excluded.title_words, words = excluded.words,
        tsv = excluded.tsv, name_tsv = excluded.name_tsv
), logged AS (
    INSERT INTO search_changes (
        tenant_id, owner_id, id, analyser, gained, lost, text_words, name_words, language, pages, words
    )
    SELECT
        CAST(:tenant_id AS uuid), CAST(:owner_id AS uuid), CAST(:change_id AS uuid), CAST(:analyser AS smallint),
        ARRAY(SELECT unnest(lexemes) EXCEPT SELECT unnest(lexemes_before) FROM old),
        ARRAY(SELECT unnest(lexemes_before) FROM old EXCEPT SELECT unnest(lexemes)),
        CAST(:text_words AS text[]), CAST(:name_words AS text[]), language,
        1 - (SELECT count(*) FROM old), CAST(:words AS integer) - coalesce((SELECT words FROM old), 0)
    FROM written
)
SELECT
    s.pages,
    (SELECT count(*) FROM search_changes c
     WHERE c.tenant_id = CAST(:tenant_id AS uuid) AND c.owner_id = CAST(:owner_id AS uuid)
       AND c.analyser = CAST(:analyser AS smallint)) AS waiting
FROM search_scopes s
WHERE s.tenant_id = CAST(:tenant_id AS uuid) AND s.owner_id = CAST(:owner_id AS uuid)
  AND s.analyser = CAST(:analyser AS smallint);

-- name: mark_page
-- A page whose words are the same, but not its status.
UPDATE search_pages SET status = :status
WHERE page_id = :page_id AND tenant_id = :tenant_id;

-- name: leave_page
-- Analysers that this release does not know have to read the page again; until then their words are fewer.
WITH gone AS (
    DELETE FROM search_pages
    WHERE page_id = CAST(:page_id AS uuid) AND tenant_id = CAST(:tenant_id AS uuid)
      AND analyser <> ALL(CAST(:analysers AS smallint[]))
    RETURNING analyser, tsv, words
)
INSERT INTO search_changes (tenant_id, owner_id, id, analyser, gained, lost, language, pages, words)
SELECT CAST(:tenant_id AS uuid), CAST(:owner_id AS uuid), CAST(:change_id AS uuid), analyser,
       '{}', ARRAY(SELECT lexeme FROM unnest(tsvector_to_array(tsv)) AS lexeme WHERE substr(lexeme, 2, 1) <> ':'),
       '', -1, -words
FROM gone;

-- name: forget_page
-- What the words of a wiki lose with a page that goes, counted at once.
WITH lost AS (
    SELECT analyser, tsv, words FROM search_pages
    WHERE page_id = CAST(:page_id AS uuid) AND tenant_id = CAST(:tenant_id AS uuid)
), terms AS (
    INSERT INTO search_terms (tenant_id, owner_id, analyser, lexeme, pages)
    SELECT CAST(:tenant_id AS uuid), CAST(:owner_id AS uuid), lost.analyser, gone.lexeme, -1
    FROM lost
    CROSS JOIN LATERAL unnest(tsvector_to_array(lost.tsv)) AS gone (lexeme)
    WHERE substr(gone.lexeme, 2, 1) <> ':'
    ORDER BY gone.lexeme
    ON CONFLICT (tenant_id, owner_id, analyser, lexeme) DO UPDATE
    SET pages = search_terms.pages + excluded.pages
)
UPDATE search_scopes AS s
SET pages = s.pages - 1, words = s.words - lost.words, updated_at = CAST(:now AS timestamptz)
FROM lost
WHERE s.tenant_id = CAST(:tenant_id AS uuid) AND s.owner_id = CAST(:owner_id AS uuid) AND s.analyser = lost.analyser;

-- name: archive_pages
-- No word of a wiki is found any more. Its pages lead to the rows: these have no index by wiki.
UPDATE search_pages AS s SET status = 'archived'
FROM pages AS p
WHERE p.tenant_id = :tenant_id AND p.owner_id = :owner_id
  AND s.page_id = p.id AND s.tenant_id = :tenant_id AND s.status = 'active';

-- name: find_analysers
-- The language of a wiki, and which analysers' rows it has, with what is known of each.
SELECT o.language, s.analyser, s.state, s.pages
FROM owners AS o
LEFT JOIN search_scopes AS s ON s.tenant_id = o.tenant_id AND s.owner_id = o.id
WHERE o.tenant_id = :tenant_id AND o.id = :owner_id;

-- name: open_scope
-- The words of a wiki begin to be counted. One that has pages already has yet to be read as a whole.
INSERT INTO search_scopes (tenant_id, owner_id, analyser, state, pages, words)
SELECT CAST(:tenant_id AS uuid), CAST(:owner_id AS uuid), CAST(:analyser AS smallint),
       CASE WHEN EXISTS (
           SELECT FROM pages AS p
           WHERE p.tenant_id = CAST(:tenant_id AS uuid) AND p.owner_id = CAST(:owner_id AS uuid)
             AND p.id <> CAST(:page_id AS uuid)
       ) THEN 'building' ELSE 'ready' END,
       0, 0
ON CONFLICT (tenant_id, owner_id, analyser) DO NOTHING;

-- name: write_names
-- Every name that a page answers to, and no other.
WITH given AS (
    SELECT kind, name FROM unnest(CAST(:kinds AS text[]), CAST(:names AS text[])) AS given (kind, name)
), gone AS (
    DELETE FROM page_names AS n
    WHERE n.tenant_id = :tenant_id AND n.owner_id = :owner_id AND n.page_id = :page_id
      AND NOT EXISTS (SELECT 1 FROM given WHERE given.kind = n.kind AND given.name = n.name)
)
INSERT INTO page_names (tenant_id, owner_id, page_id, kind, name, status)
SELECT CAST(:tenant_id AS uuid), CAST(:owner_id AS uuid), CAST(:page_id AS uuid), given.kind, given.name,
       CAST(:status AS text)
FROM given
ON CONFLICT (tenant_id, page_id, kind, name) DO UPDATE
SET status = excluded.status
WHERE page_names.status <> excluded.status;

-- name: archive_names
-- No name of a wiki is found any more.
UPDATE page_names SET status = 'archived'
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND status = 'active';
