-- name: find_pages_repeating
-- Return the pages in which a job found forgotten text as written by people.
SELECT p.type, p.slug FROM compile_jobs AS j
CROSS JOIN LATERAL jsonb_array_elements_text(j.metrics -> 'repeating_page_ids') AS found (page_id)
JOIN pages AS p ON p.tenant_id = :tenant_id AND p.owner_id = :owner_id AND p.id = CAST(found.page_id AS uuid)
WHERE j.tenant_id = :tenant_id AND j.owner_id = :owner_id AND j.id = :job_id
ORDER BY p.type, p.slug;

-- name: find_owner
-- Return the owner of a source.
SELECT owner_id FROM sources WHERE tenant_id = :tenant_id AND id = :id;

-- name: find_versions
-- Return all versions of a source, given by the id of one of them.
SELECT s.id, s.kind, s.ref, s.version, s.forgotten_at FROM sources AS asked
JOIN sources AS s ON s.tenant_id = :tenant_id AND s.owner_id = :owner_id AND s.kind = asked.kind AND s.ref = asked.ref
WHERE asked.tenant_id = :tenant_id AND asked.owner_id = :owner_id AND asked.id = :source_id
ORDER BY s.version;

-- name: keep_said
-- Store the texts of these sources for the job that removes them from everything else. The hour covers differences
-- between clocks.
INSERT INTO forgettings (tenant_id, owner_id, source_id, said, since)
SELECT s.tenant_id, s.owner_id, s.id,
       concat_ws(chr(10), s.title, s.content, CASE WHEN s.metadata <> '{}' THEN CAST(s.metadata AS text) END),
       s.created_at - interval '1 hour'
FROM sources AS s
WHERE s.tenant_id = :tenant_id AND s.owner_id = :owner_id AND s.id = ANY(CAST(:ids AS uuid[]))
ON CONFLICT (tenant_id, source_id) DO NOTHING;

-- name: erase
-- Erase the contents of sources; the kind, ref and checksum stay, and who has forgotten them.
UPDATE sources
SET title = NULL, content = '', metadata = '{}', forgotten_at = :now, forgotten_by = :by, forgotten_reason = :reason
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND id = ANY(CAST(:ids AS uuid[]));

-- name: erase_job_errors
-- Replace the errors of jobs, which may quote a source.
UPDATE compile_jobs SET error = 'The message was erased together with a forgotten source.'
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND error IS NOT NULL;

-- name: find_forgettings
-- Return the sources of a wiki that are to be forgotten, with their texts.
SELECT f.source_id, f.said, f.since, s.ref FROM forgettings AS f
JOIN sources AS s ON s.tenant_id = :tenant_id AND s.owner_id = :owner_id AND s.id = f.source_id
WHERE f.tenant_id = :tenant_id AND f.owner_id = :owner_id
ORDER BY f.source_id;

-- name: is_forgetting
-- Return whether a source of the wiki is still to be forgotten.
SELECT EXISTS (SELECT FROM forgettings WHERE tenant_id = :tenant_id AND owner_id = :owner_id);

-- name: drop_forgettings
-- Delete the texts of these sources after everything that was written from them is removed.
DELETE FROM forgettings
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND source_id = ANY(CAST(:source_ids AS uuid[]));

-- name: list_forgettings
-- Return the ids of the sources of a wiki that are to be forgotten.
SELECT ARRAY(SELECT source_id FROM forgettings WHERE tenant_id = :tenant_id AND owner_id = :owner_id);

-- name: find_citing
-- Return the next pages that cite forgotten sources.
SELECT DISTINCT page_id FROM section_sources
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND source_id = ANY(CAST(:source_ids AS uuid[]))
ORDER BY page_id
LIMIT :size;

-- name: drop_citations
-- Delete the citations of these sources by these pages.
DELETE FROM section_sources
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND page_id = ANY(CAST(:page_ids AS uuid[]))
  AND source_id = ANY(CAST(:source_ids AS uuid[]));

