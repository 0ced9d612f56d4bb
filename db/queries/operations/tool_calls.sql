-- name: count_calls
-- Count a call of a tool today, for the tool and for each page that it returned. Rows are written in one fixed order,
-- so that concurrent calls do not deadlock.
INSERT INTO tool_calls AS t (tenant_id, owner_id, day, tool, page_id, calls)
SELECT
    CAST(:tenant_id AS uuid),
    CAST(:owner_id AS uuid),
    CAST(:day AS date),
    CAST(:tool AS text),
    page.id,
    1
FROM unnest(CAST(:page_ids AS uuid [])) AS page (id)
ORDER BY page.id
ON CONFLICT (tenant_id, owner_id, day, tool, page_id) DO UPDATE SET calls = t.calls + 1
RETURNING page_id, calls;

-- name: forget_calls
-- Delete the counts of days that the hot index does not read any more.
DELETE FROM tool_calls
WHERE tenant_id = CAST(:tenant_id AS uuid) AND owner_id = CAST(:owner_id AS uuid) AND day < CAST(:first AS date);

-- name: find_tools
-- Return the tools with the most calls since a day.
SELECT tool, sum(calls) AS calls FROM tool_calls
WHERE tenant_id = CAST(:tenant_id AS uuid) AND owner_id = CAST(:owner_id AS uuid) AND day >= CAST(:first AS date)
    AND page_id = CAST(:no_page AS uuid)
GROUP BY tool
ORDER BY sum(calls) DESC, tool
LIMIT CAST(:limit AS integer);

-- name: find_entries
-- Return the candidates for the hot index: the newest references with tags, and the pages that were read, with the
-- number of reads.
WITH read AS (
    SELECT page_id, sum(calls) AS calls FROM tool_calls
    WHERE tenant_id = CAST(:tenant_id AS uuid) AND owner_id = CAST(:owner_id AS uuid) AND day >= CAST(:first AS date)
        AND page_id <> CAST(:no_page AS uuid)
    GROUP BY page_id
    ORDER BY sum(calls) DESC, page_id
    LIMIT CAST(:limit AS integer)
),

tagged AS (
    SELECT id FROM pages
    WHERE tenant_id = CAST(:tenant_id AS uuid) AND owner_id = CAST(:owner_id AS uuid) AND status = 'active'
        AND type = 'reference' AND tags <> '{}'
    ORDER BY updated_at DESC, id DESC
    LIMIT CAST(:limit AS integer)
)

SELECT p.id, p.tags, coalesce(read.calls, 0) AS reads
FROM pages AS p
LEFT JOIN read ON read.page_id = p.id
WHERE p.tenant_id = CAST(:tenant_id AS uuid) AND p.owner_id = CAST(:owner_id AS uuid) AND p.status = 'active'
    AND p.id IN (SELECT id FROM tagged UNION SELECT page_id FROM read);
