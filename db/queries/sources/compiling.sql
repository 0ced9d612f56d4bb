-- name: find_cursor
-- Return the position of the last compiled source of a wiki.
SELECT source_at, source_id FROM compile_cursors WHERE tenant_id = :tenant_id AND owner_id = :owner_id;

-- name: move_cursor
-- Move the compile cursor of a wiki.
INSERT INTO compile_cursors (tenant_id, owner_id, source_at, source_id, updated_at)
VALUES (:tenant_id, :owner_id, :source_at, :source_id, :now)
ON CONFLICT (tenant_id, owner_id) DO UPDATE
SET source_at = excluded.source_at, source_id = excluded.source_id, updated_at = excluded.updated_at;

-- name: drop_cursor
-- Delete the compile cursor of a wiki, so that the next compile begins with the first source.
DELETE FROM compile_cursors WHERE tenant_id = :tenant_id AND owner_id = :owner_id;

-- name: find_batch
-- Return the first sources behind the cursor, up to a position, with the ids of older versions of each.
SELECT e.id, e.kind, e.ref, e.title, e.content, e.metadata, e.captured_at, e.created_at,
    CASE WHEN e.version > 1 THEN ARRAY(
        SELECT older.id FROM sources AS older
        WHERE older.tenant_id = :tenant_id AND older.owner_id = :owner_id AND older.kind = e.kind
          AND older.ref = e.ref AND older.version < e.version
    ) END AS earlier_ids
FROM sources AS e
WHERE e.tenant_id = :tenant_id AND e.owner_id = :owner_id AND (e.created_at, e.id) > (:source_at, :source_id)
  AND (e.created_at, e.id) <= (:until_at, :until_id) AND e.forgotten_at IS NULL
ORDER BY e.created_at, e.id
LIMIT :size;

-- name: is_behind
-- Return whether there is a source behind the cursor, up to a position.
SELECT EXISTS (
    SELECT FROM sources
    WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND (created_at, id) > (:source_at, :source_id)
      AND (created_at, id) <= (:until_at, :until_id) AND forgotten_at IS NULL
);

-- name: find_sources
-- Return sources of this wiki by id with a digest of their contents, except forgotten ones.
SELECT id, kind, ref, version, title, content, metadata, captured_at, hashtextextended(content, 0) AS digest
FROM sources
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND id = ANY(CAST(:ids AS uuid[]))
  AND forgotten_at IS NULL;

-- name: find_facts
-- Return sources by id as find_sources does, without their texts.
SELECT id, kind, ref, version, captured_at, hashtextextended(content, 0) AS digest FROM sources
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND id = ANY(CAST(:ids AS uuid[]))
  AND forgotten_at IS NULL;

-- name: find_cards
-- Return the pages with one of these names or ids: active before archived, the oldest first.
SELECT p.id, p.type, p.slug, p.title, p.summary, p.tags, p.status,
    ARRAY(
        SELECT n.alias FROM aliases AS n
        WHERE n.tenant_id = :tenant_id AND n.owner_id = :owner_id AND n.page_id = p.id ORDER BY n.alias
    ) AS aliases,
    ARRAY(
        SELECT s.section_slug FROM sections AS s
        WHERE s.tenant_id = :tenant_id AND s.owner_id = :owner_id AND s.page_id = p.id ORDER BY s.position
    ) AS section_slugs
FROM pages AS p
WHERE p.tenant_id = :tenant_id AND p.owner_id = :owner_id AND p.id IN (
    SELECT a.page_id FROM aliases AS a
    WHERE a.tenant_id = :tenant_id AND a.owner_id = :owner_id AND a.alias = ANY(CAST(:aliases AS text[]))
    UNION
    SELECT given.id FROM unnest(CAST(:ids AS uuid[])) AS given (id)
)
ORDER BY p.status <> 'active', p.id;

-- name: find_names
-- Return the aliases of all pages of a wiki, up to a maximum number.
SELECT ARRAY(
    SELECT alias FROM aliases WHERE tenant_id = :tenant_id AND owner_id = :owner_id LIMIT :limit
);

