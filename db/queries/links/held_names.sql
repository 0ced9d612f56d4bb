-- name: standings
-- The open mentions of a wiki with their evidence, from 0 to 3. The planner stores with a mention the evidence of the
-- sources that it has read; each further source counts as one.
WITH held AS (
    SELECT m.id, m.name, m.alias, m.mention_count, m.suggested_type, m.contexts, m.last_seen_at,
           m.cluster ->> 'lacks' AS lacks,
           CAST(least(3, greatest(0, coalesce(
               CASE WHEN jsonb_typeof(m.cluster -> 'evidence') = 'number' AND jsonb_typeof(m.cluster -> 'read') = 'number'
                    THEN (m.cluster ->> 'evidence')::numeric + m.mention_count - (m.cluster ->> 'read')::numeric END,
               m.mention_count
           ))) AS double precision) AS evidence
    FROM mentions AS m
    WHERE m.tenant_id = :tenant_id AND m.owner_id = :owner_id AND m.status = 'open'
)

-- name: find_nearest
-- after: standings
-- Return the mentions with the most evidence, of equal ones those with the most sources and then those seen last, and
-- the number of all open mentions.
SELECT held.name, held.mention_count, held.suggested_type, held.evidence, held.lacks, count(*) OVER () AS total
FROM held
ORDER BY held.evidence DESC, held.mention_count DESC, held.last_seen_at DESC, held.name
LIMIT :size;

-- name: find_named
-- after: standings
-- Return the mentions of these names, those with the most sources first.
SELECT held.name, held.mention_count, held.suggested_type, held.evidence, held.lacks FROM held
WHERE held.alias = ANY(CAST(:aliases AS text[]))
ORDER BY held.mention_count DESC, held.alias
LIMIT :size;

-- name: find_earned
-- after: standings
-- Return the next mentions with enough evidence for a page, by alias.
SELECT held.alias, held.name, held.suggested_type, held.contexts FROM held
WHERE held.mention_count >= 3 AND held.evidence >= 3 AND held.alias > :after
ORDER BY held.alias
LIMIT :size;

-- name: has_earned
-- after: standings
-- Return whether a mention has enough evidence for a page, as in find_earned.
SELECT EXISTS (
    SELECT FROM held WHERE held.id = :mention_id AND held.mention_count >= 3 AND held.evidence >= 3
);

-- name: earned_names
-- after: standings
-- Mentions with enough evidence for a page, which the next sweep promotes.
SELECT CAST(NULL AS uuid) AS id, held.suggested_type AS type, CAST(NULL AS text) AS slug, held.name AS title,
       'seen in ' || held.mention_count || ' sources' AS detail, CAST(NULL AS text) AS target
FROM held
WHERE held.mention_count >= 3 AND held.evidence >= 3
ORDER BY held.mention_count DESC, held.alias;
