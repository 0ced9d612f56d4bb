-- name: list_wikis
-- List the wikis of a tenant, or one wiki, with their pages, the pages that the analyser has yet to index, their
-- sources and unindexed sources, whether a reindexing of everything has begun, whether the index is due (incomplete,
-- not in use yet, or counted by an older release), and whether there are older indexes.
WITH counted AS MATERIALIZED (
    SELECT p.owner_id, count(*) AS pages, count(*) FILTER (WHERE r.page_id IS NULL OR p.id > s.reached) AS unread
    FROM pages AS p
    LEFT JOIN search_pages AS r
        ON r.page_id = p.id AND r.tenant_id = p.tenant_id AND r.analyser = CAST(:analyser AS smallint)
    LEFT JOIN search_scopes AS s
        ON s.tenant_id = p.tenant_id AND s.owner_id = p.owner_id AND s.analyser = CAST(:analyser AS smallint)
    WHERE p.tenant_id = CAST(:tenant_id AS uuid)
      AND (CAST(:owner_id AS uuid) IS NULL OR p.owner_id = CAST(:owner_id AS uuid))
    GROUP BY p.owner_id
), retained AS MATERIALIZED (
    SELECT s.owner_id, count(*) AS sources, count(*) FILTER (WHERE s.id > i.reached OR NOT EXISTS (
        SELECT FROM search_passages AS p
        WHERE p.source_id = s.id AND p.tenant_id = CAST(:tenant_id AS uuid) AND p.position = 0
          AND p.analyser = 100 + CAST(:analyser AS smallint)
    )) AS unread
    FROM sources AS s
    LEFT JOIN search_scopes AS i
        ON i.tenant_id = s.tenant_id AND i.owner_id = s.owner_id AND i.analyser = 100 + CAST(:analyser AS smallint)
    WHERE s.tenant_id = CAST(:tenant_id AS uuid) AND s.forgotten_at IS NULL
      AND (CAST(:owner_id AS uuid) IS NULL OR s.owner_id = CAST(:owner_id AS uuid))
    GROUP BY s.owner_id
)
SELECT t.slug AS tenant, o.slug AS owner, o.tenant_id, o.id AS owner_id,
    coalesce(c.pages, 0) AS pages,
    coalesce(c.unread, 0) AS unread,
    coalesce(e.sources, 0) AS sources,
    coalesce(e.unread, 0) AS unread_sources,
    s.reached IS NOT NULL AS is_begun,
    coalesce(c.unread, 0) > 0 OR coalesce(e.unread, 0) > 0 OR s.state IS NOT DISTINCT FROM 'building' OR s.reached IS NOT NULL OR EXISTS (
        SELECT FROM search_terms AS older
        WHERE older.tenant_id = CAST(:tenant_id AS uuid) AND older.owner_id = o.id
          AND older.analyser = CAST(:analyser AS smallint)
    ) AS is_due,
    EXISTS (
        SELECT FROM search_scopes AS older
        WHERE older.tenant_id = CAST(:tenant_id AS uuid) AND older.owner_id = o.id
          AND older.analyser < CAST(:analyser AS smallint)
    ) AS has_older
FROM owners AS o
JOIN tenants AS t ON t.tenant_id = o.tenant_id
LEFT JOIN search_scopes AS s
    ON s.tenant_id = o.tenant_id AND s.owner_id = o.id AND s.analyser = CAST(:analyser AS smallint)
LEFT JOIN counted AS c ON c.owner_id = o.id
LEFT JOIN retained AS e ON e.owner_id = o.id
WHERE o.tenant_id = CAST(:tenant_id AS uuid)
  AND (CAST(:owner_id AS uuid) IS NULL OR o.id = CAST(:owner_id AS uuid))
ORDER BY o.slug;

-- name: begin_building
-- Create the index of pages or passages with this number for a wiki. An existing index is left as it is.
INSERT INTO search_scopes (tenant_id, owner_id, analyser, state, pages, words)
VALUES (:tenant_id, :owner_id, :analyser, 'building', 0, 0)
ON CONFLICT (tenant_id, owner_id, analyser) DO NOTHING;

-- name: read_again
-- Request that every page or source of a wiki is indexed again. A reindexing that has begun continues from its
-- position.
UPDATE search_scopes SET reached = coalesce(reached, '00000000-0000-0000-0000-000000000000'), updated_at = :now
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND analyser = :analyser;

-- name: read_anew
-- Request that all indexes of a wiki are built again from the first page on, because the meaning of its texts has
-- changed.
UPDATE search_scopes
SET reached = '00000000-0000-0000-0000-000000000000', recounted_pages = NULL, recounted_words = NULL, updated_at = :now
WHERE tenant_id = :tenant_id AND owner_id = :owner_id;

