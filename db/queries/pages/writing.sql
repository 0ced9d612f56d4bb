-- name: lock_wiki
-- Lock a wiki for one writer. Slugs, parents, links and counters of the wiki need no other lock.
SELECT id FROM owners WHERE tenant_id = :tenant_id AND id = :owner_id FOR NO KEY UPDATE;

-- name: place_pages
-- Give the changed pages the next positions in the change feed of their wiki, in the given order.
WITH placed AS (
    INSERT INTO page_positions (tenant_id, owner_id, page_id, position, changed_at)
    SELECT CAST(:tenant_id AS uuid), CAST(:owner_id AS uuid), given.page_id, given.place + (
        SELECT coalesce(max(position), 0) FROM page_positions
        WHERE tenant_id = :tenant_id AND owner_id = :owner_id
    ), CAST(:now AS timestamptz)
    FROM unnest(CAST(:page_ids AS uuid[])) WITH ORDINALITY AS given (page_id, place)
    ON CONFLICT (tenant_id, page_id) DO UPDATE
    SET position = excluded.position, changed_at = excluded.changed_at
);

-- name: close
-- Write the positions of the changed pages and the lines of the activity log. Return the write policy of the wiki, and
-- whether webhooks are subscribed to it.
-- after: place_pages
, logged AS (
    INSERT INTO activity (tenant_id, owner_id, id, at, actor_kind, actor_id, action, page_id, detail)
    SELECT CAST(:tenant_id AS uuid), CAST(:owner_id AS uuid), line.id, CAST(:now AS timestamptz),
           CAST(:actor_kind AS text), CAST(:actor_id AS text), line.action, line.page_id, line.detail
    FROM jsonb_to_recordset(CAST(:lines AS jsonb)) AS line (id uuid, action text, page_id uuid, detail jsonb)
)
SELECT o.write_policy, EXISTS (
    SELECT FROM webhooks AS w
    WHERE w.tenant_id = :tenant_id AND w.disabled_at IS NULL
      AND (w.owner_ids = '{}' OR CAST(:owner_id AS uuid) = ANY(w.owner_ids))
) AS has_webhooks
FROM owners AS o WHERE o.tenant_id = :tenant_id AND o.id = :owner_id;

-- name: close_restating
-- Do the same as `close` for a write that touched pages or changed hubness scores, which are computed again: references
-- from active pages count 1, active children 2, and a tenth of the average number of sources behind a rollup section is
-- added. The CTE is materialized because Postgres would run the subselects for each use of the score. Both changes of a
-- row are written at once, because a statement can change a row only once.
-- after: place_pages
, counted AS MATERIALIZED (
    SELECT
        p.id,
        (
            SELECT count(*) FROM links AS l
            JOIN pages AS f ON f.tenant_id = :tenant_id AND f.owner_id = :owner_id AND f.id = l.from_page_id
            WHERE l.tenant_id = :tenant_id AND l.owner_id = :owner_id AND l.to_page_id = p.id
              AND l.kind = 'reference' AND f.status = 'active'
        ) + 2 * (
            SELECT count(*) FROM pages AS c
            WHERE c.tenant_id = :tenant_id AND c.owner_id = :owner_id AND c.parent_page_id = p.id
              AND c.status = 'active'
        ) + (
            SELECT floor(coalesce(avg(CAST(s.aggregation ->> 'supporting_record_count' AS numeric)), 0) / 10)
            FROM sections AS s
            WHERE s.tenant_id = :tenant_id AND s.owner_id = :owner_id AND s.page_id = p.id
              AND s.aggregation IS NOT NULL
        ) AS score
    FROM pages AS p
    WHERE p.tenant_id = :tenant_id AND p.owner_id = :owner_id AND p.id = ANY(CAST(:counted_ids AS uuid[]))
), stated AS (
    SELECT coalesce(counted.id, touched.id) AS id, counted.score, touched.id IS NOT NULL AS is_touched
    FROM counted FULL JOIN unnest(CAST(:touched_ids AS uuid[])) AS touched (id) ON touched.id = counted.id
), logged AS (
    INSERT INTO activity (tenant_id, owner_id, id, at, actor_kind, actor_id, action, page_id, detail)
    SELECT CAST(:tenant_id AS uuid), CAST(:owner_id AS uuid), line.id, CAST(:now AS timestamptz),
           CAST(:actor_kind AS text), CAST(:actor_id AS text), line.action, line.page_id, line.detail
    FROM jsonb_to_recordset(CAST(:lines AS jsonb)) AS line (id uuid, action text, page_id uuid, detail jsonb)
), restated AS (
    UPDATE pages AS page
    SET hubness_score = coalesce(stated.score, page.hubness_score),
        updated_at = CASE WHEN stated.is_touched THEN CAST(:now AS timestamptz) ELSE page.updated_at END
    FROM stated
    WHERE page.tenant_id = :tenant_id AND page.owner_id = :owner_id AND page.id = stated.id
      AND (stated.is_touched OR page.hubness_score <> stated.score)
)
SELECT o.write_policy, EXISTS (
    SELECT FROM webhooks AS w
    WHERE w.tenant_id = :tenant_id AND w.disabled_at IS NULL
      AND (w.owner_ids = '{}' OR CAST(:owner_id AS uuid) = ANY(w.owner_ids))
) AS has_webhooks
FROM owners AS o WHERE o.tenant_id = :tenant_id AND o.id = :owner_id;

-- name: advance_archived
-- Give the pages that were archived at this time the next positions in the change feed of their wiki.
INSERT INTO page_positions (tenant_id, owner_id, page_id, position, changed_at)
SELECT p.tenant_id, p.owner_id, p.id, row_number() OVER (ORDER BY p.id) + (
    SELECT coalesce(max(position), 0) FROM page_positions
    WHERE tenant_id = :tenant_id AND owner_id = :owner_id
), p.updated_at
FROM pages AS p
WHERE p.tenant_id = :tenant_id AND p.owner_id = :owner_id AND p.status = 'archived'
  AND p.updated_at = CAST(:now AS timestamptz)
ON CONFLICT (tenant_id, page_id) DO UPDATE
SET position = excluded.position, changed_at = excluded.changed_at;
