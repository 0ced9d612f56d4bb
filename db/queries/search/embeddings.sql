-- name: find_unembedded
-- List the wikis of a tenant that have writes since they were embedded, or that were embedded by another model. The
-- newest source is found by the time when it was added, not by its id, because a restored source keeps its id.
SELECT o.tenant_id, o.id
FROM owners AS o
LEFT JOIN embedding_cursors AS c ON c.tenant_id = CAST(:tenant_id AS uuid) AND c.owner_id = o.id
WHERE o.tenant_id = CAST(:tenant_id AS uuid) AND (
    c.model IS DISTINCT FROM CAST(:model AS text) OR c.dimensions IS DISTINCT FROM CAST(:dimensions AS integer)
    OR c.position < (
        SELECT p.position FROM page_positions AS p
        WHERE p.tenant_id = CAST(:tenant_id AS uuid) AND p.owner_id = o.id ORDER BY p.position DESC LIMIT 1
    )
    OR (
        SELECT s.id FROM sources AS s
        WHERE s.tenant_id = CAST(:tenant_id AS uuid) AND s.owner_id = o.id
        ORDER BY s.created_at DESC, s.id DESC LIMIT 1
    ) IS DISTINCT FROM c.source_id
    OR c.analyser < (
        SELECT max(i.analyser) FROM search_scopes AS i
        WHERE i.tenant_id = CAST(:tenant_id AS uuid) AND i.owner_id = o.id AND i.state = 'ready'
    )
) AND (
    EXISTS (SELECT FROM pages AS p WHERE p.tenant_id = CAST(:tenant_id AS uuid) AND p.owner_id = o.id)
    OR EXISTS (SELECT FROM sources AS s WHERE s.tenant_id = CAST(:tenant_id AS uuid) AND s.owner_id = o.id)
)
ORDER BY o.id;

-- name: find_end
-- Find the end of a wiki: the position of its last page change, its last source, and the number of its index of
-- passages.
SELECT
    coalesce((
        SELECT p.position FROM page_positions AS p
        WHERE p.tenant_id = :tenant_id AND p.owner_id = :owner_id ORDER BY p.position DESC LIMIT 1
    ), 0) AS position,
    (
        SELECT s.id FROM sources AS s
        WHERE s.tenant_id = :tenant_id AND s.owner_id = :owner_id ORDER BY s.created_at DESC, s.id DESC LIMIT 1
    ) AS source_id,
    coalesce((
        SELECT max(i.analyser) FROM search_scopes AS i
        WHERE i.tenant_id = :tenant_id AND i.owner_id = :owner_id AND i.state = 'ready'
    ), 0) AS analyser;

-- name: begin_cursor
-- Create the position of a wiki that has none, before a pass over it. It is that of no model, so the wiki stays due.
INSERT INTO embedding_cursors (tenant_id, owner_id, model, dimensions, position, source_id, analyser, updated_at)
VALUES (:tenant_id, :owner_id, '', 0, 0, NULL, 0, CAST(:now AS timestamptz))
ON CONFLICT (tenant_id, owner_id) DO NOTHING;

-- name: move_cursor
-- Store up to which position a wiki is embedded, and by which model. If texts were indexed again during the pass, they
-- have lost their vectors and the wiki its position, and no row is updated.
UPDATE embedding_cursors
SET model = CAST(:model AS text), dimensions = CAST(:dimensions AS integer), position = CAST(:position AS bigint),
    source_id = CAST(:source_id AS uuid), analyser = CAST(:analyser AS smallint), updated_at = CAST(:now AS timestamptz)
WHERE tenant_id = :tenant_id AND owner_id = :owner_id;

-- name: drop_older
-- Delete the vectors of the passages of older indexes.
DELETE FROM passage_embeddings
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND analyser < :analyser;

-- name: find_pages
-- List the next active pages without a vector of this model, with their current text.
SELECT p.id, p.version, p.title, p.summary, substr(p.body_md, 1, CAST(:longest AS integer)) AS body
FROM pages AS p
WHERE p.tenant_id = :tenant_id AND p.owner_id = :owner_id AND p.status = 'active' AND p.id > CAST(:after AS uuid)
  AND NOT EXISTS (
      SELECT FROM page_embeddings AS e
      WHERE e.tenant_id = :tenant_id AND e.owner_id = :owner_id AND e.page_id = p.id
        AND e.model = CAST(:model AS text) AND e.dimensions = CAST(:dimensions AS integer)
  )