-- name: restate_evidence
-- Set the time of the newest source that each section of these pages still cites.
UPDATE sections AS s SET last_source_at = newest.captured_at
FROM (
    SELECT own.id, (
        SELECT max(e.captured_at) FROM section_sources AS c
        JOIN sources AS e ON e.tenant_id = :tenant_id AND e.owner_id = :owner_id AND e.id = c.source_id
        WHERE c.tenant_id = :tenant_id AND c.owner_id = :owner_id AND c.section_id = own.id
    ) AS captured_at
    FROM sections AS own
    WHERE own.tenant_id = :tenant_id AND own.owner_id = :owner_id AND own.page_id = ANY(CAST(:page_ids AS uuid[]))
      AND own.aggregation IS NULL
) AS newest
WHERE s.tenant_id = :tenant_id AND s.owner_id = :owner_id AND s.id = newest.id
  AND s.last_source_at IS DISTINCT FROM newest.captured_at;

-- name: erase_states
-- Erase the content of a page's revisions since a moment, except for the present one. The rows stay. A summary that is
-- still present stays, so that its author remains known. A page that was added since then may have been imported or
-- transferred with older revisions, which are erased too.
UPDATE revisions
SET title = :title, summary = CASE WHEN summary = CAST(:summary AS text) THEN summary END, body_md = '', tags = '{}',
    edit_summary = NULL, base_version = NULL, base_starts = NULL, base_lengths = NULL, base_texts = NULL,
    slug = NULL, metadata = NULL, aliases = NULL, facts_version = NULL, erased_at = coalesce(erased_at, :now)
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND page_id = :page_id
  AND (created_at >= :since OR page_id >= CAST(:since_id AS uuid)) AND version < :version
  AND (erased_at IS NULL OR title <> :title OR summary IS DISTINCT FROM CAST(:summary AS text));

-- name: make_state_whole
-- Store the present revision in full, because it may be a difference from one that is erased, with the remaining names.
UPDATE revisions
SET body_md = :body_md, base_version = NULL, base_starts = NULL, base_lengths = NULL, base_texts = NULL,
    slug = :slug, metadata = :metadata, aliases = :aliases, facts_version = NULL
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND page_id = :page_id AND version = :version;

-- name: find_page_aliases
-- Return the aliases of these pages that people did not add, those of their titles included.
SELECT a.page_id, a.alias FROM aliases AS a
WHERE a.tenant_id = :tenant_id AND a.owner_id = :owner_id AND a.page_id = ANY(CAST(:page_ids AS uuid[]))
  AND a.source <> 'manual';

-- name: is_title_compiled
-- Return whether the compiler gave a page its present title.
SELECT r.author_kind = 'compiler' FROM pages AS p
JOIN revisions AS r ON r.tenant_id = :tenant_id AND r.owner_id = :owner_id AND r.page_id = p.id
WHERE p.tenant_id = :tenant_id AND p.owner_id = :owner_id AND p.id = :page_id AND r.title = p.title
ORDER BY r.version
LIMIT 1;

-- name: find_names_of_page
-- Return the aliases of a page as they were written, that of its title included.
SELECT name FROM aliases WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND page_id = :page_id
ORDER BY alias;

-- name: find_old_slugs
-- Return the former slugs of these pages.
SELECT page_id, slug FROM old_slugs
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND page_id = ANY(CAST(:page_ids AS uuid[]));

-- name: drop_old_slugs
-- Delete former slugs of a page.
DELETE FROM old_slugs
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND page_id = :page_id AND slug = ANY(CAST(:slugs AS text[]));

-- name: find_with_children
-- Return those of these pages that have pages below them.
SELECT DISTINCT parent_page_id AS id FROM pages
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND parent_page_id = ANY(CAST(:page_ids AS uuid[]));

-- name: find_made
-- Return those of these pages that the compiler created, except for topics to which a section was promoted.
SELECT r.page_id FROM revisions AS r
WHERE r.tenant_id = :tenant_id AND r.owner_id = :owner_id AND r.page_id = ANY(CAST(:page_ids AS uuid[]))
  AND r.version = 1 AND r.author_kind = 'compiler'
  AND NOT EXISTS (
      SELECT FROM sections AS s
      WHERE s.tenant_id = :tenant_id AND s.owner_id = :owner_id AND s.promoted_page_id = r.page_id
  );

-- name: find_showing
-- Return the sections of other pages that link to these pages.
SELECT s.page_id, s.section_slug FROM link_targets AS t
JOIN sections AS s ON s.tenant_id = :tenant_id AND s.owner_id = :owner_id AND s.page_id = t.from_page_id
WHERE t.tenant_id = :tenant_id AND t.owner_id = :owner_id AND t.to_page_id = ANY(CAST(:page_ids AS uuid[]))
  AND t.relation = 'text' AND t.from_page_id <> ALL(CAST(:page_ids AS uuid[]));