-- name: find_alike
-- Return active pages of a type whose names are very similar to a proposed one, the most similar first.
SELECT given.n, p.id, a.alias, given.alias AS wanted
FROM unnest(CAST(:types AS text[]), CAST(:aliases AS text[])) WITH ORDINALITY AS given (type, alias, n)
JOIN aliases AS a ON a.tenant_id = :tenant_id AND a.owner_id = :owner_id AND a.alias % given.alias
JOIN pages AS p ON p.tenant_id = :tenant_id AND p.owner_id = :owner_id AND p.id = a.page_id
    AND p.type = given.type AND p.status = 'active'
WHERE similarity(a.alias, given.alias) >= 0.85
ORDER BY given.n, similarity(a.alias, given.alias) DESC, p.id;

-- name: find_by_slugs
-- Return the pages that have or had these slugs.
SELECT p.type, p.slug, p.id FROM unnest(CAST(:types AS text[]), CAST(:slugs AS text[])) AS given (type, slug)
JOIN pages AS p ON p.tenant_id = :tenant_id AND p.owner_id = :owner_id AND p.type = given.type AND p.slug = given.slug
UNION
SELECT o.type, o.slug, o.page_id FROM unnest(CAST(:types AS text[]), CAST(:slugs AS text[])) AS given (type, slug)
JOIN old_slugs AS o
    ON o.tenant_id = :tenant_id AND o.owner_id = :owner_id AND o.type = given.type AND o.slug = given.slug;

-- name: find_mentions
-- Return one mention per alias, as for a new sighting: an ignored before a promoted before an open one.
SELECT DISTINCT ON (m.alias) m.id, m.alias, m.name, m.status, m.suggested_type, m.cluster,
    ARRAY(
        SELECT seen.source_id FROM sightings AS seen
        WHERE seen.tenant_id = :tenant_id AND seen.owner_id = :owner_id AND seen.mention_id = m.id
        ORDER BY seen.seen_at, seen.source_id
    ) AS source_ids,
    ARRAY(
        SELECT seen.seen_at FROM sightings AS seen
        WHERE seen.tenant_id = :tenant_id AND seen.owner_id = :owner_id AND seen.mention_id = m.id
        ORDER BY seen.seen_at, seen.source_id
    ) AS seen_at
FROM mentions AS m
WHERE m.tenant_id = :tenant_id AND m.owner_id = :owner_id AND m.alias = ANY(CAST(:aliases AS text[]))
  AND (m.status <> 'promoted' OR m.promoted_page_id IS NOT NULL)
ORDER BY m.alias, CASE m.status WHEN 'ignored' THEN 1 WHEN 'promoted' THEN 2 ELSE 3 END;

-- name: find_sources_with
-- Return the newest compiled sources that have all words of each name, in any order and with any endings.
WITH wanted AS MATERIALIZED (
    SELECT given.name, CAST(replace(' ' || CAST(either.query AS text), ' ''', ' ''' || CAST(:letter AS text)) AS tsquery) AS query
    FROM search_scopes AS s
    CROSS JOIN unnest(CAST(:names AS text[]), CAST(:words AS text[])) AS given (name, words)
    CROSS JOIN LATERAL (
        SELECT string_agg('( ' || CAST(said.query AS text) || ')', ' | ') AS query
        FROM (
            SELECT DISTINCT CAST(plainto_tsquery(CAST(language AS regconfig), given.words) AS text) AS query
            FROM unnest(s.languages) AS language
        ) AS said
        WHERE said.query <> ''
    ) AS either
    WHERE s.tenant_id = :tenant_id AND s.owner_id = :owner_id AND s.analyser = :analyser AND s.state = 'ready'
      AND either.query IS NOT NULL
)
SELECT wanted.name, ARRAY(
    SELECT e.id
    FROM (
        SELECT DISTINCT p.source_id, p.captured_at FROM search_passages AS p
        WHERE p.tenant_id = :tenant_id AND p.owner_id = :owner_id AND p.analyser = :analyser
          AND p.status = 'current' AND p.tsv @@ wanted.query
    ) AS found
    JOIN sources AS e ON e.tenant_id = :tenant_id AND e.owner_id = :owner_id AND e.id = found.source_id
        AND e.forgotten_at IS NULL
    JOIN compile_cursors AS c ON c.tenant_id = :tenant_id AND c.owner_id = :owner_id
        AND (e.created_at, e.id) <= (c.source_at, c.source_id)
    ORDER BY found.captured_at DESC, e.id DESC
    LIMIT :limit
) AS source_ids
FROM wanted;