ORDER BY p.id
LIMIT CAST(:limit AS integer);

-- name: find_passages
-- List the next passages of the current index without a vector of this model.
SELECT p.source_id, p.position, p.analyser, p.speaker, p.heading, substr(p.text, 1, CAST(:longest AS integer)) AS text
FROM search_passages AS p
WHERE p.tenant_id = :tenant_id AND p.owner_id = :owner_id AND p.status = 'current'
  AND p.analyser = CAST(:analyser AS smallint)
  AND (p.source_id, p.position) > (CAST(:after AS uuid), CAST(:after_position AS integer))
  AND NOT EXISTS (
      SELECT FROM passage_embeddings AS e
      WHERE e.tenant_id = :tenant_id AND e.owner_id = :owner_id AND e.source_id = p.source_id
        AND e.position = p.position AND e.analyser = p.analyser
        AND e.model = CAST(:model AS text) AND e.dimensions = CAST(:dimensions AS integer)
  )
ORDER BY p.source_id, p.position
LIMIT CAST(:limit AS integer);

-- name: write_page
-- Store the vector of a page, unless the page has changed since it was read.
INSERT INTO page_embeddings (tenant_id, owner_id, page_id, model, dimensions, embedding)
SELECT p.tenant_id, p.owner_id, p.id, CAST(:model AS text), CAST(:dimensions AS integer), CAST(:embedding AS real[])
FROM pages AS p
WHERE p.tenant_id = :tenant_id AND p.owner_id = :owner_id AND p.id = :page_id AND p.version = :version
ON CONFLICT (tenant_id, page_id) DO UPDATE
SET model = excluded.model, dimensions = excluded.dimensions, embedding = excluded.embedding;

-- name: write_passage
-- Store the vector of a passage, unless the passage is deleted.
INSERT INTO passage_embeddings (tenant_id, owner_id, source_id, position, analyser, model, dimensions, embedding)
SELECT
    p.tenant_id, p.owner_id, p.source_id, p.position, p.analyser, CAST(:model AS text), CAST(:dimensions AS integer),
    CAST(:embedding AS real[])
FROM search_passages AS p
WHERE p.tenant_id = :tenant_id AND p.owner_id = :owner_id AND p.source_id = :source_id AND p.position = :position
  AND p.analyser = :analyser
ON CONFLICT (tenant_id, source_id, position, analyser) DO UPDATE
SET model = excluded.model, dimensions = excluded.dimensions, embedding = excluded.embedding;

-- name: count_embedded
-- Count the pages and passages of a wiki, and those of them that have a vector of this model.
SELECT
    (
        SELECT count(*) FROM pages AS p
        WHERE p.tenant_id = :tenant_id AND p.owner_id = :owner_id AND p.status = 'active'
    ) AS pages,
    (
        SELECT count(*) FROM page_embeddings AS e
        JOIN pages AS p ON p.tenant_id = :tenant_id AND p.owner_id = :owner_id AND p.id = e.page_id
        WHERE e.tenant_id = :tenant_id AND e.owner_id = :owner_id AND e.model = CAST(:model AS text)
          AND e.dimensions = CAST(:dimensions AS integer) AND p.status = 'active'
    ) AS embedded_pages,
    (
        SELECT count(*) FROM search_passages AS p
        WHERE p.tenant_id = :tenant_id AND p.owner_id = :owner_id AND p.status = 'current'
          AND p.analyser = CAST(:analyser AS smallint)
    ) AS passages,
    (
        SELECT count(*) FROM passage_embeddings AS e
        JOIN search_passages AS p ON p.tenant_id = :tenant_id AND p.owner_id = :owner_id
            AND p.source_id = e.source_id AND p.position = e.position AND p.analyser = e.analyser
        WHERE e.tenant_id = :tenant_id AND e.owner_id = :owner_id AND e.model = CAST(:model AS text)
          AND e.dimensions = CAST(:dimensions AS integer) AND p.status = 'current'
          AND p.analyser = CAST(:analyser AS smallint)
    ) AS embedded_passages;