-- name: find_seen
-- Return the next mentions that forgotten sources contain, each with the other sources that contain it.
SELECT m.id, m.alias, m.contexts, m.cluster IS NOT NULL AND m.status = 'open' AS has_cluster, ARRAY(
    SELECT other.source_id FROM sightings AS other
    WHERE other.tenant_id = :tenant_id AND other.owner_id = :owner_id AND other.mention_id = m.id
      AND other.source_id <> ALL(CAST(:source_ids AS uuid[]))
    ORDER BY other.seen_at, other.source_id
) AS source_ids
FROM mentions AS m
WHERE m.tenant_id = :tenant_id AND m.owner_id = :owner_id AND m.id IN (
    SELECT seen.mention_id FROM sightings AS seen
    WHERE seen.tenant_id = :tenant_id AND seen.owner_id = :owner_id
      AND seen.source_id = ANY(CAST(:source_ids AS uuid[]))
)
ORDER BY m.id
LIMIT :size;

-- name: drop_mentions
-- Delete mentions that no other source contains.
DELETE FROM mentions
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND id = ANY(CAST(:mention_ids AS uuid[]));

-- name: drop_sightings
-- Delete the sightings of these mentions in forgotten sources.
DELETE FROM sightings
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND source_id = ANY(CAST(:source_ids AS uuid[]))
  AND mention_id = ANY(CAST(:mention_ids AS uuid[]));

-- name: recount_mentions
-- Set the counts, times, quotes and clusters of mentions by their remaining sightings.
UPDATE mentions AS m
SET mention_count = counted.number, first_seen_at = counted.earliest, last_seen_at = counted.latest,
    contexts = counted.contexts, cluster = counted.cluster
FROM (
    SELECT given.id, CAST(given.contexts AS jsonb) AS contexts,
           CASE WHEN given.cluster <> '{}' THEN given.cluster END AS cluster,
           count(*) AS number, min(seen.seen_at) AS earliest, max(seen.seen_at) AS latest
    FROM unnest(CAST(:mention_ids AS uuid[]), CAST(:contexts AS text[]), CAST(:clusters AS jsonb[]))
        AS given (id, contexts, cluster)
    JOIN sightings AS seen ON seen.tenant_id = :tenant_id AND seen.owner_id = :owner_id AND seen.mention_id = given.id
    GROUP BY given.id, given.contexts, given.cluster
) AS counted
WHERE m.tenant_id = :tenant_id AND m.owner_id = :owner_id AND m.id = counted.id;

-- name: find_revised
-- Return the next pages with revisions since a moment that are not erased, and those that were added since then.
SELECT DISTINCT r.page_id FROM revisions AS r
WHERE r.tenant_id = :tenant_id AND r.owner_id = :owner_id AND r.page_id > :after
  AND (r.created_at >= :since OR r.page_id >= CAST(:since_id AS uuid)) AND r.erased_at IS NULL
ORDER BY r.page_id
LIMIT :size;

-- name: find_versions_since
-- Return the versions of a page since a moment that are not erased, the oldest first; all versions of a page that was
-- added since then.
SELECT r.version, r.edit_summary FROM revisions AS r
WHERE r.tenant_id = :tenant_id AND r.owner_id = :owner_id AND r.page_id = :page_id
  AND (r.created_at >= :since OR r.page_id >= CAST(:since_id AS uuid)) AND r.erased_at IS NULL
ORDER BY r.version;

-- name: find_said_besides
-- Return the texts of the newest thousand sources that a page, or a page to which it links, cites.
SELECT concat_ws(chr(10), e.title, e.content) AS said FROM sources AS e
WHERE e.tenant_id = :tenant_id AND e.owner_id = :owner_id AND e.forgotten_at IS NULL AND e.id IN (
    SELECT c.source_id FROM section_sources AS c
    WHERE c.tenant_id = :tenant_id AND c.owner_id = :owner_id AND (
        c.page_id = :page_id OR c.page_id IN (
            SELECT t.to_page_id FROM link_targets AS t
            WHERE t.tenant_id = :tenant_id AND t.owner_id = :owner_id AND t.from_page_id = :page_id
        )
    )
)
ORDER BY e.captured_at DESC, e.id
LIMIT 1000;