-- name: find_summary_authors
-- Return who first wrote the present summary of each page.
SELECT DISTINCT ON (r.page_id) r.page_id, r.author_kind
FROM pages AS p
JOIN revisions AS r ON r.tenant_id = :tenant_id AND r.owner_id = :owner_id AND r.page_id = p.id
WHERE p.tenant_id = :tenant_id AND p.owner_id = :owner_id AND p.id = ANY(CAST(:page_ids AS uuid[]))
  AND r.summary = p.summary
ORDER BY r.page_id, r.version;

-- name: find_citations
-- Return the newest sources that each of these sections cites, as many as a section writer is given.
SELECT given.page_id, given.slug, ARRAY(
    SELECT c.source_id FROM section_sources AS c
    JOIN sources AS e ON e.tenant_id = :tenant_id AND e.owner_id = :owner_id AND e.id = c.source_id
        AND e.forgotten_at IS NULL
    WHERE c.tenant_id = :tenant_id AND c.owner_id = :owner_id AND c.section_id = s.id
    ORDER BY c.id DESC
    LIMIT :limit
) AS source_ids
FROM unnest(CAST(:page_ids AS uuid[]), CAST(:slugs AS text[])) AS given (page_id, slug)
JOIN sections AS s ON s.tenant_id = :tenant_id AND s.owner_id = :owner_id AND s.page_id = given.page_id
    AND s.section_slug = given.slug;

-- name: find_page_citations
-- Return the newest sources that each page cites, whether people have written on it, and whether its merge was undone.
SELECT p.id,
    NOT EXISTS (
        SELECT FROM revisions AS r
        WHERE r.tenant_id = :tenant_id AND r.owner_id = :owner_id AND r.page_id = p.id AND r.author_kind <> 'compiler'
    ) AS is_compiled,
    p.was_merged,
    ARRAY(
        SELECT c.source_id FROM section_sources AS c
        JOIN sources AS e ON e.tenant_id = :tenant_id AND e.owner_id = :owner_id AND e.id = c.source_id
            AND e.forgotten_at IS NULL
        WHERE c.tenant_id = :tenant_id AND c.owner_id = :owner_id AND c.page_id = p.id
        GROUP BY c.source_id
        ORDER BY max(c.created_at) DESC, c.source_id
        LIMIT :limit
    ) AS source_ids
FROM pages AS p
WHERE p.tenant_id = :tenant_id AND p.owner_id = :owner_id AND p.id = ANY(CAST(:page_ids AS uuid[]))
  AND p.status = 'active';

-- name: find_synthesised
-- Return those of these pages that cite enough sources for a synthesis, including the sources that a plan cites.
WITH cited AS (
    SELECT c.page_id, c.source_id FROM section_sources AS c
    WHERE c.tenant_id = :tenant_id AND c.owner_id = :owner_id AND c.page_id = ANY(CAST(:page_ids AS uuid[]))
    UNION
    SELECT planned.page_id, planned.source_id
    FROM unnest(CAST(:citing AS uuid[]), CAST(:cited AS uuid[])) AS planned (page_id, source_id)
    WHERE planned.page_id = ANY(CAST(:page_ids AS uuid[]))
)
SELECT cited.page_id
FROM cited
JOIN sources AS e ON e.tenant_id = :tenant_id AND e.owner_id = :owner_id AND e.id = cited.source_id
    AND e.forgotten_at IS NULL
JOIN owners AS o ON o.tenant_id = :tenant_id AND o.id = :owner_id
GROUP BY cited.page_id, o.min_sources_for_synthesis
HAVING count(DISTINCT (e.kind, e.ref)) >= o.min_sources_for_synthesis;

-- name: find_standing
-- Return the sources with these refs that sections cite.
SELECT given.page_id, given.slug, c.source_id
FROM unnest(CAST(:page_ids AS uuid[]), CAST(:slugs AS text[]), CAST(:refs AS text[])) AS given (page_id, slug, ref)
JOIN sections AS s ON s.tenant_id = :tenant_id AND s.owner_id = :owner_id AND s.page_id = given.page_id
    AND s.section_slug = given.slug
JOIN section_sources AS c ON c.tenant_id = :tenant_id AND c.owner_id = :owner_id AND c.section_id = s.id
JOIN sources AS e ON e.tenant_id = :tenant_id AND e.owner_id = :owner_id AND e.id = c.source_id
    AND e.ref = given.ref AND e.forgotten_at IS NULL