-- name: begin_recount
-- Start a second edition of the word counts at the beginning of a reindexing. The caller has folded all pending changes
-- before.
WITH begun AS (
    UPDATE search_scopes SET recounted_pages = 0, recounted_words = 0
    WHERE tenant_id = CAST(:tenant_id AS uuid) AND owner_id = CAST(:owner_id AS uuid)
      AND analyser = CAST(:analyser AS smallint)
      AND reached = '00000000-0000-0000-0000-000000000000' AND recounted_pages IS NULL
    RETURNING edition
)
DELETE FROM search_counts AS c
USING begun
WHERE c.tenant_id = CAST(:tenant_id AS uuid) AND c.owner_id = CAST(:owner_id AS uuid)
  AND c.analyser = CAST(:analyser AS smallint) AND c.edition <> begun.edition;

-- name: find_unread
-- List the next pages to be indexed: those without a row, and those after the position of a reindexing; up to a total
-- of bytes, and at least one. The lateral join makes the planner look up each page once.
WITH next AS (
    SELECT p.id, octet_length(p.body_md) AS size
    FROM search_scopes AS s
    JOIN pages AS p ON p.tenant_id = CAST(:tenant_id AS uuid) AND p.owner_id = CAST(:owner_id AS uuid)
    LEFT JOIN LATERAL (
        SELECT true AS is_read FROM search_pages AS r
        WHERE r.page_id = p.id AND r.tenant_id = CAST(:tenant_id AS uuid) AND r.analyser = CAST(:analyser AS smallint)
        LIMIT 1
    ) AS row ON true
    WHERE s.tenant_id = CAST(:tenant_id AS uuid) AND s.owner_id = CAST(:owner_id AS uuid)
      AND s.analyser = CAST(:analyser AS smallint)
      AND p.id > CAST(:after AS uuid) AND (row.is_read IS NULL OR p.id > s.reached)
    ORDER BY p.id
    LIMIT CAST(:size AS integer)
), measured AS (
    SELECT id, sum(size) OVER (ORDER BY id) - size AS before FROM next
)
SELECT p.id, p.type, p.status, p.tags, p.title, coalesce(p.summary, '') AS summary, p.body_md, p.metadata, p.slug,
    o.language,
    ARRAY(SELECT c.heading FROM sections AS c
          WHERE c.tenant_id = CAST(:tenant_id AS uuid) AND c.page_id = p.id ORDER BY c.position, c.id) AS headings,
    ARRAY(SELECT a.alias FROM aliases AS a
          WHERE a.tenant_id = CAST(:tenant_id AS uuid) AND a.page_id = p.id) AS aliases,
    ARRAY(SELECT l.slug FROM old_slugs AS l
          WHERE l.tenant_id = CAST(:tenant_id AS uuid) AND l.page_id = p.id) AS old_slugs
FROM measured AS m
JOIN pages AS p ON p.tenant_id = CAST(:tenant_id AS uuid) AND p.id = m.id
JOIN owners AS o ON o.tenant_id = CAST(:tenant_id AS uuid) AND o.id = p.owner_id
WHERE m.before < CAST(:bytes AS bigint)
ORDER BY p.id;

-- name: recount_pages
-- Count the words of those of these pages that the reindexing has not reached, from their index rows, into the other
-- edition.
WITH scope AS MATERIALIZED (
    SELECT edition, shelves, reached
    FROM search_scopes
    WHERE tenant_id = CAST(:tenant_id AS uuid) AND owner_id = CAST(:owner_id AS uuid)
      AND analyser = CAST(:analyser AS smallint) AND recounted_pages IS NOT NULL
), page AS MATERIALIZED (
    SELECT p.tsv, p.words
    FROM scope
    JOIN search_pages AS p ON p.page_id = ANY(CAST(:page_ids AS uuid[])) AND p.page_id > scope.reached
    WHERE p.tenant_id = CAST(:tenant_id AS uuid) AND p.analyser = CAST(:analyser AS smallint)
), counted AS (
    SELECT substr(lexeme, 2) AS lexeme, count(*) AS pages
    FROM page
    CROSS JOIN LATERAL unnest(tsvector_to_array(page.tsv)) AS lexeme
    WHERE substr(lexeme, 2, 1) <> ':'
    GROUP BY lexeme
), change AS (
    SELECT 1 - scope.edition AS edition, hashtext(lexeme) & (scope.shelves - 1) AS shelf,
        array_agg(lexeme) AS lexemes, array_agg(pages) AS pages
    FROM counted
    CROSS JOIN scope
    GROUP BY 1, 2
), counts AS (
    INSERT INTO search_counts (tenant_id, owner_id, analyser, edition, shelf, pages)
    SELECT CAST(:tenant_id AS uuid), CAST(:owner_id AS uuid), CAST(:analyser AS smallint), c.edition, c.shelf,
           coalesce(known.pages, '{}') || now.pages
    FROM change AS c
    LEFT JOIN search_counts AS known
        ON known.tenant_id = CAST(:tenant_id AS uuid) AND known.owner_id = CAST(:owner_id AS uuid)
       AND known.analyser = CAST(:analyser AS smallint) AND known.edition = c.edition AND known.shelf = c.shelf
    CROSS JOIN LATERAL (
        SELECT jsonb_object_agg(lexeme, pages + coalesce(CAST(known.pages ->> lexeme AS integer), 0)) AS pages
        FROM unnest(c.lexemes, c.pages) AS one (lexeme, pages)
    ) AS now
    ORDER BY c.shelf
    ON CONFLICT (tenant_id, owner_id, analyser, edition, shelf) DO UPDATE
    SET pages = excluded.pages
)
UPDATE search_scopes AS s
SET recounted_pages = s.recounted_pages + p.pages, recounted_words = s.recounted_words + p.words
FROM (SELECT count(*) AS pages, coalesce(sum(words), 0) AS words FROM page) AS p
WHERE s.tenant_id = CAST(:tenant_id AS uuid) AND s.owner_id = CAST(:owner_id AS uuid)
  AND s.analyser = CAST(:analyser AS smallint) AND s.recounted_pages IS NOT NULL;

