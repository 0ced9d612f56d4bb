-- name: list_map
-- Return the active pages of a wiki after a cursor, in the given order of types and by slug, with whether each is a
-- stub, which cites at most one source. For the first part, also return the number of pages of each type.
WITH wanted AS (
    SELECT given.type, given.place FROM unnest(CAST(:types AS text[])) WITH ORDINALITY AS given (type, place)
), counted AS (
    SELECT p.type, count(*) AS total FROM pages AS p
    WHERE p.tenant_id = :tenant_id AND p.owner_id = :owner_id AND p.status = 'active'
      AND p.type = ANY(CAST(:types AS text[])) AND CAST(:after AS text) IS NULL
    GROUP BY p.type
), listed AS (
    SELECT wanted.place, found.* FROM wanted
    CROSS JOIN LATERAL (
        SELECT p.id, p.type, p.slug, p.title, p.summary FROM pages AS p
        WHERE p.tenant_id = :tenant_id AND p.owner_id = :owner_id AND p.type = wanted.type AND p.status = 'active'
          AND p.slug > CASE WHEN wanted.place = 1 THEN coalesce(CAST(:after AS text), '') ELSE '' END
        ORDER BY p.slug
        LIMIT :limit
    ) AS found
    ORDER BY wanted.place, found.slug
    LIMIT :limit
)
SELECT
    wanted.type, counted.total, listed.slug, listed.title, listed.summary,
    (
        SELECT count(DISTINCT (e.kind, e.ref)) FROM section_sources AS c
        JOIN sources AS e ON e.tenant_id = :tenant_id AND e.owner_id = :owner_id AND e.id = c.source_id
        WHERE c.tenant_id = :tenant_id AND c.owner_id = :owner_id AND c.page_id = listed.id
    ) <= 1 AS is_stub
FROM wanted
LEFT JOIN listed ON listed.place = wanted.place
LEFT JOIN counted ON counted.type = wanted.type
ORDER BY wanted.place, listed.slug;

-- name: list_activity
-- Return the activity log of a wiki before a cursor, the newest line first, with the page and the name of the actor.
SELECT
    line.id, line.at, line.action, line.detail, line.actor_kind, coalesce(o.name, k.name, line.actor_id) AS actor,
    p.type, p.slug, p.title, p.status
FROM (
    SELECT
        a.id, a.at, a.action, a.detail, a.page_id, a.actor_kind, a.actor_id,
        CASE WHEN pg_input_is_valid(a.actor_id, 'uuid') THEN CAST(a.actor_id AS uuid) END AS known_id
    FROM activity AS a
    WHERE a.tenant_id = :tenant_id AND a.owner_id = :owner_id
      AND (a.at, a.id) < (CAST(:before_at AS timestamptz), CAST(:before_id AS uuid))
    ORDER BY a.at DESC, a.id DESC
    LIMIT :limit
) AS line
LEFT JOIN pages AS p ON p.tenant_id = :tenant_id AND p.owner_id = :owner_id AND p.id = line.page_id
LEFT JOIN owners AS o ON o.tenant_id = :tenant_id AND o.id = line.known_id
LEFT JOIN api_keys AS k ON k.tenant_id = :tenant_id AND k.id = line.known_id
ORDER BY line.at DESC, line.id DESC;

-- name: list_diary
-- Return the days of a wiki, the newest first: the number of log lines of each action, and the first groups of action
-- and page, in the order of the actions. For each day only the newest lines of the log are read.
WITH days AS (
    SELECT given.day, given.begins, given.ends
    FROM unnest(CAST(:days AS date[]), CAST(:begins AS timestamptz[]), CAST(:ends AS timestamptz[]))
        AS given (day, begins, ends)
), logged AS (
    SELECT days.day, line.at, line.action, line.page_id, line.actor_kind, line.actor_id FROM days
    CROSS JOIN LATERAL (
        SELECT a.at, a.action, a.page_id, a.actor_kind, a.actor_id FROM activity AS a
        WHERE a.tenant_id = :tenant_id AND a.owner_id = :owner_id AND a.at >= days.begins AND a.at < days.ends
        ORDER BY a.at DESC, a.id DESC
        LIMIT :max_logged
    ) AS line
), grouped AS (
    SELECT
        logged.day, logged.action, logged.page_id, count(*) AS times, max(logged.at) AS at,
        max(logged.actor_kind) AS actor_kind, max(logged.actor_id) AS actor_id,
        count(DISTINCT (logged.actor_kind, logged.actor_id)) AS authors
    FROM logged GROUP BY logged.day, logged.action, logged.page_id
), counted AS (
    SELECT by_action.day, jsonb_object_agg(by_action.action, by_action.times) AS counts
    FROM (SELECT g.day, g.action, sum(g.times) AS times FROM grouped AS g GROUP BY g.day, g.action) AS by_action
    GROUP BY by_action.day
), placed AS (
    SELECT
        grouped.day, grouped.action, grouped.page_id, grouped.times, grouped.at, grouped.actor_kind,
        grouped.actor_id, grouped.authors, row_number() OVER (
            PARTITION BY grouped.day
            ORDER BY coalesce(array_position(CAST(:actions AS text[]), grouped.action), 1000), grouped.at DESC,
                     grouped.page_id
        ) AS place,
        count(*) OVER (PARTITION BY grouped.day) AS lines
    FROM grouped
), told AS (
    SELECT
        placed.day, placed.action, placed.page_id, placed.times, placed.at, placed.actor_kind, placed.actor_id,
        placed.authors, placed.place, placed.lines,
        CASE WHEN pg_input_is_valid(placed.actor_id, 'uuid') THEN CAST(placed.actor_id AS uuid) END AS known_id
    FROM placed WHERE placed.place <= CAST(:limit AS integer)
)
SELECT
    told.day, counted.counts, told.lines, told.action, told.times, told.at, told.actor_kind, told.authors,
    coalesce(o.name, k.name, told.actor_id) AS actor, p.id AS page_id, p.type, p.slug, p.title, p.status
FROM told
JOIN counted ON counted.day = told.day
LEFT JOIN pages AS p ON p.tenant_id = :tenant_id AND p.owner_id = :owner_id AND p.id = told.page_id
LEFT JOIN owners AS o ON o.tenant_id = :tenant_id AND o.id = told.known_id
LEFT JOIN api_keys AS k ON k.tenant_id = :tenant_id AND k.id = told.known_id
ORDER BY told.day DESC, told.place;