ORDER BY c.id;

-- name: find_titles
-- Return the active pages with exactly these titles, the oldest first.
SELECT id, title, type, slug FROM pages
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND status = 'active' AND title = ANY(CAST(:titles AS text[]))
ORDER BY id;

-- name: cite
-- Insert citations; existing citations stay as they are.
INSERT INTO section_sources (tenant_id, owner_id, id, page_id, section_id, source_id, created_at)
SELECT CAST(:tenant_id AS uuid), CAST(:owner_id AS uuid), given.id, s.page_id, s.id, given.source_id,
       CAST(:now AS timestamptz)
FROM unnest(
    CAST(:ids AS uuid[]), CAST(:page_ids AS uuid[]), CAST(:slugs AS text[]), CAST(:source_ids AS uuid[])
) AS given (id, page_id, slug, source_id)
JOIN sections AS s ON s.tenant_id = :tenant_id AND s.owner_id = :owner_id AND s.page_id = given.page_id
    AND s.section_slug = given.slug
ON CONFLICT (tenant_id, section_id, source_id) DO NOTHING;

-- name: advance_sections
-- Set when the newest source that each section cites was captured.
UPDATE sections AS s SET last_source_at = given.captured_at
FROM unnest(CAST(:page_ids AS uuid[]), CAST(:slugs AS text[]), CAST(:captured_at AS timestamptz[]))
    AS given (page_id, slug, captured_at)
WHERE s.tenant_id = :tenant_id AND s.owner_id = :owner_id AND s.page_id = given.page_id
  AND s.section_slug = given.slug AND (s.last_source_at IS NULL OR s.last_source_at < given.captured_at);

-- name: find_places
-- Return the cities and journals in the metadata of the sources of active entities. Versions of a source count once.
SELECT cited.page_id, CAST(cited.said AS text) AS said, count(DISTINCT (cited.kind, cited.ref)) AS sources
FROM (
    SELECT c.page_id, e.kind, e.ref, jsonb_strip_nulls(jsonb_build_object(
        'city', e.metadata -> 'city', 'journal_id', e.metadata -> 'journal_id',
        'place', CASE jsonb_typeof(e.metadata -> 'place') WHEN 'object' THEN e.metadata -> 'place' END,
        'place_city', e.metadata -> 'place_city', 'place.city', e.metadata -> 'place.city',
        'place_address', e.metadata -> 'place_address', 'address', e.metadata -> 'address'
    )) AS said
    FROM section_sources AS c
    JOIN pages AS p ON p.tenant_id = :tenant_id AND p.owner_id = :owner_id AND p.id = c.page_id
        AND p.type = 'entity' AND p.status = 'active'
    JOIN sources AS e ON e.tenant_id = :tenant_id AND e.owner_id = :owner_id AND e.id = c.source_id
    WHERE c.tenant_id = :tenant_id AND c.owner_id = :owner_id AND c.page_id = ANY(CAST(:page_ids AS uuid[]))
) AS cited
WHERE cited.said <> '{}'
GROUP BY cited.page_id, cited.said
ORDER BY cited.page_id, cited.said;

-- name: find_parents
-- Return the active topic for each name: with exactly that title, or with that title and a region after a comma.
SELECT DISTINCT ON (given.place) given.place, p.id, p.slug
FROM unnest(CAST(:places AS text[]), CAST(:aliases AS text[])) AS given (place, alias)
JOIN aliases AS a ON a.tenant_id = :tenant_id AND a.owner_id = :owner_id AND a.alias >= given.alias
    AND a.alias < given.alias || '!'
JOIN pages AS p ON p.tenant_id = :tenant_id AND p.owner_id = :owner_id AND p.id = a.page_id
    AND p.type = 'topic' AND p.status = 'active'
    AND (p.title = given.place OR starts_with(p.title, given.place || ', '))
ORDER BY given.place, p.title <> given.place, p.id;

-- name: find_companions
-- Return the active entities that cite each source, by slug, as many as can be linked. Their ids are compared with an
-- array, because a subselect could be joined to every page if Postgres knows too little about the size of the wiki.
SELECT given.source_id, near.page_id
FROM unnest(CAST(:source_ids AS uuid[])) WITH ORDINALITY AS given (source_id, n)
CROSS JOIN LATERAL (
    SELECT p.id AS page_id, p.slug FROM pages AS p
    WHERE p.tenant_id = :tenant_id AND p.owner_id = :owner_id AND p.type = 'entity' AND p.status = 'active'
      AND p.id = ANY(ARRAY(
          SELECT c.page_id FROM section_sources AS c
          WHERE c.tenant_id = :tenant_id AND c.owner_id = :owner_id AND c.source_id = given.source_id
      ))
    ORDER BY p.slug, p.id
    LIMIT 6
) AS near
ORDER BY given.n, near.slug, near.page_id;