-- name: forget_embedded
-- Forget up to where a wiki is embedded, because pages that are indexed again have lost their vectors.
DELETE FROM embedding_cursors WHERE tenant_id = :tenant_id AND owner_id = :owner_id;

-- name: find_reached
-- Find the position of a reindexing; no row if there is none.
SELECT reached FROM search_scopes
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND analyser = :analyser AND reached IS NOT NULL;

-- name: reach_page
-- Store the position of a reindexing.
UPDATE search_scopes SET reached = greatest(reached, :page_id), updated_at = :now
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND analyser = :analyser AND reached IS NOT NULL;

-- name: take_recount
-- Switch queries to the recounted edition of the word counts.
UPDATE search_scopes
SET edition = 1 - edition, pages = recounted_pages, words = recounted_words,
    recounted_pages = NULL, recounted_words = NULL, updated_at = CAST(:now AS timestamptz)
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND analyser = :analyser AND recounted_pages IS NOT NULL;

-- name: drop_former_counts
-- Delete the former edition of the word counts, which is not read any more.
DELETE FROM search_counts AS c
USING search_scopes AS s
WHERE c.tenant_id = :tenant_id AND c.owner_id = :owner_id AND c.analyser = :analyser
  AND s.tenant_id = :tenant_id AND s.owner_id = :owner_id AND s.analyser = :analyser
  AND c.edition <> s.edition AND s.recounted_pages IS NULL;

-- name: list_languages
-- List the distinct languages that the pages of a wiki specify, and the language of the wiki.
SELECT DISTINCT p.metadata -> 'language' AS language, p.metadata -> 'lang' AS lang, o.language AS usual
FROM owners AS o
JOIN pages AS p ON p.tenant_id = :tenant_id AND p.owner_id = o.id
WHERE o.tenant_id = :tenant_id AND o.id = :owner_id;

-- name: end_building
-- Switch queries to this index, and stem them in these languages only.
UPDATE search_scopes
SET state = 'ready', reached = NULL, updated_at = CAST(:now AS timestamptz),
    languages = ARRAY(
        SELECT DISTINCT CASE WHEN pg_input_is_valid(name, 'regconfig') THEN name ELSE 'simple' END
        FROM unnest(CAST(:languages AS text[])) AS given (name)
        ORDER BY 1
    )
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND analyser = :analyser;

-- name: drop_older_pages
-- Delete a batch of rows of older analysers.
DELETE FROM search_pages
WHERE tenant_id = :tenant_id AND (page_id, analyser) IN (
    SELECT r.page_id, r.analyser
    FROM pages AS p
    JOIN search_pages AS r ON r.page_id = p.id AND r.tenant_id = :tenant_id AND r.analyser < :analyser
    WHERE p.tenant_id = :tenant_id AND p.owner_id = :owner_id
    LIMIT CAST(:size AS integer)
);

-- name: drop_older_terms
-- Delete the word counts of older analysers in the format of an older release.
DELETE FROM search_terms WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND analyser < :analyser;

-- name: drop_older_counts
-- Delete the word counts of older indexes of pages or of passages; `first` is the lowest number of such an index.
DELETE FROM search_counts
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND analyser >= :first AND analyser < :analyser;

-- name: drop_older_vocabulary
-- Delete the words of older indexes.
DELETE FROM search_vocabulary
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND analyser >= :first AND analyser < :analyser;

-- name: drop_older_changes
-- Delete the pending changes of older indexes.
DELETE FROM search_changes
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND analyser >= :first AND analyser < :analyser;

-- name: drop_older_scopes
-- Delete the older indexes themselves.
DELETE FROM search_scopes
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND analyser >= :first AND analyser < :analyser;