-- name: drop_reasons
-- Remove the reasons that forgotten sources gave from links.
UPDATE links SET reasons = ARRAY(SELECT why FROM unnest(reasons) AS why WHERE why <> ALL(CAST(:reasons AS text[])))
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND reasons && CAST(:reasons AS text[])
RETURNING to_page_id;

-- name: drop_places
-- Remove the reasons of links that followed from shared places, except for those that still follow.
UPDATE links AS l SET reasons = ARRAY(
    SELECT why FROM unnest(l.reasons) AS why
    WHERE why NOT LIKE 'deterministic:%' OR EXISTS (
        SELECT FROM unnest(CAST(:starts AS uuid[]), CAST(:ends AS uuid[]), CAST(:founded AS text[]))
            AS given (from_page_id, to_page_id, reason)
        WHERE given.from_page_id = l.from_page_id AND given.to_page_id = l.to_page_id AND given.reason = why
    )
)
WHERE l.tenant_id = :tenant_id AND l.owner_id = :owner_id AND l.from_page_id = ANY(CAST(:page_ids AS uuid[]))
  AND l.kind = 'reference'
RETURNING l.to_page_id;

-- name: drop_unfounded
-- Delete links without reasons.
DELETE FROM links WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND reasons = '{}'
RETURNING to_page_id;

-- name: find_logged_names
-- Return entries of the activity log since a moment that contain names, or the words of decisions.
SELECT id, detail FROM activity
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND at >= :since
  AND (
      action IN (
          'alias.added', 'alias.removed', 'page.deleted', 'link.added', 'link.removed', 'links.dropped', 'source.cited',
          'decision.logged', 'decision.withdrawn', 'lint.muted', 'lint.unmuted'
      )
      OR action LIKE 'section.%'
  );

-- name: clear_log
-- Remove the names and words from entries of the activity log.
UPDATE activity SET detail = '{}'
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND id = ANY(CAST(:ids AS uuid[]));

-- name: find_stop_words
-- Return those of these words that are stop words of a language of the wiki, which the index of search does not have.
SELECT ARRAY(
    SELECT DISTINCT given.word FROM unnest(CAST(:words AS text[])) AS given (word)
    CROSS JOIN (
        SELECT DISTINCT unnest(s.languages) AS language FROM search_scopes AS s
        WHERE s.tenant_id = :tenant_id AND s.owner_id = :owner_id
    ) AS spoken
    WHERE length(to_tsvector(
        CAST(CASE WHEN pg_input_is_valid(spoken.language, 'regconfig') THEN spoken.language ELSE 'simple' END
            AS regconfig),
        given.word
    )) = 0
);

-- name: find_unsaid
-- Return those of these words of which no page of the wiki contains the word or its stem.
SELECT given.word FROM unnest(CAST(:words AS text[])) AS given (word)
WHERE NOT EXISTS (
    SELECT FROM search_scopes AS s
    CROSS JOIN LATERAL unnest(s.languages || ARRAY['simple']) AS spoken (language)
    CROSS JOIN LATERAL unnest(tsvector_to_array(to_tsvector(
        CAST(CASE WHEN pg_input_is_valid(spoken.language, 'regconfig') THEN spoken.language ELSE 'simple' END
            AS regconfig),
        given.word
    ))) AS stem
    JOIN search_counts AS c
        ON c.tenant_id = :tenant_id AND c.owner_id = :owner_id AND c.analyser = CAST(:analyser AS smallint)
       AND c.edition = s.edition AND c.shelf = hashtext(stem) & (s.shelves - 1)
    WHERE s.tenant_id = :tenant_id AND s.owner_id = :owner_id AND s.analyser = CAST(:analyser AS smallint)
      AND CAST(c.pages ->> stem AS integer) > 0
);

-- name: drop_words
-- Delete words from the vocabulary of search.
UPDATE search_vocabulary
SET words = ARRAY(SELECT word FROM unnest(words) AS word WHERE word <> ALL(CAST(:words AS text[])))
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND analyser = CAST(:analyser AS smallint)
  AND words && CAST(:words AS text[]);

-- name: drop_empty_words
-- Delete partitions of the vocabulary without words.
DELETE FROM search_vocabulary
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND analyser = CAST(:analyser AS smallint) AND words = '{}';

-- name: drop_answers
-- Delete stored responses that repeat a forgotten source.
DELETE FROM idempotency_keys AS kept
WHERE kept.tenant_id = :tenant_id AND kept.created_at >= :since
  AND EXISTS (
      SELECT FROM unnest(CAST(:needles AS bytea[])) AS given (needle) WHERE position(given.needle IN kept.answer) > 0
  );

