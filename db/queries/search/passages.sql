-- name: find_indexes
-- Find the language of a wiki, and its indexes of passages with the state of each.
SELECT o.language, s.analyser, s.state
FROM owners AS o
LEFT JOIN search_scopes AS s ON s.tenant_id = o.tenant_id AND s.owner_id = o.id AND s.analyser >= 100
WHERE o.tenant_id = :tenant_id AND o.id = :owner_id;

-- name: open_index
-- Open the index of passages of a wiki. If the wiki has other sources already, the index is still to be built.
INSERT INTO search_scopes (tenant_id, owner_id, analyser, state, pages, words)
SELECT CAST(:tenant_id AS uuid), CAST(:owner_id AS uuid), CAST(:analyser AS smallint),
       CASE WHEN EXISTS (
           SELECT FROM sources AS s
           WHERE s.tenant_id = CAST(:tenant_id AS uuid) AND s.owner_id = CAST(:owner_id AS uuid)
             AND s.forgotten_at IS NULL AND s.id <> ALL(CAST(:source_ids AS uuid[]))
       ) THEN 'building' ELSE 'ready' END,
       0, 0
ON CONFLICT (tenant_id, owner_id, analyser) DO NOTHING
RETURNING state;

-- name: write_passages
-- Write the passages of sources, and log the changes to the word counts of the index, one row per source. Words of the
-- speaker have the weight A, of the heading C, of the text D; each lexeme gets the letter of its scope as prefix.
-- Return the numbers of passages that were counted, that had pending changes, and that are new, and whether a source is
-- in a language that queries are not stemmed in yet. A language without a stemmer in this Postgres is `simple`.
WITH source AS MATERIALIZED (
    SELECT
        given.source_id, given.change_id, given.status, given.kind, given.captured_at, given.text_words,
        given.name_words,
        CAST(CASE WHEN pg_input_is_valid(language, 'regconfig') THEN language ELSE 'simple' END AS regconfig) AS language
    FROM unnest(
        CAST(:source_ids AS uuid[]), CAST(:change_ids AS uuid[]), CAST(:statuses AS text[]), CAST(:kinds AS text[]),
        CAST(:captured_ats AS timestamptz[]), CAST(:languages AS text[]), CAST(:text_words AS text[]),
        CAST(:name_words AS text[])
    ) AS given (source_id, change_id, status, kind, captured_at, language, text_words, name_words)
), passage AS MATERIALIZED (
    SELECT
        given.*, CAST(replace(
            ' ' || CAST(
                setweight(to_tsvector(source.language, given.speaker_words), 'A')
                    || setweight(to_tsvector(source.language, given.heading_words), 'C')
                    || setweight(to_tsvector(source.language, given.bodies), 'D') AS text
            ),
            ' ''', ' ''' || CAST(:letter AS text)
        ) AS tsvector) AS tsv
    FROM unnest(
        CAST(:owners_of AS uuid[]), CAST(:positions AS integer[]), CAST(:start_offsets AS integer[]),
        CAST(:end_offsets AS integer[]), CAST(:line_starts AS integer[]), CAST(:line_ends AS integer[]),
        CAST(:headings AS text[]), CAST(:speakers AS text[]), CAST(:asked AS boolean[]), CAST(:corrected AS boolean[]),
        CAST(:texts AS text[]), CAST(:speaker_words AS text[]),
        CAST(:heading_words AS text[]), CAST(:bodies AS text[]), CAST(:words AS integer[])
    ) AS given (
        source_id, position, start_offset, end_offset, line_start, line_end, heading, speaker, asks, corrects, text,
        speaker_words, heading_words, bodies, words
    )
    JOIN source ON source.source_id = given.source_id
), scope AS MATERIALIZED (
    SELECT
        s.pages, s.languages,
        (SELECT coalesce(sum(abs(c.pages)), 0) FROM search_changes AS c
         WHERE c.tenant_id = CAST(:tenant_id AS uuid) AND c.owner_id = CAST(:owner_id AS uuid)
           AND c.analyser = CAST(:analyser AS smallint)) AS waiting
    FROM search_scopes AS s
    WHERE s.tenant_id = CAST(:tenant_id AS uuid) AND s.owner_id = CAST(:owner_id AS uuid)
      AND s.analyser = CAST(:analyser AS smallint)
), saved AS (
    INSERT INTO search_passages (
        tenant_id, owner_id, source_id, position, analyser, status, kind, captured_at, start_offset, end_offset,
        line_start, line_end, heading, speaker, asks, corrects, text, words, tsv
    )
    SELECT
        CAST(:tenant_id AS uuid), CAST(:owner_id AS uuid), p.source_id, p.position, CAST(:analyser AS smallint),
        s.status, s.kind, s.captured_at, p.start_offset, p.end_offset, p.line_start, p.line_end, p.heading, p.speaker,
        p.asks, p.corrects, p.text, p.words, p.tsv
    FROM passage AS p JOIN source AS s ON s.source_id = p.source_id
), counted AS (
    SELECT p.source_id, count(*) AS passages, sum(p.words) AS words
    FROM passage AS p
    GROUP BY p.source_id
), logged AS (
    INSERT INTO search_changes (
        tenant_id, owner_id, id, analyser, gained, lost, text_words, name_words, language, pages, words
    )
    SELECT
        CAST(:tenant_id AS uuid), CAST(:owner_id AS uuid), s.change_id, CAST(:analyser AS smallint),
        ARRAY(
            SELECT lexeme FROM passage AS p CROSS JOIN LATERAL unnest(tsvector_to_array(p.tsv)) AS lexeme
            WHERE p.source_id = s.source_id
        ),
        '{}', string_to_array(s.text_words, ' '), string_to_array(s.name_words, ' '), CAST(s.language AS text),
        c.passages, c.words
    FROM source AS s JOIN counted AS c ON c.source_id = s.source_id
)
SELECT
    pages, waiting, (SELECT count(*) FROM passage) AS written, EXISTS (SELECT FROM source WHERE CAST(language AS text) <> ALL (languages)) AS is_in_new_language