-- name: drop_pages
-- Delete the vectors of all pages of the tenant.
DELETE FROM page_embeddings WHERE tenant_id = CAST(:tenant_id AS uuid);

-- name: drop_passages
-- Delete the vectors of all passages of the tenant.
DELETE FROM passage_embeddings WHERE tenant_id = CAST(:tenant_id AS uuid);

-- name: drop_cursors
-- Delete the positions up to which the wikis of the tenant are embedded.
DELETE FROM embedding_cursors WHERE tenant_id = CAST(:tenant_id AS uuid);

-- name: rank_pages
-- Rank the active pages of a wiki by the similarity of their vectors to that of a query, under the filters of its
-- search. The filters are applied while the index for the model's dimensions is scanned, until there are enough hits.
WITH nearest AS MATERIALIZED (
    SELECT
        e.page_id,
        CAST(e.embedding AS halfvec(1)) <=> CAST(CAST(:question AS real[]) AS halfvec(1)) AS distance
    FROM page_embeddings AS e
    CROSS JOIN LATERAL (
        SELECT p.id FROM pages AS p
        WHERE p.tenant_id = :tenant_id AND p.owner_id = :owner_id AND p.id = e.page_id
          AND p.status = ANY(CAST(:statuses AS text[]))
          AND (CAST(:types AS text[]) IS NULL OR p.type = ANY(CAST(:types AS text[])))
          AND (CAST(:excluded_types AS text[]) IS NULL OR p.type <> ALL(CAST(:excluded_types AS text[])))
          AND (CAST(:since AS timestamptz) IS NULL OR p.updated_at >= CAST(:since AS timestamptz))
          AND (CAST(:until AS timestamptz) IS NULL OR p.updated_at < CAST(:until AS timestamptz))
        LIMIT 1
    ) AS wanted
    WHERE e.tenant_id = :tenant_id AND e.owner_id = :owner_id AND e.model = CAST(:model AS text) AND e.dimensions = 1
    ORDER BY CAST(e.embedding AS halfvec(1)) <=> CAST(CAST(:question AS real[]) AS halfvec(1))
    LIMIT CAST(:limit AS integer)
)
SELECT page_id, 1 - distance AS likeness FROM nearest ORDER BY distance, page_id;

-- name: rank_passages
-- Rank the current passages of a wiki by the similarity of their vectors to that of a query, under the filters of its
-- search.
WITH nearest AS MATERIALIZED (
    SELECT
        e.source_id, e.position, e.analyser, p.text, p.captured_at, p.corrects, p.tsv,
        CAST(e.embedding AS halfvec(1)) <=> CAST(CAST(:question AS real[]) AS halfvec(1)) AS distance
    FROM passage_embeddings AS e
    CROSS JOIN LATERAL (
        SELECT p.text, p.captured_at, p.corrects, p.tsv FROM search_passages AS p
        WHERE p.tenant_id = :tenant_id AND p.owner_id = :owner_id AND p.source_id = e.source_id
          AND p.position = e.position AND p.analyser = e.analyser AND p.status = 'current'
          AND (CAST(:kinds AS text[]) IS NULL OR p.kind = ANY(CAST(:kinds AS text[])))
          AND (CAST(:since AS timestamptz) IS NULL OR p.captured_at >= CAST(:since AS timestamptz))
          AND (CAST(:until AS timestamptz) IS NULL OR p.captured_at < CAST(:until AS timestamptz))
          AND (CAST(:refs AS text[]) IS NULL OR EXISTS (
              SELECT FROM sources AS s
              WHERE s.tenant_id = :tenant_id AND s.owner_id = :owner_id AND s.id = p.source_id
                AND s.ref = ANY(CAST(:refs AS text[]))
          ))
        LIMIT 1
    ) AS p
    WHERE e.tenant_id = :tenant_id AND e.owner_id = :owner_id AND e.model = CAST(:model AS text) AND e.dimensions = 1
    ORDER BY CAST(e.embedding AS halfvec(1)) <=> CAST(CAST(:question AS real[]) AS halfvec(1))
    LIMIT CAST(:limit AS integer)
)
SELECT
    source_id, position, analyser, text, captured_at, corrects,
    tsvector_to_array(ts_filter(tsv, '{b,c,d}')) AS lexemes, 1 - distance AS likeness
FROM nearest
ORDER BY distance, source_id, position;