-- name: find_claims_since
-- Return the claims that cite these sources, and those recorded since then, which may quote them.
SELECT id, page_id, fact, replacement, coalesce(
    stated_by_id = ANY(CAST(:source_ids AS uuid[])) OR overridden_by_id = ANY(CAST(:source_ids AS uuid[])), FALSE
) AS is_of_them
FROM superseded_claims
WHERE tenant_id = :tenant_id AND owner_id = :owner_id
  AND (
      created_at >= :since OR stated_by_id = ANY(CAST(:source_ids AS uuid[]))
      OR overridden_by_id = ANY(CAST(:source_ids AS uuid[]))
  );

-- name: find_claims_of_page
-- Return the superseded claims of a page.
SELECT id, fact, replacement FROM superseded_claims
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND page_id = :page_id;

-- name: drop_claims
-- Delete claims.
DELETE FROM superseded_claims
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND id = ANY(CAST(:ids AS uuid[]));

-- name: find_contradictions_since
-- Return the contradictions that cite these sources, and those recorded since then, which may quote them.
SELECT id, page_id, older_claim, newer_claim, reason, coalesce(
    older_source_id = ANY(CAST(:source_ids AS uuid[])) OR newer_source_id = ANY(CAST(:source_ids AS uuid[])), FALSE
) AS is_of_them
FROM contradictions
WHERE tenant_id = :tenant_id AND owner_id = :owner_id
  AND (
      created_at >= :since OR resolved_at >= :since OR older_source_id = ANY(CAST(:source_ids AS uuid[]))
      OR newer_source_id = ANY(CAST(:source_ids AS uuid[]))
  );

-- name: find_contradictions_of_page
-- Return the contradictions of a page.
SELECT id, older_claim, newer_claim, reason FROM contradictions
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND page_id = :page_id;

-- name: drop_contradictions
-- Delete contradictions.
DELETE FROM contradictions
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND id = ANY(CAST(:ids AS uuid[]));

-- name: find_proposals_since
-- Return the proposals with these sources as evidence, and those made or decided since then, which may quote them.
SELECT id, page_id, title, CAST(arguments AS text) AS said, proposed_body, why, reason, FALSE AS is_of_them
FROM proposals
WHERE tenant_id = :tenant_id AND owner_id = :owner_id
  AND (created_at >= :since OR decided_at >= :since OR evidence && ARRAY(
      SELECT s.kind || ':' || s.ref FROM sources AS s
      WHERE s.tenant_id = :tenant_id AND s.owner_id = :owner_id AND s.id = ANY(CAST(:source_ids AS uuid[]))
  ));

-- name: find_proposals_of_page
-- Return the proposals for a page.
SELECT id, title, CAST(arguments AS text) AS said, proposed_body, why, reason FROM proposals
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND page_id = :page_id;

-- name: drop_proposals
-- Delete proposals.
DELETE FROM proposals
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND id = ANY(CAST(:ids AS uuid[]));

-- name: find_questions_since
-- Return the decision questions asked or closed since a moment, which may quote a source.
SELECT id, page_id, question, why, array_to_string(options, chr(10)) AS options, decision, reason, FALSE AS is_of_them
FROM decision_questions
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND (created_at >= :since OR decided_at >= :since);

-- name: find_questions_of_page
-- Return the decision questions that a page answers.
SELECT id, question, why, array_to_string(options, chr(10)) AS options, decision, reason FROM decision_questions
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND page_id = :page_id;

-- name: drop_questions
-- Delete decision questions.
DELETE FROM decision_questions
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND id = ANY(CAST(:ids AS uuid[]));

-- name: drop_original
-- Delete the original file of a page, which may repeat a forgotten source.
DELETE FROM originals WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND page_id = :page_id;

-- name: find_mutes_since
-- Return the mutes of lint findings since a moment, whose names and reasons may quote a source.
SELECT check_name, subject, name, reason FROM lint_mutes
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND created_at >= :since;

-- name: drop_mutes
-- Delete mutes of lint findings.
DELETE FROM lint_mutes AS m
USING unnest(CAST(:check_names AS text[]), CAST(:subjects AS text[])) AS given (check_name, subject)
WHERE m.tenant_id = :tenant_id AND m.owner_id = :owner_id AND m.check_name = given.check_name
  AND m.subject = given.subject;