FROM scope;

-- name: supersede_passages
-- Mark the passages of sources that have newer versions, whose passages are searched instead.
UPDATE search_passages SET status = 'superseded'
WHERE tenant_id = :tenant_id AND source_id = ANY(CAST(:source_ids AS uuid[])) AND status = 'current';

-- name: drop_passages
-- Delete the passages of these sources, with their vectors, from one index or from all, and log that their words are to
-- be subtracted. The next job embeds passages that are written again.
WITH gone AS (
    DELETE FROM search_passages
    WHERE tenant_id = CAST(:tenant_id AS uuid) AND source_id = ANY(CAST(:source_ids AS uuid[]))
      AND (CAST(:analyser AS smallint) IS NULL OR analyser = CAST(:analyser AS smallint))
    RETURNING source_id, analyser, tsv, words
), unmeant AS (
    DELETE FROM passage_embeddings
    WHERE tenant_id = CAST(:tenant_id AS uuid) AND owner_id = CAST(:owner_id AS uuid)
      AND source_id = ANY(CAST(:source_ids AS uuid[]))
      AND (CAST(:analyser AS smallint) IS NULL OR analyser = CAST(:analyser AS smallint))
), unembedded AS (
    DELETE FROM embedding_cursors
    WHERE tenant_id = CAST(:tenant_id AS uuid) AND owner_id = CAST(:owner_id AS uuid)
), counted AS (
    SELECT source_id, analyser, count(*) AS passages, sum(words) AS words FROM gone GROUP BY source_id, analyser
)
INSERT INTO search_changes (tenant_id, owner_id, id, analyser, gained, lost, language, pages, words)
SELECT
    CAST(:tenant_id AS uuid), CAST(:owner_id AS uuid), given.change_id, c.analyser, '{}',
    ARRAY(
        SELECT lexeme FROM gone AS g CROSS JOIN LATERAL unnest(tsvector_to_array(g.tsv)) AS lexeme
        WHERE g.source_id = c.source_id AND g.analyser = c.analyser
    ),
    '', -c.passages, -c.words
FROM counted AS c
JOIN unnest(CAST(:source_ids AS uuid[]), CAST(:change_ids AS uuid[])) AS given (source_id, change_id)
    ON given.source_id = c.source_id;

-- name: find_unread
-- List the next sources that this index lacks, or that are to be indexed again, up to a total of characters, and at
-- least one.
WITH next AS (
    SELECT s.id, length(s.content) AS size
    FROM search_scopes AS i
    JOIN sources AS s ON s.tenant_id = CAST(:tenant_id AS uuid) AND s.owner_id = CAST(:owner_id AS uuid)
    WHERE i.tenant_id = CAST(:tenant_id AS uuid) AND i.owner_id = CAST(:owner_id AS uuid)
      AND i.analyser = CAST(:analyser AS smallint)
      AND s.id > CAST(:after AS uuid) AND s.forgotten_at IS NULL
      AND (s.id > i.reached OR NOT EXISTS (
          SELECT FROM search_passages AS p
          WHERE p.tenant_id = CAST(:tenant_id AS uuid) AND p.source_id = s.id
            AND p.analyser = CAST(:analyser AS smallint)))
    ORDER BY s.id
    LIMIT CAST(:size AS integer)
), measured AS (
    SELECT id, sum(size) OVER (ORDER BY id) - size AS before FROM next
)
SELECT s.id, s.kind, s.content, s.metadata, s.captured_at, o.language, EXISTS (
    SELECT FROM sources AS newer
    WHERE newer.tenant_id = CAST(:tenant_id AS uuid) AND newer.supersedes_id = s.id
) AS is_superseded
FROM measured AS m
JOIN sources AS s ON s.tenant_id = CAST(:tenant_id AS uuid) AND s.id = m.id
JOIN owners AS o ON o.tenant_id = CAST(:tenant_id AS uuid) AND o.id = s.owner_id
WHERE m.before < CAST(:characters AS bigint)
ORDER BY s.id;

-- name: has_sources
-- Return whether the wiki has a source that is not forgotten.
SELECT EXISTS (
    SELECT FROM sources WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND forgotten_at IS NULL
);

-- name: reach_source
-- Store the position of a reindexing.
UPDATE search_scopes SET reached = greatest(reached, :source_id), updated_at = :now
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND analyser = :analyser AND reached IS NOT NULL;

-- name: end_building
-- Switch queries to this index.
UPDATE search_scopes SET state = 'ready', reached = NULL, updated_at = :now
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND analyser = :analyser;

-- name: drop_older_passages
-- Delete passages of older indexes, for some sources at a time.
DELETE FROM search_passages
WHERE tenant_id = :tenant_id AND (source_id, position, analyser) IN (
    SELECT p.source_id, p.position, p.analyser
    FROM sources AS s
    JOIN search_passages AS p ON p.source_id = s.id AND p.tenant_id = :tenant_id AND p.analyser < :analyser
    WHERE s.tenant_id = :tenant_id AND s.owner_id = :owner_id
    LIMIT CAST(:size AS integer)
);