-- name: find_reset
-- Return whether the wiki has a compile cursor, and how many active pages it has.
SELECT EXISTS (
    SELECT FROM compile_cursors WHERE tenant_id = :tenant_id AND owner_id = :owner_id
) AS has_cursor, (
    SELECT count(*) FROM pages WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND status = 'active'
) AS active_pages;

-- name: find_last_idea
-- Return the last of the ideas of a journal that wait to be compiled, or of the first so many of them. An idea without
-- an account belongs to every account.
SELECT idea.created_at, idea.id FROM (
    SELECT s.created_at, s.id FROM sources AS s
    WHERE s.tenant_id = :tenant_id AND s.owner_id = :owner_id AND s.kind = 'journal_idea'
      AND s.forgotten_at IS NULL
      AND coalesce(s.metadata ->> 'accountId', s.metadata ->> 'account_id', :account_id) = :account_id
      AND NOT EXISTS (
          SELECT FROM compile_cursors AS c
          WHERE c.tenant_id = :tenant_id AND c.owner_id = :owner_id
            AND (c.source_at, c.source_id) >= (s.created_at, s.id)
      )
    ORDER BY s.created_at, s.id
    LIMIT CAST(:limit AS bigint)
) AS idea
ORDER BY idea.created_at DESC, idea.id DESC
LIMIT 1;

-- name: skip_stored_sources
-- Move the compile cursor behind all stored sources.
INSERT INTO compile_cursors (tenant_id, owner_id, source_at, source_id, updated_at)
SELECT s.tenant_id, s.owner_id, s.created_at, s.id, CAST(:now AS timestamptz) FROM sources AS s
WHERE s.tenant_id = :tenant_id AND s.owner_id = :owner_id
ORDER BY s.created_at DESC, s.id DESC
LIMIT 1
ON CONFLICT (tenant_id, owner_id) DO UPDATE
SET source_at = excluded.source_at, source_id = excluded.source_id, updated_at = excluded.updated_at;

-- name: find_cited_sections
-- Return the sections of these pages that cite sources, except for rollup sections.
SELECT s.page_id, s.section_slug, bool_or(c.source_id = ANY(CAST(:gone AS uuid[]))) AS has_gone
FROM sections AS s
JOIN section_sources AS c ON c.tenant_id = :tenant_id AND c.owner_id = :owner_id AND c.section_id = s.id
WHERE s.tenant_id = :tenant_id AND s.owner_id = :owner_id AND s.page_id = ANY(CAST(:page_ids AS uuid[]))
  AND coalesce(s.aggregation -> 'linked_page_ids', '[]') = '[]'
GROUP BY s.page_id, s.section_slug;

-- name: find_together
-- Return the active pages that cite sources together with each page, those with most common sources first.
SELECT given.page_id, near.title, near.type, near.slug
FROM unnest(CAST(:page_ids AS uuid[])) AS given (page_id)
CROSS JOIN LATERAL (
    SELECT p.id, p.title, p.type, p.slug, count(DISTINCT other.source_id) AS shared
    FROM section_sources AS own
    JOIN section_sources AS other ON other.tenant_id = :tenant_id AND other.owner_id = :owner_id
        AND other.source_id = own.source_id AND other.page_id <> own.page_id
    JOIN pages AS p ON p.tenant_id = :tenant_id AND p.owner_id = :owner_id AND p.id = other.page_id
        AND p.status = 'active'
    WHERE own.tenant_id = :tenant_id AND own.owner_id = :owner_id AND own.page_id = given.page_id
    GROUP BY p.id, p.title, p.type, p.slug
    ORDER BY shared DESC, p.id
    LIMIT :limit
) AS near
ORDER BY given.page_id, near.shared DESC, near.id;

-- name: find_next_pages
-- Return the next active pages of a wiki, by id.
SELECT id FROM pages
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND status = 'active' AND id > :after
ORDER BY id
LIMIT :size;
